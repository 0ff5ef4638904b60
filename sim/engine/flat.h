/* flat.h - building a platform from a graph (graph.h), for the shim. */
#ifndef LOCKSTEP_SIM_ENGINE_FLAT_H
#define LOCKSTEP_SIM_ENGINE_FLAT_H

#include "sim/engine/shim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dist__flat_build makes graph the platform, unsealed. Throws what SimGrid
 * does. */
void dist__flat_build(struct dist__graph *graph);

/* dist__flat_zones is dist__engine_zones in a platform that was built; false:
 * this one was not. */
bool dist__flat_zones(sg_host_t host, const char **names, size_t most,
		      size_t *count);

/* dist__flat_way stores the links between two hosts of a platform that was
 * built, DIST__GRAPH_WAY at most, and adds up their latencies. Returns how many
 * there are; 0: it was not built, it is the same host, or there is no way. */
size_t dist__flat_way(sg_host_t from, sg_host_t to, sg_link_t *links,
		      double *latency_s);

#ifdef __cplusplus
}
#endif

#endif
