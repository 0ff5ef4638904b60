/* wait.c - threads that block all signals, and conditions with deadlines. */
#include "base/wait.h"

#include <signal.h>

#include "base/clock.h"

bool dist__thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(thread, NULL, run, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
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
