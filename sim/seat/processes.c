/*
 * processes.c - starts the ranks, and waits for them: a process between the
 * simulation, which has other things to do, and theirs.
 *
 * When the simulation ends so does this process, and with it the ranks.
 */
#include "sim/seat/processes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"

static void set_number(const char *name, long value)
{
	char text[24];

	snprintf(text, sizeof text, "%ld", value);
	(void)setenv(name, text, 1);
}

/* What a launcher says to all: there is no restart, and a store of its own. */
static void set_world(const struct dist__seat_job *job, int world_size)
{
	int local = job->nproc_per_node;

	set_number("WORLD_SIZE", world_size);
	set_number("LOCAL_WORLD_SIZE", local);
	set_number("GROUP_WORLD_SIZE", (world_size + local - 1) / local);
	set_number("ROLE_WORLD_SIZE", world_size);
	set_number("TORCHELASTIC_RESTART_COUNT", 0);
	set_number("TORCHELASTIC_MAX_RESTARTS", 0);
	(void)setenv("ROLE_NAME", "default", 0);
	(void)setenv("TORCHELASTIC_RUN_ID", "lockstep", 0);
	(void)setenv("TORCHELASTIC_USE_AGENT_STORE", "False", 1);
}

static _Noreturn void become(const struct dist__seat_job *job, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(DIST_EXIT_INTERNAL);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGQUIT, SIG_DFL);
	execv(job->argv[0], job->argv);
	fprintf(stderr, "lockstep: %s: %s\n", job->argv[0], strerror(errno));
	_exit(DIST_EXIT_USAGE);
}

/* Starts a process a rank; what cannot be started has left. */
static void start_each(const struct dist__seat_job *job,
		       struct dist__seat_head *head, pid_t *pids)
{
	pid_t self = getpid();

	for (int rank = 0; rank < head->present; rank++) {
		pids[rank] = fork();
		if (pids[rank] == 0) {
			int local = job->nproc_per_node;

			/* What a launcher says to a rank, as torchrun does. */
			set_number("RANK", rank);
			set_number("LOCAL_RANK", rank % local);
			set_number("GROUP_RANK", rank / local);
			set_number("ROLE_RANK", rank);
			become(job, self);
		}
		if (pids[rank] > 0)
			continue;
		fprintf(stderr, "lockstep: cannot start rank %d: %s\n", rank,
			strerror(errno));
		dist__seat_leave(dist__seat_at(head, rank),
				 DIST_EXIT_INTERNAL << 8);
	}
}

static bool has_any_left(struct dist__seat_head *head)
{
	for (int rank = 0; rank < head->present; rank++)
		if (dist__seat_at(head, rank)->left)
			return true;
	return false;
}

static _Noreturn void start(const struct dist__seat_job *job,
			    struct dist__seat_head *head, int fd)
{
	pid_t *pids = calloc((size_t)head->present, sizeof *pids);
	int status = DIST_EXIT_INTERNAL << 8;
	char seats[64];

	snprintf(seats, sizeof seats, "/proc/%ld/fd/%d", (long)getppid(), fd);
	(void)setenv(DIST__SEAT_VARIABLE, seats, 1);
	(void)setenv("MASTER_ADDR", "127.0.0.1", 0);
	(void)setenv("MASTER_PORT", "29500", 0);
	(void)setenv("OMP_NUM_THREADS", "1", 0);
	/* The order of sets of Python is the same in every run. */
	(void)setenv("PYTHONHASHSEED", "0", 0);
	set_world(job, head->world_size);
	/* Of the simulation, not of a rank in it. */
	(void)unsetenv("LOCKSTEP_TRACE");
	(void)unsetenv("LOCKSTEP_EXPLORE");
	(void)unsetenv("LOCKSTEP_REPLAY");
	(void)unsetenv("LOCKSTEP_REPRESENT");
	(void)unsetenv("LOCKSTEP_WATCH_FD");
	if (pids && job->forks) {
		/* That process forks the ranks, and reports them. */
		pid_t self = getpid(), pid = fork();

		if (pid == 0)
			become(job, self);
		if (pid < 0)
			fprintf(stderr, "lockstep: cannot start %s: %s\n",
				job->argv[0], strerror(errno));
	} else if (pids)
		start_each(job, head, pids);
	if (pids)
		status = dist__seat_reap(head, pids);
	if (job->forks && WIFEXITED(status) &&
	    WEXITSTATUS(status) == DIST_EXIT_USAGE && !has_any_left(head))
		head->refused = DIST_EXIT_USAGE;
	/* It may not have come to forking all. */
	for (int rank = 0; rank < head->present; rank++)
		dist__seat_leave(dist__seat_at(head, rank), status);
	_exit(DIST_EXIT_OK);
}

pid_t dist__seat_start(const struct dist__seat_job *job,
		       struct dist__seat_head *head, int fd)
{
	pid_t self = getpid(), pid;
	sigset_t none;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		_exit(DIST_EXIT_INTERNAL);
	for (int number = 1; number < SIGRTMIN; number++)
		(void)signal(number, SIG_DFL);
	/* Keys of a terminal are for the ranks. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	start(job, head, fd);
}
