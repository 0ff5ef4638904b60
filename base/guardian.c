#define _GNU_SOURCE /* pipe2 */
#include "base/guardian.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/io.h"

/* In place of a process group. */
#define FORGET 0
#define LEAVE  (-1)
/* What is killed may start more meanwhile. */
#define PASSES 16

static bool is_marked(const char *pid, const char *mark)
{
	char path[64], *entry = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%.32s/environ", pid);
	file = fopen(path, "re");
	while (file && !found && getdelim(&entry, &room, '\0', file) > 0)
		found = strcmp(entry, mark) == 0;
	free(entry);
	if (file)
		fclose(file);
	return found;
}

/* Returns how many there were. */
static int kill_marked(const char *mark)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int num = 0;

	while (processes && (entry = readdir(processes))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() &&
		    is_marked(entry->d_name, mark) && kill(pid, SIGKILL) == 0)
			num++;
	}
	if (processes)
		closedir(processes);
	return num;
}

static _Noreturn void guard(int fd, const char *mark)
{
	pid_t *groups = NULL, group;
	size_t num = 0;

	/* Not in the group that a terminal's signals go to. */
	setpgid(0, 0);
	while (dist__read_all(fd, &group, sizeof group, -1) == sizeof group) {
		if (group == LEAVE)
			_exit(0);
		else if (group == FORGET)
			num = 0;
		else
			(void)dist__array_add(&groups, &num, &group,
					      sizeof group);
	}
	while (num > 0)
		kill(-groups[--num], SIGKILL);
	free(groups);
	for (int i = 0; i < PASSES && kill_marked(mark) > 0; i++)
		;
	_exit(0);
}

bool dist__guardian_start(struct dist__guardian *guardian)
{
	sigset_t all, before;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	snprintf(guardian->mark, sizeof guardian->mark,
		 "LOCKSTEP_LAUNCHER=%d.%lld", (int)getpid(),
		 (long long)dist__clock_ns());
	/* Deaf to all but SIGKILL. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(ends[1]);
		guard(ends[0], guardian->mark);
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
	notify(guardian, FORGET);
}

void dist__guardian_leave(struct dist__guardian *guardian)
{
	if (!guardian->pid)
		return;
	close(guardian->fd);
	(void)putenv(guardian->mark);
}

void dist__guardian_stop(struct dist__guardian *guardian)
{
	if (!guardian->pid)
		return;
	notify(guardian, LEAVE);
	close(guardian->fd);
	while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
		;
	guardian->pid = 0;
}
