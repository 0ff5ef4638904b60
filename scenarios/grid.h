/*
 * grid.h - ranks as a grid of tensor, data and pipeline parallelism, in the
 * order of Megatron-LM (D. Narayanan et al., "Efficient Large-Scale Language
 * Model Training on GPU Clusters", SC 2021): those of one tensor group follow
 * each other, then come its replicas, then the stages.
 *
 *	rank = tp_rank + tp * (dp_rank + dp * pp_rank)
 */
#ifndef LOCKSTEP_SCENARIOS_GRID_H
#define LOCKSTEP_SCENARIOS_GRID_H

#include "lockstep/dist.h"

/* The sizes of the grid. */
struct grid {
	int tp, dp, pp;
};

/* Where a rank stands in it. */
struct grid_place {
	int tp_rank, dp_rank, pp_rank;
};

/* grid_place returns where rank stands. */
struct grid_place grid_place(const struct grid *grid, int rank);

/* grid_rank returns who stands there. */
int grid_rank(const struct grid *grid, struct grid_place place);

/* One direction of the grid, along which ranks are a group. */
enum grid_axis { GRID_TP, GRID_DP, GRID_PP };

/*
 * grid_group makes the groups along one axis, of all ranks of world, and stores
 * the caller's in *group; NULL where such groups have one rank. All ranks call
 * it. Errors: those of dist_new_subgroups_by_enumeration.
 */
DIST_MUST_CHECK enum dist_error grid_group(const struct grid *grid,
					   enum grid_axis axis,
					   struct dist_group *world,
					   struct dist_group **group);

#endif
