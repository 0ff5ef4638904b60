/* lock.h - a lock for data that a signal handler uses. Private to check/watch/.
 */
#ifndef LOCKSTEP_CHECK_WATCH_LOCK_H
#define LOCKSTEP_CHECK_WATCH_LOCK_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

struct dist__lock {
	atomic_flag flag;
	sigset_t mask; /* of the holding thread, before */
};

/* dist__lock_take waits for lock and blocks all signals until
 * dist__lock_give(). */
static inline void dist__lock_take(struct dist__lock *lock)
{
	sigset_t all, mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	while (atomic_flag_test_and_set_explicit(&lock->flag,
						 memory_order_acquire))
		;
	lock->mask = mask;
}

static inline void dist__lock_give(struct dist__lock *lock)
{
	sigset_t mask = lock->mask;

	atomic_flag_clear_explicit(&lock->flag, memory_order_release);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

#endif
