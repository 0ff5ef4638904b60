/*
 * threads.h - the lock of a rank that has several threads.
 *
 * A rank has one thread unless dist_allow_threads() was called, and then there
 * is no lock. All that core knows of a rank, its records included, is read and
 * written with the lock held; nobody holds it while he blocks in a back end.
 * A thread may take it twice.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_THREADS_H
#define LOCKSTEP_CORE_THREADS_H

#include <pthread.h>

#include "lockstep/dist.h"

struct dist__threads {
	pthread_mutex_t mutex;
	pthread_cond_t left; /* a thread has left the back end */
};

/*
 * dist__work_enter waits until no other thread is in the back end for work, or
 * the clock passes deadline_ns, and returns whether the caller, who holds the
 * lock, is: then it is not held any more, until dist__work_leave(). False: work
 * is done, or it is too late.
 */
bool dist__work_enter(struct dist_work *work, int64_t deadline_ns);
void dist__work_leave(struct dist_work *work);

/* dist__threads_free frees what dist_allow_threads() made; NULL is allowed. */
void dist__threads_free(struct dist__threads *threads);

#endif
