/*
 * own_engine.h - our own engine. Private to sim/engine/.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_ENGINE_H
#define LOCKSTEP_SIM_ENGINE_OWN_ENGINE_H

#include "sim/engine/engine.h"

/* dist__own_engine makes the own engine ready for the platform that is loaded,
 * and returns it; NULL: no memory. */
const struct dist__engine *dist__own_engine(const sg_host_t *hosts, size_t num);

#endif
