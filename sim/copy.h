/*
 * copy.h - a copy of the process that tries another rule. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_COPY_H
#define LOCKSTEP_SIM_COPY_H

#include "sim/world.h"

enum dist__sim_event {
	DIST__SIM_NOTHING,
	DIST__SIM_CAME,  /* who was awaited; value is the rank */
	DIST__SIM_ENDED, /* all ranks did well; value is the verdict's kind */
	DIST__SIM_STUCK, /* nothing can move; value is the verdict's kind */
	DIST__SIM_EVENTS
};

/* What a copy tells; the records follow when it is stuck, or loose and at its
 * end. */
struct dist__sim_news {
	enum dist__sim_event what;
	int value;
	int64_t at_ns;
	bool has_board;
};

/* All that it told, by event; NOTHING: not that. */
struct dist__sim_future {
	struct dist__sim_news news[DIST__SIM_EVENTS];
	struct check_board *board; /* the caller's to free; NULL: none */
};

/* dist__sim_copy_make makes a copy of this instant that waits to be asked.
 * Returns true in the copy, once it is: go on there by the other rule. */
bool dist__sim_copy_make(struct dist__sim_world *world,
			 struct dist__sim_copy *copy);

/* dist__sim_copy_ask lets the copy go on to its end, and stores what it tells.
 * A copy that there is not tells nothing. */
void dist__sim_copy_ask(const struct dist__sim_world *world,
			struct dist__sim_copy *copy,
			struct dist__sim_future *future);

/* dist__sim_copy_drop ends a copy that need not be asked. */
void dist__sim_copy_drop(struct dist__sim_copy *copy);

/* dist__sim_copy_report reports to who asked, in a copy. */
void dist__sim_copy_report(const struct dist__sim_world *world,
			   const struct dist__sim_news *news);

#endif
