/* setups.c - what the table is run with: world sizes, algorithms. */
#include "tests/conformance/cases/conformance.h"

#include <stdio.h>
#include <string.h>

const int conformance_worlds[] = {1, 2, 3, 4, 5, 7, 8, 16, 0};

/* Every algorithm of coll/select.c, for every call that runs it. */
static const struct {
	enum conformance_call call;
	const char *name;
} algorithms[] = {
	{CONFORMANCE_ALL_REDUCE, "ring"},
	{CONFORMANCE_ALL_REDUCE, "recursive_doubling"},
	{CONFORMANCE_ALL_REDUCE, "one_shot"},
	{CONFORMANCE_ALL_REDUCE, "halving_doubling"},
	{CONFORMANCE_ALL_REDUCE, "binomial_tree"},
	{CONFORMANCE_ALL_REDUCE, "double_tree"},
	{CONFORMANCE_ALL_REDUCE, "hierarchical"},
	{CONFORMANCE_REDUCE, "binomial"},
	{CONFORMANCE_REDUCE, "rabenseifner"},
	{CONFORMANCE_REDUCE, "double_tree"},
	{CONFORMANCE_REDUCE, "chain"},
	{CONFORMANCE_REDUCE, "linear"},
	{CONFORMANCE_REDUCE, "hierarchical"},
	{CONFORMANCE_BROADCAST, "binomial"},
	{CONFORMANCE_BROADCAST, "scatter_all_gather"},
	{CONFORMANCE_BROADCAST, "double_tree"},
	{CONFORMANCE_BROADCAST, "chain"},
	{CONFORMANCE_BROADCAST, "linear"},
	{CONFORMANCE_BROADCAST, "hierarchical"},
	{CONFORMANCE_BARRIER, "dissemination"},
	{CONFORMANCE_BARRIER, "one_shot"},
	{CONFORMANCE_BARRIER, "binomial_tree"},
	{CONFORMANCE_BARRIER, "hierarchical"},
	{CONFORMANCE_MONITORED_BARRIER, "linear"},
	{CONFORMANCE_ALL_GATHER, "ring"},
	{CONFORMANCE_ALL_GATHER, "recursive_doubling"},
	{CONFORMANCE_ALL_GATHER, "bruck"},
	{CONFORMANCE_ALL_GATHER, "linear"},
	{CONFORMANCE_ALL_GATHER, "hierarchical"},
	{CONFORMANCE_REDUCE_SCATTER, "ring"},
	{CONFORMANCE_REDUCE_SCATTER, "recursive_halving"},
	{CONFORMANCE_REDUCE_SCATTER, "pairwise"},
	{CONFORMANCE_REDUCE_SCATTER, "one_shot"},
	{CONFORMANCE_ALL_TO_ALL, "pairwise"},
	{CONFORMANCE_ALL_TO_ALL, "linear"},
	{CONFORMANCE_ALL_TO_ALL, "bruck"},
	{CONFORMANCE_GATHER, "binomial"},
	{CONFORMANCE_GATHER, "linear"},
	{CONFORMANCE_SCATTER, "binomial"},
	{CONFORMANCE_SCATTER, "linear"},
};

#define NUM_ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

/* The n-th algorithm of call that is only, or of all when that is NULL. */
static const char *nth(enum conformance_call call, const char *only, size_t n)
{
	for (size_t i = 0; i < NUM_ALGORITHMS; i++)
		if (algorithms[i].call == call &&
		    (!only || strcmp(algorithms[i].name, only) == 0) &&
		    n-- == 0)
			return algorithms[i].name;
	return NULL;
}

const char *conformance_algorithm(enum conformance_call call, size_t n)
{
	return nth(call, NULL, n);
}

bool conformance_forces(const char *backend)
{
	return strcmp(backend, "nccl") != 0 && strcmp(backend, "mpi") != 0;
}

bool conformance_round(const struct conformance_filter *filter, size_t n,
		       struct conformance_setup *setup)
{
	size_t used = 0, size = sizeof setup->algorithms;
	int i;

	setup->calls = 0;
	setup->round = n;
	setup->algorithms[0] = '\0';
	for (i = 0; i < CONFORMANCE_CALLS; i++) {
		enum conformance_call call = (enum conformance_call)i;
		uint32_t bit = UINT32_C(1) << i;
		const char *name = nth(call, filter->algorithm, n);
		bool bare = filter->as_selected ||
			    (!filter->algorithm && !nth(call, NULL, 0));

		if (filter->calls && !(filter->calls & bit))
			continue;
		if (bare && n == 0)
			setup->calls |= bit;
		if (bare || !name || used >= size)
			continue;
		setup->calls |= bit;
		used += (size_t)snprintf(setup->algorithms + used, size - used,
					 "%s%s=%s", used ? "," : "",
					 conformance_call_name(call), name);
	}
	return setup->calls != 0;
}
