/*
 * watcher.h - runs a simulation in a process of its own and watches it.
 */
#ifndef LOCKSTEP_SIM_WATCHER_H
#define LOCKSTEP_SIM_WATCHER_H

#include <stdint.h>

/*
 * dist__sim_watch_run runs start(arg) in a forked process, watches its
 * simulation, and returns its exit status. If the process dies, or has to be
 * ended because for patience_ns (0: never) no rank called and the clock stood
 * still, it returns that of the verdict. Signals that end a process are passed
 * on to it, and then end the caller in the same way. Returns INTERNAL, after a
 * line on stderr, if no process can be made.
 */
int dist__sim_watch_run(int (*start)(void *arg), void *arg,
			int64_t patience_ns);

/* The default of LOCKSTEP_PATIENCE for a simulation, in seconds. */
#define DIST__SIM_PATIENCE_S 60

#endif
