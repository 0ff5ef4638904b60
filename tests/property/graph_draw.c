/* Graphs of remote calls: drawing them, and what must come of them. */
#include "tests/property/graph.h"

#include "tests/property/program.h"

#define MOST_DEPTH 6

/* The order of the ranks in a wide graph; a rank calls those behind it. */
struct order {
	int rank[GRAPH_RANKS], place[GRAPH_RANKS];
};

static void shuffle(struct order *order, int n, uint64_t *state)
{
	for (int i = 0; i < n; i++)
		order->rank[i] = i;
	for (int i = n; i-- > 1;) {
		int j = program_lot(state, i + 1), rank = order->rank[i];

		order->rank[i] = order->rank[j];
		order->rank[j] = rank;
	}
	for (int i = 0; i < n; i++)
		order->place[order->rank[i]] = i;
}

/* Chooses whom the node calls; false: the caller is the last of all. */
static bool aim(const struct graph *graph, const struct order *order,
		struct graph_node *node, uint64_t *state)
{
	int n = graph->world_size, from = -1, place;

	if (!graph->deep && node->parent >= 0)
		from = order->place[graph->nodes[node->parent].to];
	if (from == n - 1)
		return false;
	place = from + 1 + program_lot(state, n - from - 1);
	node->to = order->rank[place];
	if (graph->deep)
		return true;
	node->mode = (enum graph_mode)program_lot(state, GRAPH_MODES);
	if (node->mode == GRAPH_FORWARD && place == from + 1)
		node->mode = GRAPH_REMOTE;
	if (node->mode == GRAPH_FORWARD)
		node->via = order->rank[from + 1 +
					program_lot(state, place - from - 1)];
	return true;
}

static void draw_node(struct graph *graph, const struct order *order,
		      int parent, uint64_t *state)
{
	static const size_t paddings[] = {0, 0, 1, 100, 5000, 200000};
	struct graph_node *node = &graph->nodes[graph->num_nodes];

	*node = (struct graph_node){
		.parent = parent,
		.depth = parent < 0 ? 0 : graph->nodes[parent].depth + 1,
		.weight = program_lot(state, 1000),
		.compute_ns =
			program_lot(state, 4) ? 0 : program_lot(state, 1000000),
		.padding = paddings[program_lot(state, 6)],
		.fails = program_lot(state, 20) == 0,
		.hides = program_lot(state, 2) == 0,
	};
	if (node->depth < MOST_DEPTH && aim(graph, order, node, state))
		graph->num_nodes++;
}

void graph_draw(struct graph *graph, uint64_t seed)
{
	uint64_t state = seed * 2654435761U + 99;
	struct order order;
	int roots, size;

	*graph = (struct graph){.seed = seed, .left = -1};
	graph->world_size = 2 + program_lot(&state, GRAPH_RANKS - 1);
	graph->deep = program_lot(&state, 3) == 0;
	for (int r = 0; r < graph->world_size; r++)
		graph->threads[r] = 1 + program_lot(&state, 4);
	shuffle(&order, graph->world_size, &state);
	roots = graph->deep ? 1 : 1 + program_lot(&state, 12);
	size = roots + program_lot(&state, GRAPH_NODES - roots);
	for (int i = 0; i < roots; i++)
		draw_node(graph, &order,
			  -1 - program_lot(&state, graph->world_size), &state);
	for (int i = graph->num_nodes; i < size; i++)
		draw_node(graph, &order, program_lot(&state, graph->num_nodes),
			  &state);
	if (program_lot(&state, 8) == 0)
		graph->left = program_lot(&state, graph->world_size);
}

struct graph_value graph_expected(const struct graph *graph, int parent)
{
	struct graph_value all = {0, false};

	for (int i = 0; i < graph->num_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];
		struct graph_value below;

		if (node->parent != parent)
			continue;
		below = graph_expected(graph, i);
		if (node->fails || (below.fails && !node->hides))
			all.fails = true;
		else
			all.sum += node->weight + below.sum;
	}
	return all;
}

/* Whether the calls from the root to node need more threads than a worker
 * has. */
static bool is_too_deep(const struct graph *graph, int node)
{
	int calls[GRAPH_RANKS] = {0};

	for (; node >= 0; node = graph->nodes[node].parent) {
		int to = graph->nodes[node].to;

		if (++calls[to] > graph->threads[to])
			return true;
	}
	return false;
}

int graph_status(const struct graph *graph)
{
	for (int i = 0; graph->deep && i < graph->num_nodes; i++)
		if (is_too_deep(graph, i))
			return DIST_EXIT_DEADLOCK;
	return graph->left >= 0 ? DIST_EXIT_LEFT : DIST_EXIT_OK;
}
