/*
 * watch.h - what the simulating process shows to the process that watches it.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_WATCH_H
#define LOCKSTEP_SIM_WATCH_H

#include "sim/world.h"

/* dist__sim_watch_begin shows the world to the watching process, if there is
 * one, from now on; dist__sim_watch_end ends that: all is reported, and the
 * exit status is that. */
void dist__sim_watch_begin(struct dist__sim_world *world);

/* dist__sim_watch_advance notes for the watching process that the clock of the
 * world, arg, has advanced. */
void dist__sim_watch_advance(void *arg);
void dist__sim_watch_end(struct dist__sim_world *world, int status);

/* dist__sim_watch_rank runs the program of the calling actor, a rank, until it
 * returns or calls exit(), stores its status and finishes it. */
void dist__sim_watch_rank(struct dist__sim_rank *rank);

/* dist__sim_watch_part detaches this process, a copy, from the watching one,
 * and gives it records of its own. Returns false without memory. */
bool dist__sim_watch_part(struct dist__sim_world *world);

/* dist__sim_watch_share puts the records, still untouched, into a memory file
 * that ranks that are processes map: slot 0 is at DIST__SIM_RECORDS plus the
 * board's head. Returns false on failure, with errno. */
bool dist__sim_watch_share(struct dist__sim_world *world);

/* dist__sim_watch_release frees the records. */
void dist__sim_watch_release(struct dist__sim_world *world);

/* dist__sim_watch_copy copies bytes of the records, mapped from fd, into zeroed
 * memory: only pages that were written. */
void dist__sim_watch_copy(int fd, void *copy, const void *records,
			  size_t bytes);

#endif
