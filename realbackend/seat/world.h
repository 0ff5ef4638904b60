/* world.h - the simulated world, as a rank that is a process of its own sees
 * it. */
#ifndef LOCKSTEP_SEAT_WORLD_H
#define LOCKSTEP_SEAT_WORLD_H

#include "core/backend.h"

extern const struct dist__world dist__seat_world;

/* dist__seat_is_here returns whether this process was started as a rank of a
 * simulation. */
bool dist__seat_is_here(void);

#endif
