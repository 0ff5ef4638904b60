/*
 * copy.h - a forked copy of the process that goes on by another rule. Private
 * to sim/.
 */
#ifndef LOCKSTEP_SIM_COPY_H
#define LOCKSTEP_SIM_COPY_H

#include "sim/world.h"

enum dist__sim_event {
	DIST__SIM_NOTHING,
	DIST__SIM_CAME,  /* the awaited rank called; value is the rank */
	DIST__SIM_ENDED, /* all ranks ended; value is the verdict's kind */
	DIST__SIM_STUCK, /* nothing can move; value is the verdict's kind */
	DIST__SIM_EVENTS
};

/* What a copy reports; the records follow when it is stuck, or is loose and has
 * ended. */
struct dist__sim_news {
	enum dist__sim_event what;
	int value;
	int64_t at_ns;
	bool has_board;
};

/* All that it reported, by event; NOTHING: not reported. */
struct dist__sim_future {
	struct dist__sim_news news[DIST__SIM_EVENTS];
	struct check_board *board; /* the caller's to free; NULL: none */
};

/* dist__sim_copy_make forks a copy that waits. Returns true in the copy, once
 * dist__sim_copy_ask() was called: it goes on by the other rule. */
bool dist__sim_copy_make(struct dist__sim_world *world,
			 struct dist__sim_copy *copy);

/* dist__sim_copy_ask lets the copy run to its end, and stores what it reports:
 * nothing, if no copy could be made. */
void dist__sim_copy_ask(const struct dist__sim_world *world,
			struct dist__sim_copy *copy,
			struct dist__sim_future *future);

/* dist__sim_copy_drop ends a copy that is not needed. */
void dist__sim_copy_drop(struct dist__sim_copy *copy);

/* dist__sim_copy_report reports news from a copy. */
void dist__sim_copy_report(const struct dist__sim_world *world,
			   const struct dist__sim_news *news);

#endif
