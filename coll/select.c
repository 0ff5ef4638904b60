/*
 * select.c - the algorithms by name, and which one a size and a world get.
 *
 * The limits of the built-in table follow from the cost formulas, with
 * alpha / beta taken as 32 KiB (25 us at 1.25 GB/s: TCP over 10 Gb/s Ethernet).
 * Up to alpha / beta a message is mostly latency, and the algorithm of fewest
 * steps wins. A ring takes about 2 p alpha more than halving-doubling, which on
 * worlds that are no power of two pays 2 n beta for folding: the ring wins from
 * n = p alpha / beta on; so for the reduce-scatter, which is half of either.
 *
 * The formulas leave out what links have to share and memory to copy. Where two
 * algorithms carry the same bytes, the one of fewer steps wins while it saves
 * more than that: Bruck's all-gather, which goes to far ranks and copies the
 * result, up to 512 KiB of it; the trees of gather and scatter, which pass
 * parts on, up to 1 MiB. The linear all-to-all posts p - 1 messages at once:
 * not for many ranks, nor for long parts. A profile replaces the table where a
 * library is known to choose otherwise.
 */
#include <limits.h>
#include <string.h>

#include "coll/algorithms.h"

static const struct dist__algorithm *const algorithms[] = {
	&dist__ring_all_reduce,
	&dist__recursive_doubling_all_reduce,
	&dist__halving_doubling_all_reduce,
	&dist__binomial_all_reduce,
	&dist__binomial_reduce,
	&dist__binomial_broadcast,
	&dist__dissemination_barrier,
	&dist__ring_all_gather,
	&dist__doubling_all_gather,
	&dist__bruck_all_gather,
	&dist__ring_reduce_scatter,
	&dist__halving_reduce_scatter,
	&dist__pairwise_all_to_all,
	&dist__linear_all_to_all,
	&dist__binomial_gather,
	&dist__linear_gather,
	&dist__binomial_scatter,
	&dist__linear_scatter,
	NULL,
};

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

/* The first rule whose limits hold wins; the last of an op has none. */
static const struct dist__rule built_in[] = {
	{DIST__ALL_REDUCE, INT_MAX, 32 * KIB,
	 &dist__recursive_doubling_all_reduce},
	{DIST__ALL_REDUCE, 8, 256 * KIB, &dist__halving_doubling_all_reduce},
	{DIST__ALL_REDUCE, 8, SIZE_MAX, &dist__ring_all_reduce},
	{DIST__ALL_REDUCE, 64, 2 * MIB, &dist__halving_doubling_all_reduce},
	{DIST__ALL_REDUCE, 64, SIZE_MAX, &dist__ring_all_reduce},
	{DIST__ALL_REDUCE, 512, 16 * MIB, &dist__halving_doubling_all_reduce},
	{DIST__ALL_REDUCE, 512, SIZE_MAX, &dist__ring_all_reduce},
	{DIST__ALL_REDUCE, INT_MAX, 128 * MIB,
	 &dist__halving_doubling_all_reduce},
	{DIST__ALL_REDUCE, INT_MAX, SIZE_MAX, &dist__ring_all_reduce},
	{DIST__REDUCE, INT_MAX, SIZE_MAX, &dist__binomial_reduce},
	{DIST__BROADCAST, INT_MAX, SIZE_MAX, &dist__binomial_broadcast},
	{DIST__BARRIER, INT_MAX, SIZE_MAX, &dist__dissemination_barrier},
	{DIST__ALL_GATHER, INT_MAX, 512 * KIB, &dist__bruck_all_gather},
	{DIST__ALL_GATHER, INT_MAX, SIZE_MAX, &dist__ring_all_gather},
	{DIST__REDUCE_SCATTER, 8, 256 * KIB, &dist__halving_reduce_scatter},
	{DIST__REDUCE_SCATTER, 8, SIZE_MAX, &dist__ring_reduce_scatter},
	{DIST__REDUCE_SCATTER, 64, 2 * MIB, &dist__halving_reduce_scatter},
	{DIST__REDUCE_SCATTER, 64, SIZE_MAX, &dist__ring_reduce_scatter},
	{DIST__REDUCE_SCATTER, 512, 16 * MIB, &dist__halving_reduce_scatter},
	{DIST__REDUCE_SCATTER, 512, SIZE_MAX, &dist__ring_reduce_scatter},
	{DIST__REDUCE_SCATTER, INT_MAX, 128 * MIB,
	 &dist__halving_reduce_scatter},
	{DIST__REDUCE_SCATTER, INT_MAX, SIZE_MAX, &dist__ring_reduce_scatter},
	{DIST__ALL_TO_ALL, 64, 256 * KIB, &dist__linear_all_to_all},
	{DIST__ALL_TO_ALL, INT_MAX, SIZE_MAX, &dist__pairwise_all_to_all},
	{DIST__GATHER, INT_MAX, 1 * MIB, &dist__binomial_gather},
	{DIST__GATHER, INT_MAX, SIZE_MAX, &dist__linear_gather},
	{DIST__SCATTER, INT_MAX, 1 * MIB, &dist__binomial_scatter},
	{DIST__SCATTER, INT_MAX, SIZE_MAX, &dist__linear_scatter},
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

static const struct dist__algorithm *first_match(const struct dist__rule *rules,
						 size_t num_rules,
						 enum dist__op_kind op,
						 int world_size, size_t bytes)
{
	for (size_t i = 0; i < num_rules; i++)
		if (rules[i].op == op &&
		    world_size <= rules[i].max_world_size &&
		    bytes <= rules[i].max_bytes)
			return rules[i].algorithm;
	return NULL;
}

const struct dist__algorithm *dist__select(const struct dist__profile *profile,
					   enum dist__op_kind op,
					   int world_size, size_t bytes)
{
	const struct dist__algorithm *found = first_match(
		profile->rules, profile->num_rules, op, world_size, bytes);

	if (found)
		return found;
	return first_match(built_in, sizeof built_in / sizeof built_in[0], op,
			   world_size, bytes);
}
