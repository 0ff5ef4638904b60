/*
 * grid.h - ranks as a grid of tensor, data and pipeline parallelism, in the
 * order of Megatron-LM (D. Narayanan et al., "Efficient Large-Scale Language
 * Model Training on GPU Clusters", SC 2021): the ranks of a tensor group are
 * consecutive, then come its replicas, then the stages.
 *
 *	rank = tp_rank + tp * (dp_rank + dp * pp_rank)
 */
#ifndef LOCKSTEP_SCENARIOS_GRID_H
#define LOCKSTEP_SCENARIOS_GRID_H

#include "lockstep/dist.h"

/*
 * grid_group makes groups of num ranks, stride apart, that cover world, calls
 * them name and stores the caller's in *group; NULL if num is 1. num * stride
 * divides the world size. All ranks call it. Errors: those of
 * dist_new_subgroups_by_enumeration.
 */
DIST_MUST_CHECK enum dist_error grid_group(struct dist_group *world, int stride,
					   int num, const char *name,
					   struct dist_group **group);

/* grid_ends does the same with only the first and the last rank of each of
 * these groups; *group is NULL on other ranks. */
DIST_MUST_CHECK enum dist_error grid_ends(struct dist_group *world, int stride,
					  int num, const char *name,
					  struct dist_group **group);

#endif
