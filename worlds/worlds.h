/*
 * worlds.h - the one table of worlds. Programs and the command are above it;
 * below are the worlds, which do not know each other.
 */
#ifndef LOCKSTEP_WORLDS_WORLDS_H
#define LOCKSTEP_WORLDS_WORLDS_H

#include "core/backend.h"

/* dist__worlds returns the table; NULL ends it. */
const struct dist__world *const *dist__worlds(void);

/* dist__world_find returns the world called name, in any case, or NULL. */
const struct dist__world *dist__world_find(const char *name);

/* dist__world_refuse writes that there is no world of that name, and the legal
 * names, to message; returns INVALID_ARGUMENT. */
enum dist_error dist__world_refuse(const char *name,
				   struct dist_message *message);

/* dist__world_of_process is dist__world_find for a program. If this process is
 * a rank of a simulation that runs in another process, the simulated world is
 * found, too. */
const struct dist__world *dist__world_of_process(const char *name);

/* dist__world_check returns whether world can run here. Errors, with why:
 * INVALID_ARGUMENT (a variable that the user set for it), UNAVAILABLE. */
enum dist_error dist__world_check(const struct dist__world *world,
				  struct dist_message *why);

/* dist__world_prepare prepares this process to start num_ranks of world here,
 * and prints on stderr what was done. Does nothing in a rank. */
void dist__world_prepare(const struct dist__world *world, int num_ranks);

#endif
