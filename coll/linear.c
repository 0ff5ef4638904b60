/*
 * linear.c - gather and scatter with every rank straight to the root, all-to-
 * all with every message at once.
 *
 * Gather, scatter: the root takes the other ranks one after the other, from its
 * right hand on. All-to-all: each rank posts all its receives, then all its
 * sends, and waits for them together, so that their latencies overlap and only
 * the links are shared out.
 *
 *	5 ranks, root 1:  gather  2>1  3>1  4>1  0>1
 *	                  scatter 1>2  1>3  1>4  1>0
 *	all-to-all:       0>1 0>2 0>3 0>4, 1>2 1>3 ... at the same time
 *
 * p - 1 messages of the root, or of each rank; nobody passes on what is not
 * for him, and no scratch memory for parts. Gather and scatter, and the
 * all-to-all of p - 1 messages at once, after Thakur, Rabenseifner and Gropp,
 * "Optimization of Collective Communication Operations in MPICH", Int. J. of
 * High Performance Computing Applications 19(1), 2005.
 */
#include "coll/algorithms.h"
#include "coll/pattern.h"

static enum dist_error run_gather(const struct dist__coll *coll)
{
	const struct dist__op *op = coll->op;
	struct dist__span mine = dist__span_tensor(coll);
	enum dist_error error = DIST_OK;

	if (coll->rank != op->peer)
		return dist__send(coll, 0, op->peer, mine);
	dist__copy(dist__span_part(coll, &op->out, coll->rank), mine);
	for (int i = 1; i < coll->world_size && !error; i++) {
		int from = (coll->rank + i) % coll->world_size;

		error = dist__recv(coll, 0, from,
				   dist__span_part(coll, &op->out, from));
	}
	return error;
}

static enum dist_error run_scatter(const struct dist__coll *coll)
{
	const struct dist__op *op = coll->op;
	struct dist__span mine = dist__span_tensor(coll);
	enum dist_error error = DIST_OK;

	if (coll->rank != op->peer)
		return dist__recv(coll, 0, op->peer, mine);
	for (int i = 1; i < coll->world_size && !error; i++) {
		int to = (coll->rank + i) % coll->world_size;

		error = dist__send(coll, 0, to,
				   dist__span_part(coll, &op->in, to));
	}
	if (!error)
		dist__copy(mine, dist__span_part(coll, &op->in, coll->rank));
	return error;
}

static enum dist_error run_all_to_all(const struct dist__coll *coll)
{
	const struct dist__op *op = coll->op;

	dist__copy(dist__span_part(coll, &op->out, coll->rank),
		   dist__span_part(coll, &op->in, coll->rank));
	return dist__exchange_all(coll, 0, &op->in, &op->out);
}

/* T = (p - 1) (alpha + n / p beta); the overheads of all senders but the first
 * fall in the time that the root is busy with others. */
static double cost_gather_ns(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	double n = (double)(numel * element_bytes) / p;

	if (p == 1)
		return 0;
	return cost->overhead_ns +
	       (p - 1) * (dist__cost_message(cost, n) - cost->overhead_ns);
}

/* T = (p - 1) (alpha + n / p beta). */
static double cost_scatter_ns(const struct dist__cost *cost, int p,
			      size_t numel, size_t element_bytes)
{
	double n = (double)(numel * element_bytes) / p;

	return (p - 1) * dist__cost_message(cost, n);
}

/*
 * T = alpha + (p - 1) / p n beta, when messages cost no overhead. In general
 * message k sets out after k overheads on every rank at once, and the links of
 * all ranks are equally busy: they never idle with a message to carry, however
 * they are shared out, and so end with the last message that finds them idle,
 * the first or the last one.
 */
static double cost_all_to_all_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	double carry_ns =
		(double)(numel * element_bytes) / p * cost->beta_ns_per_byte;
	double overhead_ns = cost->overhead_ns;

	if (p == 1)
		return 0;
	return cost->alpha_ns + overhead_ns + carry_ns +
	       (p - 2) * (overhead_ns > carry_ns ? overhead_ns : carry_ns);
}

const struct dist__algorithm dist__linear_gather = {
	.op = DIST__GATHER,
	.name = "linear",
	.summary = "p-1 steps, the root receives one part at each",
	.run = run_gather,
	.cost_ns = cost_gather_ns,
};

const struct dist__algorithm dist__linear_scatter = {
	.op = DIST__SCATTER,
	.name = "linear",
	.summary = "p-1 steps, the root sends one part at each",
	.run = run_scatter,
	.cost_ns = cost_scatter_ns,
};

const struct dist__algorithm dist__linear_all_to_all = {
	.op = DIST__ALL_TO_ALL,
	.name = "linear",
	.summary = "1 step, every part to its rank at once",
	.run = run_all_to_all,
	.cost_ns = cost_all_to_all_ns,
};
