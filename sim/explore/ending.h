/*
 * ending.h - how a run ended, kept to compare it with others and to repeat it.
 * Private to sim/explore/.
 */
#ifndef LOCKSTEP_SIM_EXPLORE_ENDING_H
#define LOCKSTEP_SIM_EXPLORE_ENDING_H

#include "check/verdict.h"
#include "sim/log.h"

struct dist__sim_ending {
	struct dist__sim_plan plan; /* repeats the run; owned */
	struct dist__sim_log *log;  /* owned; NULL: no run is kept */
};

/* dist__sim_ending_keep replaces what is kept by a copy of plan and log; the
 * choices of the run are taken from the log. Returns false without memory. */
bool dist__sim_ending_keep(struct dist__sim_ending *ending,
			   const struct dist__sim_plan *plan,
			   const struct dist__sim_log *log);

/* dist__sim_race_find finds the first receive of `here` that took the message
 * of another sender in `other`, or the first test of completion with another
 * result, and fills *race except the outcome and the replay tokens. Returns
 * false if there is none. */
bool dist__sim_race_find(struct check_race *race,
			 const struct dist__sim_ending *other,
			 const struct dist__sim_ending *here);

/* dist__sim_ending_release frees what is kept. */
void dist__sim_ending_release(struct dist__sim_ending *ending);

#endif
