#define _DEFAULT_SOURCE /* SA_ONSTACK */
#include "check/watch/guard.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/watch/frames.h"
#include "check/watch/lock.h"

struct dist__guard {
	struct dist__guard *next;
	char *pages;
	uintptr_t begin, end;         /* theirs */
	enum dist__guard_level level; /* falls by one with each access */
	struct dist__access access;
};

/* The process's. A fault is handled on the thread that made it, and none is
 * made with the lock held, when no signal is let in either. */
static struct {
	struct dist__lock lock;
	bool handles_forks;
	struct dist__guard *guards;
	struct sigaction previous;
	/* The last fault that no guard had to do with. */
	void *stray;
	uintptr_t stray_frame;
} state = {.lock = {.flag = ATOMIC_FLAG_INIT}};

static void lock(void)
{
	dist__lock_take(&state.lock);
}

static void unlock(void)
{
	dist__lock_give(&state.lock);
}

/* ---- pages -------------------------------------------------------------- */

/* The beginning of the page that at lies in. */
static uintptr_t page_before(uintptr_t at)
{
	return at - at % (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* The next beginning of a page, which may be at itself. */
static uintptr_t page_after(uintptr_t at)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	return page_before(at + page - 1);
}

/* Protects what guards of level have of the pages from begin to end. */
static bool protect(uintptr_t begin, uintptr_t end,
		    enum dist__guard_level level, int protection)
{
	bool good = true;

	for (const struct dist__guard *g = state.guards; g; g = g->next) {
		uintptr_t from = g->begin > begin ? g->begin : begin;
		uintptr_t to = g->end < end ? g->end : end;

		if (g->level == level && from < to)
			good &= mprotect(g->pages + (from - g->begin),
					 to - from, protection) == 0;
	}
	return good;
}

/* Opens what guards have of the pages from begin to end. */
static void open_pages(uintptr_t begin, uintptr_t end)
{
	(void)protect(begin, end, DIST__GUARD_WRITES, PROT_READ | PROT_WRITE);
	(void)protect(begin, end, DIST__GUARD_ALL, PROT_READ | PROT_WRITE);
}

/* Closes them again. */
static bool close_pages(uintptr_t begin, uintptr_t end)
{
	return protect(begin, end, DIST__GUARD_WRITES, PROT_READ) &
	       protect(begin, end, DIST__GUARD_ALL, PROT_NONE);
}

/* Gives the pages of guard, which may be gone from the list, what protection
 * those in it ask for. */
static bool settle(const struct dist__guard *guard)
{
	(void)mprotect(guard->pages, guard->end - guard->begin,
		       PROT_READ | PROT_WRITE);
	return close_pages(guard->begin, guard->end);
}

/* ---- faults ------------------------------------------------------------- */

/* Notes an access in every guard that has address, which give way by one
 * level: a write to memory that may not even be read faults twice. Returns
 * whether there was one. */
static bool give_way(const char *address)
{
	uintptr_t at = (uintptr_t)address;
	bool found = false;

	for (struct dist__guard *g = state.guards; g; g = g->next) {
		if (at < g->begin || at >= g->end ||
		    g->level == DIST__GUARD_OPEN)
			continue;
		found = true;
		g->access.level = g->level--;
		g->access.address = address;
		dist__frames_of_fault(g->access.frames, DIST__GUARD_FRAMES);
		(void)settle(g);
	}
	return found;
}

/* Whether a fault that no guard had to do with was made for the first time:
 * the guard may have gone meanwhile, on another thread. */
static bool is_first(void *address)
{
	uintptr_t frame;
	bool again;

	dist__frames_of_fault(&frame, 1);
	again = state.stray == address && state.stray_frame == frame;
	state.stray = again ? NULL : address;
	state.stray_frame = frame;
	return !again;
}

/* As if we had never been there. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction previous = state.previous;

	if (previous.sa_flags & SA_SIGINFO) {
		previous.sa_sigaction(number, info, context);
	} else if (previous.sa_handler != SIG_DFL &&
		   previous.sa_handler != SIG_IGN) {
		previous.sa_handler(number);
	} else {
		previous.sa_handler = SIG_DFL;
		(void)sigaction(number, &previous, NULL);
		/* A fault happens again; a signal that was sent does not. */
		if (info->si_code != SEGV_ACCERR &&
		    info->si_code != SEGV_MAPERR)
			(void)raise(number);
	}
}

static void handle(int number, siginfo_t *info, void *context)
{
	bool ours = false;

	if (info->si_code == SEGV_ACCERR) {
		lock();
		ours = give_way(info->si_addr) || is_first(info->si_addr);
		unlock();
	}
	if (!ours)
		pass_on(number, info, context);
}

static bool is_handled(struct sigaction *now)
{
	return sigaction(SIGSEGV, NULL, now) == 0 &&
	       (now->sa_flags & SA_SIGINFO) && now->sa_sigaction == handle;
}

/* Takes the signal; somebody else may have taken it since the last time. */
static bool take_signal(void)
{
	struct sigaction own = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, now;

	if (is_handled(&now))
		return true;
	state.previous = now;
	own.sa_sigaction = handle;
	sigfillset(&own.sa_mask);
	return sigaction(SIGSEGV, &own, NULL) == 0;
}

static void give_signal_back(void)
{
	struct sigaction now;

	if (is_handled(&now))
		(void)sigaction(SIGSEGV, &state.previous, NULL);
}

/* ---- guards ------------------------------------------------------------- */

/* The child of a fork has copies of the memory, which nothing holds. */
static void open_all(void)
{
	while (state.guards) {
		struct dist__guard *g = state.guards;

		state.guards = g->next;
		g->level = DIST__GUARD_OPEN;
		(void)settle(g);
	}
	give_signal_back();
	unlock();
}

/* Whether all memory from begin to end is readable and writable, and not
 * executable, as the system maps it. */
static bool is_plain_memory(uintptr_t begin, uintptr_t end)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t at = begin, from, to;
	char line[512], access[5];
	bool plain = maps != NULL;

	/* In rising order; a longer line goes on with the path, which does not
	 * look like another mapping. */
	while (plain && at < end && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to,
			   access) != 3 ||
		    to <= at)
			continue;
		plain = from <= at && memcmp(access, "rw-", 3) == 0;
		at = to;
	}
	if (maps)
		fclose(maps);
	return plain && at >= end;
}

/* With the lock held. */
static bool add(struct dist__guard *guard)
{
	bool good;

	if (!state.handles_forks)
		state.handles_forks = !pthread_atfork(lock, unlock, open_all);
	open_pages(guard->begin, guard->end);
	good = state.handles_forks &&
	       is_plain_memory(guard->begin, guard->end) && take_signal();
	if (good) {
		guard->next = state.guards;
		state.guards = guard;
	}
	return close_pages(guard->begin, guard->end) && good;
}

static bool is_on_stack(uintptr_t begin, uintptr_t end)
{
	uintptr_t outermost = dist__frames_outermost();

	return end > (uintptr_t)__builtin_frame_address(0) && begin < outermost;
}

struct dist__guard *dist__guard_new(const void *memory, size_t bytes,
				    enum dist__guard_level level)
{
	uintptr_t begin = page_after((uintptr_t)memory);
	uintptr_t end = page_before((uintptr_t)memory + bytes);
	struct dist__guard *guard;
	bool good;

	if (begin >= end || is_on_stack(begin, end))
		return NULL;
	guard = malloc(sizeof *guard);
	if (!guard)
		return NULL;
	*guard = (struct dist__guard){.pages = (char *)memory +
					       (begin - (uintptr_t)memory),
				      .begin = begin,
				      .end = end,
				      .level = level};
	lock();
	good = add(guard);
	unlock();
	if (good)
		return guard;
	dist__guard_free(guard);
	return NULL;
}

struct dist__access dist__guard_access(const struct dist__guard *guard)
{
	struct dist__access access = {.level = DIST__GUARD_OPEN};

	if (!guard)
		return access;
	lock();
	access = guard->access;
	unlock();
	return access;
}

void dist__guard_free(struct dist__guard *guard)
{
	struct dist__guard **link = &state.guards;

	if (!guard)
		return;
	lock();
	while (*link && *link != guard)
		link = &(*link)->next;
	if (*link) {
		*link = guard->next;
		(void)settle(guard);
	}
	if (!state.guards)
		give_signal_back();
	unlock();
	free(guard);
}

void dist__guard_lift(const void *memory, size_t bytes, bool lifted)
{
	uintptr_t begin = page_before((uintptr_t)memory);
	uintptr_t end = page_after((uintptr_t)memory + bytes);

	lock();
	if (lifted)
		open_pages(begin, end);
	else
		(void)close_pages(begin, end);
	unlock();
}
