/*
 * seat.h - a simulated rank that is a process: `lockstep run --backend sim`
 * starts programs so that do not call dist_launch(). Its clock, and the store
 * that it shares with the other ranks. Most programs need only dist.h.
 */
#ifndef LOCKSTEP_SEAT_H
#define LOCKSTEP_SEAT_H

#include <sys/types.h>

#include "lockstep/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dist_seat_is_taken returns whether the calling process is such a rank; false
 * in what it forks. */
bool dist_seat_is_taken(void);

/* Simulated time that reading the clock takes, so that a loop that waits for a
 * time by reading it ends. */
#define DIST_SEAT_LOOK_NS 1000

/* dist_seat_now_ns returns the rank's clock: nanoseconds since the simulation
 * began; -1: the caller is no such rank. */
int64_t dist_seat_now_ns(void);

/* dist_seat_pass lets duration_ns pass on the rank's clock. Errors:
 * DIST_ERR_INVALID_ARGUMENT (a negative duration), DIST_ERR_UNAVAILABLE (the
 * caller is no such rank). */
enum dist_error dist_seat_pass(int64_t duration_ns);

/* dist_seat_store_new makes a handle of the store that all ranks of the
 * simulation share; to be freed by dist_store_free(). Waiting there takes
 * simulated time. Errors: DIST_ERR_INVALID_ARGUMENT (NULL),
 * DIST_ERR_UNAVAILABLE (the caller is no such rank), DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error dist_seat_store_new(struct dist_store **store);

/* dist_seat_ranks returns how many ranks the process has to fork, if lockstep
 * run started it for that; else -1. */
int dist_seat_ranks(void);

/* dist_seat_reap waits, in such a process, for all its children, and reports to
 * the simulation each rank that ends. pids holds the ranks' processes; 0: could
 * not be forked. Errors: DIST_ERR_INVALID_ARGUMENT (NULL),
 * DIST_ERR_UNAVAILABLE (it is not such a process). */
enum dist_error dist_seat_reap(const pid_t *pids);

#ifdef __cplusplus
}
#endif

#endif
