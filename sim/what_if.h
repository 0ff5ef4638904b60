/*
 * what_if.h - would it end if sends were buffered? Private to sim/.
 */
#ifndef LOCKSTEP_SIM_WHAT_IF_H
#define LOCKSTEP_SIM_WHAT_IF_H

#include "sim/world.h"

enum dist__sim_answer {
	DIST__SIM_STAYS,      /* no, or that is not known */
	DIST__SIM_UNTRIED,    /* a send waits, and ranks are processes */
	DIST__SIM_WOULD_END,  /* yes, and all is well */
	DIST__SIM_WOULD_LACK, /* yes, but a call would be missing */
	DIST__SIM_IS_COPY     /* this is the copy that finds out: go on */
};

/* dist__sim_ask_buffered finds out, when nothing can move. In the copy the
 * caller is blocked as before, and others can move. *board, the caller's to
 * free, is how the records would be at the end if a call would be missing; else
 * NULL. */
enum dist__sim_answer dist__sim_ask_buffered(struct dist__sim_world *world,
					     struct check_board **board);

/* dist__sim_any_message returns whether there is one that nobody received. */
bool dist__sim_any_message(const struct dist__sim_world *world);

#endif
