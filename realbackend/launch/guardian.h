/*
 * guardian.h - a process that outlives the launcher by a moment: when that is
 * killed, it kills what the ranks had started. The ranks themselves go by the
 * kernel's hand; what left their process groups is out of reach.
 * Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_GUARDIAN_H
#define LOCKSTEP_LAUNCH_GUARDIAN_H

#include <stdbool.h>
#include <sys/types.h>

struct dist__guardian {
	pid_t pid; /* 0: there is none */
	int fd;    /* while it is open somewhere, the launcher lives */
};

/* dist__guardian_start forks the process. false: the system refused (errno). */
bool dist__guardian_start(struct dist__guardian *guardian);

/* dist__guardian_add puts a process group in its care; dist__guardian_forget
 * takes back all of them. */
void dist__guardian_add(const struct dist__guardian *guardian, pid_t group);
void dist__guardian_forget(const struct dist__guardian *guardian);

/* dist__guardian_leave is for a child of the launcher: it is not the launcher.
 */
void dist__guardian_leave(const struct dist__guardian *guardian);

/* dist__guardian_stop ends the process, which kills nobody. */
void dist__guardian_stop(struct dist__guardian *guardian);

#endif
