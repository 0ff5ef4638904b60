/* other_group.c - the same call in another group: in torch terms, one of two
 * process groups with the same ranks was handed to the wrong layer. */
#include "check/other_group.h"

#include "check/disagreement.h"

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
