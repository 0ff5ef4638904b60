/*
 * region_index.h - the memory of a rank's checked operations, by address: which
 * of them share bytes with an operation is found without a look at all others.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_REGION_INDEX_H
#define LOCKSTEP_CORE_REGION_INDEX_H

#include <stdint.h>

/* A region's place in a tree by where regions begin, and then by age; by its
 * weight, a random number, it is a heap as well, which keeps it flat. */
struct dist__region_node {
	uintptr_t begin, end;
	uint64_t age;    /* higher: newer */
	uintptr_t reach; /* the highest end here or below */
	uint64_t latest; /* the highest age here or below */
	uint64_t weight; /* not below those below */
	struct dist__region_node *left, *right;
	struct dist__region_node *before, *after; /* in order; NULL: none */
};

/* Zeros: empty. */
struct dist__region_index {
	struct dist__region_node *root;
	uint64_t newest; /* age */
	/* The group of which all are collectives, which run in order; NULL: not
	 * of one. */
	const struct dist_group *order;
};

/* dist__region_index_add adds node, the newest, of a region from node->begin to
 * node->end; it stays where it is until it is removed. */
void dist__region_index_add(struct dist__region_index *index,
			    struct dist__region_node *node);

/* dist__region_index_remove removes node, which is there. */
void dist__region_index_remove(struct dist__region_index *index,
			       struct dist__region_node *node);

/* dist__region_index_next returns the node behind last (NULL: the first one)
 * of that age or newer whose region has a byte from begin to end; NULL: none.
 */
struct dist__region_node *
dist__region_index_next(const struct dist__region_index *index,
			const char *begin, const char *end,
			const struct dist__region_node *last, uint64_t age);

/* dist__region_index_newest returns the newest node whose region begins at
 * begin; NULL: none. Its older ones are right before it. */
struct dist__region_node *
dist__region_index_newest(const struct dist__region_index *index,
			  const char *begin);

#endif
