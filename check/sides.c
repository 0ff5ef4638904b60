/*
 * sides.c - who has come to a call that takes all of its ranks, and who has
 * not.
 */
#include "check/sides.h"

#include "check/dependence.h"
#include "check/remote_wait.h"

bool check_is_in_shutdown(const struct check_cohort *cohort)
{
	return cohort->wait && cohort->wait->worker < 0;
}

bool check_has_sides(const struct check_picture *p,
		     const struct check_cohort *cohort)
{
	const struct check_call *call = cohort->call;

	if (cohort->serving || check_is_in_shutdown(cohort))
		return !cohort->serving;
	return call && call->tag < 0 && cohort->group &&
	       !check_needs_others(p->board, cohort->first, call);
}

static bool is_member(const struct check_group *group, uint32_t rank)
{
	uint32_t i = check_group_from(group, rank);

	return i < group->num_members && check_group_member(group, i) == rank;
}

enum check_side check_side_of(const struct check_picture *p,
			      const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];
	const struct check_call *call = cohort->call;
	bool in_shutdown = check_is_in_shutdown(cohort), missing;

	if (in_shutdown ? !check_same_rpc(slot, cohort->slot)
			: !is_member(cohort->group, rank))
		return CHECK_SIDE_NONE;
	missing = in_shutdown
			  ? check_awaits(p, cohort, rank)
			  : check_collectives(slot, call->group_id,
					      call->generation) <= call->index;
	return missing ? CHECK_SIDE_MISSING : CHECK_SIDE_CAME;
}
