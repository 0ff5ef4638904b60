/*
 * isolate_fork.h - a copy that nobody sees or hears. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_ISOLATE_FORK_H
#define LOCKSTEP_SIM_ISOLATE_FORK_H

#include <stdbool.h>

/* dist__sim_isolate_fork parts this process, a copy, from all memory and output
 * that others see, but for one file descriptor. False: it could not. */
bool dist__sim_isolate_fork(int but);

#endif
