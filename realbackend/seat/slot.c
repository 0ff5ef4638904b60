/*
 * slot.c - this process as a rank of a simulation: finds its seat by the
 * environment that the simulation set, and sends requests.
 *
 * A lane has a seat of its own; all other threads take turns at the rank's. A
 * process that the rank forks has no seat: its requests would be the rank's.
 */
#include "realbackend/seat/slot.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/quantity.h"
#include "check/record.h"

/* A process is one rank, so this is the process's. */
static struct {
	pid_t process; /* whose seat it is */
	pid_t refused; /* one that has none, and need not ask again */
	int rank;
	struct dist__seat_head *head;
	struct dist__seat_slot *seat;
	struct check_slot *records;
	pthread_mutex_t mutex;
	int64_t now_ns;
	int64_t owed_ns;   /* since then */
	double cpu_factor; /* of the time of processors; 0: free */
	int64_t cpu_ns;    /* of this process, when last looked at */
} here = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static enum dist_error refuse(struct dist_message *message, const char *what,
			      const char *expected)
{
	if (message)
		snprintf(message->text, sizeof message->text,
			 "%.200s: expected %s", what, expected);
	return DIST_ERR_INVALID_ARGUMENT;
}

/* Maps so many bytes of a file at an offset; NULL: it cannot. */
static void *map(const char *path, int64_t offset, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *memory = MAP_FAILED;

	if (fd >= 0)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, (off_t)offset);
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

/* ---- what computing takes ---------------------------------------------- */

static int64_t cpu_ns(void)
{
	struct timespec used;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Adds what was computed since the last look. */
static void charge(void)
{
	int64_t before_ns = here.cpu_ns;

	if (here.cpu_factor <= 0)
		return;
	here.cpu_ns = cpu_ns();
	here.owed_ns +=
		(int64_t)((double)(here.cpu_ns - before_ns) * here.cpu_factor);
}

/* "cpu:FACTOR", as lockstep run has checked; others are none of ours. */
static void open_charge(void)
{
	const char *text = getenv("LOCKSTEP_COMPUTE");

	if (!text || strncmp(text, "cpu", 3) != 0)
		return;
	here.cpu_factor = text[3] == ':' ? strtod(text + 4, NULL) : 1;
	here.cpu_ns = cpu_ns();
}

/* ---- the seat ----------------------------------------------------------- */

static enum dist_error open_head(const char *path, struct dist_message *message)
{
	here.head = map(path, 0, DIST__SEAT_HEAD);
	if (!here.head)
		return refuse(message, path,
			      "the seats of a simulation that runs");
	if (here.head->magic == DIST__SEAT_MAGIC &&
	    here.head->layout == DIST__SEAT_LAYOUT)
		return DIST_OK;
	return refuse(message, "the lockstep command",
		      "one of the same version as the library");
}

static enum dist_error open_seat(const char *path, struct dist_message *message)
{
	const struct dist__seat_head *head = here.head;
	const char *text = getenv("RANK");
	int64_t rank;

	if (!text || !dist__count_read(text, 0, head->present - 1, &rank))
		return refuse(message, "RANK", "the number of a rank");
	here.rank = (int)rank;
	here.seat = map(path, DIST__SEAT_HEAD + rank * DIST__SEAT_BYTES,
			DIST__SEAT_BYTES);
	here.records =
		map(head->records,
		    head->records_at + rank * (int64_t)sizeof *here.records,
		    sizeof *here.records);
	if (!here.seat || !here.records)
		return refuse(message, path,
			      "the seats of a simulation that runs");
	return DIST_OK;
}

enum dist_error dist__seat_open(struct dist_message *message)
{
	const char *path = getenv(DIST__SEAT_VARIABLE);
	enum dist_error error = DIST_OK;

	if (here.seat && here.process == getpid())
		return DIST_OK;
	if (here.refused == getpid())
		path = NULL;
	if (!path)
		return refuse(message, DIST__SEAT_VARIABLE,
			      "a process that lockstep run started");
	if (!here.head)
		error = open_head(path, message);
	if (!error)
		error = open_seat(path, message);
	if (error)
		return error;
	if (here.seat->pid != 0 && here.seat->pid != getpid()) {
		here.refused = getpid();
		return refuse(message, "this process",
			      "the one that joined as this rank first");
	}
	here.process = getpid();
	here.seat->pid = here.process;
	here.now_ns = here.seat->now_ns;
	open_charge();
	return DIST_OK;
}

static _Thread_local struct dist__seat_slot *own_seat;

struct dist__seat_slot *dist__seat_of(int lane)
{
	const char *path = getenv(DIST__SEAT_VARIABLE);

	return map(path,
		   dist__seat_of_lane(here.head->present, here.rank, lane),
		   DIST__SEAT_BYTES);
}

void dist__seat_unmap(struct dist__seat_slot *seat)
{
	(void)munmap(seat, DIST__SEAT_BYTES);
}

void dist__seat_take(struct dist__seat_slot *seat)
{
	own_seat = seat;
}

struct dist__seat_slot *dist__seat_begin(void)
{
	if (own_seat)
		return own_seat;
	pthread_mutex_lock(&here.mutex);
	return here.seat;
}

void dist__seat_end(void)
{
	if (!own_seat)
		pthread_mutex_unlock(&here.mutex);
}

enum dist_error dist__seat_ask(struct dist__seat_slot *seat,
			       enum dist__seat_code code)
{
	uint32_t number = seat->asked + 1;

	seat->code = code;
	charge();
	seat->charge_ns = here.owed_ns;
	here.owed_ns = 0;
	seat->asked = number;
	dist__seat_ring(seat);
	for (;;) {
		uint32_t answered = seat->answered;

		if (answered == number)
			break;
		(void)dist__seat_sleep(&seat->answered, answered, 10000);
	}
	here.now_ns = seat->now_ns;
	if (here.cpu_factor > 0)
		here.cpu_ns = cpu_ns(); /* what asking takes is ours */
	return (enum dist_error)seat->error;
}

int64_t dist__seat_now_ns(void)
{
	charge();
	return here.now_ns + here.owed_ns;
}

void dist__seat_owe(int64_t duration_ns)
{
	here.owed_ns += duration_ns;
}

struct dist__seat_head *dist__seat_find(void)
{
	const char *path = getenv(DIST__SEAT_VARIABLE);
	struct dist__seat_head *head;
	size_t bytes;

	if (!path || (!here.head && open_head(path, NULL)))
		return NULL;
	bytes = DIST__SEAT_HEAD + (size_t)here.head->present * DIST__SEAT_BYTES;
	head = map(path, 0, bytes);
	return head;
}

struct check_slot *dist__seat_records(void)
{
	return here.records;
}

enum dist__debug dist__seat_debug(void)
{
	return (enum dist__debug)here.head->debug;
}

int dist__seat_running(void)
{
	return here.head->present;
}
