/*
 * watcher.h - a process that simulates, watched by another.
 */
#ifndef LOCKSTEP_SIM_WATCHER_H
#define LOCKSTEP_SIM_WATCHER_H

#include <stdint.h>

/*
 * dist__sim_watch_run runs start(arg) in a process of its own, watches what it
 * simulates, and returns its exit status, or that of the verdict if it died, or
 * had to be ended: when no rank has called anything and the clock has stood
 * still for patience_ns (0: never). Signals that end a process are passed on to
 * it, and end the caller as they end it. Returns INTERNAL, after a line on
 * stderr, where there is no process.
 */
int dist__sim_watch_run(int (*start)(void *arg), void *arg,
			int64_t patience_ns);

/* What LOCKSTEP_PATIENCE is for a simulation unless it is set, in seconds. */
#define DIST__SIM_PATIENCE_S 60

#endif
