/*
 * nodes.c - which ranks share a node: those of one host, and of hosts that have
 * the same property "node".
 */
#include "sim/platform/state.h"

#include <stdlib.h>
#include <string.h>

static int by_node_and_rank(const void *a, const void *b)
{
	const struct dist__seat *x = *(const struct dist__seat *const *)a;
	const struct dist__seat *y = *(const struct dist__seat *const *)b;
	int order = strcmp(x->node, y->node);

	return order ? order : (x->first > y->first) - (x->first < y->first);
}

/* Gives the ranks of seat that are below `ranks` their node. */
static void set_node(const struct dist__seat *seat, int node, int ranks,
		     int *nodes)
{
	int end = seat->first + seat->ranks;

	for (int rank = seat->first; rank < end && rank < ranks; rank++)
		nodes[rank] = node;
}

static int find_nodes(const struct dist__platform *p, int ranks, int *nodes)
{
	const struct dist__seat **sorted =
		calloc(p->num_seats, sizeof(const struct dist__seat *));
	const struct dist__seat *first = NULL;
	int count = 0;

	if (!sorted)
		return -1;
	for (size_t i = 0; i < p->num_seats; i++)
		sorted[i] = &p->seats[i];
	qsort(sorted, p->num_seats, sizeof(const struct dist__seat *),
	      by_node_and_rank);
	for (size_t i = 0; i < p->num_seats; i++) {
		const struct dist__seat *seat = sorted[i];

		if (seat->ranks == 0 || seat->first >= ranks)
			continue;
		if (!first || strcmp(first->node, seat->node) != 0) {
			first = seat;
			count++;
		}
		set_node(seat, first->first, ranks, nodes);
	}
	free(sorted);
	return count;
}

int dist__platform_nodes(const struct dist__platform *p, int ranks, int *nodes)
{
	if (p->any_node_ranks) {
		/* Of any number of nodes, alike. */
		for (int rank = 0; rank < ranks; rank++)
			nodes[rank] = rank - rank % p->any_node_ranks;
		return (ranks + p->any_node_ranks - 1) / p->any_node_ranks;
	}
	return find_nodes(p, ranks, nodes);
}
