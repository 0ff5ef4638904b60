/* world.h - the simulated world, for a rank that runs in its own process. */
#ifndef LOCKSTEP_SEAT_WORLD_H
#define LOCKSTEP_SEAT_WORLD_H

#include "core/backend.h"

extern const struct dist__world dist__seat_world;

/* dist__seat_is_here returns whether this process was started as a rank of a
 * simulation. */
bool dist__seat_is_here(void);

#endif
