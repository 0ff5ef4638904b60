/* wait.h - threads of the library, and waits with deadlines of
 * base/clock.h. */
#ifndef LOCKSTEP_BASE_WAIT_H
#define LOCKSTEP_BASE_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What threads of the library are called, so that others tell them from those
 * of the program. */
#define DIST__THREAD_NAME "lockstep-own"

/* dist__thread_start starts a thread that blocks all signals but those of its
 * own faults: the others are for the program's threads. False: it failed. */
bool dist__thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* dist__thread_count returns the number of the threads of a process, without
 * those of the library; 0: not known. */
uint32_t dist__thread_count(int64_t pid);

/* dist__condition_init makes a condition whose deadlines are on
 * CLOCK_MONOTONIC. */
void dist__condition_init(pthread_cond_t *condition);

/* dist__condition_wait sleeps until condition is signalled, until deadline_ns,
 * or spuriously ends early; mutex is held before and after. Returns false at
 * once if deadline_ns has passed; DIST_TIMEOUT_NEVER never does. */
bool dist__condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			  int64_t deadline_ns);

#endif
