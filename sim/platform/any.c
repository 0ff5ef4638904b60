/*
 * any.c - platforms whose nodes stand for any number of nodes: what
 * ranks that all do the same see of a cluster, from one that need not exist.
 */
#include "sim/platform/state.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"

/* Ranks on any number of nodes: as many as an option can say. */
#define MOST_RANKS (1 << 24)

enum dist_error dist__platform_refuse_property(const struct dist__platform *p,
					       const char *name,
					       const char *expected,
					       struct dist_message *message)
{
	int line = dist__graph_zone_line(p->graph, name);
	char at[16] = "";

	if (line > 0)
		snprintf(at, sizeof at, ":%d", line);
	return dist__refuse(message,
			    "%s%s: property %s: expected %s, not \"%.40s\"",
			    p->path, at, name, expected,
			    dist__graph_zone_property(p->graph, name));
}

static enum dist_error count_nodes(const struct dist__platform *p, int *count)
{
	int *nodes = calloc((size_t)p->num_ranks + 1, sizeof *nodes);

	*count = nodes ? dist__platform_nodes(p, p->num_ranks, nodes) : -1;
	free(nodes);
	return *count < 0 ? DIST_ERR_NO_MEMORY : DIST_OK;
}

enum dist_error dist__platform_read_any(struct dist__platform *p,
					struct dist_message *message)
{
	const char *text = dist__graph_zone_property(p->graph, "nodes");
	enum dist_error error;
	int nodes;

	if (!text)
		return DIST_OK;
	if (strcmp(text, "any") != 0)
		return dist__platform_refuse_property(p, "nodes", "any",
						      message);
	error = count_nodes(p, &nodes);
	if (error)
		return error;
	if (nodes < 1 || nodes > 2 || p->num_ranks % nodes != 0)
		return dist__refuse(message,
				    "%s: any number of nodes: expected one "
				    "node, or two of as many ranks, not %d",
				    p->path, nodes);
	p->any_node_ranks = p->num_ranks / nodes;
	if (nodes == 2)
		p->num_ranks = MOST_RANKS;
	return DIST_OK;
}

bool dist__platform_is_any(const struct dist__platform *p)
{
	return p->any_node_ranks > 0;
}

int dist__platform_any_seat(const struct dist__platform *p, int rank)
{
	int node_ranks = p->any_node_ranks;

	assert(node_ranks > 0);
	return rank < node_ranks ? rank : node_ranks + rank % node_ranks;
}
