/* child.h - one rank as a process. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_CHILD_H
#define LOCKSTEP_LAUNCH_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "realbackend/launch/streams.h"

struct dist__guardian;
struct dist__signals;

/* The place of a node in a round. */
struct dist__seat {
	int round;
	int node, num_nodes;
	int first_rank; /* of the node; the others follow it */
	int world_size;
	int first_role_rank; /* first_rank among the ranks of its role */
	int role_world_size;
	const char *master_addr;
	int master_port; /* the program's */
	int store_port;  /* our store's */
};

/* What all children of a round have in common. */
struct dist__plumbing {
	const struct dist__job_spec *spec;
	const struct dist__streams *streams;
	struct dist__signals *signals; /* the launcher's: not for children */
	struct dist__guardian *guardian;
	struct dist__seat seat;
	int store_fd; /* for rank 0; -1: rank 0 is elsewhere */
	int board_fd;
	int own_fd;        /* of a board for ranks that the program starts */
	char own_path[48]; /* by which they open it; empty: there is none */
};

struct dist__child {
	pid_t pid; /* 0: not started, or reaped */
	pid_t was; /* pid, also afterwards */
	int rank;
	int local_rank;
	bool stopping;  /* we have told it to end */
	bool ended;     /* a zombie until it is reaped */
	bool by_signal; /* ended by signal `code`; else with status `code` */
	int code;
	int64_t stopped_ns; /* when it was first seen stopped by a signal, and
			       not to go on; 0: it is not */
	struct timespec ended_at; /* of CLOCK_REALTIME */
	struct dist__relay outputs[2];
	int notes_fd;       /* of a rank in Python; -1: none */
	uint64_t kills;     /* check_kills_for_memory() when it began */
	int64_t starved_ns; /* dist__child_starved() when settling began */
};

/* dist__child_start forks a local rank; false: see errno. */
bool dist__child_start(struct dist__child *child, int local_rank,
		       const struct dist__plumbing *plumbing);

/* dist__child_look checks whether it has ended, and how, or is stopped, without
 * reaping it: so no other process or group gets its number. */
void dist__child_look(struct dist__child *child);

/* dist__child_starved returns for how long it was ready to run and had no
 * processor; 0: not known. */
int64_t dist__child_starved(const struct dist__child *child);

/* dist__child_signal sends to the whole process group. */
void dist__child_signal(struct dist__child *child, int number);

/* dist__child_reap reaps a child that has ended. */
void dist__child_reap(struct dist__child *child);

#endif
