/*
 * worlds.h - the one table of worlds. Above it are programs and the command,
 * below it are the worlds, which do not know each other.
 */
#ifndef LOCKSTEP_WORLDS_WORLDS_H
#define LOCKSTEP_WORLDS_WORLDS_H

#include "core/backend.h"

/* dist__worlds returns the table, ended by NULL. */
const struct dist__world *const *dist__worlds(void);

/* dist__world_find returns the world named name in any case, or NULL. */
const struct dist__world *dist__world_find(const char *name);

/* dist__world_refuse says that there is no world of that name, and which there
 * are; returns INVALID_ARGUMENT. */
enum dist_error dist__world_refuse(const char *name,
				   struct dist_message *message);

/* dist__world_of_process is dist__world_find for a program: where this process
 * is a rank of a simulation that runs in another, the simulated world is
 * there. */
const struct dist__world *dist__world_of_process(const char *name);

/* dist__world_check returns whether world can run here. Errors, with why:
 * INVALID_ARGUMENT (what the user has set for it), UNAVAILABLE. */
enum dist_error dist__world_check(const struct dist__world *world,
				  struct dist_message *why);

/* dist__world_prepare readies this process to start so many ranks of world
 * here, and says on stderr what was done. Nothing to do in a rank. */
void dist__world_prepare(const struct dist__world *world, int num_ranks);

#endif
