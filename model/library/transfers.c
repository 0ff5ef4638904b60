/*
 * transfers.c - the transfers of rings, of double binary trees between nodes
 * with chains inside them, of switches that reduce, and of messages between
 * pairs, by where the ranks sit.
 *
 * Each channel of a library enters and leaves a node by a card of its own, and
 * the rank at that card. There are as many cards as ranks, or ranks share them:
 * so the channels' transfers add up to an equal one from every rank to the rank
 * of its place on another node.
 */
#include "model/library/transfers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* More are not listed: of messages between 16,384 ranks there are 33 million.
 */
#define MOST_TRANSFERS ((size_t)4 << 20)

/* Who sits where. Nodes are numbered as their first ranks are. */
struct seating {
	const struct fabric *fabric;
	struct library_transfers *transfers;
	int ranks, nodes, most; /* ranks of the fullest node */
	int *node, *place;      /* by rank */
	int *first, *size;      /* by node: in members, and how many */
	int *members;           /* ranks, by node and place */
	double *spread; /* by rank, where NVLinks join pairs: what it sends to
			 * its neighbours; NULL elsewhere */
	bool full;      /* the list, or the memory for it */
};

/* ---- seats --------------------------------------------------------------- */

static int number_nodes(struct seating *s, const int *nodes)
{
	int most = 0, count = 0, *number;

	for (int i = 0; i < s->ranks; i++)
		most = nodes[i] > most ? nodes[i] : most;
	number = calloc((size_t)most + 1, sizeof *number);
	for (int i = 0; number && i < s->ranks; i++) {
		int *mine = &number[fabric_is_one(s->fabric) ? 0 : nodes[i]];

		if (*mine == 0)
			*mine = ++count;
		s->node[i] = *mine - 1;
	}
	free(number);
	return number ? count : 0;
}

static bool sit_down(struct seating *s, const int *nodes)
{
	size_t n = (size_t)s->ranks;
	int *memory = calloc(5 * n, sizeof *memory);

	s->node = memory;
	if (!memory)
		return false;
	s->place = memory + n;
	s->first = memory + 2 * n;
	s->size = memory + 3 * n;
	s->members = memory + 4 * n;
	s->nodes = number_nodes(s, nodes);
	for (int i = 0; i < s->ranks; i++) {
		s->place[i] = s->size[s->node[i]]++;
		s->most = s->place[i] < s->most ? s->most : s->place[i] + 1;
	}
	for (int i = 1; i < s->nodes; i++)
		s->first[i] = s->first[i - 1] + s->size[i - 1];
	for (int i = 0; i < s->ranks; i++)
		s->members[s->first[s->node[i]] + s->place[i]] = i;
	if (s->fabric->intra == FABRIC_NVLINK)
		s->spread = calloc(n, sizeof *s->spread);
	return s->nodes > 0 && (s->spread || s->fabric->intra != FABRIC_NVLINK);
}

/* The rank of a node at a place; where there is none, at another. */
static int at(const struct seating *s, int node, int place)
{
	return s->members[s->first[node] + place % s->size[node]];
}

/* ---- transfers ------------------------------------------------------------
 */

static void add(struct seating *s, int from, int to, bool leaves, double share)
{
	const struct library_transfer transfer = {share, from, to, leaves};
	struct library_transfers *t = s->transfers;

	if (from != to && share > 0 && !s->full)
		s->full = t->count >= MOST_TRANSFERS ||
			  !dist__array_add(&t->list, &t->count, &transfer,
					   sizeof transfer);
}

static void add_local(struct seating *s, int from, int to, double share)
{
	if (s->spread && from != to)
		s->spread[from] += share;
	else
		add(s, from, to, false, share);
}

/* Each rank to the next of its node, and the last to the first, but to `last`:
 * the ring is open before that, or is closed if it is none. */
static void add_circles(struct seating *s, double share, int last)
{
	for (int i = 0; i < s->ranks; i++) {
		int to = at(s, s->node[i], s->place[i] + 1);

		if (to != last)
			add_local(s, i, to, share);
	}
}

/* A broadcast begins at the root, and nobody sends to it; a reduction ends
 * there, and it sends to nobody. */
static void add_ring(struct seating *s, const struct library_call *call,
		     double local, double remote)
{
	bool begins = call->op == DIST__BROADCAST;
	bool ends = call->op == DIST__REDUCE;
	int root = begins || ends ? call->root : -1, last = root;

	if (ends)
		last = at(s, s->node[root], s->place[root] + 1);
	add_circles(s, local, last);
	for (int node = 0; node < s->nodes && s->nodes > 1; node++)
		for (int place = 0; place < s->most; place++) {
			int from = at(s, node, place);
			int to = at(s, (node + 1) % s->nodes, place);

			if ((ends ? from : to) != root)
				add(s, from, to, true, remote);
		}
}

/*
 * The parent of a node in the first tree, -1 of the root: that of the binary
 * tree whose leaves are the odd numbers. The second tree is its mirror image if
 * there are an even number of nodes, else the same one node further:
 * src/graph/trees.cc of github.com/NVIDIA/nccl.
 */
static int parent_of(int node, int nodes)
{
	int bit = 1;
	int up;

	if (node == 0)
		return -1;
	while (!(node & bit))
		bit <<= 1;
	up = (node ^ bit) | (bit << 1);
	return up < nodes ? up : node ^ bit;
}

/* A number in the first tree becomes that of the node in the second. */
static int in_second(int number, int nodes)
{
	return nodes % 2 ? (number + 1) % nodes : nodes - 1 - number;
}

/* Up and down between the nodes, a half of the bytes by each tree. Each rank
 * has `remote` of them on the average of all nodes. */
static void add_trees(struct seating *s, double remote)
{
	double edges = 2.0 * (s->nodes - 1);
	double share = s->nodes > 1 ? remote * s->nodes / (2 * edges) : 0;

	for (int number = 1; number < s->nodes; number++) {
		int up = parent_of(number, s->nodes);
		int pairs[2][2] = {
			{number, up},
			{in_second(number, s->nodes), in_second(up, s->nodes)}};

		for (int tree = 0; tree < 2; tree++)
			for (int place = 0; place < s->most; place++) {
				int low = at(s, pairs[tree][0], place);
				int high = at(s, pairs[tree][1], place);

				add(s, low, high, true, share);
				add(s, high, low, true, share);
			}
	}
}

/* A message from one rank to another, or as many of them. */
static void add_message(struct seating *s, bool by_rails, int from, int to,
			double share)
{
	int here = s->node[from];
	int via = by_rails ? at(s, here, s->place[to]) : from;

	if (here == s->node[to]) {
		add_local(s, from, to, share);
		return;
	}
	add_local(s, from, via, share);
	add(s, via, to, true, share);
}

static void add_messages(struct seating *s, const struct library_call *call,
			 bool by_rails)
{
	double share = 1.0 / s->ranks;

	if (call->op == DIST__ALL_TO_ALL && by_rails &&
	    s->ranks == s->nodes * s->most) {
		/* All to all by rails, where nodes are alike: from each rank of
		 * a node inside it to each other the bytes for the ranks of
		 * that place on all nodes, and from there to each other node
		 * what its ranks have for one of it. */
		for (int i = 0; i < s->ranks; i++) {
			int node = s->node[i], size = s->size[node];

			for (int place = 0; place < size; place++)
				add_local(s, i, at(s, node, place),
					  share * s->nodes);
			for (int other = 0; other < s->nodes; other++)
				if (other != node)
					add(s, i, at(s, other, s->place[i]),
					    true, share * size);
		}
		return;
	}
	for (int i = 0; i < s->ranks; i++) {
		if (call->op == DIST__GATHER)
			add_message(s, by_rails, i, call->root, share);
		if (call->op == DIST__SCATTER)
			add_message(s, by_rails, call->root, i, share);
		for (int j = 0;
		     call->op == DIST__ALL_TO_ALL && j < s->ranks && !s->full;
		     j++)
			add_message(s, by_rails, i, j, share);
	}
}

/* ---- the most loaded ------------------------------------------------------
 */

/* Which card of its node is a rank's, of all cards, as bundles of them where
 * there are more than ranks. */
static size_t card_of(const struct seating *s, int rank)
{
	int cards = s->fabric->cards > 0 ? s->fabric->cards : 1;
	int size = s->size[s->node[rank]], place = s->place[rank];

	if (cards < size)
		place = (int)((long)place * cards / size);
	return (size_t)s->node[rank] * (size_t)s->most + (size_t)place;
}

/* What each rank's links inside carry, out and in, then each card. */
static void add_loads(const struct seating *s, double *local, double *remote)
{
	size_t n = (size_t)s->ranks, cards = (size_t)s->nodes * (size_t)s->most;

	for (size_t i = 0; i < s->transfers->count; i++) {
		const struct library_transfer *t = &s->transfers->list[i];
		size_t to = (size_t)(t->to < 0 ? t->from : t->to);

		if (t->leaves) {
			remote[card_of(s, t->from)] += t->share;
			remote[cards + card_of(s, t->to)] += t->share;
		} else {
			local[t->from] += t->share;
			local[n + to] += t->share;
		}
	}
}

static bool find_most(struct seating *s)
{
	struct library_transfers *t = s->transfers;
	size_t n = (size_t)s->ranks, cards = (size_t)s->nodes * (size_t)s->most;
	double *local = calloc(2 * n + 2 * cards, sizeof *local);
	double *remote = local + 2 * n;

	if (!local)
		return false;
	add_loads(s, local, remote);
	for (size_t i = 0; i < 2 * n; i++) {
		int rank = (int)(i % n), size = s->size[s->node[rank]];
		double bundle = fmax(1, (double)s->fabric->cards / size);
		double card = remote[(i / n) * cards + card_of(s, rank)];

		t->local_share = fmax(t->local_share, local[i]);
		t->card_share = fmax(t->card_share, card / bundle);
		t->rank_share = fmax(t->rank_share, local[i] + card);
	}
	free(local);
	return true;
}

/* ---- the whole ------------------------------------------------------------
 */

static bool list_all(struct seating *s, const struct library_call *call,
		     const struct library_estimate *estimate)
{
	double bytes = (double)call->numel * (double)call->element_bytes;
	double local = bytes > 0 ? estimate->local_bytes / bytes : 0;
	double remote = bytes > 0 ? estimate->remote_bytes / bytes : 0;

	switch (estimate->shape) {
	case LIBRARY_STEPS:
		return false;
	case LIBRARY_RING:
		add_ring(s, call, local, remote);
		break;
	case LIBRARY_TREE:
		/* Chains inside the nodes, up and down. */
		for (int i = 0; i < s->ranks; i++) {
			int next = at(s, s->node[i], s->place[i] + 1);

			add_local(s, i, next, local / 2);
			add_local(s, next, i, local / 2);
		}
		add_trees(s, remote);
		break;
	case LIBRARY_SWITCH:
		add_circles(s, local, -1);
		add_trees(s, remote);
		break;
	case LIBRARY_P2P:
		add_messages(s, call, estimate->by_rails);
		break;
	}
	for (int i = 0; s->spread && i < s->ranks; i++)
		add(s, i, LIBRARY_NEIGHBOURS, false, s->spread[i]);
	return true;
}

enum dist_error library_transfers_make(const struct fabric *fabric,
				       const struct library_call *call,
				       const struct library_estimate *estimate,
				       const int *nodes,
				       struct library_transfers *transfers,
				       struct dist_message *message)
{
	struct seating s = {
		.fabric = fabric, .transfers = transfers, .ranks = call->ranks};
	enum dist_error error = DIST_OK;

	*transfers = (struct library_transfers){.list = NULL};
	if (!sit_down(&s, nodes)) {
		error = DIST_ERR_NO_MEMORY;
	} else if (!list_all(&s, call, estimate)) {
		snprintf(message->text, sizeof message->text,
			 "%s by %s: its transfers are not known",
			 dist__op_name(call->op), estimate->algorithm);
		error = DIST_ERR_INVALID_ARGUMENT;
	} else if (s.full && transfers->count >= MOST_TRANSFERS) {
		snprintf(message->text, sizeof message->text,
			 "%s of %d ranks: more than %zu transfers: expected "
			 "fidelity formula, which shares no links",
			 dist__op_name(call->op), call->ranks, MOST_TRANSFERS);
		error = DIST_ERR_INVALID_ARGUMENT;
	} else if (s.full || !find_most(&s)) {
		error = DIST_ERR_NO_MEMORY;
	}
	free(s.node);
	free(s.spread);
	return error;
}

void library_transfers_release(struct library_transfers *transfers)
{
	free(transfers->list);
	*transfers = (struct library_transfers){.list = NULL};
}

/* What a byte may come to, of so many at a rate in that time. */
static double most_load(double reach, double bytes, double Bps, double time_ns)
{
	double load = reach > 0 ? 1 / reach : 1;

	if (bytes > 0 && Bps > 0)
		load = fmin(load, time_ns * 1e-9 * Bps / bytes);
	return load;
}

struct library_load
library_transfers_load(const struct fabric *fabric,
		       const struct library_call *call,
		       const struct library_estimate *estimate,
		       const struct library_transfers *transfers)
{
	double bytes = (double)call->numel * (double)call->element_bytes;
	double ns = estimate->transfer_ns;
	struct library_load load = {
		.local = most_load(estimate->local_reach,
				   bytes * transfers->local_share,
				   fabric_way_Bps(fabric), ns),
		.remote = most_load(estimate->remote_reach,
				    bytes * transfers->card_share,
				    fabric->card_Bps, ns),
	};
	double both;

	/* A rank's way to its peers is that to its card, too. */
	if (fabric->intra == FABRIC_PCIE || fabric->intra == FABRIC_HOST) {
		both = most_load(0, bytes * transfers->rank_share,
				 fabric_way_Bps(fabric), ns);
		load.local = fmin(load.local, both);
		load.remote = fmin(load.remote, both);
	}
	return load;
}
