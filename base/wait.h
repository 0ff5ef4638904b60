/* wait.h - threads of ours, and how they sleep until a deadline of
 * base/clock.h. */
#ifndef LOCKSTEP_BASE_WAIT_H
#define LOCKSTEP_BASE_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* dist__thread_start starts a thread that is deaf to signals: those are for the
 * program's own. False: it could not. */
bool dist__thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* dist__condition_init makes a condition of which the deadlines are times of
 * CLOCK_MONOTONIC. */
void dist__condition_init(pthread_cond_t *condition);

/* dist__condition_wait sleeps, with mutex held before and after, until
 * condition is signalled, deadline_ns has come, or for no reason at all. False,
 * at once, where deadline_ns has passed; with DIST_TIMEOUT_NEVER none does. */
bool dist__condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			  int64_t deadline_ns);

#endif
