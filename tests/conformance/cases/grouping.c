#include "tests/conformance/cases/grouping.h"

#include "tests/conformance/cases/conformance.h"

const char *conformance_grouping_name(enum conformance_grouping grouping)
{
	static const char *const names[] = {
		"all", "halves", "odd", "reversed", "overlapping", "nested"};

	return names[grouping];
}

/* Numbers from `from` on, each by step from the one before. */
static void count(int *ranks, int n, int from, int step)
{
	for (int i = 0; i < n; i++)
		ranks[i] = from + i * step;
}

static enum dist_error halves(struct dist_group *all, struct dist_group **half)
{
	int low[CONFORMANCE_MAX_WORLD], high[CONFORMANCE_MAX_WORLD];
	int n = dist_get_world_size(all), middle = n / 2;
	const struct dist_rank_list lists[] = {{low, middle},
					       {high, n - middle}};

	count(low, middle, 0, 1);
	count(high, n - middle, middle, 1);
	return dist_split_group(all, lists, 2, NULL, half);
}

static enum dist_error overlapping(struct dist_group *all,
				   struct dist_group *groups[2])
{
	int ranks[CONFORMANCE_MAX_WORLD], n = dist_get_world_size(all);
	int middle = n / 2;
	enum dist_error error;

	count(ranks, middle + 1, 0, 1);
	error = dist_new_group(all, ranks, middle + 1, NULL, &groups[0]);
	if (error)
		return error;
	count(ranks, n - middle, middle, 1);
	return dist_new_group(all, ranks, n - middle, NULL, &groups[1]);
}

/* Members alone make it. */
static enum dist_error odd(struct dist_group *all, struct dist_group **group)
{
	const struct dist_group_options options = {.members_only = true};
	int ranks[CONFORMANCE_MAX_WORLD], n = dist_get_world_size(all);

	if (dist_get_rank(all) % 2 == 0)
		return DIST_OK;
	count(ranks, n / 2, 1, 2);
	return dist_new_group(all, ranks, n / 2, &options, group);
}

/* All ranks of parent, numbered from the last on. */
static enum dist_error turned(struct dist_group *parent,
			      struct dist_group **group)
{
	int ranks[CONFORMANCE_MAX_WORLD], n = dist_get_world_size(parent);
	const struct dist_rank_list list = {ranks, n};

	count(ranks, n, n - 1, -1);
	return dist_split_group(parent, &list, 1, NULL, group);
}

enum dist_error conformance_groups_new(struct dist_group *all,
				       enum conformance_grouping grouping,
				       struct dist_group *groups[2])
{
	struct dist_group *half;
	enum dist_error error;

	groups[0] = groups[1] = NULL;
	switch (grouping) {
	case CONFORMANCE_HALVES:
		return halves(all, &groups[0]);
	case CONFORMANCE_ODD:
		return odd(all, &groups[0]);
	case CONFORMANCE_REVERSED:
		return turned(all, &groups[0]);
	case CONFORMANCE_OVERLAPPING:
		return overlapping(all, groups);
	case CONFORMANCE_NESTED:
		error = halves(all, &half);
		return error ? error : turned(half, &groups[0]);
	default:
		groups[0] = all;
		return DIST_OK;
	}
}
