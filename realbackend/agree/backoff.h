/*
 * backoff.h - pauses between polls of something that offers no wait: an event
 * of the device, a communicator. Private to realbackend/.
 */
#ifndef LOCKSTEP_AGREE_BACKOFF_H
#define LOCKSTEP_AGREE_BACKOFF_H

#include <sched.h>
#include <time.h>

/* Polls without a pause: short waits end within them. */
#define DIST__BACKOFF_SPINS 256
/* Later pauses grow up to this. */
#define DIST__BACKOFF_MOST_NS 200000

struct dist__backoff {
	unsigned asked; /* unsuccessful polls in a row */
};

/* dist__backoff_wait is called after an unsuccessful poll; zero *backoff
 * after a successful one. */
static inline void dist__backoff_wait(struct dist__backoff *backoff)
{
	unsigned late = ++backoff->asked > DIST__BACKOFF_SPINS
				? backoff->asked - DIST__BACKOFF_SPINS
				: 0;
	struct timespec pause = {.tv_nsec = 1000L * (long)late};

	if (late == 0) {
		sched_yield();
		return;
	}
	if (pause.tv_nsec > DIST__BACKOFF_MOST_NS)
		pause.tv_nsec = DIST__BACKOFF_MOST_NS;
	nanosleep(&pause, NULL);
}

#endif
