/*
 * shim.h - SimGrid as a reader of platforms, for our C, and what differs
 * between its releases there.
 *
 * What runs calls the engine (engine.h). No exception leaves the shim.
 */
#ifndef LOCKSTEP_SIM_ENGINE_SHIM_H
#define LOCKSTEP_SIM_ENGINE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * process, after simgrid_init(), and stores in *graph what it has read, but for
 * the network. Returns whether it could; if not, text (size bytes) says why in
 * one line, "path:line: reason" where the line is known. SimGrid may also end
 * the process, by abort, signal or exit (see trial.c).
 */
bool dist__engine_load(const char *path, struct dist__graph **graph, char *text,
		       size_t size);

/* dist__engine_share_links sees to it that flows share links as the platform
 * says even if they begin in one instant, from now on, in the platform that is
 * loaded (sharing.cpp). */
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

/* dist__engine_crash returns the end of a sentence that says that SimGrid
 * crashes: on what this release is known to. */
const char *dist__engine_crash(void);

/* dist__engine_model returns the name of the network model in force. */
const char *dist__engine_model(void);

#ifdef __cplusplus
}
#endif

#endif
