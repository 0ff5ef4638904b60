/* signals.h - delivers signals as bytes of a pipe, for a launcher or for a rank
 * without one. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_SIGNALS_H
#define LOCKSTEP_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Most signals that can be caught. */
#define DIST__SIGNALS 6

/* While caught, each signal comes to fd as one byte, its number. */
struct dist__signals {
	int fd;
	int write_fd;
	int count;
	int numbers[DIST__SIGNALS];
	struct sigaction before[DIST__SIGNALS];
};

/* dist__signals_catch starts to catch signals. A signal is not caught if the
 * process ignores it (nohup), except SIGCHLD; nor SIGUSR1 if the program
 * handles it. One at a time in a process. false: no pipe, or one is active. */
bool dist__signals_catch(struct dist__signals *signals, const int *numbers,
			 int count);

/* dist__signals_restore restores all handlers that were not changed since. Also
 * in a forked child. */
void dist__signals_restore(struct dist__signals *signals);

/* dist__signals_next returns the next signal that has come, 0 if none. */
int dist__signals_next(const struct dist__signals *signals);

#endif
