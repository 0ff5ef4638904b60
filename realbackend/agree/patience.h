/*
 * patience.h - how long to stay away from something that can only be asked:
 * an event of the device, a communicator. Private to realbackend/.
 */
#ifndef LOCKSTEP_AGREE_PATIENCE_H
#define LOCKSTEP_AGREE_PATIENCE_H

#include <sched.h>
#include <time.h>

/* So many questions are asked in a row: what is short is over by then. */
#define DIST__PATIENCE_SPINS 256
/* From then on the pauses grow, up to this. */
#define DIST__PATIENCE_MOST_NS 200000

struct dist__patience {
	unsigned asked; /* in vain, in a row */
};

/* dist__patience_wait is called after a question in vain; zero *patience after
 * one that was not. */
static inline void dist__patience_wait(struct dist__patience *patience)
{
	unsigned late = ++patience->asked > DIST__PATIENCE_SPINS
				? patience->asked - DIST__PATIENCE_SPINS
				: 0;
	struct timespec pause = {.tv_nsec = 1000L * (long)late};

	if (late == 0) {
		sched_yield();
		return;
	}
	if (pause.tv_nsec > DIST__PATIENCE_MOST_NS)
		pause.tv_nsec = DIST__PATIENCE_MOST_NS;
	nanosleep(&pause, NULL);
}

#endif
