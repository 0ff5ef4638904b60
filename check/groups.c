#include "check/groups.h"

#include <stdlib.h>

/* That a rank is in a group, as it says itself. */
struct claim {
	uint32_t id, leader, rank;
};

static int by_group_and_rank(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	int order = check_by_value(x->id, y->id);

	if (order == 0)
		order = check_by_value(x->leader, y->leader);
	return order ? order : check_by_value(x->rank, y->rank);
}

static int by_group(const void *a, const void *b)
{
	const struct check_group *x = a, *y = b;
	int order = check_by_value(x->id, y->id);

	return order ? order : check_by_value(x->leader, y->leader);
}

/* All claims but those on the default group, group by group. */
static struct claim *collect(const struct check_board *board, size_t *count)
{
	struct claim *claims;
	size_t most = 0, n = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		most += check_num_memberships(&board->slots[rank]);
	claims = calloc(most + 1, sizeof *claims);
	for (uint32_t rank = 0; claims && rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		for (uint32_t i = 0;
		     i < check_num_memberships(slot) && n < most; i++) {
			const struct check_membership *own =
				check_membership_at(slot, i);

			if (own->group_id != 0)
				claims[n++] = (struct claim){own->group_id,
							     own->leader, rank};
		}
	}
	if (n > 0)
		qsort(claims, n, sizeof *claims, by_group_and_rank);
	*count = n;
	return claims;
}

/* Makes groups of the claims, which follow each other there. */
static void gather(struct check_groups *groups, const struct claim *claims,
		   size_t n)
{
	struct check_group *group = groups->all;

	for (size_t i = 0; i < n; i++) {
		groups->members[i] = claims[i].rank;
		if (i == 0 || claims[i - 1].id != claims[i].id ||
		    claims[i - 1].leader != claims[i].leader)
			*++group = (struct check_group){
				.id = claims[i].id,
				.leader = claims[i].leader,
				.members = &groups->members[i]};
		group->num_members++;
	}
	groups->count = (size_t)(group - groups->all) + 1;
}

bool check_groups_init(struct check_groups *groups,
		       const struct check_board *board)
{
	struct claim *claims;
	size_t n;

	*groups = (struct check_groups){.all = NULL};
	claims = collect(board, &n);
	if (!claims)
		return false;
	groups->all = calloc(n + 1, sizeof *groups->all);
	groups->members = calloc(n + 1, sizeof *groups->members);
	if (groups->all && groups->members) {
		groups->all[0].num_members = board->world_size;
		gather(groups, claims, n);
	}
	free(claims);
	if (groups->all && groups->members)
		return true;
	check_groups_release(groups);
	return false;
}

void check_groups_release(struct check_groups *groups)
{
	free(groups->all);
	free(groups->members);
	*groups = (struct check_groups){.all = NULL};
}

const struct check_group *check_group_of(const struct check_groups *groups,
					 const struct check_call *call)
{
	const struct check_group key = {.id = call->group_id,
					.leader = call->leader};

	if (call->group_id == 0)
		return &groups->all[0];
	return bsearch(&key, groups->all, groups->count, sizeof key, by_group);
}

uint32_t check_group_generation(const struct check_group *group,
				const struct check_board *board)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < group->num_members; i++) {
		uint32_t rank = check_group_member(group, i);

		if (board->slots[rank].generation > last)
			last = board->slots[rank].generation;
	}
	return last;
}

uint32_t check_group_from(const struct check_group *group, uint32_t rank)
{
	uint32_t low = 0, high = group->num_members;

	if (!group->members)
		return rank < high ? rank : high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (group->members[middle] < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool check_has_aborted(const struct check_board *board, uint32_t rank,
		       const struct check_call *call)
{
	const struct check_slot *slot = &board->slots[rank];
	const struct check_membership *own =
		check_membership_find(slot, call->group_id);

	return own && own->leader == call->leader &&
	       own->left == CHECK_ABORTED &&
	       slot->generation == call->generation;
}
