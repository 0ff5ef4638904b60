/* signals.h - signals as bytes of a pipe, for a launcher, or for a rank that
 * has none. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_SIGNALS_H
#define LOCKSTEP_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Most signals that can be caught. */
#define DIST__SIGNALS 6

/* While caught, they arrive at fd, each as one byte, its number. */
struct dist__signals {
	int fd;
	int write_fd;
	int count;
	int numbers[DIST__SIGNALS];
	struct sigaction before[DIST__SIGNALS];
};

/* dist__signals_catch begins. A signal stays as it is if the process ignores it
 * (nohup), but for SIGCHLD, and SIGUSR1 also if the program has a use for it.
 * One at a time in a process. false: no pipe, or some are caught already. */
bool dist__signals_catch(struct dist__signals *signals, const int *numbers,
			 int count);

/* dist__signals_restore puts back everything that nobody has changed since. In
 * a forked child too. */
void dist__signals_restore(struct dist__signals *signals);

/* dist__signals_next returns the next signal that has arrived, 0 if none. */
int dist__signals_next(const struct dist__signals *signals);

#endif
