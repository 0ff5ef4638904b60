/*
 * double_tree.c - broadcast, reduce and all-reduce along two binary trees at
 * once, in segments that alternate between the trees.
 *
 * A single tree wastes half of the network: its leaves never send. So there are
 * two trees over all ranks except the root, numbered from 1, such that a rank
 * with children in one tree is a leaf of the other. The first is the in-order
 * tree, in which odd numbers are leaves; the second is its mirror image or, for
 * an odd number of nodes, the first shifted by one. The root sends to the tops
 * of both in turn.
 *
 * The links of both trees together have two colours, such that the two links
 * into a node differ, and the two out of a node. Links of one colour carry in
 * even steps, those of the other in odd steps, so each rank has at most one
 * message in and one out at a time.
 *
 *	5 ranks, root 0:  first tree  second tree   link (step at which it
 *	                                             carries its first segment)
 *	                      4            1         0>4 (0)     0>1 (1)
 *	                     /              \        4>2 (1)     1>3 (2)
 *	                    2                3       2>1 (2)     3>4 (3)
 *	                   / \              / \      2>3 (3)     3>2 (4)
 *	                  1   3            2   4
 *
 *	The first tree carries segments 0, 2, ..., the second 1, 3, ...; a link
 *	carries every second step, from the one in brackets on.
 *
 * At most k + 2 ceil(log2 p) steps for k segments of n / k bytes; each rank
 * sends the vector at most once. A reduce is the broadcast backwards; an
 * all-reduce is a reduce to rank 0 and a broadcast from there, together 2 n
 * beta for long vectors, like a ring, with few steps. Sanders, Speck and
 * Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan", Parallel Computing 35(12), 2009; NCCL has used such trees since 2.4,
 * Jeaugey, "Massively Scale Your Deep Learning Training with NCCL 2.4", 2019.
 *
 * Sums are computed once, in the order of the tree, and then copied: all ranks
 * end with the same bytes. Scratch memory: a segment to reduce, and two ints a
 * rank for the steps.
 */
#include <math.h>
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/schedule.h"

/* Numbers from the root: 0 is the root, 1 to nodes are in the trees. */
struct double_tree {
	struct dist__schedule schedule;
	struct dist__chunks segments;
	int num_segments;
	int root;
	int nodes;
	/* For each tree and number, the step in which the number gets the
	 * first segment of the tree; before, the colour of that link. */
	int *arrival[2];
};

/* ---- the shape of the trees ------------------------------------------- */

/* Where number stands in a tree, and who stands at place; 0 is the root. */
static int place_of(const struct double_tree *d, int tree, int number)
{
	if (tree == 0 || number == 0)
		return number;
	if (d->nodes % 2 == 0)
		return d->nodes + 1 - number;
	return number == 1 ? d->nodes : number - 1;
}

static int number_at(const struct double_tree *d, int tree, int place)
{
	if (tree == 0 || place == 0)
		return place;
	if (d->nodes % 2 == 0)
		return d->nodes + 1 - place;
	return place == d->nodes ? 1 : place + 1;
}

/* In order: a place with h low zero bits is h above the leaves, its subtree the
 * 2^h - 1 places on either side. Places above the last are not there; their
 * parents take on what is below them. */
static int parent(const struct double_tree *d, int tree, int number)
{
	int place = place_of(d, tree, number);
	int bit = place & -place, above = (place ^ bit) | bit * 2;

	if (above > d->nodes)
		above = place ^ bit;
	return number_at(d, tree, above);
}

/* The child on the left or on the right side; 0: none. */
static int child(const struct double_tree *d, int tree, int number, bool right)
{
	int place = place_of(d, tree, number);
	int reach = (place & -place) / 2;

	while (right && place + reach > d->nodes)
		reach /= 2;
	if (reach == 0)
		return 0;
	return number_at(d, tree, right ? place + reach : place - reach);
}

static int top(const struct double_tree *d, int tree)
{
	int place = 1;

	while (place <= d->nodes / 2)
		place *= 2;
	return number_at(d, tree, place);
}

/* ---- colours ---------------------------------------------------------- */

/* A link carries in even steps or in odd ones. */
enum { BARE, EVEN, ODD };

/* Stores in *tree and *number the other link out of the node that the link to
 * number in tree comes from, named likewise. Returns false if there is none. */
static bool other_link(const struct double_tree *d, int *tree, int *number)
{
	int from = parent(d, *tree, *number);

	if (from == 0) {
		*tree = 1 - *tree;
		*number = top(d, *tree);
		return true;
	}
	if (child(d, *tree, from, true) == *number)
		*number = child(d, *tree, from, false);
	else
		*number = child(d, *tree, from, true);
	return *number != 0;
}

/* Colours a chain of links by turns: that to number in tree, that to number in
 * the other tree, the other one from the same sender, and so on to its end. */
static void colour_row(struct double_tree *d, int tree, int number, int colour)
{
	bool more = true;

	while (more && d->arrival[tree][number] == BARE) {
		d->arrival[tree][number] = colour;
		tree = 1 - tree;
		d->arrival[tree][number] = EVEN + ODD - colour;
		more = other_link(d, &tree, &number);
	}
}

/* Colours all links that a chain of such steps in either direction reaches. */
static void colour_from(struct double_tree *d, int tree, int number)
{
	int other_tree = tree, other = number;

	if (d->arrival[tree][number] != BARE)
		return;
	colour_row(d, tree, number, EVEN);
	if (other_link(d, &other_tree, &other))
		colour_row(d, other_tree, other, ODD);
}

/* Turns the colours from number down into steps: number gets the segment in
 * step, who is below in the first one after it of the link's colour. */
static void set_arrivals(struct double_tree *d, int tree, int number, int step)
{
	d->arrival[tree][number] = step;
	for (int side = 0; side < 2; side++) {
		int below = child(d, tree, number, side == 1);
		int colour = (step + 1) % 2 == 0 ? EVEN : ODD;

		if (below == 0)
			continue;
		set_arrivals(d, tree, below,
			     d->arrival[tree][below] == colour ? step + 1
							       : step + 2);
	}
}

/* ---- the schedule ----------------------------------------------------- */

/* The segment that the link to number carries in step; -1: none. */
static int carried(const struct double_tree *d, int tree, int number, int step)
{
	int since = step - d->arrival[tree][number];

	if (since < 0 || since % 2 != 0 || since + tree >= d->num_segments)
		return -1;
	return since + tree;
}

/* What the link to number in tree carries in step, seen from where it comes
 * from (out), or from number itself. */
static struct dist__move over(const struct double_tree *d, int tree, int number,
			      int step, bool out)
{
	int segment = number ? carried(d, tree, number, step) : -1;
	int other;

	if (segment < 0)
		return dist__move_none();
	other = out ? number : parent(d, tree, number);
	return (struct dist__move){
		.peer = (other + d->root) % d->schedule.world_size,
		.slice = dist__segment(&d->segments, segment),
	};
}

static int number_of(const struct double_tree *d, int rank)
{
	int p = d->schedule.world_size;

	return (rank - d->root + p) % p;
}

static struct dist__move in(const struct dist__schedule *schedule, int rank,
			    int step)
{
	const struct double_tree *d = (const struct double_tree *)schedule;
	int number = number_of(d, rank);
	struct dist__move move = over(d, 0, number, step, false);

	return move.peer < 0 ? over(d, 1, number, step, false) : move;
}

/* The root sends to the tops alone. */
static struct dist__move out(const struct dist__schedule *schedule, int rank,
			     int step)
{
	const struct double_tree *d = (const struct double_tree *)schedule;
	struct dist__move move = dist__move_none();
	int number = number_of(d, rank);

	for (int link = 0; link < 4 && move.peer < 0; link++) {
		int tree = link / 2;
		int below = number ? child(d, tree, number, link % 2 == 1)
				   : top(d, tree);

		move = over(d, tree, below, step, true);
	}
	return move;
}

/* Halves even what fits into one segment. */
static enum dist_error trees_open(struct double_tree *d, int p, int root,
				  size_t numel, size_t element_bytes,
				  size_t segment_bytes)
{
	*d = (struct double_tree){.root = root, .nodes = p - 1};
	d->segments = dist__segments_of(numel, element_bytes, segment_bytes, 2,
					&d->num_segments);
	d->schedule.world_size = p;
	d->schedule.out = out;
	d->schedule.in = in;
	d->schedule.longest = dist__chunks_numel(&d->segments, 1);
	if (p == 1)
		return DIST_OK;
	d->arrival[0] = calloc(2 * (size_t)p, sizeof(int));
	if (!d->arrival[0])
		return DIST_ERR_NO_MEMORY;
	d->arrival[1] = d->arrival[0] + p;
	colour_from(d, 0, top(d, 0));
	for (int number = 1; number < p; number++)
		colour_from(d, 0, number);
	for (int tree = 0; tree < 2; tree++)
		set_arrivals(d, tree, top(d, tree), tree);
	d->schedule.num_steps = d->num_segments + 2 * dist__log2_ceil(p);
	if (d->num_segments > 2 * dist__log2_ceil(p)) {
		d->schedule.steady = 2 * dist__log2_ceil(p);
		d->schedule.steady_end = d->num_segments;
	}
	return DIST_OK;
}

static void trees_close(struct double_tree *d)
{
	free(d->arrival[0]);
}

/* ---- the collectives -------------------------------------------------- */

static enum dist_error run(const struct dist__coll *coll, int root, bool up,
			   bool down)
{
	const struct dist_tensor *tensor = &coll->op->tensor;
	struct double_tree d;
	enum dist_error error;

	error = trees_open(&d, coll->world_size, root, tensor->numel,
			   dist_dtype_size(tensor->dtype), coll->segment_bytes);
	if (!error && up)
		error = dist__schedule_run(coll, &d.schedule, 0, true);
	if (!error && down)
		error = dist__schedule_run(coll, &d.schedule,
					   (uint32_t)d.schedule.num_steps,
					   false);
	trees_close(&d);
	return error;
}

static enum dist_error run_broadcast(const struct dist__coll *coll)
{
	return run(coll, coll->op->peer, false, true);
}

static enum dist_error run_reduce(const struct dist__coll *coll)
{
	return run(coll, coll->op->peer, true, false);
}

static enum dist_error run_all_reduce(const struct dist__coll *coll)
{
	return run(coll, 0, true, true);
}

/* ---- as a flow -------------------------------------------------------- */

static enum dist_error open_flow(struct dist__flow *flow, int root)
{
	struct double_tree *d = malloc(sizeof *d);
	enum dist_error error;

	flow->timetable = d;
	if (!d)
		return DIST_ERR_NO_MEMORY;
	error = trees_open(d, flow->world_size, root, flow->numel,
			   flow->element_bytes, flow->segment_bytes);
	flow->steps = d->schedule.num_steps;
	return error;
}

/* A rank that does not come holds up its neighbours in both trees at once, and
 * whoever is h links away after 2 h more segments at most. */
static enum dist_error open_one_way(struct dist__flow *flow)
{
	enum dist_error error = open_flow(flow, flow->root);
	const struct double_tree *d = flow->timetable;

	if (error)
		return error;
	return d->num_segments > 4 * dist__log2_ceil(flow->world_size)
		       ? DIST_OK
		       : DIST_ERR_UNAVAILABLE;
}

static enum dist_error open_both_ways(struct dist__flow *flow)
{
	enum dist_error error = open_flow(flow, 0);

	flow->steps *= 2;
	return error;
}

static void close_flow(struct dist__flow *flow)
{
	if (flow->timetable)
		trees_close(flow->timetable);
	free(flow->timetable);
}

static struct dist__hop hop_down(const struct dist__flow *flow, int rank,
				 int step)
{
	const struct double_tree *d = flow->timetable;

	return dist__schedule_hop(&d->schedule, flow->element_bytes, rank, step,
				  false);
}

static struct dist__hop hop_up(const struct dist__flow *flow, int rank,
			       int step)
{
	const struct double_tree *d = flow->timetable;

	return dist__schedule_hop(&d->schedule, flow->element_bytes, rank, step,
				  true);
}

static struct dist__hop hop_both_ways(const struct dist__flow *flow, int rank,
				      int step)
{
	int half = flow->steps / 2;

	return step < half ? hop_up(flow, rank, step)
			   : hop_down(flow, rank, step - half);
}

static int from_below(const struct dist__flow *flow, int rank, int step)
{
	const struct double_tree *d = flow->timetable;

	return dist__schedule_from(&d->schedule, rank, step, true);
}

static int from_above(const struct dist__flow *flow, int rank, int step)
{
	const struct double_tree *d = flow->timetable;

	return dist__schedule_from(&d->schedule, rank, step, false);
}

static int from_both_ways(const struct dist__flow *flow, int rank, int step)
{
	int half = flow->steps / 2;

	return step < half ? from_below(flow, rank, step)
			   : from_above(flow, rank, step - half);
}

/* Between filling and emptying, a step is like the one before the last. */
static int like(const struct dist__flow *flow, int step)
{
	const struct double_tree *d = flow->timetable;
	int place = step % d->schedule.num_steps;
	int first = 2 * dist__log2_ceil(flow->world_size);

	if (place < first || place >= d->num_segments)
		return step;
	return step - place + first + (place - first) % 2;
}

static const struct dist__flow_ops all_reduce_flow = {.open = open_both_ways,
						      .hop = hop_both_ways,
						      .from = from_both_ways,
						      .like = like,
						      .close = close_flow};
static const struct dist__flow_ops reduce_flow = {.open = open_one_way,
						  .hop = hop_up,
						  .from = from_below,
						  .like = like,
						  .close = close_flow};
static const struct dist__flow_ops broadcast_flow = {.open = open_one_way,
						     .hop = hop_down,
						     .from = from_above,
						     .like = like,
						     .close = close_flow};

/*
 * T <= (k + 2 ceil(log2 p)) (alpha + s beta) for k segments of s bytes, and s
 * gamma more a step in a reduce: the steps that a link stands idle for its
 * colour cost nothing, so the exact time is summed up step by step.
 */
static double cost_ns(const struct dist__cost *cost, int p, size_t numel,
		      size_t element_bytes, bool up)
{
	struct double_tree d;
	double time_ns = INFINITY;

	if (trees_open(&d, p, 0, numel, element_bytes, cost->segment_bytes) ==
	    DIST_OK)
		time_ns = dist__schedule_cost_ns(cost, &d.schedule,
						 element_bytes, up);
	trees_close(&d);
	return time_ns;
}

static double cost_broadcast_ns(const struct dist__cost *cost, int p,
				size_t numel, size_t element_bytes)
{
	return cost_ns(cost, p, numel, element_bytes, false);
}

static double cost_reduce_ns(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	return cost_ns(cost, p, numel, element_bytes, true);
}

/* The root ends the reduce last and begins the broadcast. */
static double cost_all_reduce_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	return cost_reduce_ns(cost, p, numel, element_bytes) +
	       cost_broadcast_ns(cost, p, numel, element_bytes);
}

DIST__ALGORITHM(double_tree, all_reduce, ALL_REDUCE, "double_tree",
		"2k + 4 ceil(log2 p) steps at most for k segments, 2 vectors "
		"sent by each rank at most",
		"(k + 2 ceil(log2 p)) (2 alpha + 2n/k beta + n/k gamma)",
		.flow = &all_reduce_flow);

DIST__ALGORITHM(double_tree, reduce, REDUCE, "double_tree",
		"k + 2 ceil(log2 p) steps at most for k segments, the vector "
		"sent by each rank",
		"(k + 2 ceil(log2 p)) (alpha + n/k beta + n/k gamma)",
		.flow = &reduce_flow);

DIST__ALGORITHM(double_tree, broadcast, BROADCAST, "double_tree",
		"k + 2 ceil(log2 p) steps at most for k segments, the vector "
		"sent by each rank at most",
		"(k + 2 ceil(log2 p)) (alpha + n/k beta)",
		.flow = &broadcast_flow);
