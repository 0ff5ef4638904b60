/* algorithms.h - every algorithm there is, by file. Private to coll/; others
 * go through dist__algorithms() (coll/algorithm.h). */
#ifndef LOCKSTEP_COLL_ALGORITHMS_H
#define LOCKSTEP_COLL_ALGORITHMS_H

#include "coll/algorithm.h"

extern const struct dist__algorithm dist__ring_all_reduce;
extern const struct dist__algorithm dist__recursive_doubling_all_reduce;
extern const struct dist__algorithm dist__one_shot_all_reduce;
extern const struct dist__algorithm dist__halving_doubling_all_reduce;
extern const struct dist__algorithm dist__binomial_all_reduce;
extern const struct dist__algorithm dist__double_tree_all_reduce;
extern const struct dist__algorithm dist__hierarchical_all_reduce;
extern const struct dist__algorithm dist__binomial_reduce;
extern const struct dist__algorithm dist__rabenseifner_reduce;
extern const struct dist__algorithm dist__double_tree_reduce;
extern const struct dist__algorithm dist__chain_reduce;
extern const struct dist__algorithm dist__linear_reduce;
extern const struct dist__algorithm dist__hierarchical_reduce;
extern const struct dist__algorithm dist__binomial_broadcast;
extern const struct dist__algorithm dist__scatter_all_gather_broadcast;
extern const struct dist__algorithm dist__double_tree_broadcast;
extern const struct dist__algorithm dist__chain_broadcast;
extern const struct dist__algorithm dist__linear_broadcast;
extern const struct dist__algorithm dist__hierarchical_broadcast;
extern const struct dist__algorithm dist__dissemination_barrier;
extern const struct dist__algorithm dist__one_shot_barrier;
extern const struct dist__algorithm dist__binomial_barrier;
extern const struct dist__algorithm dist__hierarchical_barrier;
extern const struct dist__algorithm dist__linear_monitored_barrier;
extern const struct dist__algorithm dist__ring_all_gather;
extern const struct dist__algorithm dist__doubling_all_gather;
extern const struct dist__algorithm dist__bruck_all_gather;
extern const struct dist__algorithm dist__linear_all_gather;
extern const struct dist__algorithm dist__hierarchical_all_gather;
extern const struct dist__algorithm dist__ring_reduce_scatter;
extern const struct dist__algorithm dist__halving_reduce_scatter;
extern const struct dist__algorithm dist__pairwise_reduce_scatter;
extern const struct dist__algorithm dist__one_shot_reduce_scatter;
extern const struct dist__algorithm dist__pairwise_all_to_all;
extern const struct dist__algorithm dist__linear_all_to_all;
extern const struct dist__algorithm dist__bruck_all_to_all;
extern const struct dist__algorithm dist__binomial_gather;
extern const struct dist__algorithm dist__linear_gather;
extern const struct dist__algorithm dist__binomial_scatter;
extern const struct dist__algorithm dist__linear_scatter;

#endif
