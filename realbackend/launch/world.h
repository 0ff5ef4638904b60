/* world.h - the world of real processes over sockets and shared
 * memory. */
#ifndef LOCKSTEP_REALBACKEND_LAUNCH_WORLD_H
#define LOCKSTEP_REALBACKEND_LAUNCH_WORLD_H

#include "core/backend.h"

extern const struct dist__world dist__tcp_world;

/* Functions that the other worlds of real processes share. */
int dist__processes_launch(const struct dist_launch_options *options,
			   int (*rank_main)(void *arg), void *arg);
void dist__process_dump(void);

#endif
