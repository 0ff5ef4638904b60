/* world.h - the world of real processes with a GPU each.
 */
#ifndef LOCKSTEP_REALBACKEND_NCCL_WORLD_H
#define LOCKSTEP_REALBACKEND_NCCL_WORLD_H

#include "core/backend.h"

extern const struct dist__world dist__nccl_world;

#endif
