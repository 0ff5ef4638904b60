#include "check/divergence.h"

#include <string.h>

#include "check/disagreement.h"

static bool same_site(const struct check_call *a, const struct check_call *b)
{
	return check_same_site(&a->site, &b->site);
}

/* Whether ranks that make these calls go the same way. */
static bool same_way(const struct check_call *a, const struct check_call *b)
{
	return same_site(a, b) && strcmp(a->label, b->label) == 0;
}

/* The call that most members made theirs like at that place, as far as one has
 * a majority (Boyer and Moore); NULL: nobody made one. */
static const struct check_call *usual_call(const struct check_board *board,
					   const struct check_group *group,
					   const struct check_call *place)
{
	const struct check_call *usual = NULL, *call;
	uint32_t votes = 0;

	for (uint32_t i = 0; i < group->num_members; i++) {
		call = check_counterpart(
			&board->slots[check_group_member(group, i)], place);
		if (!call)
			continue;
		if (votes == 0)
			usual = call;
		if (same_way(call, usual))
			votes++;
		else
			votes--;
	}
	return usual;
}

static bool part_at(const struct check_board *board,
		    const struct check_group *group,
		    const struct check_call *place,
		    struct check_divergence *divergence)
{
	const struct check_call *usual = usual_call(board, group, place);
	const struct check_call *call;

	*divergence = (struct check_divergence){.few = NULL};
	for (uint32_t i = 0; usual && i < group->num_members; i++) {
		uint32_t rank = check_group_member(group, i);

		call = check_counterpart(&board->slots[rank], place);
		if (!call)
			continue;
		if (!same_way(call, usual) && !divergence->few) {
			divergence->few = call;
			divergence->rank_few = rank;
		} else if (same_way(call, usual) && !divergence->most) {
			divergence->most = call;
			divergence->rank_most = rank;
		}
	}
	return divergence->few && divergence->most;
}

bool check_find_divergence(const struct check_board *board,
			   const struct check_group *group,
			   const struct check_call *before,
			   struct check_divergence *divergence)
{
	struct check_call place = *before;
	struct check_divergence earlier;
	uint32_t low =
		before->index > CHECK_RING ? before->index - CHECK_RING : 0;
	bool found = false;

	while (place.index-- > low) {
		if (part_at(board, group, &place, &earlier)) {
			*divergence = earlier;
			found = true;
		} else if (found) {
			break;
		}
	}
	return found;
}

/* Whether a rank waits in the collective at place, so that all see it. */
static bool is_waited_in(const struct check_picture *p,
			 const struct check_call *place)
{
	for (uint32_t i = 0; i < p->num_cohorts; i++)
		if (p->cohorts[i].waiting && p->cohorts[i].call &&
		    check_same_collective(p->cohorts[i].call, place))
			return true;
	return false;
}

/* The next collective of group that rank would have to call, if a member has
 * called it; NULL: nobody has, or rank is none. */
static const struct check_call *next_call(const struct check_picture *p,
					  const struct check_group *group,
					  uint32_t rank, uint32_t *caller)
{
	const struct check_slot *slots = p->board->slots;
	const struct check_call place = {
		.group_id = group->id,
		.leader = group->leader,
		.tag = -1,
		.generation = slots[rank].generation,
		.index = check_collectives(&slots[rank], group->id,
					   slots[rank].generation)};
	const struct check_call *call;
	uint32_t i = check_group_from(group, rank);

	if (i == group->num_members || check_group_member(group, i) != rank)
		return NULL;
	for (i = 0; i < group->num_members; i++) {
		*caller = check_group_member(group, i);
		if (check_collectives(&slots[*caller], group->id,
				      place.generation) <= place.index)
			continue;
		call = check_counterpart(&slots[*caller], &place);
		if (call)
			return call;
	}
	return NULL;
}

/* The first call of any of its groups that others made and rank did not. */
static bool find_absent_of(const struct check_picture *p, uint32_t rank,
			   struct check_absent_call *absent)
{
	*absent = (struct check_absent_call){.rank = rank};
	if (p->board->slots[rank].damaged ||
	    p->board->slots[rank].state == CHECK_RANK_UNKNOWN)
		return false; /* it may have come */
	for (size_t i = 0; i < p->groups.count; i++) {
		uint32_t caller;
		const struct check_call *call =
			next_call(p, &p->groups.all[i], rank, &caller);

		if (!call || is_waited_in(p, call) ||
		    (absent->call &&
		     call->issued_ns >= absent->call->issued_ns))
			continue;
		absent->call = call;
		absent->caller = caller;
	}
	return absent->call;
}

bool check_find_absent_call(const struct check_picture *p,
			    struct check_absent_call *absent)
{
	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = &p->cohorts[i];
		uint32_t rank = check_next_awaited(p, cohort, 0);

		for (; rank < p->world_size;
		     rank = check_next_awaited(p, cohort, rank + 1))
			if (find_absent_of(p, rank, absent))
				return true;
	}
	return false;
}

const struct check_cohort *check_gathering(const struct check_picture *p,
					   uint32_t rank)
{
	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort =
			&p->cohorts[(p->cohort_of[rank] + i) % p->num_cohorts];

		if (cohort->waiting && cohort->group && cohort->call->tag < 0)
			return cohort;
	}
	return NULL;
}

/* ---- in sentences ------------------------------------------------------- */

void check_report_divergence(struct check_lines *lines,
			     const struct check_divergence *d)
{
	FILE *out;

	if (!d->few)
		return;
	out = check_line(lines, 1);
	fprintf(out, "ranks called %s before: rank %u ",
		same_site(d->few, d->most) ? "for different things"
					   : "from different lines",
		d->rank_few);
	check_print_call_in_place(out, d->few);
	fprintf(out, ", rank %u", d->rank_most);
	check_print_label(out, d->most);
	fputs(" at ", out);
	check_print_place(out, d->most);
}

void check_report_absent_call(struct check_lines *lines,
			      const struct check_absent_call *absent)
{
	FILE *out;

	if (!absent->call)
		return;
	out = check_line(lines, 1);
	fprintf(out, "rank %u did not come to ", absent->rank);
	check_print_call_in_place(out, absent->call);
	fprintf(out, ", where rank %u was", absent->caller);
}

/* ---- the same call in another group -------------------------------------- */

/* In torch terms, one of two process groups with the same ranks was handed to
 * the wrong layer. */

static bool waits_in_collective(const struct check_cohort *cohort)
{
	return cohort->waiting && cohort->call && cohort->group &&
	       cohort->call->tag < 0;
}

static bool same_members(const struct check_group *a,
			 const struct check_group *b)
{
	if (a->num_members != b->num_members)
		return false;
	for (uint32_t i = 0; i < a->num_members; i++)
		if (check_group_member(a, i) != check_group_member(b, i))
			return false;
	return true;
}

/* Returns the first cohort behind `one` that waits in the same call on another
 * group of the same ranks; NULL: there is none. */
static const struct check_cohort *find_other(const struct check_picture *p,
					     const struct check_cohort *one)
{
	const struct check_cohort *end = p->cohorts + p->num_cohorts;

	for (const struct check_cohort *other = one + 1; other < end; other++)
		if (waits_in_collective(other) && other->group != one->group &&
		    check_same_call(one->call, other->call) &&
		    same_members(one->group, other->group))
			return other;
	return NULL;
}

void check_find_other_group(const struct check_picture *p,
			    struct check_other_group *found)
{
	const struct check_cohort *end = p->cohorts + p->num_cohorts;

	*found = (struct check_other_group){.few = NULL};
	for (const struct check_cohort *one = p->cohorts; one < end; one++) {
		const struct check_cohort *other =
			waits_in_collective(one) ? find_other(p, one) : NULL;

		if (!other)
			continue;
		found->few = other->size < one->size ? other : one;
		found->most = other->size < one->size ? one : other;
		return;
	}
}

void check_report_other_group(struct check_lines *lines,
			      const struct check_other_group *found)
{
	FILE *out;

	if (!found->few)
		return;
	out = check_line(lines, 1);
	fprintf(out, "rank %u waits in ", found->few->first);
	check_print_call_in_place(out, found->few->call);
	fprintf(out,
		"; rank %u waits in the same call, but of group %s, which has "
		"the same ranks",
		found->most->first, found->most->call->group);
}
