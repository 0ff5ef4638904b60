/* child.h - one rank as a process. Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_CHILD_H
#define LOCKSTEP_TCP_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "realbackend/tcp/launcher.h"
#include "realbackend/tcp/relay.h"

struct dist__signals;

/* What all children of a job are given. */
struct dist__plumbing {
	const struct dist__job_spec *spec;
	const char *master_addr;
	int master_port;
	int store_fd;
	int board_fd;
	struct dist__signals *signals; /* of the launcher: not for children */
};

struct dist__child {
	pid_t pid; /* 0: not started, or reaped */
	int rank;
	bool ended;     /* a zombie until it is reaped */
	bool by_signal; /* ended by signal `code`; else with status `code` */
	int code;
	struct dist__relay outputs[2]; /* with prefix_output */
};

/* dist__child_start forks rank; false: the system refused (errno). */
bool dist__child_start(struct dist__child *child, int rank,
		       const struct dist__plumbing *plumbing);

/* dist__child_look notes whether it has ended, and how, without reaping: its
 * number, and so its process group's, stays its own. */
void dist__child_look(struct dist__child *child);

/* dist__child_signal sends to the whole process group. */
void dist__child_signal(const struct dist__child *child, int number);

/* dist__child_reap waits for an ended child to be gone. */
void dist__child_reap(struct dist__child *child);

#endif
