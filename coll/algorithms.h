/* algorithms.h - all algorithms, by file. Private to coll/; other folders use
 * dist__algorithms() (coll/algorithm.h). */
#ifndef LOCKSTEP_COLL_ALGORITHMS_H
#define LOCKSTEP_COLL_ALGORITHMS_H

#include "coll/algorithm.h"

#define DIST__ALGORITHMS(X)                                                    \
	X(ring_all_reduce)                                                     \
	X(recursive_doubling_all_reduce)                                       \
	X(halving_doubling_all_reduce)                                         \
	X(one_shot_all_reduce)                                                 \
	X(binomial_all_reduce)                                                 \
	X(double_tree_all_reduce)                                              \
	X(hierarchical_all_reduce)                                             \
	X(binomial_reduce)                                                     \
	X(rabenseifner_reduce)                                                 \
	X(double_tree_reduce)                                                  \
	X(chain_reduce)                                                        \
	X(linear_reduce)                                                       \
	X(hierarchical_reduce)                                                 \
	X(binomial_broadcast)                                                  \
	X(scatter_all_gather_broadcast)                                        \
	X(double_tree_broadcast)                                               \
	X(chain_broadcast)                                                     \
	X(linear_broadcast)                                                    \
	X(hierarchical_broadcast)                                              \
	X(dissemination_barrier)                                               \
	X(one_shot_barrier)                                                    \
	X(binomial_barrier)                                                    \
	X(hierarchical_barrier)                                                \
	X(linear_monitored_barrier)                                            \
	X(ring_all_gather)                                                     \
	X(doubling_all_gather)                                                 \
	X(bruck_all_gather)                                                    \
	X(linear_all_gather)                                                   \
	X(hierarchical_all_gather)                                             \
	X(ring_reduce_scatter)                                                 \
	X(halving_reduce_scatter)                                              \
	X(pairwise_reduce_scatter)                                             \
	X(one_shot_reduce_scatter)                                             \
	X(pairwise_all_to_all)                                                 \
	X(linear_all_to_all)                                                   \
	X(bruck_all_to_all)                                                    \
	X(binomial_gather)                                                     \
	X(linear_gather)                                                       \
	X(binomial_scatter)                                                    \
	X(linear_scatter)

#define DIST__DECLARE(name) extern const struct dist__algorithm dist__##name;
DIST__ALGORITHMS(DIST__DECLARE)

/* Defines dist__HOW_OF for operation OP, run by run_OF at a cost of cost_OF_ns,
 * with one more member. */
#define DIST__ALGORITHM(how, of, OP, NAME, SUMMARY, FORMULA, more)             \
	const struct dist__algorithm dist__##how##_##of = {                    \
		.op = DIST__##OP,                                              \
		.name = (NAME),                                                \
		.summary = (SUMMARY),                                          \
		.formula = (FORMULA),                                          \
		.run = run_##of,                                               \
		.cost_ns = cost_##of##_ns,                                     \
		more}

#endif
