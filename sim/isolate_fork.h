/*
 * isolate_fork.h - cuts a forked copy of the process off from shared memory and
 * output. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_ISOLATE_FORK_H
#define LOCKSTEP_SIM_ISOLATE_FORK_H

#include <stdbool.h>

/* dist__sim_isolate_fork detaches this process, a copy, from shared memory and
 * from all output except one file descriptor. Returns false on failure. */
bool dist__sim_isolate_fork(int but);

#endif
