/*
 * linear.c - every rank directly to or from the root; all-gather and all-to-all
 * with every message at once.
 *
 * Gather, reduce, scatter: the root exchanges with the other ranks one after
 * the other, beginning at the next rank. Broadcast: it posts all its sends and
 * waits for them together, so that latencies overlap and only its link is
 * shared. All-gather and all-to-all: each rank does so, and receives likewise.
 *
 *	5 ranks, root 1:  gather, reduce  2>1  3>1  4>1  0>1
 *	                  scatter         1>2  1>3  1>4  1>0
 *	                  broadcast       1>2 1>3 1>4 1>0 at the same time
 *	the other two:    0>1 0>2 0>3 0>4, 1>2 1>3 ... at the same time
 *
 * p - 1 messages of the root, or of each rank. No rank passes on another's
 * data, and there is no scratch memory, except one vector on the root of a
 * reduce. After Thakur, Rabenseifner and Gropp, "Optimization of Collective
 * Communication Operations in MPICH", Int. J. of High Performance Computing
 * Applications 19(1), 2005.
 */
#include <stdlib.h>

#include "coll/algorithms.h"
#include "coll/pattern.h"

static enum dist_error run_gather(const struct dist__coll *coll)
{
	const struct dist__op *op = coll->op;
	struct dist__span mine = dist__span_tensor(coll);
	enum dist_error error = DIST_OK;

	if (coll->rank != op->peer)
		return dist__send(coll, 0, op->peer, mine);
	dist__copy(dist__span_part(coll, &op->sides->out, coll->rank), mine);
	for (int i = 1; i < coll->world_size && !error; i++) {
		int from = (coll->rank + i) % coll->world_size;

		error = dist__recv(
			coll, 0, from,
			dist__span_part(coll, &op->sides->out, from));
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
				   dist__span_part(coll, &op->sides->in, to));
	}
	if (!error)
		dist__copy(mine,
			   dist__span_part(coll, &op->sides->in, coll->rank));
	return error;
}

static enum dist_error run_broadcast(const struct dist__coll *coll)
{
	struct dist__span vector = dist__span_tensor(coll);

	if (coll->rank != coll->op->peer)
		return dist__recv(coll, 0, coll->op->peer, vector);
	return dist__send_all(coll, vector, NULL);
}

static enum dist_error run_reduce(const struct dist__coll *coll)
{
	struct dist__span sum = dist__span_tensor(coll);
	struct dist__addition theirs = {sum, sum, NULL};
	enum dist_error error = DIST_OK;

	if (coll->rank != coll->op->peer)
		return dist__send(coll, 0, coll->op->peer, sum);
	if (coll->world_size > 1)
		error = dist__sum_scratch_new(coll, sum.bytes, &theirs.scratch);
	for (int i = 1; i < coll->world_size && !error; i++)
		error = dist__recv_sum(
			coll, 0, (coll->rank + i) % coll->world_size, &theirs);
	free(theirs.scratch);
	return error;
}

static enum dist_error run_all_gather(const struct dist__coll *coll)
{
	const struct dist__parts *out = &coll->op->sides->out;
	struct dist__span mine = dist__span_tensor(coll);

	dist__copy(dist__span_part(coll, out, coll->rank), mine);
	return dist__send_all(coll, mine, out);
}

static enum dist_error run_all_to_all(const struct dist__coll *coll)
{
	const struct dist__op *op = coll->op;

	dist__copy(dist__span_part(coll, &op->sides->out, coll->rank),
		   dist__span_part(coll, &op->sides->in, coll->rank));
	dist__charge_copy(
		coll, dist__span_part(coll, &op->sides->in, coll->rank).bytes);
	return dist__exchange_all(coll, &op->sides->in, &op->sides->out);
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

/* T = (p - 1) (alpha + n beta + n gamma), likewise. */
static double cost_reduce_ns(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	double n = (double)(numel * element_bytes);

	return cost_gather_ns(cost, p, numel * (size_t)p, element_bytes) +
	       (p - 1) * dist__cost_reduce(cost, n);
}

static double cost_broadcast_ns(const struct dist__cost *cost, int p,
				size_t numel, size_t element_bytes)
{
	return dist__cost_all_at_once(cost, p, (double)(numel * element_bytes));
}

/* The links of all ranks are equally busy, in an all-gather too. */
static double cost_all_to_all_ns(const struct dist__cost *cost, int p,
				 size_t numel, size_t element_bytes)
{
	return dist__cost_all_at_once(cost, p,
				      (double)(numel * element_bytes) / p);
}

DIST__ALGORITHM(linear, broadcast, BROADCAST, "linear",
		"1 step, the root sends p-1 vectors at once",
		"alpha + (p-1) n beta", .flow = NULL);

DIST__ALGORITHM(linear, reduce, REDUCE, "linear",
		"p-1 steps, the root receives one vector at each",
		"(p-1) (alpha + n beta + n gamma)", .flow = NULL);

DIST__ALGORITHM(linear, gather, GATHER, "linear",
		"p-1 steps, the root receives one part at each",
		"(p-1) (alpha + n/p beta)", .flow = NULL);

DIST__ALGORITHM(linear, scatter, SCATTER, "linear",
		"p-1 steps, the root sends one part at each",
		"(p-1) (alpha + n/p beta)", .flow = NULL);

const struct dist__algorithm dist__linear_all_gather = {
	.op = DIST__ALL_GATHER,
	.name = "linear",
	.summary = "1 step, every part to all ranks at once",
	.formula = "alpha + (p-1)/p n beta",
	.run = run_all_gather,
	.cost_ns = cost_all_to_all_ns,
};

DIST__ALGORITHM(linear, all_to_all, ALL_TO_ALL, "linear",
		"1 step, every part to its rank at once",
		"alpha + (p-1)/p n beta", .flow = NULL);
