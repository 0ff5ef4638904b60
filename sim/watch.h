/*
 * watch.h - the simulating process, seen by whoever watches it. Private to
 * sim/.
 */
#ifndef LOCKSTEP_SIM_WATCH_H
#define LOCKSTEP_SIM_WATCH_H

#include "sim/world.h"

/* dist__sim_watch_begin has who watches this process, if anybody does, see what
 * is simulated from now on; dist__sim_watch_end ends that: all is reported. */
void dist__sim_watch_begin(struct dist__sim_world *world);

/* dist__sim_watch_advance tells whoever watches the world, arg, that the clock
 * has gone on. */
void dist__sim_watch_advance(void *arg);
void dist__sim_watch_end(struct dist__sim_world *world);

/* dist__sim_watch_rank runs the program of the calling actor, a rank, until it
 * returns or calls exit(), stores its status and finishes it. */
void dist__sim_watch_rank(struct dist__sim_rank *rank);

/* dist__sim_watch_part makes this process, a copy, one that nobody watches, and
 * whose records are its own. False: no memory. */
bool dist__sim_watch_part(struct dist__sim_world *world);

/* dist__sim_watch_share puts the records, which nobody has touched yet, into a
 * file that the ranks, which are processes of their own, map: slot 0 lies at
 * DIST__SIM_RECORDS plus the board's head. False: there is none, with errno. */
bool dist__sim_watch_share(struct dist__sim_world *world);

/* dist__sim_watch_release frees the records. */
void dist__sim_watch_release(struct dist__sim_world *world);

/* dist__sim_watch_copy copies so many bytes of the records, mapped from fd,
 * into zeroed memory: the pages that anybody wrote. */
void dist__sim_watch_copy(int fd, void *copy, const void *records,
			  size_t bytes);

#endif
