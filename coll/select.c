/*
 * select.c - the algorithms by name, and the choice by size and world.
 *
 * The limits of the built-in table follow from the cost formulas, with
 * alpha / beta = 32 KiB (25 us at 1.25 GB/s: TCP over 10 Gb/s Ethernet). Up to
 * alpha / beta a message is mostly latency, and the algorithm with the fewest
 * steps wins. A ring takes about 2 p alpha more than halving-doubling, which
 * pays 2 n beta for folding if p is no power of two: then the ring wins from
 * n = p alpha / beta on. The same holds for reduce-scatter, half of either.
 *
 * A broadcast takes log2 p vectors by a binomial tree. A double tree takes one
 * and a quarter, in segments of 4 alpha / beta, and 2 log2 p segments: from 16
 * alpha / beta on it takes 0.9 of the time on 3 ranks, 0.7 on 16, and for long
 * vectors on 512 a seventh; on two ranks it gains nothing. The same holds for
 * reduce, where Rabenseifner's wins over the binomial tree before that. On
 * links with more bandwidth for their latency a pipeline needs longer segments
 * than the default.
 *
 * On nodes of several ranks that share a link, simulated as 2 to 8 nodes of 8
 * with 2.7 us and 197 GB/s between them, a hierarchical all-reduce takes at
 * most half the time of any flat one from 64 KiB to 4 MiB. From 16 to 64 MiB on
 * a ring wins: between phases the links between nodes are sometimes idle.
 *
 * Up to 8 ranks the limits were measured, with 2 to 8 ranks on two processors,
 * by `lockstep bench --algorithm` over TCP and through memory. Limits of an
 * all-reduce are higher, because a ring's additional steps cost more; those of
 * Bruck's all-gather, which copies, are lower: within a node recursive doubling
 * comes first, which does not copy, though it folds. One tree is best on a node
 * whose processors do all the copying of a broadcast, and also all the sending
 * if it is short: a root that sends to all delays them all. Up to 3 ranks,
 * messages at once or in pairs are as many as those of others, and nothing is
 * copied twice.
 *
 * Through the memory of one node sending a message costs next to nothing. So
 * algorithms of one step win there, up to 8 ranks, that lose over TCP. Measured
 * parts of the time: all-gather with all parts at once 0.6 to 1.1 (short ones
 * on 8 ranks 1.2 if calls come one by one, less in a row), direct gather or
 * scatter 0.3 to 1, broadcast from the root to all 0.5 to 1, barrier 0.7 to 1,
 * all-reduce or reduce-scatter of up to 4 KiB that each rank adds up itself 0.6
 * to 0.9. Longer reductions do not ask for memory: all have the same order.
 *
 * The formulas know neither shared links nor copies in memory. Where two
 * algorithms carry the same bytes, the one with fewer steps wins as long as it
 * saves more than that: Bruck's all-gather, which sends far and copies the
 * result, up to 512 KiB of it, or while a ring would take more than twice the
 * time; the trees of gather and scatter, which pass parts on, up to 1 MiB.
 * Linear algorithms post p - 1 messages at once: not for many ranks or long
 * parts. A profile replaces the table if a library is known to choose
 * otherwise.
 */
#include <limits.h>
#include <string.h>

#include "coll/algorithms.h"
#include "coll/profile.h"

#define ADDRESS(name) &dist__##name,
static const struct dist__algorithm *const algorithms[] = {
	DIST__ALGORITHMS(ADDRESS) NULL,
};

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

/* Where a rule holds. */
#define ANYWHERE       .max_nodes = 0
#define SEVERAL_A_NODE .min_node_ranks = 2
#define ONE_NODE       .max_nodes = 1
#define ONE_MEMORY     .max_nodes = 1, .in_memory = true

#define RULE(ranks, bytes, where, name)                                        \
	{                                                                      \
		.max_world_size = (ranks), .max_bytes = (bytes), where,        \
		.algorithm = &dist__##name                                     \
	}

#define MAX_RULES 13 /* of an op, with the end */

/* By op. The first rule whose limits hold wins; the last has none. */
static const struct dist__rule built_in[DIST__OP_KINDS][MAX_RULES] = {
	[DIST__ALL_REDUCE] =
		{
			RULE(2, 32 * KIB, ANYWHERE,
			     recursive_doubling_all_reduce),
			RULE(8, 4 * KIB, ONE_MEMORY, one_shot_all_reduce),
			RULE(INT_MAX, 32 * KIB, ANYWHERE,
			     recursive_doubling_all_reduce),
			RULE(INT_MAX, 32 * MIB, SEVERAL_A_NODE,
			     hierarchical_all_reduce),
			RULE(8, 512 * KIB, ANYWHERE,
			     halving_doubling_all_reduce),
			RULE(8, SIZE_MAX, ANYWHERE, ring_all_reduce),
			RULE(64, 2 * MIB, ANYWHERE,
			     halving_doubling_all_reduce),
			RULE(64, SIZE_MAX, ANYWHERE, ring_all_reduce),
			RULE(512, 16 * MIB, ANYWHERE,
			     halving_doubling_all_reduce),
			RULE(512, SIZE_MAX, ANYWHERE, ring_all_reduce),
			RULE(INT_MAX, 128 * MIB, ANYWHERE,
			     halving_doubling_all_reduce),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE, ring_all_reduce),
		},
	[DIST__REDUCE] =
		{
			RULE(2, SIZE_MAX, ANYWHERE, binomial_reduce),
			RULE(INT_MAX, 128 * KIB, ANYWHERE, binomial_reduce),
			RULE(INT_MAX, SIZE_MAX, SEVERAL_A_NODE,
			     hierarchical_reduce),
			RULE(INT_MAX, 1 * MIB, ANYWHERE, rabenseifner_reduce),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE, double_tree_reduce),
		},
	[DIST__BROADCAST] =
		{
			RULE(2, SIZE_MAX, ANYWHERE, binomial_broadcast),
			RULE(8, SIZE_MAX, ONE_MEMORY, linear_broadcast),
			RULE(8, SIZE_MAX, ONE_NODE, binomial_broadcast),
			RULE(8, 4 * KIB, ANYWHERE, linear_broadcast),
			RULE(INT_MAX, 256 * KIB, ANYWHERE, binomial_broadcast),
			RULE(INT_MAX, SIZE_MAX, SEVERAL_A_NODE,
			     hierarchical_broadcast),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE,
			     double_tree_broadcast),
		},
	[DIST__BARRIER] =
		{
			RULE(2, SIZE_MAX, ANYWHERE, dissemination_barrier),
			RULE(8, SIZE_MAX, ONE_MEMORY, one_shot_barrier),
			RULE(INT_MAX, SIZE_MAX, SEVERAL_A_NODE,
			     hierarchical_barrier),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE,
			     dissemination_barrier),
		},
	[DIST__MONITORED_BARRIER] =
		{
			RULE(INT_MAX, SIZE_MAX, ANYWHERE,
			     linear_monitored_barrier),
		},
	[DIST__ALL_GATHER] =
		{
			RULE(3, SIZE_MAX, ANYWHERE, linear_all_gather),
			RULE(8, SIZE_MAX, ONE_MEMORY, linear_all_gather),
			RULE(4, 256 * KIB, ONE_NODE, doubling_all_gather),
			RULE(8, 64 * KIB, ONE_NODE, doubling_all_gather),
			RULE(8, 256 * KIB, ANYWHERE, bruck_all_gather),
			RULE(8, SIZE_MAX, ANYWHERE, ring_all_gather),
			RULE(64, 512 * KIB, ANYWHERE, bruck_all_gather),
			RULE(64, SIZE_MAX, ANYWHERE, ring_all_gather),
			RULE(512, 4 * MIB, ANYWHERE, bruck_all_gather),
			RULE(512, SIZE_MAX, ANYWHERE, ring_all_gather),
			RULE(INT_MAX, 16 * MIB, ANYWHERE, bruck_all_gather),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE, ring_all_gather),
		},
	[DIST__REDUCE_SCATTER] =
		{
			RULE(2, SIZE_MAX, ANYWHERE, pairwise_reduce_scatter),
			RULE(8, 16 * KIB, ONE_MEMORY, one_shot_reduce_scatter),
			RULE(3, 64 * KIB, ANYWHERE, halving_reduce_scatter),
			RULE(3, SIZE_MAX, ANYWHERE, pairwise_reduce_scatter),
			RULE(8, 256 * KIB, ANYWHERE, halving_reduce_scatter),
			RULE(8, SIZE_MAX, ANYWHERE, ring_reduce_scatter),
			RULE(64, 2 * MIB, ANYWHERE, halving_reduce_scatter),
			RULE(64, SIZE_MAX, ANYWHERE, ring_reduce_scatter),
			RULE(512, 16 * MIB, ANYWHERE, halving_reduce_scatter),
			RULE(512, SIZE_MAX, ANYWHERE, ring_reduce_scatter),
			RULE(INT_MAX, 128 * MIB, ANYWHERE,
			     halving_reduce_scatter),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE, ring_reduce_scatter),
		},
	[DIST__ALL_TO_ALL] =
		{
			RULE(64, 256 * KIB, ANYWHERE, linear_all_to_all),
			RULE(3, SIZE_MAX, ANYWHERE, pairwise_all_to_all),
			RULE(8, 4 * MIB, ONE_MEMORY, linear_all_to_all),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE, pairwise_all_to_all),
		},
	[DIST__GATHER] =
		{
			RULE(8, SIZE_MAX, ONE_MEMORY, linear_gather),
			RULE(INT_MAX, 1 * MIB, ANYWHERE, binomial_gather),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE, linear_gather),
		},
	[DIST__SCATTER] =
		{
			RULE(8, SIZE_MAX, ONE_MEMORY, linear_scatter),
			RULE(INT_MAX, 1 * MIB, ANYWHERE, binomial_scatter),
			RULE(INT_MAX, SIZE_MAX, ANYWHERE, linear_scatter),
		},
};

const struct dist__algorithm *const *dist__algorithms(void)
{
	return algorithms;
}

const struct dist__algorithm *dist__algorithm_find(enum dist__op_kind op,
						   const char *name)
{
	for (size_t i = 0; algorithms[i]; i++)
		if (algorithms[i]->op == op &&
		    strcmp(algorithms[i]->name, name) == 0)
			return algorithms[i];
	return NULL;
}

/* What rules are held against. */
struct question {
	enum dist__op_kind op;
	const struct dist__layout *layout;
	size_t bytes;
};

static bool matches(const struct dist__rule *rule, const struct question *q)
{
	int ranks = q->layout->world_size, nodes = q->layout->num_nodes;
	bool dense = rule->min_node_ranks <= 1 ||
		     (nodes > 1 && ranks / nodes >= rule->min_node_ranks);

	return rule->algorithm->op == q->op && dense &&
	       (!rule->in_memory || q->layout->in_memory) &&
	       (!rule->max_nodes || nodes <= rule->max_nodes) &&
	       ranks <= rule->max_world_size && q->bytes <= rule->max_bytes;
}

static const struct dist__algorithm *first_match(const struct dist__rule *rules,
						 size_t num_rules,
						 const struct question *q)
{
	for (size_t i = 0; i < num_rules && rules[i].algorithm; i++)
		if (matches(&rules[i], q))
			return rules[i].algorithm;
	return NULL;
}

const struct dist__algorithm *dist__select(const struct dist__profile *profile,
					   enum dist__op_kind op,
					   const struct dist__layout *layout,
					   size_t bytes)
{
	const struct question q = {op, layout, bytes};
	const struct dist__algorithm *found = NULL;

	if (profile)
		found = first_match(profile->rules, profile->num_rules, &q);
	if (found)
		return found;
	return first_match(built_in[op], MAX_RULES, &q);
}

/* Whether the rules that match, whatever the bytes, up to one that matches all,
 * have the algorithm found, or all one; *ended: there is one. */
static bool agree(const struct dist__rule *rules, size_t num_rules,
		  const struct question *q,
		  const struct dist__algorithm **found, bool *ended)
{
	for (size_t i = 0; i < num_rules && rules[i].algorithm && !*ended;
	     i++) {
		if (!matches(&rules[i], q))
			continue;
		if (*found && rules[i].algorithm != *found)
			return false;
		*found = rules[i].algorithm;
		*ended = rules[i].max_bytes == SIZE_MAX;
	}
	return true;
}

bool dist__select_by_ranks(const struct dist__profile *profile,
			   enum dist__op_kind op,
			   const struct dist__layout *layout)
{
	const struct question q = {op, layout, 0};
	const struct dist__algorithm *found = NULL;
	bool ended = false;

	return (!profile || agree(profile->rules, profile->num_rules, &q,
				  &found, &ended)) &&
	       agree(built_in[op], MAX_RULES, &q, &found, &ended);
}
