/* signals.h - signals of the launcher as bytes of a pipe. Private to
 * realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_SIGNALS_H
#define LOCKSTEP_TCP_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#define DIST__SIGNALS 5

/* While caught, SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT arrive at fd, each
 * as one byte, its number. */
struct dist__signals {
	int fd;
	int write_fd;
	struct sigaction before[DIST__SIGNALS];
};

/* dist__signals_catch begins; what the process ignores stays ignored (nohup).
 * One at a time in a process. false: no pipe, or caught already. */
bool dist__signals_catch(struct dist__signals *signals);

/* dist__signals_restore puts everything back. In a forked child too. */
void dist__signals_restore(struct dist__signals *signals);

/* dist__signals_next returns the next signal that has arrived, 0 if none. */
int dist__signals_next(const struct dist__signals *signals);

#endif
