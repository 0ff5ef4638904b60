/*
 * own_engine.h - our own engine. Private to sim/engine/.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_ENGINE_H
#define LOCKSTEP_SIM_ENGINE_OWN_ENGINE_H

#include "sim/engine/engine.h"

/* dist__own_engine makes the own engine ready for the platform, which it
 * borrows, like the list of its hosts, and returns it; NULL: no memory. */
const struct dist__engine *dist__own_engine(struct dist__graph *graph,
					    const uint32_t *hosts);

#endif
