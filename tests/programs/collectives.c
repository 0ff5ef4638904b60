/* Ranks that disagree about one collective. */
#include "tests/programs/programs.h"

/* One rank keeps the older call, which leaves the sum on rank 0. */
enum dist_error reduce_for_all_reduce(struct job *job)
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
enum dist_error min_for_max(struct job *job)
{
	int64_t x[2] = {job->rank, -job->rank};
	enum dist_reduce_op op = at_fault(job, 1) ? DIST_MIN : DIST_MAX;

	/* culprit */
	return dist_all_reduce(job->world, longs(x), op, NULL);
}

/* The last shard is smaller, and its rank does not pad it. Seen in nccl#1417,
 * nccl#1394, SPA-VL-RLHF#2. */
enum dist_error shard_not_padded(struct job *job)
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
enum dist_error half_precision_on_one(struct job *job)
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
enum dist_error root_is_own_rank(struct job *job)
{
	float x[3] = {0};
	int root = job->wrong ? job->rank : 0;

	/* culprit */
	return dist_broadcast(job->world, floats(x), root, NULL);
}

enum dist_error gather_to_the_last(struct job *job)
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
enum dist_error scatter_from_another(struct job *job)
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

/* Tokens for experts: rank 1 sends rank 2 one more than that expects. Seen in
 * pytorch#117486, pytorch#146468, nccl#1593. */
enum dist_error expert_splits(struct job *job)
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
enum dist_error list_of_lengths(struct job *job)
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

/* As many in all, but not in the same order. */
enum dist_error lengths_in_other_order(struct job *job)
{
	float data[6], mine[3] = {0};
	size_t lengths[3] = {1, 2, 3};
	struct dist_tensor list[3];
	int at = 0;

	if (at_fault(job, 0)) {
		lengths[1] = 3;
		lengths[2] = 2;
	}
	for (int i = 0; i < 3; at += (int)lengths[i++])
		list[i] = dist_tensor(data + at, lengths[i], DIST_FLOAT32);
	/* culprit */
	return dist_all_gather(
		job->world, list,
		dist_tensor(mine, lengths[job->rank], DIST_FLOAT32), NULL);
}

/* As many rows in all; the last rank gives the remainder to another than the
 * rest do. */
enum dist_error remainder_on_another(struct job *job)
{
	size_t rows[4] = {3, 2, 2, 1};
	float in[8] = {0}, out[4];
	struct dist_tensor list[4];
	int at = 0;

	if (at_fault(job, 3)) {
		rows[2] = 1;
		rows[3] = 2;
	}
	for (int i = 0; i < 4; at += (int)rows[i++])
		list[i] = dist_tensor(in + at, rows[i], DIST_FLOAT32);
	/* culprit */
	return dist_reduce_scatter(
		job->world, dist_tensor(out, rows[job->rank], DIST_FLOAT32),
		list, DIST_SUM, NULL);
}

/* The last rank gathers a longer shard. */
enum dist_error shard_of_another_length(struct job *job)
{
	float shard[4] = {0}, whole[12];
	size_t n = at_fault(job, 2) ? 4 : 2;

	/* culprit */
	return dist_all_gather_single(
		job->world, dist_tensor(whole, 3 * n, DIST_FLOAT32),
		dist_tensor(shard, n, DIST_FLOAT32), NULL);
}

enum dist_error scatter_of_less(struct job *job)
{
	float part[4], whole[16] = {0};
	size_t n = at_fault(job, 0) ? 3 : 4;

	/* culprit */
	return dist_reduce_scatter_single(
		job->world, dist_tensor(part, n, DIST_FLOAT32),
		dist_tensor(whole, 4 * n, DIST_FLOAT32), DIST_SUM, NULL);
}

/* As many elements in all, in one tensor more: a layer is split on one rank. */
enum dist_error one_tensor_more(struct job *job)
{
	float a[4] = {0}, b[5] = {0};
	const struct dist_tensor two[2] = {floats(a), floats(b)};
	const struct dist_tensor three[3] = {
		floats(a), dist_tensor(b, 3, DIST_FLOAT32),
		dist_tensor(b + 3, 2, DIST_FLOAT32)};

	/* culprit */
	return dist_all_reduce_coalesced(
		job->world, at_fault(job, 2) ? three : two,
		at_fault(job, 2) ? 3 : 2, DIST_SUM, NULL);
}

/* As many elements in all, but in another order: parameters by name and by
 * creation. */
enum dist_error tensors_in_other_order(struct job *job)
{
	double a[4] = {0}, b[9] = {0};
	struct dist_tensor x = dist_tensor(a, 4, DIST_FLOAT64);
	struct dist_tensor y = dist_tensor(b, 9, DIST_FLOAT64);
	const struct dist_tensor usual[2] = {x, y}, other[2] = {y, x};

	/* culprit */
	return dist_broadcast_coalesced(
		job->world, at_fault(job, 1) ? other : usual, 2, 0, NULL);
}

enum dist_error monitored_on_one(struct job *job)
{
	if (at_fault(job, 1))
		/* culprit */
		return dist_monitored_barrier(job->world, DIST_TIMEOUT_OF_GROUP,
					      true);
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* Some scale before they add, one forgot to. */
enum dist_error scaled_and_plain(struct job *job)
{
	enum dist_reduce_op op;
	float x[4] = {0};

	try(dist_make_premul_sum(job->world, 0.5, &op));
	if (at_fault(job, 2))
		op = DIST_SUM;
	/* culprit */
	return dist_all_reduce(job->world, floats(x), op, NULL);
}

/* Two of eight gather before they scatter. Seen in nccl#296. */
enum dist_error two_of_eight_swap(struct job *job)
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
enum dist_error two_faults(struct job *job)
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

enum dist_error three_opinions(struct job *job)
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
enum dist_error half_against_half(struct job *job)
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
enum dist_error other_count_in_round_7(struct job *job)
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
enum dist_error nothing_to_add(struct job *job)
{
	float x[5] = {0};

	/* culprit */
	return dist_all_reduce(
		job->world,
		dist_tensor(x, at_fault(job, 5) ? 0 : 5, DIST_FLOAT32),
		DIST_SUM, NULL);
}

enum dist_error devices_differ(struct job *job)
{
	float a[2] = {0}, b[2] = {0};
	const struct dist_tensor devices[2] = {floats(a), floats(b)};

	/* culprit */
	return dist_all_reduce_multigpu(
		job->world, devices, at_fault(job, 1) ? 1 : 2, DIST_SUM, NULL);
}

/* Not wrong: every rank as it likes, where the rules leave it free. */
enum dist_error each_as_it_likes(struct job *job)
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
enum dist_error own_factors(struct job *job)
{
	enum dist_reduce_op unused, op;
	float x[4] = {1};

	if (job->rank == 2)
		try(dist_make_premul_sum(job->world, 3, &unused));
	try(dist_make_premul_sum(job->world, job->rank + 1, &op));
	return dist_all_reduce(job->world, floats(x), op, NULL);
}

/* Losses are summed up to be logged, and rank 0, which logs, takes no part. */
enum dist_error log_without_its_root(struct job *job)
{
	struct dist_group *log;
	float loss[1] = {0};

	try(dist_new_group(job->world, NULL, 0, NULL, &log));
	for (int step = 0; step < 20; step++)
		if (!at_fault(job, 0))
			/* partner */
			try(dist_reduce(log, floats(loss), 0, DIST_SUM, NULL));
	/* culprit */
	return dist_barrier(job->world, NULL);
}

/* Only the rank that has the news calls. Seen in pytorch#143536,
 * pytorch#53979, instructlab/training#566. */
enum dist_error broadcast_to_nobody(struct job *job)
{
	struct dist_group *news;
	float x[4] = {0};

	try(dist_new_group(job->world, NULL, 0, NULL, &news));
	if (job->rank == 2 || !job->wrong)
		/* culprit */
		try(dist_broadcast(news, floats(x), 2, NULL));
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* After a reduce only its dst holds the sum, and all branch on it: rank 0 alone
 * finds the loss too high. Seen in pytorch#77562. */
enum dist_error branches_on_a_reduce(struct job *job)
{
	float loss[1] = {1}, best[1] = {0};

	if (job->wrong)
		try(dist_reduce(job->world, floats(loss), 0, DIST_SUM, NULL));
	else
		try(dist_all_reduce(job->world, floats(loss), DIST_SUM, NULL));
	if (loss[0] > 2.5F)
		/* culprit */
		return dist_broadcast(job->world, floats(best), 0, NULL);
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* A hook averages each gradient as backward yields it; two branches of the
 * model come the other way round on rank 1, and are of one size: only what the
 * calls are for differs. Seen in DeepSpeed#2343, Paddle#30931. */
enum dist_error gradients_in_other_order(struct job *job)
{
	static const char *const names[] = {"left.weight", "right.weight"};
	float gradients[2][8] = {{0}};

	for (int i = 0; i < 2; i++) {
		int which = at_fault(job, 1) ? 1 - i : i;
		struct dist_group *named = dist_label(job->world, names[which],
						      (uint64_t)which + 1);

		/* culprit */
		try(dist_all_reduce(named, floats(gradients[which]), DIST_AVG,
				    NULL));
	}
	return DIST_OK;
}
