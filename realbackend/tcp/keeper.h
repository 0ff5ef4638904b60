/*
 * keeper.h - the agents' store, served by a process of its own: a launcher
 * forks ranks, and a process that forks had better have no other threads.
 * Private to realbackend/tcp/.
 */
#ifndef LOCKSTEP_TCP_KEEPER_H
#define LOCKSTEP_TCP_KEEPER_H

#include <sys/types.h>

/* dist__keeper_start forks a process that serves a store on the listening
 * socket until it is stopped or its parent is gone; the listener is the
 * process's then, also on failure. -1: the system refused. */
pid_t dist__keeper_start(int listener);

/* dist__keeper_stop ends it. */
void dist__keeper_stop(pid_t keeper);

#endif
