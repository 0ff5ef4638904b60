/*
 * stand_in.h - collectives of a world in which only the first `present` ranks
 * run: rank r stands for r + present, r + 2 present, ..., which do the same.
 * The result of a collective follows from what those that run bring to it.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_STAND_IN_H
#define LOCKSTEP_SIM_STAND_IN_H

#include "core/op.h"

/* What ranks have brought to a collective: copies of their inputs. */
struct dist__sim_brought;

/* A member of a group, and by group rank the members that stand for all. */
struct dist__sim_seats {
	int self, ranks;
	const int *stand_ins;
};

/* dist__sim_stand_ins makes that list for a group of n global ranks, to be
 * freed, and stores how many of them run. NULL: no memory, or no member stands
 * for *lacks (else -1). */
int *dist__sim_stand_ins(const int *ranks, int n, int present, int *num_running,
			 int *lacks);

/* dist__sim_bring adds what seats->self brings to op. Errors: NO_MEMORY.
 * dist__sim_brought_free frees what all have brought. */
enum dist_error dist__sim_bring(const struct dist__op *op,
				const struct dist__sim_seats *seats,
				struct dist__sim_brought **all);
void dist__sim_brought_free(struct dist__sim_brought *all);

/* dist__sim_take writes the result of op at seats->self. Errors: NO_MEMORY;
 * MISMATCH: the ranks do not do the same, as message says. */
enum dist_error dist__sim_take(const struct dist__op *op,
			       const struct dist__sim_seats *seats,
			       const struct dist__sim_brought *all,
			       struct dist_message *message);

#endif
