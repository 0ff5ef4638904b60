/* wait.c - threads of the library, and conditions with deadlines. */
#define _GNU_SOURCE /* pthread_setname_np() */
#include "base/wait.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* What a thread does to itself: held back, a fault ends the process without its
 * handlers, and raise() returns. */
static const int own_faults[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
				 SIGABRT, SIGTRAP, SIGSYS};

bool dist__thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t blocked, before;
	bool started;

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof own_faults / sizeof *own_faults; i++)
		sigdelset(&blocked, own_faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	started = pthread_create(thread, NULL, run, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		(void)pthread_setname_np(*thread, DIST__THREAD_NAME);
	return started;
}

/* Whether the thread with this file has the library's name. */
static bool is_own(const char *path)
{
	char name[32];
	FILE *comm = fopen(path, "r");
	bool own = comm && fgets(name, sizeof name, comm) &&
		   strcmp(name, DIST__THREAD_NAME "\n") == 0;

	if (comm)
		fclose(comm);
	return own;
}

uint32_t dist__thread_count(int64_t pid)
{
	char path[80];
	uint32_t count = 0;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%lld/task", (long long)pid);
	tasks = opendir(path);
	for (struct dirent *task; tasks && (task = readdir(tasks));) {
		snprintf(path, sizeof path, "/proc/%lld/task/%.20s/comm",
			 (long long)pid, task->d_name);
		count += task->d_name[0] != '.' && !is_own(path);
	}
	if (tasks)
		closedir(tasks);
	return count;
}

void dist__condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

bool dist__condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			  int64_t deadline_ns)
{
	struct timespec until;

	if (deadline_ns == DIST_TIMEOUT_NEVER) {
		pthread_cond_wait(condition, mutex);
		return true;
	}
	if (dist__clock_ns() >= deadline_ns)
		return false;
	until = dist__clock_timespec(deadline_ns);
	pthread_cond_timedwait(condition, mutex, &until);
	return true;
}
