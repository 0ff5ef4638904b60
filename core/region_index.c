/* region_index.c - the memory of a rank's checked operations, by address: a
 * tree with random weights (a treap), in which each place knows how far all
 * below it reach. */
#include "core/region_index.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/random.h"

/* Whether a stands before b in the tree. */
static bool is_before(const struct dist__region_node *a,
		      const struct dist__region_node *b)
{
	return a->begin != b->begin ? a->begin < b->begin : a->age < b->age;
}

static void measure_with(struct dist__region_node *node,
			 const struct dist__region_node *below)
{
	if (below && below->reach > node->reach)
		node->reach = below->reach;
	if (below && below->latest > node->latest)
		node->latest = below->latest;
}

static void measure(struct dist__region_node *node)
{
	node->reach = node->end;
	node->latest = node->age;
	measure_with(node, node->left);
	measure_with(node, node->right);
}

/* Cuts tree into those before node, *left, and the others, *right. */
static void split(struct dist__region_node *tree,
		  const struct dist__region_node *node,
		  struct dist__region_node **left,
		  struct dist__region_node **right)
{
	if (!tree) {
		*left = *right = NULL;
		return;
	}
	if (is_before(tree, node)) {
		*left = tree;
		split(tree->right, node, &tree->right, right);
	} else {
		*right = tree;
		split(tree->left, node, left, &tree->left);
	}
	measure(tree);
}

/* Joins two trees, of which left stands before right. */
static struct dist__region_node *merge(struct dist__region_node *left,
				       struct dist__region_node *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->weight >= right->weight) {
		left->right = merge(left->right, right);
		measure(left);
		return left;
	}
	right->left = merge(left, right->left);
	measure(right);
	return right;
}

void dist__region_index_add(struct dist__region_index *index,
			    struct dist__region_node *node)
{
	struct dist__region_node *left, *right;

	node->age = ++index->newest;
	node->weight = dist__random_of(node->age);
	node->left = node->right = NULL;
	measure(node);
	split(index->root, node, &left, &right);
	node->before = left;
	while (node->before && node->before->right)
		node->before = node->before->right;
	node->after = right;
	while (node->after && node->after->left)
		node->after = node->after->left;
	if (node->before)
		node->before->after = node;
	if (node->after)
		node->after->before = node;
	index->root = merge(merge(left, node), right);
}

static struct dist__region_node *without(struct dist__region_node *tree,
					 const struct dist__region_node *node)
{
	if (tree == node)
		return merge(tree->left, tree->right);
	if (is_before(node, tree))
		tree->left = without(tree->left, node);
	else
		tree->right = without(tree->right, node);
	measure(tree);
	return tree;
}

void dist__region_index_remove(struct dist__region_index *index,
			       struct dist__region_node *node)
{
	if (node->before)
		node->before->after = node->after;
	if (node->after)
		node->after->before = node->before;
	index->root = without(index->root, node);
}

static struct dist__region_node *next(struct dist__region_node *tree,
				      uintptr_t begin, uintptr_t end,
				      const struct dist__region_node *last,
				      uint64_t age)
{
	struct dist__region_node *found;

	if (!tree || tree->reach <= begin || tree->latest < age)
		return NULL;
	if (!last || is_before(last, tree)) {
		found = next(tree->left, begin, end, last, age);
		if (found)
			return found;
		if (tree->begin < end && tree->end > begin && tree->age >= age)
			return tree;
	}
	return tree->begin < end ? next(tree->right, begin, end, last, age)
				 : NULL;
}

struct dist__region_node *
dist__region_index_next(const struct dist__region_index *index,
			const char *begin, const char *end,
			const struct dist__region_node *last, uint64_t age)
{
	uintptr_t from = (uintptr_t)begin, to = (uintptr_t)end;
	struct dist__region_node *after = last ? last->after : NULL;

	if (last && (!after || after->begin >= to))
		return NULL;
	if (after && after->end > from && after->age >= age)
		return after;
	return next(index->root, from, to, last, age);
}

struct dist__region_node *
dist__region_index_newest(const struct dist__region_index *index,
			  const char *begin)
{
	struct dist__region_node *node = index->root, *found = NULL;

	while (node) {
		bool is_before = node->begin <= (uintptr_t)begin;

		if (node->begin == (uintptr_t)begin)
			found = node;
		node = is_before ? node->right : node->left;
	}
	return found;
}
