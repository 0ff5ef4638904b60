/*
 * store_process.h - serves the agents' store in a separate process: a launcher
 * forks ranks, and a process that forks should have one thread. Private to
 * realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_STORE_PROCESS_H
#define LOCKSTEP_LAUNCH_STORE_PROCESS_H

#include <sys/types.h>

/* dist__store_process_start forks a process that serves the store of agents of
 * the job called run on the listening socket, until it is stopped or its parent
 * has ended. It takes ownership of listener, also after an error. *leader is
 * the leader's own socket to it. -1: the system refused. */
pid_t dist__store_process_start(int listener, const char *run, int *leader);

/* dist__store_process_stop ends it. */
void dist__store_process_stop(pid_t store_process);

#endif
