/*
 * ending.h - a run that is over, kept to be compared and run again. Private to
 * sim/explore/.
 */
#ifndef LOCKSTEP_SIM_EXPLORE_ENDING_H
#define LOCKSTEP_SIM_EXPLORE_ENDING_H

#include "check/verdict.h"
#include "sim/log.h"

struct dist__sim_ending {
	struct dist__sim_plan plan; /* by which it comes again; owned */
	struct dist__sim_log *log;  /* owned; NULL: there is no such run */
};

/* dist__sim_ending_keep makes a copy of how a run by plan ended, in place of
 * what was kept before; of what it chose, the log tells. False: no memory. */
bool dist__sim_ending_keep(struct dist__sim_ending *ending,
			   const struct dist__sim_plan *plan,
			   const struct dist__sim_log *log);

/* dist__sim_race_find finds the first receive of `here` that heard another
 * sender in `other`, or look that was told otherwise. Of *race, all is set but
 * the outcome and the replay tokens. False: there is none. */
bool dist__sim_race_find(struct check_race *race,
			 const struct dist__sim_ending *other,
			 const struct dist__sim_ending *here);

/* dist__sim_ending_release frees what is kept. */
void dist__sim_ending_release(struct dist__sim_ending *ending);

#endif
