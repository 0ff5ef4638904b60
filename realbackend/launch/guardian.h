/*
 * guardian.h - a process that outlives the launcher briefly: if the launcher is
 * killed, it kills what the ranks had started. The kernel kills the ranks
 * themselves; processes that left their groups cannot be reached.
 * Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_GUARDIAN_H
#define LOCKSTEP_LAUNCH_GUARDIAN_H

#include <stdbool.h>
#include <sys/types.h>

struct dist__guardian {
	pid_t pid; /* 0: there is none */
	int fd;    /* the launcher lives while it is open in some process */
};

/* dist__guardian_start forks the process. false: see errno. */
bool dist__guardian_start(struct dist__guardian *guardian);

/* dist__guardian_add adds a process group to those it will kill;
 * dist__guardian_forget removes all of them. */
void dist__guardian_add(const struct dist__guardian *guardian, pid_t group);
void dist__guardian_forget(const struct dist__guardian *guardian);

/* dist__guardian_leave closes fd in a child: it is not the launcher.
 */
void dist__guardian_leave(const struct dist__guardian *guardian);

/* dist__guardian_stop ends the process without killing any group. */
void dist__guardian_stop(struct dist__guardian *guardian);

#endif
