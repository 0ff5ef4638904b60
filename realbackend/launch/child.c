#include "realbackend/launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guardian.h"
#include "check/death.h"
#include "realbackend/launch/python_notes.h"
#include "realbackend/launch/signals.h"
#include "realbackend/wire/socket.h"

/* ---- in the child ------------------------------------------------------- */

static bool set_number(const char *name, long number)
{
	char text[24];

	snprintf(text, sizeof text, "%ld", number);
	return setenv(name, text, 1) == 0;
}

static bool set_if(const char *name, const char *text)
{
	return !text || setenv(name, text, 1) == 0;
}

static bool set_seconds(const char *name, int64_t ns)
{
	char text[32];

	snprintf(text, sizeof text, "%.9f", (double)ns / 1e9);
	return setenv(name, text, 1) == 0;
}

static bool set_place(const struct dist__plumbing *p, int local_rank)
{
	const struct dist__seat *seat = &p->seat;
	bool good = true;

	good &= set_number("RANK", seat->first_rank + local_rank);
	good &= set_number("LOCAL_RANK", local_rank);
	good &= set_number("ROLE_RANK", seat->first_role_rank + local_rank);
	good &= set_number("WORLD_SIZE", seat->world_size);
	good &= set_number("LOCAL_WORLD_SIZE", p->spec->nproc);
	good &= set_number("ROLE_WORLD_SIZE", seat->role_world_size);
	good &= set_number("GROUP_RANK", seat->node);
	good &= set_number("GROUP_WORLD_SIZE", seat->num_nodes);
	good &= set_if("MASTER_ADDR", seat->master_addr);
	good &= set_number("MASTER_PORT", seat->master_port);
	good &= set_number("LOCKSTEP_MASTER_PORT", seat->master_port);
	good &= set_number("LOCKSTEP_STORE_PORT", seat->store_port);
	good &= set_number("TORCHELASTIC_RESTART_COUNT", seat->round);
	return good;
}

static bool set_error_file(const struct dist__plumbing *p, int local_rank)
{
	struct dist__streams_rank rank = {.round = p->seat.round,
					  .local_rank = local_rank};
	char path[4096];

	return !dist__streams_path(p->streams, &rank, "error.json", path,
				   sizeof path) ||
	       setenv("TORCHELASTIC_ERROR_FILE", path, 1) == 0;
}

static bool set_environment(const struct dist__plumbing *p, int local_rank)
{
	const struct dist__job_spec *spec = p->spec;
	const char *run_id = spec->nodes.run_id;
	bool good = set_place(p, local_rank) && set_error_file(p, local_rank);
	char own_id[32];

	snprintf(own_id, sizeof own_id, "lockstep-%ld", (long)getppid());
	good &= set_if("ROLE_NAME", spec->role ? spec->role : "default");
	good &= set_number("TORCHELASTIC_MAX_RESTARTS", spec->max_restarts);
	good &= set_if("TORCHELASTIC_RUN_ID", run_id ? run_id : own_id);
	/* Rank 0 serves the program's store itself. */
	good &= set_if("TORCHELASTIC_USE_AGENT_STORE", "False");
	good &= setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1", 0) == 0;
	/* UCX, below an MPI, would report a crash in our place (crash.h). */
	good &= setenv("UCX_ERROR_SIGNALS", "", 0) == 0;
	good &= set_if("LOCKSTEP_BACKEND",
		       spec->backend ? spec->backend : "tcp");
	good &= set_if("LOCKSTEP_TRACE", spec->trace);
	good &= set_if("LOCKSTEP_PROFILE", spec->profile);
	good &= set_if("LOCKSTEP_ALGORITHM", spec->algorithm);
	good &= set_if("LOCKSTEP_DEBUG", spec->debug);
	if (spec->timeout_ns)
		good &= set_seconds("LOCKSTEP_TIMEOUT", spec->timeout_ns);
	if (spec->nodes.max_nodes > 1 && !getenv("LOCKSTEP_KEEP_ALIVE"))
		good &= set_seconds("LOCKSTEP_KEEP_ALIVE",
				    spec->nodes.keep_alive_ns);
	good &= set_number("LOCKSTEP_BOARD_FD", p->board_fd);
	unsetenv("LOCKSTEP_OWN_RANKS");
	if (p->own_path[0])
		good &= set_if("LOCKSTEP_OWN_RANKS", p->own_path);
	unsetenv("LOCKSTEP_STORE_FD");
	if (p->store_fd >= 0 && p->seat.first_rank + local_rank == 0)
		good &= set_number("LOCKSTEP_STORE_FD", p->store_fd);
	return good;
}

/* A process group of its own cannot read the terminal: it would be stopped. */
static bool redirect(const int write_fds[2])
{
	int null;

	if (isatty(STDIN_FILENO)) {
		null = open("/dev/null", O_RDONLY);
		if (null < 0 || dup2(null, STDIN_FILENO) < 0)
			return false;
		close(null);
	}
	for (int i = 0; i < 2; i++)
		if (write_fds[i] >= 0 &&
		    dup2(write_fds[i], STDOUT_FILENO + i) < 0)
			return false;
	return true;
}

/* The status of a rank that ends: results that did not reach their file are no
 * results. */
static int flush_output(int status)
{
	fflush(NULL);
	if (!ferror(stdout) || status)
		return status;
	perror("lockstep: standard output");
	return DIST_EXIT_FAILED;
}

static _Noreturn void become_rank(int local_rank, int notes_fd,
				  const struct dist__plumbing *p,
				  pid_t launcher, const int write_fds[2],
				  const sigset_t *mask)
{
	bool good = true;
	int status;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != launcher)
		_exit(DIST_EXIT_INTERNAL); /* it died before we could notice */
	dist__guardian_leave(p->guardian);
	dist__signals_restore(p->signals);
	sigprocmask(SIG_SETMASK, mask, NULL);
	good = redirect(write_fds) && set_environment(p, local_rank) &&
	       dist__socket_cloexec(p->board_fd, false);
	if (p->store_fd >= 0 && p->seat.first_rank + local_rank == 0)
		good = good && dist__socket_cloexec(p->store_fd, false);
	else if (p->store_fd >= 0)
		close(p->store_fd);
	unsetenv("LOCKSTEP_NOTES");
	if (notes_fd >= 0)
		good = good && dist__notes_pass(notes_fd);
	status = good ? p->spec->start(p->spec->arg) : DIST_EXIT_INTERNAL;
	/* What the parent registered with atexit() is the parent's. */
	_exit(flush_output(status));
}

/* ---- in the launcher ---------------------------------------------------- */

/* -1: the system refused. */
static pid_t fork_rank(int local_rank, int notes_fd,
		       const struct dist__plumbing *plumbing,
		       const int write_fds[2])
{
	pid_t pid, launcher = getpid();
	sigset_t all, before;
	int error;

	/* No handler of ours may run in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become_rank(local_rank, notes_fd, plumbing, launcher, write_fds,
			    &before);
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

bool dist__child_start(struct dist__child *child, int local_rank,
		       const struct dist__plumbing *plumbing)
{
	struct dist__streams_rank place = {.round = plumbing->seat.round,
					   .rank = plumbing->seat.first_rank +
						   local_rank,
					   .local_rank = local_rank};
	int write_fds[2], error;
	pid_t pid = -1;

	child->rank = place.rank;
	child->local_rank = local_rank;
	child->kills = check_kills_for_memory();
	/* Without it only the notes are missing. */
	child->notes_fd = plumbing->spec->is_python ? dist__notes_new() : -1;
	if (dist__streams_attach(plumbing->streams, &place, child->outputs,
				 write_fds))
		pid = fork_rank(local_rank, child->notes_fd, plumbing,
				write_fds);
	error = errno;
	for (int i = 0; i < 2; i++) {
		if (write_fds[i] >= 0)
			close(write_fds[i]);
		if (pid < 0)
			dist__relay_close(&child->outputs[i]);
	}
	if (pid < 0 && child->notes_fd >= 0)
		close(child->notes_fd);
	errno = error;
	if (pid < 0)
		return false;
	/* Both sides do it, so that it is done for whoever looks first. */
	setpgid(pid, pid);
	dist__guardian_add(plumbing->guardian, pid);
	child->pid = child->was = pid;
	return true;
}

void dist__child_look(struct dist__child *child)
{
	siginfo_t info = {0};

	if (child->ended || !child->pid ||
	    waitid(P_PID, (id_t)child->pid, &info,
		   WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0)
		return;
	if (info.si_pid != child->pid) {
		child->stopped_ns = 0;
		return;
	}
	if (info.si_code == CLD_STOPPED) {
		if (!child->stopped_ns)
			child->stopped_ns = dist__clock_ns();
		return;
	}
	child->ended = true;
	child->by_signal = info.si_code != CLD_EXITED;
	child->code = info.si_status;
	clock_gettime(CLOCK_REALTIME, &child->ended_at);
}

int64_t dist__child_starved(const struct dist__child *child)
{
	unsigned long long ran, waited = 0;
	char path[48];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)child->was);
	file = fopen(path, "r");
	if (file && fscanf(file, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (file)
		fclose(file);
	return (int64_t)waited;
}

void dist__child_signal(struct dist__child *child, int number)
{
	child->stopping |= !child->ended;
	if (child->pid)
		kill(-child->pid, number);
}

void dist__child_reap(struct dist__child *child)
{
	while (child->pid && waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
}
