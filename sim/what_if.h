/*
 * what_if.h - whether a job that is stuck would end if sends were buffered.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_WHAT_IF_H
#define LOCKSTEP_SIM_WHAT_IF_H

#include "sim/world.h"

enum dist__sim_answer {
	DIST__SIM_STAYS,      /* no, or not known */
	DIST__SIM_UNTRIED,    /* not tried: ranks are processes */
	DIST__SIM_WOULD_END,  /* yes, without a verdict */
	DIST__SIM_WOULD_LACK, /* yes, but with a missing call */
	DIST__SIM_IS_COPY     /* this is the copy that tries it: go on */
};

/* dist__sim_ask_buffered tries it in a copy when nothing can move. In the copy
 * the caller is blocked as before, and others can move. If a call would be
 * missing, *board is the records at that end, which the caller frees; else
 * NULL. */
enum dist__sim_answer dist__sim_ask_buffered(struct dist__sim_world *world,
					     struct check_board **board);

/* dist__sim_any_message returns whether a message was not received. */
bool dist__sim_any_message(const struct dist__sim_world *world);

#endif
