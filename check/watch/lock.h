/* lock.h - a lock of what a handler of signals needs. Private to check/watch/.
 */
#ifndef LOCKSTEP_CHECK_WATCH_LOCK_H
#define LOCKSTEP_CHECK_WATCH_LOCK_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

struct dist__lock {
	atomic_flag flag;
	sigset_t mask; /* of the thread that has it, before */
};

/* dist__lock_take waits for lock; no signal is let in until
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
