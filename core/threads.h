/*
 * threads.h - the lock of a rank that has several threads.
 *
 * A rank has one thread, and no lock, unless dist_allow_threads() was called.
 * All state of a rank in core, its records included, is read and written with
 * the lock held. No thread holds it while it blocks in a back end. The lock is
 * recursive.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_THREADS_H
#define LOCKSTEP_CORE_THREADS_H

#include "lockstep/dist.h"

struct dist__threads; /* core/state.h */

/*
 * dist__work_enter waits until no other thread is in the back end for work, or
 * the clock passes deadline_ns. Caller: holds the lock. Returns true if the
 * caller may enter: the lock is then free until dist__work_leave(). False: work
 * is done, or the deadline passed.
 */
bool dist__work_enter(struct dist_work *work, int64_t deadline_ns);
void dist__work_leave(struct dist_work *work);

/* dist__calls_await waits until no other thread is in a call on group. */
void dist__calls_await(struct dist_group *group);

/* dist__threads_free frees what dist_allow_threads() made; NULL is allowed. */
void dist__threads_free(struct dist__threads *threads);

#endif
