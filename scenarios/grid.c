#include "scenarios/grid.h"

#include <stdlib.h>

#include "lockstep/measure.h"

struct grid_place grid_place(const struct grid *grid, int rank)
{
	return (struct grid_place){.tp_rank = rank % grid->tp,
				   .dp_rank = rank / grid->tp % grid->dp,
				   .pp_rank = rank / grid->tp / grid->dp};
}

int grid_rank(const struct grid *grid, struct grid_place place)
{
	return place.tp_rank +
	       grid->tp * (place.dp_rank + grid->dp * place.pp_rank);
}

static int *coordinate(struct grid_place *place, enum grid_axis axis)
{
	if (axis == GRID_TP)
		return &place->tp_rank;
	return axis == GRID_DP ? &place->dp_rank : &place->pp_rank;
}

/* Lists the ranks of each group of size ranks along axis, in ranks. */
static int list_groups(const struct grid *grid, enum grid_axis axis, int size,
		       int *ranks, struct dist_rank_list *lists)
{
	int rank, i, num = 0, all = grid->tp * grid->dp * grid->pp;

	for (rank = 0; rank < all; rank++) {
		struct grid_place place = grid_place(grid, rank);

		if (*coordinate(&place, axis) != 0)
			continue;
		lists[num].ranks = ranks + (ptrdiff_t)num * size;
		lists[num].n = size;
		for (i = 0; i < size; i++) {
			*coordinate(&place, axis) = i;
			ranks[num * size + i] = grid_rank(grid, place);
		}
		num++;
	}
	return num;
}

enum dist_error grid_group(const struct grid *grid, enum grid_axis axis,
			   struct dist_group *world, struct dist_group **group)
{
	static const char *const names[] = {"tensor", "data", "pipeline"};
	const struct dist_group_options options = {.name = names[axis]};
	int sizes[] = {grid->tp, grid->dp, grid->pp};
	size_t all = (size_t)(grid->tp * grid->dp * grid->pp);
	enum dist_error error = DIST_ERR_NO_MEMORY;
	struct dist_rank_list *lists;
	int *ranks, num;

	*group = NULL;
	if (sizes[axis] == 1)
		return DIST_OK;
	lists = calloc(all, sizeof *lists);
	ranks = calloc(all, sizeof *ranks);
	if (lists && ranks) {
		num = list_groups(grid, axis, sizes[axis], ranks, lists);
		error = dist_new_subgroups_by_enumeration(
			dist_untimed(world), lists, num, &options, group);
	}
	free(lists);
	free(ranks);
	return error;
}
