/* world.h - real processes over sockets and shared memory, as the table of
 * worlds lists them. */
#ifndef LOCKSTEP_REALBACKEND_LAUNCH_WORLD_H
#define LOCKSTEP_REALBACKEND_LAUNCH_WORLD_H

#include "core/backend.h"

extern const struct dist__world dist__tcp_world;

#endif
