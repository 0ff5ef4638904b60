/*
 * tree.h - the binomial tree that reaches every rank in ceil(log2 p) steps.
 * Private to coll/.
 *
 * Ranks are numbered from the root. The parent of a number is the number with
 * its lowest set bit cleared. The children of a number are a power of two
 * above it, below that bit; each heads the numbers up to the next child:
 *
 *	5 ranks:  0 has children 4, 2, 1;  2 has child 3
 */
#ifndef LOCKSTEP_COLL_TREE_H
#define LOCKSTEP_COLL_TREE_H

#include "coll/algorithm.h"

/* One rank's place in the tree. */
struct dist__tree {
	int p;
	int root;
	int number; /* counted from the root */
	int reach;  /* lowest set bit of number; the root's is p or more */
};

static inline struct dist__tree dist__tree_of(const struct dist__coll *coll,
					      int root)
{
	int p = coll->world_size;
	struct dist__tree place = {.p = p, .root = root, .reach = 1};

	/* Without dividing, which takes as long as much of a short call. */
	place.number = coll->rank - root + (coll->rank < root ? p : 0);
	while (place.reach < p && !(place.number & place.reach))
		place.reach *= 2;
	return place;
}

/* dist__tree_rank returns the group rank of a number. */
static inline int dist__tree_rank(const struct dist__tree *place, int number)
{
	int rank = number + place->root;

	return rank < place->p ? rank : rank - place->p;
}

/* dist__tree_parent returns the group rank of the parent. Not for the root. */
static inline int dist__tree_parent(const struct dist__tree *place)
{
	return dist__tree_rank(place, place->number - place->reach);
}

/* dist__tree_child returns the group rank of the child at distance, a power of
 * two; dist__tree_has_child returns whether it exists. */
static inline int dist__tree_child(const struct dist__tree *place, int distance)
{
	return dist__tree_rank(place, place->number + distance);
}

static inline bool dist__tree_has_child(const struct dist__tree *place,
					int distance)
{
	return distance < place->reach && place->number + distance < place->p;
}

/* dist__tree_size returns the number of ranks in the subtree of the child at
 * distance; distance 0: of place itself. */
static inline int dist__tree_size(const struct dist__tree *place, int distance)
{
	int most = distance ? distance : place->reach;
	int left = place->p - place->number - distance;

	return left < most ? left : most;
}

#endif
