#include "model/library/placement.h"

#include <math.h>
#include <string.h>

static bool is_named(const struct dist__algorithm *algorithm, const char *name)
{
	return strcmp(algorithm->name, name) == 0;
}

bool library_is_ring(const struct dist__algorithm *algorithm)
{
	return is_named(algorithm, "ring") || is_named(algorithm, "chain") ||
	       is_named(algorithm, "scatter_all_gather");
}

/* To the nearest partner first, and most to it. */
static bool shrinks(const struct dist__algorithm *algorithm)
{
	return is_named(algorithm, "halving_doubling") ||
	       is_named(algorithm, "recursive_halving") ||
	       is_named(algorithm, "rabenseifner");
}

/* Most to the furthest partner. */
static bool grows(const struct dist__algorithm *algorithm)
{
	if (algorithm->op == DIST__ALL_GATHER)
		return is_named(algorithm, "recursive_doubling");
	return (algorithm->op == DIST__SCATTER ||
		algorithm->op == DIST__GATHER) &&
	       is_named(algorithm, "binomial");
}

bool library_halves(const struct dist__algorithm *algorithm)
{
	return shrinks(algorithm) || grows(algorithm);
}

/* To every other rank alike. */
static bool is_to_all(const struct dist__algorithm *algorithm)
{
	return is_named(algorithm, "pairwise") ||
	       (algorithm->op == DIST__ALL_TO_ALL &&
		is_named(algorithm, "linear"));
}

static bool is_tree(const struct dist__algorithm *algorithm)
{
	return is_named(algorithm, "binomial") ||
	       is_named(algorithm, "binomial_tree") ||
	       is_named(algorithm, "double_tree");
}

/* Partners at 1, 2, 4 .. ranks. */
static bool doubles(const struct dist__algorithm *algorithm)
{
	return is_tree(algorithm) || shrinks(algorithm) ||
	       is_named(algorithm, "recursive_doubling");
}

/* The share of steps that leave groups of r neighbours: of partners at 1, 2, 4
 * .. as many stay inside as r has doublings. */
static double steps_leaving(const struct dist__algorithm *algorithm, double p,
			    double r)
{
	if (r >= p)
		return 0;
	return doubles(algorithm) ? log2(p / r) / log2(p) : 1;
}

/*
 * The share of bytes that does. Of n bytes (1 - 1/p) are sent if vectors are
 * halved: (1 - 1/r) of them inside if the nearest partner gets most, (r - 1)/p
 * if the furthest does.
 */
static double bytes_leaving(const struct dist__algorithm *algorithm, double p,
			    double r)
{
	if (r >= p)
		return 0;
	if (shrinks(algorithm))
		return (1 / r - 1 / p) / (1 - 1 / p);
	if (grows(algorithm) || is_to_all(algorithm))
		return (p - r) / (p - 1);
	return steps_leaving(algorithm, p, r);
}

struct placement library_placement(const struct dist__algorithm *algorithm,
				   const struct fabric *fabric, bool loops)
{
	double p = fabric_ranks(fabric), r = loops ? 1 : fabric->node_ranks;
	/* A ring and a tree leave each group of neighbours once. */
	bool once = library_is_ring(algorithm) || is_tree(algorithm);
	int card_nodes =
		fabric->card_nodes > 1 && !once ? fabric->card_nodes : 1;

	if (fabric->nodes == 1)
		return (struct placement){.senders = 0};
	return (struct placement){
		.remote_steps = steps_leaving(algorithm, p, r),
		.remote_bytes = bytes_leaving(algorithm, p, r),
		.shared_bytes = bytes_leaving(algorithm, p, r * card_nodes),
		.senders = once && !loops ? 1 : fabric->node_ranks,
		.card_nodes = card_nodes,
		.alongside = library_is_ring(algorithm) && r > 1,
		.at_once = algorithm->op == DIST__ALL_TO_ALL &&
			   is_named(algorithm, "linear"),
	};
}
