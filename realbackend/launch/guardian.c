#define _GNU_SOURCE /* pipe2 */
#include "realbackend/launch/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"

static _Noreturn void guard(int fd)
{
	pid_t *groups = NULL, group;
	size_t num = 0;

	/* Not in the group that a terminal's signals go to. */
	setpgid(0, 0);
	while (dist__read_all(fd, &group, sizeof group, -1) == sizeof group) {
		if (group == 0)
			num = 0;
		else if (group > 0)
			(void)dist__array_add(&groups, &num, &group,
					      sizeof group);
	}
	while (num > 0)
		kill(-groups[--num], SIGKILL);
	free(groups);
	_exit(0);
}

bool dist__guardian_start(struct dist__guardian *guardian)
{
	sigset_t all, before;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	/* Deaf to all but SIGKILL. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(ends[1]);
		guard(ends[0]);
	}
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	guardian->fd = ends[1];
	if (guardian->pid > 0)
		return true;
	close(ends[1]);
	guardian->pid = 0;
	errno = error;
	return false;
}

static void notify(const struct dist__guardian *guardian, pid_t group)
{
	if (guardian->pid)
		(void)dist__write_all(guardian->fd, &group, sizeof group, -1);
}

void dist__guardian_add(const struct dist__guardian *guardian, pid_t group)
{
	notify(guardian, group);
}

void dist__guardian_forget(const struct dist__guardian *guardian)
{
	notify(guardian, 0);
}

void dist__guardian_leave(const struct dist__guardian *guardian)
{
	if (guardian->pid)
		close(guardian->fd);
}

void dist__guardian_stop(struct dist__guardian *guardian)
{
	if (!guardian->pid)
		return;
	dist__guardian_forget(guardian);
	close(guardian->fd);
	while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
		;
	guardian->pid = 0;
}
