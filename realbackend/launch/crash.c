#define _GNU_SOURCE /* _Fork, SA_ONSTACK */

#include "realbackend/launch/crash.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/watch/frames.h"
#include "check/watch/source.h"

/* What looks the line up takes more than a handler's usual stack, and so long
 * at most: it may wait for a lock that nobody will open. */
#define HANDLER_STACK ((size_t)1 << 20)
#define LEAST_STACK   ((size_t)1 << 16)
#define LIMIT_S       5
#define FRAMES        32

static const int numbers[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
			      SIGABRT, SIGTRAP, SIGSYS};

static struct {
	struct check_slot *slot;
	pid_t process; /* the rank; not one that it forked */
} here;

/* In a copy of the process. */
static _Noreturn void find_place(const uintptr_t *frames)
{
	struct check_place *place = &here.slot->crash;
	struct dist__source source;

	(void)signal(SIGALRM, SIG_DFL);
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
	sigset_t alarm_only;
	pid_t copy = -1;

	(void)info;
	(void)context;
	if (getpid() == here.process) {
		dist__frames_of_fault(frames, FRAMES);
		/* Without what fork() does for threads: it may not return. */
		copy = _Fork();
	}
	if (copy == 0) {
		sigemptyset(&alarm_only);
		sigaddset(&alarm_only, SIGALRM);
		(void)sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
		find_place(frames);
	}
	while (copy > 0 && waitpid(copy, NULL, 0) < 0 && errno == EINTR)
		;
	/* Once more, and for good. */
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* Returns whether handlers have a stack that is large enough. The one that is
 * there stays: it may be a sanitizer's. */
static bool give_stack(void)
{
	stack_t stack = {.ss_size = HANDLER_STACK}, before;

	if (sigaltstack(NULL, &before))
		return false;
	if (!(before.ss_flags & SS_DISABLE))
		return before.ss_size >= LEAST_STACK;
	stack.ss_sp = mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return stack.ss_sp != MAP_FAILED && sigaltstack(&stack, NULL) == 0;
}

void dist__crash_watch(struct check_slot *slot)
{
	struct sigaction own = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
	bool again = here.process == getpid();

	here.slot = slot;
	here.process = getpid();
	if (again || !give_stack())
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
