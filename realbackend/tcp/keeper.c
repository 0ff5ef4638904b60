#include "realbackend/tcp/keeper.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "realbackend/tcp/store_server.h"

/* Deaf to all signals but SIGKILL: those of the terminal are the launcher's. */
static _Noreturn void keep(int listener, pid_t launcher)
{
	struct dist__store_server *server;

	setpgid(0, 0);
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != launcher ||
	    dist__store_server_start(listener, &server) != DIST_OK)
		_exit(DIST_EXIT_INTERNAL);
	for (;;)
		pause();
}

pid_t dist__keeper_start(int listener)
{
	pid_t launcher = getpid(), pid;
	sigset_t all, before;
	int error;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		keep(listener, launcher);
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(listener);
	errno = error;
	return pid;
}

void dist__keeper_stop(pid_t keeper)
{
	kill(keeper, SIGKILL);
	while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
		;
}
