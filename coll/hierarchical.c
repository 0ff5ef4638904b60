/*
 * hierarchical.c - all-reduce, reduce, broadcast, all-gather and barrier in two
 * levels, for nodes with several ranks.
 *
 * Messages between nodes are slow, and the ranks of a node share its link, so
 * each node sends the others what they need once. Every phase is a collective
 * among some of the ranks (team.h), by the built-in table's algorithm for its
 * size.
 *
 *	5 ranks on nodes {0,1} {2,3,4}; all-reduce: chunks a, b of the vector
 *
 *	inside    0: a  1: b          2: a  3: b  4: -      reduce-scatter
 *	across    0 <--- a ---> 2     1 <--- b ---> 3       all-reduce
 *	inside    0: ab 1: ab         2: ab 3: ab 4: ab     all-gather
 *
 *	reduce to 1         inside 0>1, 3>2 4>2     across 2>1
 *	broadcast from 1    across 1>2              inside 1>0, 2>3 2>4
 *	all-gather          inside 1>0, 3>2 4>2     across 0<>2
 *	                    inside 0>1, 2>3 2>4 (all of it)
 *	barrier             the same with nothing to carry
 *
 * An all-reduce has as many chunks as the smallest node has ranks, so that as
 * many ranks of each node use its link at once; other ranks help inside. In the
 * other collectives one rank represents its node: the root, and elsewhere the
 * first one counted from the root. Steps and bytes are those of the phases:
 * log2 p alpha becomes log2 q of the fast alphas and log2 (p / q) of the slow
 * ones, for nodes of q ranks. If each rank has its own node, or all share one,
 * a single phase is left: the flat algorithm.
 * Karonis, de Supinski, Foster, Gropp, Lusk and Bresnahan, "Exploiting
 * Hierarchy in Parallel Computer Networks to Optimize Collective Operation
 * Performance", Int. Parallel and Distributed Processing Symposium, 2000; the
 * all-reduce after Cho, Finkler, Serrano, Kung and Hunter, "BlueConnect:
 * Decomposing all-reduce for deep learning on heterogeneous network hierarchy",
 * IBM J. of Research and Development 63(6), 2019.
 *
 * Scratch memory: that of the phases, eight ints a rank, and for an all-gather
 * the result in the order of the nodes.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/pattern.h"
#include "coll/team.h"

struct levels {
	const struct dist__coll *coll;
	const struct dist__nodes *nodes;
	struct dist__team inside;
	struct dist__team across; /* if is_across */
	bool is_across; /* this rank's place is one that every node has */
	bool is_first;  /* this rank stands for its node */
};

static void levels_close(struct levels *l)
{
	dist__nodes_close(l->nodes);
}

static enum dist_error levels_open(struct levels *l,
				   const struct dist__coll *coll, int root)
{
	enum dist_error error;

	*l = (struct levels){.coll = coll};
	error = dist__nodes_open(coll->transport, coll->members, root,
				 &l->nodes);
	if (error)
		return error;
	l->is_across = l->nodes->place[coll->rank] < l->nodes->least;
	l->is_first = l->nodes->place[coll->rank] == 0;
	l->inside = dist__team_inside(coll, l->nodes);
	if (l->is_across)
		l->across = dist__team_across(coll, l->nodes);
	return DIST_OK;
}

/* A phase of kind: on the whole of tensor, or the rank's own of parts. Parts to
 * gather may be uneven, which a tree cannot do. */
static enum dist_error run_phase(const struct levels *l,
				 const struct dist__team *team,
				 enum dist__op_kind kind,
				 struct dist_tensor tensor,
				 const struct dist__parts *parts)
{
	struct dist__sides sides = {.in = {.count = 0}};
	struct dist__op op = *l->coll->op;
	bool is_rooted = kind == DIST__REDUCE || kind == DIST__BROADCAST ||
			 kind == DIST__GATHER;

	op.kind = kind;
	op.peer = is_rooted ? 0 : -1;
	op.tensor = tensor;
	op.sides = &sides;
	if (kind == DIST__REDUCE_SCATTER)
		sides.in = *parts;
	else if (parts)
		sides.out = *parts;
	return dist__team_run(
		team, &op, kind == DIST__GATHER ? &dist__linear_gather : NULL);
}

/* ---- all-reduce ------------------------------------------------------- */

/* The lengths of the chunks that the ranks of this node sum up; the ranks that
 * smaller nodes lack have none. NULL: no memory. */
static size_t *chunk_lengths(const struct levels *l)
{
	size_t numel = l->coll->op->tensor.numel;
	struct dist__chunks chunks = dist__chunks_of(numel, l->nodes->least);
	size_t *lengths =
		calloc((size_t)l->inside.members.world_size, sizeof *lengths);

	for (int i = 0; lengths && i < l->nodes->least; i++)
		lengths[i] = dist__chunks_numel(&chunks, i + 1) -
			     dist__chunks_numel(&chunks, i);
	return lengths;
}

static enum dist_error all_reduce(const struct levels *l,
				  const struct dist__parts *chunks)
{
	struct dist_tensor mine = dist__part(chunks, l->inside.members.rank);
	enum dist_error error;

	error = run_phase(l, &l->inside, DIST__REDUCE_SCATTER, mine, chunks);
	if (!error && l->is_across)
		error = run_phase(l, &l->across, DIST__ALL_REDUCE, mine, NULL);
	if (!error)
		error = run_phase(l, &l->inside, DIST__ALL_GATHER, mine,
				  chunks);
	return error;
}

static enum dist_error run_all_reduce(const struct dist__coll *coll)
{
	struct levels l;
	enum dist_error error = levels_open(&l, coll, 0);
	size_t *lengths;

	if (error)
		return error;
	lengths = chunk_lengths(&l);
	error = DIST_ERR_NO_MEMORY;
	if (coll->rank == 0 &&
	    l.nodes->least * l.nodes->count == coll->world_size) {
		l.inside.members.parts = l.nodes->count;
		l.across.members.parts = l.nodes->least;
	}
	if (lengths) {
		struct dist__parts chunks = {
			.count = l.inside.members.world_size,
			.whole = coll->op->tensor,
			.splits = lengths,
		};

		error = all_reduce(&l, &chunks);
	}
	free(lengths);
	levels_close(&l);
	return error;
}

/* ---- reduce, broadcast, barrier --------------------------------------- */

/* Runs up to three phases on the whole tensor: inside, across, inside. An op
 * that is none (DIST__OP_KINDS) is left out. */
static enum dist_error run_whole(const struct dist__coll *coll, int root,
				 enum dist__op_kind before,
				 enum dist__op_kind across,
				 enum dist__op_kind after)
{
	struct dist_tensor tensor = coll->op->tensor;
	struct levels l;
	enum dist_error error = levels_open(&l, coll, root);

	if (error)
		return error;
	if (before != DIST__OP_KINDS)
		error = run_phase(&l, &l.inside, before, tensor, NULL);
	if (!error && l.is_first)
		error = run_phase(&l, &l.across, across, tensor, NULL);
	if (!error && after != DIST__OP_KINDS)
		error = run_phase(&l, &l.inside, after, tensor, NULL);
	levels_close(&l);
	return error;
}

static enum dist_error run_reduce(const struct dist__coll *coll)
{
	return run_whole(coll, coll->op->peer, DIST__REDUCE, DIST__REDUCE,
			 DIST__OP_KINDS);
}

static enum dist_error run_broadcast(const struct dist__coll *coll)
{
	return run_whole(coll, coll->op->peer, DIST__OP_KINDS, DIST__BROADCAST,
			 DIST__BROADCAST);
}

static enum dist_error run_barrier(const struct dist__coll *coll)
{
	return run_whole(coll, 0, DIST__REDUCE, DIST__BARRIER, DIST__BROADCAST);
}

/* ---- all-gather ------------------------------------------------------- */

/* The result in the order of nodes, and of places on each. */
struct sorted {
	struct dist__parts nodes; /* a part a node */
	struct dist__parts here;  /* of this node's, a part a place */
	size_t *lengths;          /* of the parts of ranks, then of nodes */
	void *data;
};

static enum dist_error sorted_new(const struct levels *l, struct sorted *s)
{
	const struct dist__coll *coll = l->coll;
	const struct dist__parts *out = &coll->op->sides->out;
	const struct dist__nodes *nodes = l->nodes;
	int p = coll->world_size, node = nodes->node[coll->rank];
	size_t numel = dist__parts_before(out, p);
	enum dist_dtype dtype = coll->op->tensor.dtype;
	size_t *lengths = calloc((size_t)(p + nodes->count), sizeof *lengths);

	*s = (struct sorted){.lengths = lengths};
	if (!lengths ||
	    dist__scratch_new(coll, numel * dist_dtype_size(dtype), &s->data))
		return DIST_ERR_NO_MEMORY;
	for (int i = 0; i < p; i++) {
		int rank = nodes->sorted[i];

		lengths[i] = dist__part(out, rank).numel;
		lengths[p + nodes->node[rank]] += lengths[i];
	}
	s->nodes = (struct dist__parts){
		.count = nodes->count,
		.whole = dist_tensor(s->data, numel, dtype),
		.splits = lengths + p,
	};
	s->here = (struct dist__parts){
		.count = nodes->size[node],
		.whole = dist__part(&s->nodes, node),
		.splits = lengths + nodes->first[node],
	};
	return DIST_OK;
}

static enum dist_error all_gather(const struct levels *l,
				  const struct sorted *s)
{
	enum dist_error error = run_phase(l, &l->inside, DIST__GATHER,
					  l->coll->op->tensor, &s->here);

	if (!error && l->is_first)
		error = run_phase(l, &l->across, DIST__ALL_GATHER,
				  s->here.whole, &s->nodes);
	if (!error)
		error = run_phase(l, &l->inside, DIST__BROADCAST,
				  s->nodes.whole, NULL);
	if (!error) {
		/* The parts go to where the ranks' own order has them. */
		const struct dist__coll *coll = l->coll;
		char *data = s->data;

		for (int i = 0; data && i < coll->world_size; i++) {
			struct dist__span to =
				dist__span_part(coll, &coll->op->sides->out,
						l->nodes->sorted[i]);
			struct dist__span from = {data, to.bytes};

			dist__copy(to, from);
			data += to.bytes;
		}
	}
	return error;
}

static enum dist_error run_all_gather(const struct dist__coll *coll)
{
	struct levels l;
	struct sorted s;
	enum dist_error error = levels_open(&l, coll, 0);

	if (error)
		return error;
	error = sorted_new(&l, &s);
	if (!error)
		error = all_gather(&l, &s);
	free(s.data);
	free(s.lengths);
	levels_close(&l);
	return error;
}

/* ---- cost ------------------------------------------------------------- */

/* A team, and what messages cost in it. */
struct level {
	int ranks;
	struct dist__cost cost;
};

/* Equal nodes of q ranks. */
struct model {
	struct level inside, across;
};

static struct model model_of(const struct dist__cost *cost, int p)
{
	int q = cost->node_ranks > 1 ? cost->node_ranks : 1;
	struct model m = {{q < p ? q : p, *cost}, {0, *cost}};

	m.across.ranks = p / m.inside.ranks;
	m.inside.cost.node_ranks = m.across.cost.node_ranks = 1;
	m.inside.cost.alpha_ns = cost->node_alpha_ns;
	m.inside.cost.beta_ns_per_byte = cost->node_beta_ns_per_byte;
	return m;
}

/* The time of a phase, as dist__team_run() chooses. */
static double phase_ns(const struct level *level, enum dist__op_kind kind,
		       size_t numel, size_t element_bytes)
{
	const struct dist__layout layout = {.world_size = level->ranks,
					    .num_nodes = level->ranks};

	return dist__select(NULL, kind, &layout, numel * element_bytes)
		->cost_ns(&level->cost, level->ranks, numel, element_bytes);
}

/* The q chunks of a node share its link: each has a qth of it. */
static double cost_all_reduce_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	struct model m = model_of(cost, p);
	struct dist__chunks chunks = dist__chunks_of(numel, m.inside.ranks);

	m.across.cost.beta_ns_per_byte *= m.inside.ranks;
	return phase_ns(&m.inside, DIST__REDUCE_SCATTER, numel, element_bytes) +
	       phase_ns(&m.across, DIST__ALL_REDUCE,
			dist__chunks_numel(&chunks, 1), element_bytes) +
	       phase_ns(&m.inside, DIST__ALL_GATHER, numel, element_bytes);
}

static double cost_reduce_ns(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	struct model m = model_of(cost, p);

	return phase_ns(&m.inside, DIST__REDUCE, numel, element_bytes) +
	       phase_ns(&m.across, DIST__REDUCE, numel, element_bytes);
}

static double cost_broadcast_ns(const struct dist__cost *cost, int p,
				size_t numel, size_t element_bytes)
{
	struct model m = model_of(cost, p);

	return phase_ns(&m.across, DIST__BROADCAST, numel, element_bytes) +
	       phase_ns(&m.inside, DIST__BROADCAST, numel, element_bytes);
}

static double cost_barrier_ns(const struct dist__cost *cost, int p,
			      size_t numel, size_t element_bytes)
{
	struct model m = model_of(cost, p);

	(void)numel;
	return phase_ns(&m.inside, DIST__REDUCE, 0, element_bytes) +
	       phase_ns(&m.across, DIST__BARRIER, 0, element_bytes) +
	       phase_ns(&m.inside, DIST__BROADCAST, 0, element_bytes);
}

static double cost_all_gather_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	struct model m = model_of(cost, p);

	return dist__linear_gather.cost_ns(&m.inside.cost, m.inside.ranks,
					   numel / (size_t)m.across.ranks,
					   element_bytes) +
	       phase_ns(&m.across, DIST__ALL_GATHER, numel, element_bytes) +
	       phase_ns(&m.inside, DIST__BROADCAST, numel, element_bytes);
}

DIST__ALGORITHM(hierarchical, all_reduce, ALL_REDUCE, "hierarchical",
		"reduce-scatter inside nodes of q, all-reduce across, "
		"all-gather inside",
		"RS(q, n) + AR(p/q, n/q; q beta) + AG(q, n)", .in_teams = true);

DIST__ALGORITHM(hierarchical, reduce, REDUCE, "hierarchical",
		"reduce inside nodes of q, then across", "R(q, n) + R(p/q, n)",
		.in_teams = true);

DIST__ALGORITHM(hierarchical, broadcast, BROADCAST, "hierarchical",
		"broadcast across nodes of q, then inside",
		"B(p/q, n) + B(q, n)", .in_teams = true);

DIST__ALGORITHM(
	hierarchical, barrier, BARRIER, "hierarchical",
	"reduce of nothing inside nodes of q, barrier across, broadcast inside",
	"R(q, 0) + barrier(p/q) + B(q, 0)", .in_teams = true);

DIST__ALGORITHM(hierarchical, all_gather, ALL_GATHER, "hierarchical",
		"gather inside nodes of q, all-gather across, broadcast inside",
		"G(q, n q/p) + AG(p/q, n) + B(q, n)", .in_teams = true);
