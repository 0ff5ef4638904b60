/*
 * simgrid.h - what SimGrid has read, for SimGrid as an engine. For our C++.
 */
#ifndef LOCKSTEP_SIM_ENGINE_SIMGRID_H
#define LOCKSTEP_SIM_ENGINE_SIMGRID_H

#include <simgrid/forward.h>

#include "sim/engine/shim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The host, and the link, of that number in the graph. */
sg_host_t dist__simgrid_host(uint32_t number);
sg_link_t dist__simgrid_link(uint32_t number);

/* dist__simgrid_flow has comm, which has not begun, begin over all of count
 * links at once, at one rate; a link that stands there n times is loaded n
 * times. Before the first byte and in sharing it has that latency. */
void dist__simgrid_flow(sg_comm_t comm, const sg_link_t *links, size_t count,
			double latency_s);

#ifdef __cplusplus
}
#endif

#endif
