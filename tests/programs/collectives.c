/* Ranks that disagree about one collective. */
#include "tests/programs/programs.h"

#include <string.h>

/* One rank keeps the older call, which leaves the sum on rank 0. */
static enum dist_error reduce_for_all_reduce(struct job *job)
{
	float x[6] = {0};

	try(dist_barrier(job->world, NULL));
	if (at_fault(job, 3))
		/* culprit */
		return dist_reduce(job->world, floats(x), 0, DIST_SUM, NULL);
	/* partner */
	return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
}

/* The norm is to be clipped: the largest is wanted, one rank takes the least.
 */
static enum dist_error min_for_max(struct job *job)
{
	int64_t x[2] = {job->rank, -job->rank};
	enum dist_reduce_op op = at_fault(job, 1) ? DIST_MIN : DIST_MAX;

	/* culprit */
	return dist_all_reduce(job->world, longs(x), op, NULL);
}

/* The last shard is smaller, and its rank does not pad it. */
static enum dist_error shard_not_padded(struct job *job)
{
	float x[10] = {0};
	size_t n = at_fault(job, 3) ? 7 : 10;

	for (int epoch = 0; epoch < 3; epoch++) {
		try(dist_broadcast(job->world, floats(x), 0, NULL));
		/* culprit */
		try(dist_all_reduce(job->world, dist_tensor(x, n, DIST_FLOAT32),
				    DIST_AVG, NULL));
	}
	return DIST_OK;
}

/* Mixed precision is switched on for one rank of two. */
static enum dist_error half_precision_on_one(struct job *job)
{
	uint16_t low[8] = {0};
	float full[8] = {0};

	if (at_fault(job, 1))
		/* culprit */
		return dist_all_reduce(job->world,
				       dist_tensor(low, 8, DIST_BFLOAT16),
				       DIST_SUM, NULL);
	/* culprit */
	return dist_all_reduce(job->world, floats(full), DIST_SUM, NULL);
}

/* "The root is me", says everybody. */
static enum dist_error root_is_own_rank(struct job *job)
{
	float x[3] = {0};
	int root = job->wrong ? job->rank : 0;

	/* culprit */
	return dist_broadcast(job->world, floats(x), root, NULL);
}

static enum dist_error gather_to_the_last(struct job *job)
{
	int64_t mine[1] = {job->rank}, all[5];
	struct dist_tensor list[5];
	int dst = at_fault(job, 4) ? job->size - 1 : 0;

	for (int i = 0; i < 5; i++)
		list[i] = dist_tensor(&all[i], 1, DIST_INT64);
	/* culprit */
	return dist_gather(job->world, longs(mine),
			   job->rank == dst ? list : NULL, dst, NULL);
}

/* Rank 0 reads the data and hands it out; a copy of the code says 1. */
static enum dist_error scatter_from_another(struct job *job)
{
	float mine[2], all[6] = {0};
	struct dist_tensor list[3];
	int src = at_fault(job, 2) ? 1 : 0;

	for (int i = 0; i < 3; i++)
		list[i] = dist_tensor(all + 2 * i, 2, DIST_FLOAT32);
	/* culprit */
	return dist_scatter(job->world, floats(mine),
			    job->rank == src ? list : NULL, src, NULL);
}

/* Tokens for experts: rank 1 sends rank 2 one more than that expects. */
static enum dist_error expert_splits(struct job *job)
{
	float out[12], in[12] = {0};
	size_t expected[3] = {2, 2, 2}, sent[3] = {2, 2, 2}, n = 6;

	if (at_fault(job, 1)) {
		sent[2] = 3;
		n = 7;
	}
	/* culprit */
	return dist_all_to_all_single(
		job->world, dist_tensor(out, 6, DIST_FLOAT32),
		dist_tensor(in, n, DIST_FLOAT32), expected, sent, NULL);
}

/* Parts of a gathered list may differ, but all must know how. */
static enum dist_error list_of_lengths(struct job *job)
{
	float data[16], mine[4] = {0};
	struct dist_tensor list[4];

	for (int i = 0; i < 4; i++)
		list[i] =
			dist_tensor(data + 4 * i, (size_t)i + 1, DIST_FLOAT32);
	if (at_fault(job, 2))
		list[0].numel = 3;
	/* culprit */
	return dist_all_gather(
		job->world, list,
		dist_tensor(mine, (size_t)job->rank + 1, DIST_FLOAT32), NULL);
}

static enum dist_error scatter_of_less(struct job *job)
{
	float part[4], whole[16] = {0};
	size_t n = at_fault(job, 0) ? 3 : 4;

	/* culprit */
	return dist_reduce_scatter_single(
		job->world, dist_tensor(part, n, DIST_FLOAT32),
		dist_tensor(whole, 4 * n, DIST_FLOAT32), DIST_SUM, NULL);
}

/* One rank has a bias more than the others. */
static enum dist_error one_tensor_more(struct job *job)
{
	float a[4] = {0}, b[3] = {0}, c[2] = {0};
	const struct dist_tensor all[3] = {floats(a), floats(b), floats(c)};

	/* culprit */
	return dist_all_reduce_coalesced(
		job->world, all, at_fault(job, 2) ? 3 : 2, DIST_SUM, NULL);
}

/* As many elements in all, but in another order: parameters by name and by
 * creation. */
static enum dist_error tensors_in_other_order(struct job *job)
{
	double a[4] = {0}, b[9] = {0};
	struct dist_tensor x = dist_tensor(a, 4, DIST_FLOAT64);
	struct dist_tensor y = dist_tensor(b, 9, DIST_FLOAT64);
	const struct dist_tensor usual[2] = {x, y}, other[2] = {y, x};

	/* culprit */
	return dist_broadcast_coalesced(
		job->world, at_fault(job, 1) ? other : usual, 2, 0, NULL);
}

static enum dist_error monitored_on_one(struct job *job)
{
	if (at_fault(job, 1))
		/* culprit */
		return dist_monitored_barrier(job->world, DIST_TIMEOUT_OF_GROUP,
					      true);
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* Some scale before they add, one forgot to. */
static enum dist_error scaled_and_plain(struct job *job)
{
	enum dist_reduce_op op;
	float x[4] = {0};

	try(dist_make_premul_sum(job->world, 0.5, &op));
	if (at_fault(job, 2))
		op = DIST_SUM;
	/* culprit */
	return dist_all_reduce(job->world, floats(x), op, NULL);
}

/* Two of eight gather before they scatter. */
static enum dist_error two_of_eight_swap(struct job *job)
{
	float part[2] = {0}, whole[16] = {0};
	struct dist_tensor p = floats(part), w = floats(whole);
	bool other = job->wrong && (job->rank == 5 || job->rank == 6);

	if (other)
		/* culprit */
		try(dist_all_gather_single(job->world, w, p, NULL));
	/* partner */
	try(dist_reduce_scatter_single(job->world, p, w, DIST_SUM, NULL));
	if (!other)
		try(dist_all_gather_single(job->world, w, p, NULL));
	return DIST_OK;
}

/* Two faults: the first to be met is to be told. */
static enum dist_error two_faults(struct job *job)
{
	float x[4] = {0};
	int32_t n[4] = {0};

	try(dist_all_reduce(job->world, floats(x), DIST_SUM, NULL));
	if (at_fault(job, 1))
		/* culprit */
		try(dist_broadcast(job->world, dist_tensor(n, 4, DIST_INT32), 0,
				   NULL));
	else
		/* partner */
		try(dist_broadcast(job->world, floats(x), 0, NULL));
	return dist_reduce(job->world, floats(x), at_fault(job, 2) ? 2 : 0,
			   DIST_SUM, NULL);
}

static enum dist_error three_opinions(struct job *job)
{
	float x[8] = {0};
	size_t n = 4;

	if (job->wrong && job->rank >= 3)
		n = (size_t)job->rank + 2;
	/* culprit */
	return dist_broadcast(job->world, dist_tensor(x, n, DIST_FLOAT32), 1,
			      NULL);
}

/* Half of the ranks are of an older version. */
static enum dist_error half_against_half(struct job *job)
{
	float x[4] = {0}, all[16];

	if (job->wrong && job->rank >= 2)
		/* culprit */
		return dist_all_gather_single(job->world, floats(all),
					      floats(x), NULL);
	/* culprit */
	return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
}

/* The seventh of ten equal rounds. */
static enum dist_error other_count_in_round_7(struct job *job)
{
	uint8_t x[64] = {0};

	for (int round = 1; round <= 10; round++) {
		size_t n = round == 7 && at_fault(job, 0) ? 63 : 64;

		/* culprit */
		try(dist_all_reduce(job->world, dist_tensor(x, n, DIST_UINT8),
				    DIST_BXOR, NULL));
	}
	return DIST_OK;
}

/* A rank without samples passes an empty tensor. */
static enum dist_error nothing_to_add(struct job *job)
{
	float x[5] = {0};

	/* culprit */
	return dist_all_reduce(
		job->world,
		dist_tensor(x, at_fault(job, 5) ? 0 : 5, DIST_FLOAT32),
		DIST_SUM, NULL);
}

static enum dist_error devices_differ(struct job *job)
{
	float a[2] = {0}, b[2] = {0};
	const struct dist_tensor devices[2] = {floats(a), floats(b)};

	/* culprit */
	return dist_all_reduce_multigpu(
		job->world, devices, at_fault(job, 1) ? 1 : 2, DIST_SUM, NULL);
}

/* Not wrong: every rank as it likes, where the rules leave it free. */
static enum dist_error each_as_it_likes(struct job *job)
{
	float x[4] = {0}, out[12], in[12] = {0};
	struct dist_work *work;
	size_t r = (size_t)job->rank, to[3] = {r, r, r}, from[3] = {0, 1, 2};

	if (job->rank == 1) {
		try(dist_all_reduce(job->world, floats(x), DIST_MAX, &work));
		try(dist_work_wait(work, DIST_TIMEOUT_NEVER));
		dist_work_free(work);
	} else {
		try(dist_all_reduce(job->world, floats(x), DIST_MAX, NULL));
	}
	try(dist_all_to_all_single(
		job->world, dist_tensor(out, 3, DIST_FLOAT32),
		dist_tensor(in, 3 * r, DIST_FLOAT32), from, to, NULL));
	return dist_broadcast(job->world, dist_tensor(NULL, 0, DIST_INT8), 2,
			      NULL);
}

/* Not wrong: factors of a scaled sum, and numbers of ops, are each rank's own.
 */
static enum dist_error own_factors(struct job *job)
{
	enum dist_reduce_op unused, op;
	float x[4] = {1};

	if (job->rank == 2)
		try(dist_make_premul_sum(job->world, 3, &unused));
	try(dist_make_premul_sum(job->world, job->rank + 1, &op));
	return dist_all_reduce(job->world, floats(x), op, NULL);
}

const struct program collective_programs[] = {
	PROGRAM(reduce_for_all_reduce, 4, "mismatch", "3", BOTH),
	PROGRAM(min_for_max, 3, "mismatch", "1", BOTH),
	PROGRAM(shard_not_padded, 4, "mismatch", "3", BOTH),
	PROGRAM(half_precision_on_one, 2, "mismatch", "0 1", BOTH),
	PROGRAM(root_is_own_rank, 4, "mismatch", "0 1 2 3", BOTH),
	PROGRAM(gather_to_the_last, 5, "mismatch", "4", BOTH),
	PROGRAM(scatter_from_another, 3, "mismatch", "2", BOTH),
	PROGRAM(expert_splits, 3, "mismatch", "1 2", BOTH),
	PROGRAM(list_of_lengths, 4, "mismatch", "2", BOTH),
	PROGRAM(scatter_of_less, 4, "mismatch", "0", BOTH),
	PROGRAM(one_tensor_more, 4, "mismatch", "2", BOTH),
	PROGRAM(tensors_in_other_order, 3, "mismatch", "1", BOTH),
	PROGRAM(monitored_on_one, 3, "mismatch", "1", BOTH),
	PROGRAM(scaled_and_plain, 4, "mismatch", "2", BOTH),
	PROGRAM(two_of_eight_swap, 8, "mismatch", "5 6", BOTH),
	PROGRAM(two_faults, 4, "mismatch", "1", BOTH),
	PROGRAM(three_opinions, 5, "mismatch", "3 4", BOTH),
	PROGRAM(half_against_half, 4, "mismatch", "0 1 2 3", BOTH),
	PROGRAM(other_count_in_round_7, 3, "mismatch", "0", BOTH),
	PROGRAM(nothing_to_add, 6, "mismatch", "5", BOTH),
	PROGRAM(devices_differ, 3, "mismatch", "1", BOTH),
	PROGRAM(each_as_it_likes, 3, "fine", "", BOTH),
	PROGRAM(own_factors, 3, "fine", "", BOTH),
	{0},
};
