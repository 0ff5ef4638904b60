/*
 * chain.c - broadcast and reduce along a chain of all ranks, in segments.
 *
 * Ranks are numbered from the root. In a broadcast each number sends the next
 * one the segment of the step before, while it receives the following one. A
 * reduce is the reverse: segments travel towards the root, and each number adds
 * its own.
 *
 *	5 ranks, root 0, 4 segments; the segment that each number sends:
 *
 *	step   0   1   2   3   4   5   6
 *	0>1    0   1   2   3
 *	1>2        0   1   2   3
 *	2>3            0   1   2   3
 *	3>4                0   1   2   3
 *
 * p - 2 + k steps for k segments, of n / k bytes each; each rank sends the
 * vector once, the minimum, but the first segment takes as many steps as there
 * are ranks. The pipelined ring of van de Geijn and Watts, "SUMMA: Scalable
 * Universal Matrix Multiplication Algorithm", Concurrency: Practice and
 * Experience 9(4), 1997.
 *
 * Segments are at most segment_bytes long (coll/profile.h). Scratch memory: a
 * segment for a reduce.
 */
#include "coll/algorithms.h"
#include "coll/schedule.h"

struct chain {
	struct dist__schedule schedule;
	struct dist__chunks segments;
	int num_segments;
	int root;
};

/* What the link to number, from the root, carries in step, with peer. */
static struct dist__move carried(const struct chain *chain, int number,
				 int step, int peer)
{
	int segment = step + 1 - number, p = chain->schedule.world_size;

	if (number == 0 || number == p || segment < 0 ||
	    segment >= chain->num_segments)
		return dist__move_none();
	return (struct dist__move){
		.peer = peer % p,
		.slice = dist__segment(&chain->segments, segment),
	};
}

static int number_of(const struct dist__schedule *schedule, int rank)
{
	const struct chain *chain = (const struct chain *)schedule;
	int p = schedule->world_size;

	return (rank - chain->root + p) % p;
}

static struct dist__move out(const struct dist__schedule *schedule, int rank,
			     int step)
{
	return carried((const struct chain *)schedule,
		       number_of(schedule, rank) + 1, step, rank + 1);
}

static struct dist__move in(const struct dist__schedule *schedule, int rank,
			    int step)
{
	return carried((const struct chain *)schedule,
		       number_of(schedule, rank), step,
		       rank - 1 + schedule->world_size);
}

static struct chain chain_of(int p, int root, size_t numel,
			     size_t element_bytes, size_t segment_bytes)
{
	struct chain chain = {.root = root};

	chain.segments = dist__segments_of(numel, element_bytes, segment_bytes,
					   1, &chain.num_segments);
	chain.schedule = (struct dist__schedule){
		.world_size = p,
		.num_steps = p > 1 ? p - 2 + chain.num_segments : 0,
		.longest = dist__chunks_numel(&chain.segments, 1),
		.steady = chain.num_segments > p ? p : 0,
		.steady_end = chain.num_segments > p ? chain.num_segments : 0,
		.out = out,
		.in = in,
	};
	return chain;
}

static enum dist_error run(const struct dist__coll *coll, bool backwards)
{
	const struct dist_tensor *tensor = &coll->op->tensor;
	struct chain chain =
		chain_of(coll->world_size, coll->op->peer, tensor->numel,
			 dist_dtype_size(tensor->dtype), coll->segment_bytes);

	return dist__schedule_run(coll, &chain.schedule, 0, backwards);
}

static enum dist_error run_broadcast(const struct dist__coll *coll)
{
	return run(coll, false);
}

static enum dist_error run_reduce(const struct dist__coll *coll)
{
	return run(coll, true);
}

/*
 * T = (p - 2) (alpha + s beta) + k alpha + n beta for k segments, the longest
 * of s bytes: the first segment is the longest and goes all the way, then the
 * others come in one after the other.
 */
static double cost_broadcast_ns(const struct dist__cost *cost, int p,
				size_t numel, size_t element_bytes)
{
	struct chain chain =
		chain_of(p, 0, numel, element_bytes, cost->segment_bytes);
	size_t longest = dist__chunks_numel(&chain.segments, 1);
	double s = (double)(longest * element_bytes);
	double n = (double)(numel * element_bytes);

	if (p == 1)
		return 0;
	return (p - 2) * dist__cost_message(cost, s) +
	       chain.num_segments * dist__cost_message(cost, 0) +
	       n * cost->beta_ns_per_byte;
}

/* T = (p - 2) (alpha + s beta + s gamma) + k alpha + n beta + n gamma likewise,
 * or less where a rank that need not reduce first has its overhead behind it:
 * hence step by step. */
static double cost_reduce_ns(const struct dist__cost *cost, int p, size_t numel,
			     size_t element_bytes)
{
	struct chain chain =
		chain_of(p, 0, numel, element_bytes, cost->segment_bytes);

	return dist__schedule_cost_ns(cost, &chain.schedule, element_bytes,
				      true);
}

DIST__ALGORITHM(chain, broadcast, BROADCAST, "chain",
		"p-2+k steps for k segments, the vector sent by each rank",
		"(p-2) (alpha + n/k beta) + k alpha + n beta", .flow = NULL);

DIST__ALGORITHM(chain, reduce, REDUCE, "chain",
		"p-2+k steps for k segments, the vector sent by each rank",
		"(p-2+k) (alpha + n/k beta + n/k gamma)", .flow = NULL);
