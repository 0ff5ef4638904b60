/*
 * watcher.c - the side that watches: starts the process that may simulate,
 * waits for it, and tells what became of a simulation in which a rank did not
 * let it go on.
 *
 * The process stops itself when a signal is about to end it, and when it is
 * asked where it is; either way it is looked at while it stands still.
 */
#define _GNU_SOURCE /* memfd_create */

#include "sim/watcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/file_limit.h"
#include "base/guardian.h"
#include "check/cause.h"
#include "check/death.h"
#include "check/record.h"
#include "lockstep/dist.h"
#include "sim/watch.h"
#include "sim/watch_report.h"

/* Looks in the time of patience; and so long for an answer, in looks. */
#define LOOKS     8
#define LOOK_NS   ((int64_t)1000000000)
#define ANSWER_NS ((int64_t)2000000000)
/* Between two requests to end: the first may be taken to write a trace. */
#define MERCY_NS ((int64_t)2000000000)

struct job {
	int fd;
	struct dist__sim_watch *watch;
	pid_t child;
	bool stopped, ended;
	int status;       /* of waitpid() */
	int asked;        /* signal that asks to end; 0: none has */
	int64_t asked_ns; /* when it was last passed on */

	/* How long nothing has happened, by looks that each took as long as
	 * they should: while all processes stand still, no time passes. */
	int64_t patience_ns, idle_ns, look_ns;
	uint64_t steps;
	struct check_board *board; /* as mapped; NULL: not yet */
	size_t bytes;
	uint32_t ranks;
};

static int complain(const char *what)
{
	fprintf(stderr, "lockstep: cannot %s: %s\n", what,
		dist__file_why(errno));
	return DIST_EXIT_INTERNAL;
}

/* ---- the records -------------------------------------------------------- */

/* Maps the records, which come with the simulation. */
static struct check_board *find_board(struct job *job)
{
	struct check_board *board;
	struct stat status;

	if (job->board || fstat(job->fd, &status) ||
	    status.st_size <= DIST__SIM_RECORDS)
		return job->board;
	job->bytes = (size_t)status.st_size - DIST__SIM_RECORDS;
	board = mmap(NULL, job->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		     job->fd, DIST__SIM_RECORDS);
	if (board == MAP_FAILED)
		return NULL;
	if (!check_board_valid(board, job->bytes) ||
	    check_board_bytes(board->world_size) != job->bytes) {
		(void)munmap(board, job->bytes);
		return NULL;
	}
	job->board = board;
	job->ranks = board->world_size;
	return board;
}

/* Copies the records, of which nothing is believed. NULL: there are none, or no
 * memory. */
static struct check_board *copy_board(struct job *job)
{
	const struct check_board *board = find_board(job);
	struct check_board *copy = board ? calloc(1, job->bytes) : NULL;

	if (!copy)
		return NULL;
	dist__sim_watch_copy(job->fd, copy, board, job->bytes);
	check_board_init(copy, job->ranks);
	for (uint32_t i = 0; i < job->ranks; i++)
		(void)check_slot_mend(&copy->slots[i], job->ranks);
	return copy;
}

/* A copy of what the process left, made fit to be read. */
static struct dist__sim_watch copy_watch(const struct job *job)
{
	struct dist__sim_watch watch = *job->watch;

	watch.process = job->child;
	watch.token[sizeof watch.token - 1] = '\0';
	if (watch.tally.fidelity > DIST__FIDELITY_FORMULA)
		watch.tally.fidelity = DIST__FIDELITY_AUTO;
	return watch;
}

/* Tells the verdict, from copies of all that the process wrote. */
static int report(struct job *job, const struct check_cause *cause)
{
	const struct dist__sim_watch watch = copy_watch(job);
	struct check_board *board = copy_board(job);
	int status;

	status = dist__sim_watch_report(&watch, board, cause, job->idle_ns);
	free(board);
	return status;
}

/* What goes up whenever anything happens. */
static uint64_t count_steps(struct job *job)
{
	const struct check_board *board = find_board(job);
	uint64_t steps = job->watch->steps;

	for (uint32_t i = 0; board && i < job->ranks; i++)
		steps += board->slots[i].calls + board->slots[i].generation;
	return steps;
}

/* ---- the end ------------------------------------------------------------ */

static bool is_busy(const struct job *job)
{
	return job->watch->phase == DIST__SIM_BUSY;
}

/* A signal is about to end the process, or has; or a rank has ended it by
 * itself, with _exit(). */
static int report_death(struct job *job)
{
	struct dist__sim_watch *watch = job->watch;
	struct check_cause cause = {
		.weight = 3, .rank = watch->rank, .lost = true};
	int number = watch->number;

	if (!number || number == DIST__SIM_LOOK_SIGNAL) {
		watch->spot = DIST__SIM_NOWHERE;
		watch->overflow = 0;
		cause.rank = watch->running;
		number = WIFSIGNALED(job->status) ? WTERMSIG(job->status) : 0;
	}
	if (number) {
		dist__sim_watch_describe(watch, number, cause.how,
					 sizeof cause.how);
	} else {
		cause.weight = WEXITSTATUS(job->status) ? 2 : 0;
		snprintf(cause.how, sizeof cause.how,
			 "ended the process with status %d",
			 WEXITSTATUS(job->status));
	}
	watch->phase = DIST__SIM_IDLE;
	job->idle_ns = 0;
	return report(job, &cause);
}

/* Ends by the signal that ended the child, or asked it to end. */
static int die(int number)
{
	const struct rlimit none = {0, 0};
	sigset_t set;

	fflush(NULL);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(number);
	return 128 + number;
}

static bool has_begun(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].state != CHECK_RANK_ABSENT)
			return true;
	return false;
}

static int conclude(struct job *job)
{
	const struct dist__sim_watch watch = copy_watch(job);
	bool by_signal = WIFSIGNALED(job->status);
	struct check_board *board;
	int status;

	if (job->asked && by_signal && is_busy(job)) {
		/* Somebody asked the job to end: where the ranks were. */
		board = copy_board(job);
		dist__sim_watch_report_interrupted(&watch, board, job->asked);
		free(board);
	}
	if (job->asked)
		return by_signal ? die(job->asked) : WEXITSTATUS(job->status);
	if (is_busy(job))
		return report_death(job);
	/* What handlers do at exit changes no other verdict than a good one. */
	if (by_signal && watch.verdict)
		return watch.verdict & 0377;
	board = job->status && !watch.verdict ? copy_board(job) : NULL;
	if (board && (!by_signal || has_begun(board))) {
		status =
			dist__sim_watch_report_late(&watch, board, job->status);
		free(board);
		return status;
	}
	/* Before any rank began. After them all was reported. */
	if (by_signal && (board || !find_board(job)))
		dist__sim_watch_report_interrupted(&watch, board,
						   WTERMSIG(job->status));
	free(board);
	return by_signal ? die(WTERMSIG(job->status))
			 : WEXITSTATUS(job->status);
}

/* ---- a rank without end ------------------------------------------------- */

/* Waits for the answer to the question where the process is. */
static bool is_answered(struct job *job)
{
	const struct timespec moment = {0, 5000000};

	for (int64_t ns = 0; ns < ANSWER_NS; ns += moment.tv_nsec) {
		if (waitpid(job->child, &job->status, WUNTRACED | WNOHANG) ==
		    job->child) {
			job->ended = !WIFSTOPPED(job->status);
			return !job->ended &&
			       job->watch->number == DIST__SIM_LOOK_SIGNAL;
		}
		(void)nanosleep(&moment, NULL);
	}
	return false;
}

/* Lets the process, which has answered, write its trace: it stops again then.
 * Returns whether it is still there. */
static bool await_trace(struct job *job)
{
	job->watch->ends = 1;
	(void)kill(job->child, SIGCONT);
	while (waitpid(job->child, &job->status, WUNTRACED) < 0)
		if (errno != EINTR)
			return false;
	return WIFSTOPPED(job->status);
}

/* The rank that runs, if one does, has done nothing for so long. Returns the
 * exit status; -1: the engine works, or nobody knows. */
static int judge_idle(struct job *job)
{
	struct dist__sim_watch *watch = job->watch;
	struct check_cause cause = {.weight = CHECK_CAUSE_PROVED, .lost = true};
	bool answered;
	int status;

	watch->number = 0;
	/* Who stands still cannot answer. */
	if (!job->stopped)
		(void)kill(job->child, DIST__SIM_LOOK_SIGNAL);
	answered = !job->stopped && is_answered(job);
	if (job->ended)
		return -1;
	cause.rank = answered ? watch->rank : watch->running;
	if (job->stopped)
		snprintf(cause.how, sizeof cause.how,
			 "a signal has stopped its process");
	/* Who blocks signals, or is asleep for good, does not answer. */
	if (!answered)
		watch->spot = DIST__SIM_NOWHERE;
	if ((answered && watch->spot != DIST__SIM_PROGRAM) || cause.rank < 0) {
		watch->number = 0;
		(void)kill(job->child, SIGCONT);
		return -1;
	}
	watch->phase = DIST__SIM_IDLE;
	status = report(job, &cause);
	if (!answered || await_trace(job)) {
		(void)kill(job->child, SIGKILL);
		while (waitpid(job->child, &job->status, 0) < 0 &&
		       errno == EINTR)
			;
	}
	job->ended = true;
	return status;
}

/* Whether nothing has happened for too long, now that a look took took_ns. */
static bool is_idle(struct job *job, int64_t took_ns)
{
	uint64_t steps = count_steps(job);

	if (job->patience_ns == 0 || !is_busy(job) || steps != job->steps) {
		job->steps = steps;
		job->idle_ns = 0;
		return false;
	}
	job->idle_ns += took_ns < 2 * job->look_ns ? took_ns : job->look_ns;
	return job->idle_ns >= job->patience_ns;
}

/* ---- watching ----------------------------------------------------------- */

/* What asks to end, and tells of the child. */
static sigset_t awaited(void)
{
	static const int list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		sigaddset(&set, list[i]);
	return set;
}

/* The child has stopped, to be looked at or because somebody else wants it, or
 * goes on, or has ended. */
static void look_at_child(struct job *job, int *verdict)
{
	int status;

	while (!job->ended && waitpid(job->child, &status,
				      WUNTRACED | WCONTINUED | WNOHANG) > 0) {
		job->stopped = WIFSTOPPED(status);
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			job->status = status;
			job->ended = true;
		} else if (job->stopped && job->watch->number > 0) {
			/* A late answer is no news. */
			if (job->watch->number != DIST__SIM_LOOK_SIGNAL &&
			    is_busy(job))
				*verdict = report_death(job);
			job->watch->number = 0;
			(void)kill(job->child, SIGCONT);
		}
	}
}

static int watch(struct job *job)
{
	sigset_t set = awaited();
	struct timespec look;
	int verdict = -1, number;
	siginfo_t info;

	job->look_ns = job->patience_ns / LOOKS;
	if (job->look_ns == 0 || job->look_ns > LOOK_NS)
		job->look_ns = LOOK_NS;
	look = (struct timespec){job->look_ns / 1000000000,
				 job->look_ns % 1000000000};
	while (!job->ended) {
		int64_t since_ns = dist__clock_ns();

		number = sigtimedwait(&set, &info, &look);
		if (number > 0 && number != SIGCHLD) {
			job->asked = number;
			job->asked_ns = dist__clock_ns();
			/* The keys of a terminal reach it by themselves. */
			if (info.si_code != SI_KERNEL)
				(void)kill(job->child, number);
		} else if (job->asked &&
			   dist__clock_ns() - job->asked_ns >= MERCY_NS) {
			job->asked_ns = dist__clock_ns();
			(void)kill(job->child, job->asked);
		}
		look_at_child(job, &verdict);
		if (!job->ended && number < 0 &&
		    is_idle(job, dist__clock_ns() - since_ns)) {
			verdict = judge_idle(job);
			job->idle_ns = 0;
		}
	}
	return verdict >= 0 ? verdict : conclude(job);
}

/* ---- the beginning ------------------------------------------------------ */

static bool make_watch(struct job *job)
{
	char text[16];

	job->fd = memfd_create("lockstep", 0);
	if (job->fd < 0 || !dist__file_fits(DIST__SIM_RECORDS) ||
	    ftruncate(job->fd, DIST__SIM_RECORDS))
		return false;
	job->watch = mmap(NULL, DIST__SIM_RECORDS, PROT_READ | PROT_WRITE,
			  MAP_SHARED, job->fd, 0);
	if (job->watch == MAP_FAILED)
		return false;
	*job->watch = (struct dist__sim_watch){
		.magic = DIST__SIM_WATCH_MAGIC,
		.watcher = getpid(),
		.running = -1,
		.kills = check_kills_for_memory(),
	};
	snprintf(text, sizeof text, "%d", job->fd);
	return setenv(DIST__SIM_WATCH_VARIABLE, text, 1) == 0;
}

static _Noreturn void simulate(int (*start)(void *arg), void *arg,
			       struct dist__guardian *guardian, pid_t watcher,
			       const sigset_t *mask)
{
#ifdef __linux__
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != watcher)
		_exit(DIST_EXIT_INTERNAL); /* it died before we could notice */
	dist__guardian_leave(guardian);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	exit(start(arg));
}

int dist__sim_watch_run(int (*start)(void *arg), void *arg, int64_t patience_ns)
{
	struct job job = {.patience_ns = patience_ns};
	struct dist__guardian guardian;
	sigset_t set = awaited(), before;
	pid_t watcher = getpid();
	int status;

	if (!make_watch(&job))
		return complain("make memory to watch a simulation");
	if (!dist__guardian_start(&guardian))
		return complain("start a process");
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would not come */
	(void)sigprocmask(SIG_BLOCK, &set, &before);
	fflush(NULL);
	job.child = fork();
	if (job.child == 0)
		simulate(start, arg, &guardian, watcher, &before);
	if (job.child < 0)
		status = complain("start a process");
	else
		status = watch(&job);
	dist__guardian_stop(&guardian);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (job.board)
		(void)munmap(job.board, job.bytes);
	(void)munmap(job.watch, DIST__SIM_RECORDS);
	close(job.fd);
	return status;
}
