/*
 * forecast.h - what would it come to without deadlines? Private to sim/.
 */
#ifndef LOCKSTEP_SIM_FORECAST_H
#define LOCKSTEP_SIM_FORECAST_H

#include "sim/world.h"

/* dist__sim_note_timeout keeps the records as they are when rank runs into its
 * deadline, if it is the first to do so: later they show the consequences. */
void dist__sim_note_timeout(struct dist__sim_rank *rank);

/* dist__sim_time_is_up notes that rank runs into its deadline, and returns
 * whether the call must end: not so in the copy that goes on without. */
bool dist__sim_time_is_up(struct dist__sim_rank *rank);

/* dist__sim_note_call notes that rank has made a call, which may be what others
 * waited for. */
void dist__sim_note_call(const struct dist__sim_rank *rank);

/* dist__sim_look_ahead adds to the facts of a timeout, the first, what would
 * have come of it; if that is a deadlock, it is the verdict, and the records
 * kept are those of it. */
void dist__sim_look_ahead(struct dist__sim_world *world,
			  struct check_facts *facts,
			  struct check_verdict *verdict);

/* dist__sim_facts returns what is known beside the records, now. */
struct check_facts dist__sim_facts(const struct dist__sim_world *world);

#endif
