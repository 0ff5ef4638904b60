/*
 * round.h - collectives that nobody drives: the world knows when they end, once
 * all ranks have come. These are the slots of core/simulation.h. Private to
 * sim/.
 */
#ifndef LOCKSTEP_SIM_ROUND_H
#define LOCKSTEP_SIM_ROUND_H

#include "sim/world.h"

/* dist__sim_rounds_open finds the meeting of members and measures it, where
 * collectives that take time are to be rounds. Errors: NO_MEMORY; the world's.
 */
enum dist_error dist__sim_rounds_open(struct dist__sim_rank *rank,
				      const struct dist__members *members);

bool dist__sim_is_round(struct dist__transport *t,
			const struct dist__members *members,
			const struct dist__op *op);
enum dist_error dist__sim_round_come(struct dist__transport *t,
				     const struct dist__members *members,
				     struct dist__op *op);
bool dist__sim_round_over(struct dist__transport *t, const struct dist__op *op,
			  int64_t deadline_ns);
enum dist_error dist__sim_round_wait(struct dist__transport *t,
				     const struct dist__op *op,
				     int64_t deadline_ns);
enum dist_error dist__sim_round_leave(struct dist__transport *t,
				      const struct dist__members *members,
				      struct dist__op *op,
				      enum dist_error error);

#endif
