/*
 * tcp_world.h - ranks without a launcher, and connections from outside.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_TCP_WORLD_H
#define LOCKSTEP_TESTS_SUPPORT_TCP_WORLD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A world without a launcher: tcp_world_open binds the store's port,
 * tcp_world_start forks a process that is `rank` of `world_size` (as far as its
 * environment goes) and exits with fn(arg), tcp_world_close closes the port.
 */
struct tcp_world {
	int listener, port;
};

bool tcp_world_open(struct tcp_world *world);
bool tcp_world_open_at(struct tcp_world *world, int port);
pid_t tcp_world_start(const struct tcp_world *world, int rank, int world_size,
		      int (*fn)(void *arg), void *arg);
void tcp_world_close(struct tcp_world *world);

/* tcp_world_without runs fn as every rank of a world, ends the victim when the
 * others have ended, and returns how many of them found something wrong. */
int tcp_world_without(int victim, int world_size, int (*fn)(void *arg));

/*
 * tcp_port_keep returns a socket that is bound to a free port and does not
 * listen; -1: there is none. Until it is closed the port is given to nobody who
 * does not ask for its number: not to another world, whose store the ranks of
 * this one would come to after their own has died.
 */
int tcp_port_keep(int *port);

/* tcp_status waits for a child: its exit status, or 128 + signal. */
int tcp_status(pid_t pid);

/* tcp_dial connects to 127.0.0.1:port, blocking; -1: refused. */
int tcp_dial(int port);

#endif
