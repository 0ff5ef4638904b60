/*
 * select.c - the algorithms by name, and which one a size and a world get.
 *
 * The limits of the built-in table follow from the cost formulas, with
 * alpha / beta taken as 32 KiB (25 us at 1.25 GB/s: TCP over 10 Gb/s Ethernet).
 * Up to alpha / beta a message is mostly latency, and the algorithm of fewest
 * steps wins. A ring takes about 2 p alpha more than halving-doubling, which on
 * worlds that are no power of two pays 2 n beta for folding: the ring wins from
 * n = p alpha / beta on. A profile replaces the table where a library is known
 * to choose otherwise.
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
