/*
 * guardian.h - a process that outlives a launcher briefly: if the launcher is
 * killed, it kills what the ranks had started. The kernel kills the ranks
 * themselves. Others are found by their process group, or, where they left it
 * for a session of their own, by their environment, which has a mark: all but
 * those that were started without it.
 */
#ifndef LOCKSTEP_BASE_GUARDIAN_H
#define LOCKSTEP_BASE_GUARDIAN_H

#include <stdbool.h>
#include <sys/types.h>

struct dist__guardian {
	pid_t pid;     /* 0: there is none */
	int fd;        /* the launcher lives while it is open in some process */
	char mark[64]; /* LOCKSTEP_LAUNCHER=..., of this launcher alone */
};

/* dist__guardian_start forks the process. false: see errno. */
bool dist__guardian_start(struct dist__guardian *guardian);

/* dist__guardian_add adds a process group to those it will kill;
 * dist__guardian_forget removes all of them. */
void dist__guardian_add(const struct dist__guardian *guardian, pid_t group);
void dist__guardian_forget(const struct dist__guardian *guardian);

/* dist__guardian_leave, in a child: it is not the launcher, and what it starts
 * has the mark. guardian must outlive the child. */
void dist__guardian_leave(struct dist__guardian *guardian);

/* dist__guardian_stop ends the process, which then kills nothing. */
void dist__guardian_stop(struct dist__guardian *guardian);

#endif
