/*
 * forecast.h - how the job would end without deadlines, or without buffered
 * sends. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_FORECAST_H
#define LOCKSTEP_SIM_FORECAST_H

#include "sim/world.h"

/* dist__sim_note_timeout keeps a copy of the records when rank is the first to
 * miss its deadline: later they show the consequences. */
void dist__sim_note_timeout(struct dist__sim_rank *rank);

/* dist__sim_time_is_up notes that rank misses its deadline, and returns whether
 * the call must end; in a copy that runs without deadlines it must not. */
bool dist__sim_time_is_up(struct dist__sim_rank *rank);

/* dist__sim_note_call notes that rank has made a call, for which others may
 * have waited. */
void dist__sim_note_call(const struct dist__sim_rank *rank);

/* dist__sim_look_ahead adds to the facts of the first timeout how the job would
 * have ended without it. If that is a deadlock, it becomes the verdict, and the
 * records kept are those of the deadlock. */
void dist__sim_look_ahead(struct dist__sim_world *world,
			  struct check_facts *facts,
			  struct check_verdict *verdict);

/* dist__sim_facts returns the present facts that are not in the records. */
struct check_facts dist__sim_facts(const struct dist__sim_world *world);

/* dist__sim_note_lost adds to *facts that rank is lost, and how it ended. */
void dist__sim_note_lost(const struct dist__sim_world *world, int rank,
			 struct check_facts *facts);

/* dist__sim_note_buffered notes that a send is buffered; in the copy that tries
 * it without buffers, the send will wait. */
void dist__sim_note_buffered(struct dist__sim_world *world);

/* dist__sim_warning returns a warning about a job that ended well, but would
 * not if sends waited for their receives; the caller frees it. NULL: none. */
char *dist__sim_warning(struct dist__sim_world *world);

#endif
