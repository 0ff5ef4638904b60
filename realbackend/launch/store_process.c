#include "realbackend/launch/store_process.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "realbackend/store/store_server.h"

/* Deaf to all signals but SIGKILL: those of the terminal are the launcher's. */
static _Noreturn void
keep(int listener, const struct dist__store_agents *agents, pid_t launcher)
{
	struct dist__store_server *server;

	setpgid(0, 0);
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != launcher ||
	    dist__store_server_lead(listener, agents, &server) != DIST_OK)
		_exit(DIST_EXIT_INTERNAL);
	for (;;)
		pause();
}

pid_t dist__store_process_start(int listener, const char *run, int *leader)
{
	struct dist__store_agents agents = {.run = run};
	pid_t launcher = getpid(), pid = -1;
	sigset_t all, before;
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
		error = errno;
		close(listener);
		errno = error;
		return -1;
	}
	agents.leader = ends[0];
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		keep(listener, &agents, launcher);
	}
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(listener);
	close(ends[0]);
	if (pid < 0)
		close(ends[1]);
	*leader = ends[1];
	errno = error;
	return pid;
}

void dist__store_process_stop(pid_t store_process)
{
	kill(store_process, SIGKILL);
	while (waitpid(store_process, NULL, 0) < 0 && errno == EINTR)
		;
}
