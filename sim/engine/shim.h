/*
 * shim.h - what SimGrid offers in C++ only, for our C, and what differs
 * between its releases, when it loads and shows a platform.
 *
 * The rest that sim/platform needs it calls of SimGrid's C functions directly;
 * what runs calls the engine (engine.h). No exception leaves the shim.
 */
#ifndef LOCKSTEP_SIM_ENGINE_SHIM_H
#define LOCKSTEP_SIM_ENGINE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <simgrid/forward.h>

#include "sim/engine/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * dist__engine_open finds SimGrid where that is left to the first call
 * (late.c); everything else, of SimGrid itself too, may be called once it has.
 * What is forked from here shares it. Returns whether it could; if not, text
 * (size bytes) says why in one line.
 */
bool dist__engine_open(char *text, size_t size);

/*
 * dist__engine_load reads and seals the platform file at path, once per
 * process, after simgrid_init(). Returns whether it could; if not, text (size
 * bytes) says why in one line, "path:line: reason" where the line is known.
 * SimGrid may also end the process, by abort, signal or exit (see trial.c).
 */
bool dist__engine_load(const char *path, char *text, size_t size);

/* dist__engine_can_build returns whether this release of SimGrid is one that a
 * platform can be built in without XML. */
bool dist__engine_can_build(void);

/* dist__engine_build makes graph SimGrid's platform, as dist__engine_load does;
 * graph, which must be sound, stays in use as long as the process. */
bool dist__engine_build(struct dist__graph *graph, char *text, size_t size);

/* dist__engine_share_links sees to it that flows share links as the platform
 * says even if they begin in one instant, from now on, in the platform that is
 * loaded (engine_sharing.cpp). */
void dist__engine_share_links(void);

/* dist__engine_line returns where SimGrid keeps the number of the line of the
 * platform file that it is reading, for a signal handler to look at. */
const int *dist__engine_line(void);

/* dist__engine_is_default returns whether nobody has set the configuration
 * value of that name. */
bool dist__engine_is_default(const char *name);

/* dist__engine_number returns a configuration value that is a number; not a
 * number if a factor is stated as something else. */
double dist__engine_number(const char *name);

/* dist__engine_property returns what the outermost zone of the platform states
 * by that name; NULL: nothing. It lives as long as the platform. */
const char *dist__engine_property(const char *name);

/* dist__engine_crash returns the end of a sentence that says that SimGrid
 * crashes: on what this release is known to. */
const char *dist__engine_crash(void);

/* dist__engine_model returns the name of the network model in force. */
const char *dist__engine_model(void);

/*
 * dist__engine_route finds the way from one host to another: its latency in
 * seconds, the bandwidth of its narrowest link in B/s and the number of its
 * links, as the platform states them, before the model's factors. The outputs
 * may be NULL. Returns false when the platform has no such way.
 */
bool dist__engine_route(sg_host_t from, sg_host_t to, double *latency_s,
			double *bandwidth_Bps, size_t *num_links);

/* dist__engine_route_links stores the links of the way from one host to another
 * and returns how many; 0 when there is no way, or one of more than `most`. */
size_t dist__engine_route_links(sg_host_t from, sg_host_t to, sg_link_t *links,
				size_t most);

/* dist__engine_hosts stores in *count how many hosts the platform has, and
 * returns them, which the caller frees; NULL: no memory. */
sg_host_t *dist__engine_hosts(size_t *count);

/* dist__engine_zones stores the names of the zones that host is in, but for the
 * root, the outermost first, and returns how many; the innermost `most` if
 * there are more. They live as long as the platform. */
size_t dist__engine_zones(sg_host_t host, const char **names, size_t most);

/* dist__engine_flow has comm, which has not begun, begin over all of count
 * links at once, at one rate; a link that stands there n times is loaded n
 * times. Before the first byte and in sharing it has that latency. */
void dist__engine_flow(sg_comm_t comm, const sg_link_t *links, size_t count,
		       double latency_s);

/* dist__engine_at_thread_exit has run(arg) called when the calling thread ends,
 * or the process does by exit() there, before what is done at exit; false: no
 * memory. */
bool dist__engine_at_thread_exit(void (*run)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif
