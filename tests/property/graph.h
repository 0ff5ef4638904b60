/*
 * graph.h - graphs of remote calls, drawn from a seed, and what must come of
 * them.
 *
 * A node is a call of a function that makes the calls of its children and
 * replies its weight and what they replied. Every rank has roots, which its own
 * program calls. What a graph ends with must not depend on who is faster, so it
 * is one of these:
 * - wide: all ranks call at once, in every mode. A function calls only workers
 *   that come later in an order of the ranks, so that somebody can always go
 *   on, however few threads there are.
 * - deep: one rank calls, and waits for each call before the next. Calls go
 *   anywhere, so a worker needs a thread for each of its calls of a path: where
 *   it has fewer, that is a deadlock.
 * Of either, functions may fail, which their caller hides or hands on; and of a
 * graph that ends well, a reference may be left.
 */
#ifndef LOCKSTEP_TESTS_PROPERTY_GRAPH_H
#define LOCKSTEP_TESTS_PROPERTY_GRAPH_H

#include "lockstep/rpc.h"
#include "tests/support/forked.h"

#define GRAPH_RANKS 8
#define GRAPH_NODES 60

enum graph_mode {
	GRAPH_SYNC,
	GRAPH_ASYNC,
	GRAPH_REMOTE,
	GRAPH_FORWARD, /* remote, and the reference fetched by another worker */
	GRAPH_MODES
};

struct graph_node {
	int parent; /* a node, or -1 - rank: a root of that rank */
	int depth;  /* 0: a root */
	int to;
	int via; /* GRAPH_FORWARD: who fetches */
	enum graph_mode mode;
	int64_t weight, compute_ns;
	size_t padding; /* bytes of the argument behind the number of the node
			 */
	bool fails, hides;
};

struct graph {
	uint64_t seed;
	bool deep;
	int world_size, num_nodes;
	int threads[GRAPH_RANKS];
	int left; /* rank that leaves a reference; -1: none */
	struct graph_node nodes[GRAPH_NODES];
};

/* What a node, or the roots of a rank together, must reply. */
struct graph_value {
	int64_t sum;
	bool fails; /* of the roots: any of them */
};

/* graph_draw draws one. Equal seeds give equal graphs. */
void graph_draw(struct graph *graph, uint64_t seed);

/* graph_expected returns what comes of the calls of parent. */
struct graph_value graph_expected(const struct graph *graph, int parent);

/* graph_status returns the exit status of the job, one of enum dist_exit. */
int graph_status(const struct graph *graph);

/* graph_run runs it in a process of its own. */
void graph_run(const struct graph *graph, const char *backend,
	       struct forked *forked);

#endif
