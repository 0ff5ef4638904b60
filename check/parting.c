#include "check/parting.h"

#include <string.h>

#include "check/disagreement.h"
#include "check/words.h"

static bool same_site(const struct check_call *a, const struct check_call *b)
{
	return a->site.line == b->site.line &&
	       strcmp(a->site.file, b->site.file) == 0;
}

static bool same_label(const struct check_call *a, const struct check_call *b)
{
	return strcmp(a->label, b->label) == 0;
}

/* What two calls of ranks that go the same way have in common. */
typedef bool (*same_way)(const struct check_call *a,
			 const struct check_call *b);

/* The call that most members made theirs like at that place, as far as one has
 * a majority (Boyer and Moore); NULL: nobody made one. */
static const struct check_call *usual_call(const struct check_board *board,
					   const struct check_group *group,
					   const struct check_call *place,
					   same_way same)
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
		if (same(call, usual))
			votes++;
		else
			votes--;
	}
	return usual;
}

static bool part_at(const struct check_board *board,
		    const struct check_group *group,
		    const struct check_call *place, same_way same,
		    struct check_parting *parting)
{
	const struct check_call *usual = usual_call(board, group, place, same);
	const struct check_call *call;

	*parting = (struct check_parting){.few = NULL};
	for (uint32_t i = 0; usual && i < group->num_members; i++) {
		uint32_t rank = check_group_member(group, i);

		call = check_counterpart(&board->slots[rank], place);
		if (!call)
			continue;
		if (!same(call, usual) && !parting->few) {
			parting->few = call;
			parting->rank_few = rank;
		} else if (same(call, usual) && !parting->most) {
			parting->most = call;
			parting->rank_most = rank;
		}
	}
	return parting->few && parting->most;
}

static bool find_by(const struct check_board *board,
		    const struct check_group *group,
		    const struct check_call *before, same_way same,
		    struct check_parting *parting)
{
	struct check_call place = *before;
	struct check_parting earlier;
	uint32_t low =
		before->index > CHECK_RING ? before->index - CHECK_RING : 0;
	bool found = false;

	while (place.index-- > low) {
		if (part_at(board, group, &place, same, &earlier)) {
			*parting = earlier;
			found = true;
		} else if (found) {
			break;
		}
	}
	return found;
}

bool check_find_parting(const struct check_board *board,
			const struct check_group *group,
			const struct check_call *before,
			struct check_parting *parting)
{
	return find_by(board, group, before, same_site, parting) ||
	       find_by(board, group, before, same_label, parting);
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
		call = check_counterpart(&slots[*caller], &place);
		if (call)
			return call;
	}
	return NULL;
}

/* What rank lacks in any of its groups, the first that others called. */
static bool find_lack_of(const struct check_picture *p, uint32_t rank,
			 struct check_lack *lack)
{
	*lack = (struct check_lack){.rank = rank};
	for (size_t i = 0; i < p->groups.count; i++) {
		uint32_t caller;
		const struct check_call *call =
			next_call(p, &p->groups.all[i], rank, &caller);

		if (!call || is_waited_in(p, call) ||
		    (lack->call && call->issued_ns >= lack->call->issued_ns))
			continue;
		lack->call = call;
		lack->caller = caller;
	}
	return lack->call;
}

bool check_find_lack(const struct check_picture *p, struct check_lack *lack)
{
	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = &p->cohorts[i];
		uint32_t rank = check_next_awaited(p, cohort, 0);

		for (; rank < p->world_size;
		     rank = check_next_awaited(p, cohort, rank + 1))
			if (find_lack_of(p, rank, lack))
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

/* ---- in words --------------------------------------------------------- */

void check_report_parting(FILE *out, const struct check_board *board,
			  const struct check_group *group,
			  const struct check_call *before)
{
	struct check_parting parting;

	if (!check_find_parting(board, group, before, &parting))
		return;
	fprintf(out, "  ranks called %s before: rank %u ",
		same_site(parting.few, parting.most) ? "for different things"
						     : "from different lines",
		parting.rank_few);
	check_print_call_in_place(out, parting.few);
	fprintf(out, ", rank %u", parting.rank_most);
	check_print_label(out, parting.most);
	fputs(" at ", out);
	check_print_site(out, &parting.most->site);
	fputc('\n', out);
}

void check_report_lack(FILE *out, const struct check_picture *p)
{
	struct check_lack lack;

	if (!check_find_lack(p, &lack))
		return;
	fprintf(out, "  rank %u did not come to ", lack.rank);
	check_print_call_in_place(out, lack.call);
	fprintf(out, ", where rank %u was\n", lack.caller);
}
