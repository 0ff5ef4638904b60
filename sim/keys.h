/*
 * keys.h - how ranks of a simulation wait for others without a message: the
 * calls of the world in core/backend.h that say so. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_KEYS_H
#define LOCKSTEP_SIM_KEYS_H

#include "sim/world.h"

/* dist__sim_caller returns the rank that calls; NULL: none does. */
struct dist__sim_rank *dist__sim_caller(void);

/* They are pause, await_key, has_stored and ask_again of struct dist__world. */
enum dist_error dist__sim_pause(int64_t duration_ns);
enum dist_error dist__sim_await_key(uint64_t key, int64_t duration_ns,
				    bool gives_up);
void dist__sim_has_stored(uint64_t key);
enum dist_error dist__sim_ask_again(uint64_t key);

#endif
