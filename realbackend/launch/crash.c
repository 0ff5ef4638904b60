#define _GNU_SOURCE /* clone, SA_ONSTACK */

#include "realbackend/launch/crash.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/watch/frames.h"
#include "check/watch/source.h"

/* What looks the line up takes as much stack as a program may have, more than a
 * handler's has, and so long at most: it may wait for a lock that nobody will
 * open. */
#define LOOKUP_STACK  ((size_t)8 << 20)
#define HANDLER_STACK ((size_t)1 << 16)
#define LEAST_STACK   ((size_t)1 << 14) /* of one that is there */
#define GUARD         ((size_t)1 << 16) /* a page or more, however large they are */
#define LIMIT_S       5
#define FRAMES        32

static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL, SIGABRT,
			      SIGTRAP, SIGSYS, SIGXFSZ, SIGXCPU};

static struct {
	struct check_slot *slot;
	pid_t process; /* the rank; not one that it forked */
	char *lookup;  /* the top of a stack, which grows down */
} here;

/* In a copy of the process, whose main function it is. */
static int find_place(void *frames)
{
	struct check_place *place = &here.slot->crash;
	sigset_t alarm_only;
	struct dist__source source;

	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	(void)signal(SIGALRM, SIG_DFL);
	(void)sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
	(void)alarm(LIMIT_S);
	source = dist__source_of(here.process, frames, FRAMES);
	if (source.file[0])
		check_site_set(&place->site, source.file, source.line);
	snprintf(place->function, sizeof place->function, "%s",
		 source.function);
	_exit(0);
}

static void handle(int number, siginfo_t *info, void *context)
{
	uintptr_t frames[FRAMES];
	pid_t copy = -1;

	(void)info;
	(void)context;
	if (getpid() == here.process) {
		dist__frames_of_fault(frames, FRAMES);
		/* Without what fork() does for threads: it may not return. */
		copy = clone(find_place, here.lookup, SIGCHLD, frames);
	}
	while (copy > 0 && waitpid(copy, NULL, 0) < 0 && errno == EINTR)
		;
	/* Once more, and for good. */
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* Maps a stack of that size, and returns its least address, or NULL. */
static char *map_stack(size_t size)
{
	char *low = mmap(NULL, GUARD + size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (low == MAP_FAILED)
		return NULL;
	(void)mprotect(low, GUARD, PROT_NONE);
	return low + GUARD;
}

/* Returns whether handlers have a stack, and the lookup has one. One that is
 * there stays: it may be a sanitizer's. */
static bool give_stacks(void)
{
	stack_t stack = {.ss_size = HANDLER_STACK}, before;
	char *lookup = map_stack(LOOKUP_STACK);

	if (!lookup || sigaltstack(NULL, &before))
		return false;
	here.lookup = lookup + LOOKUP_STACK;
	if (!(before.ss_flags & SS_DISABLE))
		return before.ss_size >= LEAST_STACK;
	stack.ss_sp = map_stack(HANDLER_STACK);
	return stack.ss_sp && sigaltstack(&stack, NULL) == 0;
}

void dist__crash_watch(struct check_slot *slot)
{
	struct sigaction own = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
	bool again = here.process == getpid();

	here.slot = slot;
	here.process = getpid();
	if (again || !give_stacks())
		return;
	/* What this loads is not to be loaded by a handler. */
	(void)dist__frames_outermost();
	own.sa_sigaction = handle;
	sigfillset(&own.sa_mask);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (sigaction(numbers[i], NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &own, NULL);
}
