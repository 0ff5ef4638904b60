/*
 * store_process.h - the agents' store, served by a process of its own: a
 * launcher forks ranks, and a process that forks had better have no other
 * threads. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_STORE_PROCESS_H
#define LOCKSTEP_LAUNCH_STORE_PROCESS_H

#include <sys/types.h>

/* dist__store_process_start forks a process that serves a store of agents of
 * the job called run on the listening socket until it is stopped or its parent
 * is gone; the listener is the process's then, also on failure. *leader is the
 * leader's own way to it, a socket. -1: the system refused. */
pid_t dist__store_process_start(int listener, const char *run, int *leader);

/* dist__store_process_stop ends it. */
void dist__store_process_stop(pid_t store_process);

#endif
