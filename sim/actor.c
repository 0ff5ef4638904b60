/*
 * actor.c - what an actor owes of the time of its processor and pays before it
 * waits or sends, and why nothing can pass at its rank any more.
 */
#include "sim/actor.h"

#include "sim/cores.h"
#include "sim/progress.h"

void dist__sim_pass(const struct dist__sim_actor *actor, double time_s)
{
	dist__sim_leave_copy(actor->rank->world, DIST_EXIT_FAILED);
	if (time_s > 0 && !actor->rank->world->ended) {
		dist__engine->sleep(time_s);
		dist__sim_watch_note(actor->rank);
	}
}

/* Takes what actor owes and copy_s more of its core, unless it holds that, and
 * lets the time pass until the latter begins. */
void dist__sim_pay_before(struct dist__sim_actor *actor, double copy_s)
{
	double work_s = actor->debt_s + copy_s;

	if (work_s <= 0)
		return;
	actor->debt_s = 0;
	if (!actor->holds)
		work_s = dist__sim_core_take(actor->rank, work_s);
	dist__sim_pass(actor, work_s - copy_s);
}

void dist__sim_pay(struct dist__sim_actor *actor)
{
	dist__sim_pay_before(actor, 0);
}

bool dist__sim_has_aborted(const struct dist__sim_rank *rank, uint32_t group)
{
	if (rank->num_aborted > DIST__SIM_ABORTED)
		return true;
	for (size_t i = 0; i < rank->num_aborted; i++)
		if (rank->aborted[i] == group)
			return true;
	return false;
}

enum dist_error dist__sim_state_of(const struct dist__sim_rank *rank,
				   uint32_t group)
{
	if (rank->world->ended)
		return rank->world->end_error;
	if (rank->closed || dist__sim_has_aborted(rank, group))
		return DIST_ERR_ABORTED;
	return DIST_OK;
}
