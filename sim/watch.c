/*
 * watch.c - the side of a watched simulation that is simulated: where its
 * records lie, and what it leaves behind when a signal ends it.
 *
 * Signals that end a process are noted in the memory that is shared, with the
 * calls that led there. Then the process stops itself: whoever watches it looks
 * what these calls are, while it is still there, and lets it go on to die as it
 * would have. A copy of the process has nobody who watches it. Before it dies a
 * copy of it writes the trace of what was done so far.
 *
 * Who is asked to end writes that trace itself, as soon as the clock moves, and
 * then ends by that signal.
 *
 * A rank program that calls exit() has ended like one that returns: its actor
 * leaves exit() by the way it would have returned. One that calls it in a
 * remote call is lost.
 */
#define _GNU_SOURCE /* on_exit, SA_ONSTACK, memfd_create */

#include "sim/watch.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_limit.h"
#include "check/cause.h"
#include "check/watch/frames.h"
#include "sim/progress.h"
#include "sim/watch_report.h"
#include "trace/recorder.h"

/* What tells it takes more than a handler's usual stack, and so long at most.
 */
#define HANDLER_STACK ((size_t)1 << 20)
#define LIMIT_S       20

/* Those that end a process, and that which asks where it is. */
static const int numbers[] = {
	SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGABRT,
	SIGTRAP, SIGSYS, SIGXFSZ, SIGXCPU, DIST__SIM_LOOK_SIGNAL};
#define NUMBERS (sizeof numbers / sizeof *numbers)

/* Those by which somebody asks a process to end. */
static const int requests[] = {SIGINT, SIGTERM, SIGHUP};
#define REQUESTS (sizeof requests / sizeof *requests)

/* A process simulates one world, so this is the process's. */
static struct {
	struct dist__sim_world *world; /* NULL: none is simulated now */
	pid_t process;                 /* that simulates; not one it forked */
	pthread_t thread;
	bool handles_exit;
	void *stack; /* of the handlers; NULL: there are none */
	stack_t stack_before;
	struct sigaction before[NUMBERS];
	volatile sig_atomic_t asked; /* which of requests came; 0: none */
} here;

/* ---- where it is -------------------------------------------------------- */

/* The rank whose program this actor is, or that a lane works for; NULL: the
 * engine, or what carries messages for it. */
static struct dist__sim_rank *rank_here(bool *in_program)
{
	struct dist__sim_world *world = here.world;
	char *actor, *first = (char *)world->ranks;
	size_t size = (size_t)world->present * sizeof world->ranks[0];

	*in_program = false;
	if (!pthread_equal(pthread_self(), here.thread))
		return &world->ranks[world->watch->running];
	actor = dist__engine->self();
	if (actor < first || actor >= first + size)
		return world->ops->rank_of_lane(world, actor);
	*in_program = true;
	return ((struct dist__sim_actor *)actor)->rank;
}

static enum dist__sim_spot spot_of(const struct dist__sim_rank *rank,
				   bool in_program)
{
	const struct check_slot *slot;

	if (!rank)
		return DIST__SIM_ENGINE;
	slot = &here.world->board->slots[rank->rank];
	if (!in_program && check_rpc_runs(slot))
		return DIST__SIM_PROGRAM;
	return slot->state == CHECK_RANK_WAITING ? DIST__SIM_CALL
						 : DIST__SIM_PROGRAM;
}

/* Whether address is where the stack of rank ends. */
static bool is_below_stack(const struct dist__sim_rank *rank,
			   const void *address)
{
	uintptr_t at = (uintptr_t)address, top = rank->stack_top;
	uint64_t size = here.world->watch->stack_bytes;

	return at < top - size + 4096 &&
	       at >= top - size - DIST__STACK_GUARD - 4096;
}

/* Whether a frame larger than all of it begins below the stack of rank. */
static bool is_off_stack(const struct dist__sim_rank *rank,
			 const ucontext_t *context)
{
#ifdef __x86_64__
	uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

	return at < rank->stack_top - here.world->watch->stack_bytes;
#else
	(void)rank, (void)context;
	return false;
#endif
}

static void note(int number, const siginfo_t *info, const ucontext_t *context)
{
	struct dist__sim_watch *watch = here.world->watch;
	bool in_program;
	const struct dist__sim_rank *rank = rank_here(&in_program);

	watch->tally = here.world->tally;
	watch->rank = rank ? rank->rank : -1;
	watch->spot = spot_of(rank, in_program);
	watch->sender = number != DIST__SIM_LOOK_SIGNAL && info->si_code <= 0 &&
					info->si_pid != here.process
				? info->si_pid
				: 0;
	watch->overflow = rank && in_program &&
			  (number == SIGSEGV || number == SIGBUS) &&
			  (is_below_stack(rank, info->si_addr) ||
			   is_off_stack(rank, context));
	/* Ranks that are processes stand where their last call says. */
	if (here.world->has_seats)
		watch->frames[0] = 0;
	else
		dist__frames_of_fault(watch->frames, DIST__SIM_FRAMES);
	__atomic_store_n(&watch->number, number, __ATOMIC_RELEASE);
}

/* ---- telling ------------------------------------------------------------ */

static void restore(void)
{
	for (size_t i = 0; i < NUMBERS; i++)
		(void)sigaction(numbers[i], &here.before[i], NULL);
}

/* Makes this process a copy of the one that simulates, whose memory may be in
 * any state: it ends in any case. */
static void be_copy(void)
{
	sigset_t none;

	restore();
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(LIMIT_S);
}

/* In a copy. */
static _Noreturn void report_fatal(int number)
{
	struct dist__sim_watch *watch = here.world->watch;
	struct check_cause cause = {
		.weight = 3, .rank = watch->rank, .lost = true};

	be_copy();
	dist__sim_watch_describe(watch, number, cause.how, sizeof cause.how);
	_exit(dist__sim_watch_report(watch, here.world->board, &cause, 0));
}

static void write_trace(const struct dist__sim_world *world, const char *why)
{
	struct dist_message message = {""};

	dist__recorder_add_fact(world->recorder, "partial", "%s", why);
	if (world->recorder->finish(world->recorder, &message))
		fprintf(stderr, "lockstep: %s\n", message.text);
}

/* Has the trace written by a copy of this process, and allocates nothing. */
static void keep_trace(const char *why)
{
	static const char damaged[] =
		"lockstep: no trace: the memory of the process is damaged\n";
	pid_t copy = here.world->owns_recorder ? fork() : -1;
	int status = 0;

	if (copy == 0) {
		be_copy();
		write_trace(here.world, why);
		_exit(0);
	}
	while (copy > 0 && waitpid(copy, &status, 0) < 0 && errno == EINTR)
		;
	if (status && write(STDERR_FILENO, damaged, sizeof damaged - 1) < 0)
		return;
}

static const char *describe(int number, char text[64])
{
	snprintf(text, 64, "signal %d ended the job", number);
	return text;
}

/* Has the verdict told by a copy of this process; returns its exit status, -1
 * if it has none. */
static int tell_in_copy(int number)
{
	int status = 0;
	pid_t copy = fork();

	if (copy == 0)
		report_fatal(number);
	while (copy > 0 && waitpid(copy, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return copy > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Who watches has looked, and may have found that the job is over. */
static void answer(const struct dist__sim_watch *watch)
{
	if (!watch->ends)
		return;
	keep_trace("a rank ran without a call");
	(void)raise(SIGSTOP);
}

static void handle(int number, siginfo_t *info, void *context)
{
	char text[64];
	int status;

	if (!here.world || getpid() != here.process) {
		if (number == DIST__SIM_LOOK_SIGNAL)
			return;
		(void)signal(number, SIG_DFL);
		(void)raise(number);
		return;
	}
	note(number, info, context);
	if (here.world->watch->watcher) {
		(void)raise(SIGSTOP);
		if (number == DIST__SIM_LOOK_SIGNAL) {
			answer(here.world->watch);
			return;
		}
		keep_trace(describe(number, text));
	} else if (number == DIST__SIM_LOOK_SIGNAL) {
		return;
	} else {
		keep_trace(describe(number, text));
		status = tell_in_copy(number);
		if (status >= 0)
			_exit(status);
	}
	/* Once more, and for good: a core may be wanted. */
	restore();
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* Those that the program has not taken itself. */
static void catch_signals(void)
{
	stack_t stack = {.ss_size = HANDLER_STACK};
	struct sigaction own = {.sa_flags = SA_SIGINFO | SA_ONSTACK};

	/* What this loads is not to be loaded by a handler. */
	(void)dist__frames_outermost();
	here.stack = mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (here.stack == MAP_FAILED) {
		here.stack = NULL;
		return;
	}
	stack.ss_sp = here.stack;
	(void)sigaltstack(&stack, &here.stack_before);
	own.sa_sigaction = handle;
	sigfillset(&own.sa_mask);
	for (size_t i = 0; i < NUMBERS; i++) {
		(void)sigaction(numbers[i], NULL, &here.before[i]);
		/* The engine has taken SIGSEGV, and no other. */
		if (numbers[i] == SIGSEGV ||
		    here.before[i].sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &own, NULL);
	}
}

static void release_signals(void)
{
	if (!here.stack)
		return;
	restore();
	(void)sigaltstack(&here.stack_before, NULL);
	(void)munmap(here.stack, HANDLER_STACK);
	here.stack = NULL;
}

/* ---- being asked to end ------------------------------------------------- */

/* Once: the next one ends a process whose clock does not move. */
static void take_request(int number)
{
	here.asked = number;
	if (here.world && getpid() == here.process)
		return;
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* Where there is a trace to write, and who watches asks again. */
static void catch_requests(const struct dist__sim_world *world)
{
	const struct sigaction own = {.sa_handler = take_request,
				      .sa_flags = SA_RESTART | SA_RESETHAND};
	struct sigaction before;

	for (size_t i = 0; i < REQUESTS; i++)
		if (world->owns_recorder && world->watch->watcher &&
		    sigaction(requests[i], NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			(void)sigaction(requests[i], &own, NULL);
}

static void release_requests(void)
{
	struct sigaction now;

	here.asked = 0;
	for (size_t i = 0; i < REQUESTS; i++)
		if (sigaction(requests[i], NULL, &now) == 0 &&
		    now.sa_handler == take_request)
			(void)signal(requests[i], SIG_DFL);
}

static void end_as_asked(struct dist__sim_world *world)
{
	char text[64];
	int number = here.asked;

	(void)signal(number, SIG_IGN);
	write_trace(world, describe(number, text));
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* ---- exit() ------------------------------------------------------------- */

static void catch_exit(void);

/* A function that served a call has ended its rank, whose own program is
 * elsewhere: that is what is told, and the simulation is over. */
static _Noreturn void leave_at_once(const struct dist__sim_rank *rank,
				    int status)
{
	struct dist__sim_watch *watch = here.world->watch;
	struct check_cause cause = {
		.weight = 3, .rank = rank->rank, .lost = true};

	watch->tally = here.world->tally;
	watch->frames[0] = 0;
	snprintf(cause.how, sizeof cause.how,
		 "called exit(%d) in a remote call", status);
	fflush(NULL);
	_exit(dist__sim_watch_report(watch, here.world->board, &cause, 0));
}

/* With the status of exit(), before anything else that runs at exit: the engine
 * is whole. */
static void leave(int status, void *arg)
{
	struct dist__sim_rank *rank;
	bool in_program;

	(void)arg;
	if (!here.world || getpid() != here.process)
		return;
	rank = rank_here(&in_program);
	if (!rank)
		return;
	if (!in_program && !here.world->log)
		leave_at_once(rank, status);
	if (!in_program)
		return;
	catch_exit();
	rank->status = status & 0377;
	/* Here, for what is on the way may go to memory of the program's. */
	rank->world->ops->finish(rank);
	longjmp(*rank->way_out, 1);
}

/* What the engine makes on its way is to go at exit before what was registered
 * before it was made. But first of all goes what belongs to the thread: that
 * registers ours, which is the last then and goes first. */
static void prepare_to_leave(void *arg)
{
	(void)arg;
	here.handles_exit = false;
	if (here.world && getpid() == here.process)
		(void)on_exit(leave, NULL);
}

/* Of libc and of the linker, who declare them to C++ compilers only: has
 * run(arg) called when the thread ends, or the process does by exit() there,
 * before what is done at exit. */
extern int __cxa_thread_atexit_impl(void (*run)(void *arg), void *arg,
				    void *of);
extern void *__dso_handle __attribute__((visibility("hidden")));

static void catch_exit(void)
{
	if (!here.handles_exit)
		here.handles_exit =
			__cxa_thread_atexit_impl(prepare_to_leave, NULL,
						 &__dso_handle) == 0;
}

/* On the way of pthread_exit() out of a rank's program, over whose frames it
 * would leave the thread that all ranks share. */
static void leave_thread(struct dist__sim_rank **inside)
{
	struct dist__sim_rank *rank = *inside;

	if (!rank || dist__is_copied())
		return;
	rank->world->ops->finish(rank);
	longjmp(*rank->way_out, 1);
}

/* As much of the status as a process could hand on. */
static int run_program(struct dist__sim_rank *rank)
{
	struct dist__sim_rank *inside __attribute__((cleanup(leave_thread))) =
		rank;
	int status = rank->world->rank_main(rank->world->arg) & 0377;

	inside = NULL;
	return status;
}

void dist__sim_watch_rank(struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;
	jmp_buf way_out;

	rank->way_out = &way_out;
	rank->stack_top = (uintptr_t)__builtin_frame_address(0);
	dist__sim_watch_note(rank);
	if (setjmp(way_out))
		return;
	rank->status = run_program(rank);
	dist__sim_leave_copy(world, rank->status);
	world->ops->finish(rank);
}

/* ---- what is shared ----------------------------------------------------- */

/* The memory that a launcher shares with this process, its own child; NULL:
 * there is none. */
static struct dist__sim_watch *find_watch(int fd)
{
	struct dist__sim_watch *watch;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) || status.st_size < DIST__SIM_RECORDS)
		return NULL;
	watch = mmap(NULL, DIST__SIM_RECORDS, PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0);
	if (watch == MAP_FAILED)
		return NULL;
	if (watch->magic == DIST__SIM_WATCH_MAGIC &&
	    watch->watcher == getppid() && watch->phase == DIST__SIM_IDLE)
		return watch;
	(void)munmap(watch, DIST__SIM_RECORDS);
	return NULL;
}

/* Puts the records, which nobody has touched yet, where the watcher looks. */
static bool share_board(struct dist__sim_world *world, int fd)
{
	size_t bytes = check_board_bytes((uint32_t)world->present);
	struct check_board *board;

	if (!dist__file_fits(DIST__SIM_RECORDS + bytes) ||
	    ftruncate(fd, DIST__SIM_RECORDS) ||
	    ftruncate(fd, (off_t)(DIST__SIM_RECORDS + bytes)))
		return false;
	board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     DIST__SIM_RECORDS);
	if (board == MAP_FAILED)
		return false;
	check_board_init(board, (uint32_t)world->present);
	free(world->board);
	world->board = board;
	world->board_fd = fd;
	world->shares_board = true;
	return true;
}

bool dist__sim_watch_share(struct dist__sim_world *world)
{
	int fd;

	world->has_seats = true;
	if (world->shares_board)
		return true;
	fd = memfd_create("lockstep-records", MFD_CLOEXEC);
	return fd >= 0 && share_board(world, fd);
}

void dist__sim_watch_advance(void *arg)
{
	struct dist__sim_world *world = arg;

	world->watch->now_ns = (int64_t)(dist__engine->now_s() * 1e9);
	world->watch->steps++;
	if (here.asked)
		end_as_asked(world);
}

void dist__sim_watch_begin(struct dist__sim_world *world)
{
	struct dist__sim_watch *shared;

	shared = world->log ? NULL : find_watch(world->watch_fd);
	if (shared && share_board(world, world->watch_fd))
		world->watch = shared;
	else if (shared)
		(void)munmap(shared, DIST__SIM_RECORDS);
	here.world = world;
	here.process = getpid();
	dist__copy_joins();
	here.thread = pthread_self();
	world->watch->process = here.process;
	world->watch->timeout_ns = world->timeout_ns;
	world->watch->stack_bytes = world->stack_bytes;
	world->watch->tally = world->tally;
	if (world->token)
		snprintf(world->watch->token, sizeof world->watch->token, "%s",
			 world->token);
	/* Ranks that are threads have no handler's stack, and cannot leave
	 * exit(), of which there is one at a time. */
	if (dist__platform_can_copy() && !world->log)
		catch_signals();
	if (dist__platform_can_copy())
		catch_exit();
	catch_requests(world);
	world->watch->phase = DIST__SIM_BUSY;
}

void dist__sim_watch_end(struct dist__sim_world *world, int status)
{
	world->watch->verdict = status;
	world->watch->phase = DIST__SIM_IDLE;
	here.world = NULL;
	release_requests();
	release_signals();
}

void dist__sim_watch_copy(int fd, void *copy, const void *records, size_t bytes)
{
	off_t size = (off_t)bytes, at = 0, end;
	const char *from = records;
	char *to = copy;

	while (at < size) {
		at = lseek(fd, DIST__SIM_RECORDS + at, SEEK_DATA);
		if (at < 0)
			return;
		end = lseek(fd, at, SEEK_HOLE);
		at -= DIST__SIM_RECORDS;
		end = end < 0 ? size : end - DIST__SIM_RECORDS;
		end = end < size ? end : size;
		memcpy(to + at, from + at, (size_t)(end - at));
		at = end;
	}
}

bool dist__sim_watch_part(struct dist__sim_world *world)
{
	size_t bytes = check_board_bytes((uint32_t)world->present);
	void *own;

	here.process = getpid();
	dist__copy_joins();
	release_requests();
	release_signals();
	world->own_watch = *world->watch;
	world->own_watch.watcher = 0;
	world->watch = &world->own_watch;
	if (!world->shares_board)
		return true;
	own = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (own == MAP_FAILED)
		return false;
	dist__sim_watch_copy(world->board_fd, own, world->board, bytes);
	world->shares_board = false; /* though mapped yet */
	return mremap(own, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		      world->board) != MAP_FAILED;
}

void dist__sim_watch_release(struct dist__sim_world *world)
{
	if (world->shares_board)
		(void)munmap(world->board,
			     check_board_bytes((uint32_t)world->present));
	else
		free(world->board);
}
