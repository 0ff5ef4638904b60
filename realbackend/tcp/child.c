#include "realbackend/tcp/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "realbackend/tcp/signals.h"
#include "realbackend/tcp/socket.h"

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

static bool set_timeout(int64_t timeout_ns)
{
	char text[32];

	if (timeout_ns == 0)
		return true;
	snprintf(text, sizeof text, "%.9f", (double)timeout_ns / 1e9);
	return setenv("LOCKSTEP_TIMEOUT", text, 1) == 0;
}

static bool set_environment(const struct dist__plumbing *p, int rank)
{
	const struct dist__job_spec *spec = p->spec;
	char run_id[32];
	bool good = true;

	/* One machine: local numbers are the global ones. */
	snprintf(run_id, sizeof run_id, "lockstep-%ld", (long)getppid());
	good &= set_number("RANK", rank);
	good &= set_number("LOCAL_RANK", rank);
	good &= set_number("ROLE_RANK", rank);
	good &= set_number("WORLD_SIZE", spec->nproc);
	good &= set_number("LOCAL_WORLD_SIZE", spec->nproc);
	good &= set_number("ROLE_WORLD_SIZE", spec->nproc);
	good &= set_number("GROUP_RANK", 0);
	good &= set_number("GROUP_WORLD_SIZE", 1);
	good &= set_if("ROLE_NAME", "default");
	good &= set_if("MASTER_ADDR", p->master_addr);
	good &= set_number("MASTER_PORT", p->master_port);
	good &= set_number("TORCHELASTIC_RESTART_COUNT", 0);
	good &= set_number("TORCHELASTIC_MAX_RESTARTS", 0);
	good &= set_if("TORCHELASTIC_RUN_ID", run_id);
	good &= set_if("LOCKSTEP_BACKEND", "tcp");
	good &= set_if("LOCKSTEP_TRACE", spec->trace);
	good &= set_if("LOCKSTEP_PROFILE", spec->profile);
	good &= set_if("LOCKSTEP_ALGORITHM", spec->algorithm);
	good &= set_timeout(spec->timeout_ns);
	good &= set_number("LOCKSTEP_BOARD_FD", p->board_fd);
	unsetenv("LOCKSTEP_STORE_FD");
	if (rank == 0)
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

static _Noreturn void become_rank(int rank, const struct dist__plumbing *p,
				  pid_t launcher, const int write_fds[2],
				  const sigset_t *mask)
{
	bool good = true;
	int status;

	setpgid(0, 0);
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != launcher)
		_exit(DIST_EXIT_INTERNAL); /* it died before we could notice */
	dist__signals_restore(p->signals);
	sigprocmask(SIG_SETMASK, mask, NULL);
	good = redirect(write_fds) && set_environment(p, rank) &&
	       dist__socket_cloexec(p->board_fd, false);
	if (rank == 0)
		good = good && dist__socket_cloexec(p->store_fd, false);
	else
		close(p->store_fd);
	status = good ? p->spec->start(p->spec->arg) : DIST_EXIT_INTERNAL;
	fflush(NULL);
	/* What the parent registered with atexit() is the parent's. */
	_exit(status);
}

/* ---- in the launcher ---------------------------------------------------- */

static bool open_outputs(struct dist__child *child, int rank, int write_fds[2])
{
	return dist__relay_open(&child->outputs[0], rank, STDOUT_FILENO,
				&write_fds[0]) &&
	       dist__relay_open(&child->outputs[1], rank, STDERR_FILENO,
				&write_fds[1]);
}

bool dist__child_start(struct dist__child *child, int rank,
		       const struct dist__plumbing *plumbing)
{
	int write_fds[2] = {-1, -1}, error;
	pid_t pid = -1, launcher = getpid();
	sigset_t all, before;

	child->rank = rank;
	child->outputs[0].fd = child->outputs[1].fd = -1;
	if (!plumbing->spec->prefix_output ||
	    open_outputs(child, rank, write_fds)) {
		/* No handler of ours may run in the child. */
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, &before);
		pid = fork();
		if (pid == 0)
			become_rank(rank, plumbing, launcher, write_fds,
				    &before);
		error = errno;
		sigprocmask(SIG_SETMASK, &before, NULL);
		errno = error;
	}
	error = errno;
	for (int i = 0; i < 2; i++)
		if (write_fds[i] >= 0)
			close(write_fds[i]);
	if (pid < 0) {
		for (int i = 0; i < 2; i++)
			dist__relay_close(&child->outputs[i]);
		errno = error;
		return false;
	}
	/* Both sides do it, so that it is done for whoever looks first. */
	setpgid(pid, pid);
	child->pid = pid;
	return true;
}

void dist__child_look(struct dist__child *child)
{
	siginfo_t info = {0};

	if (child->ended || !child->pid ||
	    waitid(P_PID, (id_t)child->pid, &info,
		   WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid != child->pid)
		return;
	child->ended = true;
	child->by_signal = info.si_code != CLD_EXITED;
	child->code = info.si_status;
}

void dist__child_signal(const struct dist__child *child, int number)
{
	if (child->pid)
		kill(-child->pid, number);
}

void dist__child_reap(struct dist__child *child)
{
	while (child->pid && waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
}
