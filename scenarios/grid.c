#include "scenarios/grid.h"

#include <stdlib.h>

#include "lockstep/measure.h"

/* Lists the groups' ranks, each step-th, in ranks; returns how many groups
 * there are. */
static int list_groups(int all, int stride, int num, int step, int *ranks,
		       struct dist_rank_list *lists)
{
	int rank, i, groups = 0;

	for (rank = 0; rank < all; rank++) {
		if (rank / stride % num != 0)
			continue;
		lists[groups].ranks = ranks;
		lists[groups].n = 1 + (num - 1) / step;
		for (i = 0; i < num; i += step)
			*ranks++ = rank + i * stride;
		groups++;
	}
	return groups;
}

static enum dist_error make_group(struct dist_group *world, int stride, int num,
				  int step, const char *name,
				  struct dist_group **group)
{
	const struct dist_group_options options = {.name = name};
	int all = dist_get_world_size(world);
	enum dist_error error = DIST_ERR_NO_MEMORY;
	struct dist_rank_list *lists;
	int *ranks;

	*group = NULL;
	if (num == 1)
		return DIST_OK;
	lists = calloc((size_t)(all / num), sizeof *lists);
	ranks = calloc((size_t)all, sizeof *ranks);
	if (lists && ranks)
		error = dist_new_subgroups_by_enumeration(
			dist_untimed(world), lists,
			list_groups(all, stride, num, step, ranks, lists),
			&options, group);
	free(lists);
	free(ranks);
	return error;
}

enum dist_error grid_group(struct dist_group *world, int stride, int num,
			   const char *name, struct dist_group **group)
{
	return make_group(world, stride, num, 1, name, group);
}

enum dist_error grid_ends(struct dist_group *world, int stride, int num,
			  const char *name, struct dist_group **group)
{
	return make_group(world, stride, num, num > 1 ? num - 1 : 1, name,
			  group);
}
