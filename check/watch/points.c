#define _GNU_SOURCE /* F_SETSIG, syscall */
#include "check/watch/points.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check/watch/frames.h"
#include "check/watch/lock.h"

/* At both ends, and two for reads: a processor reports writes, or writes and
 * reads, but not reads alone. */
#define MOST_POINTS 4
/* What one instruction may read of which it needs a part. */
#define LINE 64
/* The signal of a hit; it is ignored where nobody asks for it. */
#define SIGNAL SIGWINCH

/* Of the thread sanitizer, which lets signals wait; NULL: it is not there. */
extern void __tsan_init(void) __attribute__((weak));

struct point {
	int fd;
	const char *address;
	size_t bytes;
	enum dist__guard_level sees; /* WRITES, or ALL: reads as well */
	struct dist__access access;
};

struct dist__points {
	struct dist__points *next;
	struct point points[MOST_POINTS];
	size_t num;
};

/* The process's. A hit is handled on the thread that made it, and none is made
 * with the lock held. */
static struct {
	struct dist__lock lock;
	struct dist__points *first;
	bool handles_forks;
} state = {.lock = {.flag = ATOMIC_FLAG_INIT}};

static void lock(void)
{
	dist__lock_take(&state.lock);
}

static void unlock(void)
{
	dist__lock_give(&state.lock);
}

/* ---- hits --------------------------------------------------------------- */

static bool is_hit(const struct point *point)
{
	uint64_t count = 0;

	return read(point->fd, &count, sizeof count) == sizeof count &&
	       count > 0;
}

/* One instruction may have hit several, and only one signal come of it. */
static void note_hits(void)
{
	for (struct dist__points *p = state.first; p; p = p->next)
		for (size_t i = 0; i < p->num; i++) {
			struct point *point = &p->points[i];

			if (point->access.level || !is_hit(point))
				continue;
			(void)ioctl(point->fd, PERF_EVENT_IOC_DISABLE, 0);
			point->access.level = point->sees;
			point->access.address = point->address;
			dist__frames_of_fault(point->access.frames,
					      DIST__GUARD_FRAMES);
			/* It stands behind the access. */
			if (point->access.frames[0])
				point->access.frames[0]--;
		}
}

static void handle(int number)
{
	int error = errno;

	(void)number;
	lock();
	note_hits();
	unlock();
	errno = error;
}

/* Whether the signal is ours; it stays ours, for one may be on its way, and a
 * program that does not ask for it loses nothing. */
static bool take_signal(void)
{
	struct sigaction own = {.sa_flags = SA_ONSTACK | SA_RESTART}, now;

	if (sigaction(SIGNAL, NULL, &now) != 0)
		return false;
	if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == handle)
		return true;
	if (now.sa_flags & SA_SIGINFO || now.sa_handler != SIG_DFL)
		return false;
	own.sa_handler = handle;
	sigfillset(&own.sa_mask);
	return sigaction(SIGNAL, &own, NULL) == 0;
}

/* ---- points ------------------------------------------------------------- */

static void close_points(struct dist__points *points)
{
	while (points->num > 0)
		(void)close(points->points[--points->num].fd);
}

static void forget_all(void)
{
	for (struct dist__points *p = state.first; p; p = p->next)
		close_points(p);
	state.first = NULL;
	unlock();
}

static int open_point(const struct point *point)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof attr,
		.sample_period = 1,
		.disabled = 1,
		.pinned = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.bp_type = point->sees == DIST__GUARD_ALL ? HW_BREAKPOINT_RW
							  : HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)point->address,
		.bp_len = point->bytes,
	};
	const struct f_owner_ex owner = {F_OWNER_TID,
					 (pid_t)syscall(SYS_gettid)};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
	    fcntl(fd, F_SETSIG, SIGNAL) == 0 &&
	    fcntl(fd, F_SETFL, O_ASYNC) == 0 &&
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static bool add_point(struct dist__points *points, const char *address,
		      size_t bytes, enum dist__guard_level sees)
{
	struct point *point = &points->points[points->num];

	*point = (struct point){
		.address = address, .bytes = bytes, .sees = sees};
	point->fd = open_point(point);
	points->num += point->fd >= 0;
	return point->fd >= 0;
}

/* The most bytes of an element of unit bytes that one point watches from
 * address on, or up to it. */
static size_t fit(uintptr_t address, size_t unit)
{
	size_t most = DIST__POINT_BYTES;

	while (most > unit || address % most)
		most /= 2;
	return most;
}

/* A read is what a point of both sees and a point of writes does not. */
static void add_for_reads(struct dist__points *points, const char *memory,
			  size_t bytes, size_t unit)
{
	size_t skipped = (LINE - (uintptr_t)memory % LINE) % LINE;

	if (bytes < skipped + LINE)
		return;
	memory += skipped;
	bytes = fit((uintptr_t)memory, unit);
	if (skipped == 0 ||
	    add_point(points, memory, bytes, DIST__GUARD_WRITES))
		(void)add_point(points, memory, bytes, DIST__GUARD_ALL);
}

static void add_all(struct dist__points *points, const char *memory,
		    size_t bytes, size_t unit, enum dist__guard_level level)
{
	size_t first = fit((uintptr_t)memory, unit);
	size_t last = fit((uintptr_t)memory + bytes, unit);

	if (!add_point(points, memory, first, DIST__GUARD_WRITES))
		return;
	if (first + last <= bytes)
		(void)add_point(points, memory + bytes - last, last,
				DIST__GUARD_WRITES);
	if (level == DIST__GUARD_ALL)
		add_for_reads(points, memory, bytes, unit);
}

static bool has_points(void)
{
#ifdef __x86_64__ /* they tell the instruction after the access */
	return !__tsan_init;
#else
	return false;
#endif
}

/* With the lock held. */
static bool is_ready(void)
{
	if (!state.handles_forks)
		state.handles_forks = !pthread_atfork(lock, unlock, forget_all);
	/* One that is blocked would come too late to tell where. */
	return state.handles_forks && !sigismember(&state.lock.mask, SIGNAL) &&
	       take_signal();
}

struct dist__points *dist__points_new(const void *memory, size_t bytes,
				      size_t unit, enum dist__guard_level level)
{
	struct dist__points *points;

	if (!has_points() || bytes == 0)
		return NULL;
	points = calloc(1, sizeof *points);
	if (!points)
		return NULL;
	(void)dist__frames_outermost();
	lock();
	if (is_ready())
		add_all(points, memory, bytes, unit, level);
	if (points->num > 0) {
		points->next = state.first;
		state.first = points;
	}
	unlock();
	if (points->num > 0)
		return points;
	free(points);
	return NULL;
}

struct dist__access dist__points_access(const struct dist__points *points)
{
	struct dist__access access = {.level = DIST__GUARD_OPEN};

	lock();
	for (size_t i = 0; points && i < points->num; i++) {
		const struct dist__access *other = &points->points[i].access;

		if (other->level &&
		    (!access.level || other->level < access.level))
			access = *other;
	}
	unlock();
	return access;
}

void dist__points_free(struct dist__points *points)
{
	struct dist__points **link = &state.first;

	if (!points)
		return;
	lock();
	while (*link && *link != points)
		link = &(*link)->next;
	if (*link)
		*link = points->next;
	close_points(points);
	unlock();
	free(points);
}

void dist__points_lift(const void *memory, size_t bytes, bool lifted)
{
	uintptr_t begin = (uintptr_t)memory;

	lock();
	for (struct dist__points *p = state.first; p; p = p->next)
		for (size_t i = 0; i < p->num; i++) {
			const struct point *point = &p->points[i];
			uintptr_t at = (uintptr_t)point->address;

			if (!point->access.level && at < begin + bytes &&
			    begin < at + point->bytes)
				(void)ioctl(point->fd,
					    lifted ? PERF_EVENT_IOC_DISABLE
						   : PERF_EVENT_IOC_ENABLE,
					    0);
		}
	unlock();
}
