/* Larger patterns: pipelines, halos, trees, grids, servers, trainers. */
#include "tests/programs/programs.h"

#include <string.h>

/* ---- pipelines -------------------------------------------------------- */

/* GPipe: all micro-batches forward, then all backward, in the same order on
 * every stage; stage 2 goes back in the other. */
enum dist_error backward_in_other_order(struct job *job)
{
	int last = job->size - 1;
	float x[4] = {0};

	for (int m = 0; m < 3; m++) {
		if (job->rank > 0)
			try(dist_recv(job->world, floats(x), job->rank - 1, m));
		if (job->rank < last)
			try(dist_send(job->world, floats(x), job->rank + 1, m));
	}
	for (int i = 0; i < 3; i++) {
		int m = at_fault(job, 2) ? 2 - i : i;

		if (job->rank < last)
			/* culprit */
			try(dist_recv(job->world, floats(x), job->rank + 1,
				      10 + m));
		if (job->rank > 0)
			/* culprit */
			try(dist_send(job->world, floats(x), job->rank - 1,
				      10 + m));
	}
	return DIST_OK;
}

/* The last stage does not know of the fourth micro-batch. */
enum dist_error one_micro_batch_less(struct job *job)
{
	int last = job->size - 1, batches = at_fault(job, last) ? 3 : 4;
	float x[4] = {0};

	for (int m = 0; m < batches; m++) {
		if (job->rank > 0)
			try(dist_recv(job->world, floats(x), job->rank - 1, 0));
		if (job->rank < last)
			/* culprit */
			try(dist_send(job->world, floats(x), job->rank + 1, 0));
	}
	return dist_barrier(job->world, NULL);
}

/* Stages are of different widths; one announces the width of another. */
enum dist_error width_of_another_stage(struct job *job)
{
	static const size_t widths[] = {3, 5, 7, 2};
	float x[8] = {0};
	int stage = job->rank;

	if (stage > 0)
		/* culprit */
		try(dist_recv(
			job->world,
			dist_tensor(x, widths[at_fault(job, 2) ? 2 : stage - 1],
				    DIST_FLOAT32),
			stage - 1, 0));
	if (stage + 1 < job->size)
		/* culprit */
		try(dist_send(job->world,
			      dist_tensor(x, widths[stage], DIST_FLOAT32),
			      stage + 1, 0));
	return DIST_OK;
}

/* ---- halos ------------------------------------------------------------ */

/* A ring of batches: each sends right and left and receives from both. Rank 1
 * gives both messages to its right neighbour. */
enum dist_error both_to_the_right(struct job *job)
{
	int right = right_of(job), left = left_of(job);
	float out[2] = {0}, in[2];
	const struct dist_p2p_op ops[4] = {
		{DIST_ISEND, dist_tensor(out, 1, DIST_FLOAT32), right, 0},
		{DIST_ISEND, dist_tensor(out + 1, 1, DIST_FLOAT32),
		 at_fault(job, 1) ? right : left, 1},
		{DIST_IRECV, dist_tensor(in, 1, DIST_FLOAT32), left, 0},
		{DIST_IRECV, dist_tensor(in + 1, 1, DIST_FLOAT32), right, 1},
	};
	struct dist_work *works[4];

	/* culprit */
	try(dist_batch_isend_irecv(job->world, ops, 4, works));
	return end_all(works, 4);
}

/* ---- trees and rings by hand ------------------------------------------ */

/* A binomial tree of sends; rank 6 has the wrong parent. */
enum dist_error wrong_parent(struct job *job)
{
	float x[4] = {0};

	for (int bit = job->size / 2; bit > 0; bit /= 2) {
		if (job->rank % (2 * bit) == 0)
			/* culprit */
			try(dist_send(job->world, floats(x), job->rank + bit,
				      0));
		else if (job->rank % (2 * bit) == bit)
			/* culprit */
			try(dist_recv(job->world, floats(x),
				      at_fault(job, 6) ? 2 : job->rank - bit,
				      0));
	}
	return DIST_OK;
}

/* A ring all-reduce by hand; one rank goes around once less. */
enum dist_error one_step_less_around(struct job *job)
{
	int right = right_of(job), left = left_of(job);
	int steps = at_fault(job, 3) ? job->size - 2 : job->size - 1;
	float out[4] = {0}, in[4];
	struct dist_work *work;

	for (int i = 0; i < steps; i++) {
		try(dist_isend(job->world, floats(out), right, 0, &work));
		/* culprit */
		try(dist_recv(job->world, floats(in), left, 0));
		try(end(work));
		memcpy(out, in, sizeof out);
	}
	return dist_barrier(job->world, NULL);
}

/* ---- servers ---------------------------------------------------------- */

/* Workers ask and wait for an answer; the server answers by the wrong tag. */
enum dist_error answers_by_another_tag(struct job *job)
{
	float question[1] = {0}, answer[3] = {0};
	int from;

	if (job->rank > 0) {
		try(dist_send(job->world, floats(question), 0, 1));
		/* culprit */
		return dist_recv(job->world, floats(answer), 0, 2);
	}
	for (int i = 1; i < job->size; i++) {
		try(dist_recv_any(job->world, floats(question), 1, &from));
		/* culprit */
		try(dist_send(job->world, floats(answer), from,
			      job->wrong ? 3 : 2));
	}
	return DIST_OK;
}

/* The server serves one request more than workers make. */
enum dist_error waits_for_one_more(struct job *job)
{
	float x[1] = {0};
	int from;

	if (job->rank > 0) {
		for (int i = 0; i < 2; i++)
			try(dist_send(job->world, floats(x), 0, 0));
	} else {
		for (int i = 0; i < 2 * (job->size - 1) + job->wrong; i++)
			/* culprit */
			try(dist_recv_any(job->world, floats(x), 0, &from));
	}
	/* partner */
	return dist_barrier(job->world, NULL);
}

/* Parameters come by broadcast, gradients by messages, in the other order on
 * the server. */
enum dist_error server_gathers_first(struct job *job)
{
	float parameters[4] = {0}, gradient[4] = {0};

	if (job->rank == 0) {
		if (!job->wrong)
			try(dist_broadcast(job->world, floats(parameters), 0,
					   NULL));
		for (int worker = 1; worker < job->size; worker++)
			/* culprit */
			try(dist_recv(job->world, floats(gradient), worker, 0));
		return job->wrong ? dist_broadcast(job->world,
						   floats(parameters), 0, NULL)
				  : DIST_OK;
	}
	/* culprit */
	try(dist_broadcast(job->world, floats(parameters), 0, NULL));
	return dist_send(job->world, floats(gradient), 0, 0);
}

/* ---- grids of groups -------------------------------------------------- */

struct grid {
	struct dist_group *tensor, *data;
};

/* Eight ranks as 2 by 4. */
static enum dist_error make_grid(struct job *job, struct grid *grid)
{
	static const int pairs[4][2] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
	struct dist_rank_list lists[4];

	for (int i = 0; i < 4; i++)
		lists[i] = (struct dist_rank_list){pairs[i], 2};
	try(dist_new_subgroups(job->world, 4, NULL, &grid->tensor));
	return dist_new_subgroups_by_enumeration(job->world, lists, 4, NULL,
						 &grid->data);
}

/* One rank skips a layer's collective in its tensor group, and goes on. */
enum dist_error layer_skipped_in_a_grid(struct job *job)
{
	struct grid grid;
	float x[4] = {0};

	try(make_grid(job, &grid));
	for (int layer = 0; layer < 3; layer++)
		if (!(at_fault(job, 5) && layer == 1))
			/* partner */
			try(dist_all_reduce(grid.tensor, floats(x), DIST_SUM,
					    NULL));
	/* partner */
	return dist_all_reduce(grid.data, floats(x), DIST_AVG, NULL);
}

/* Averages over the tensor group what belongs to the data group. */
enum dist_error averages_in_the_wrong_group(struct job *job)
{
	struct grid grid;
	float x[4] = {0};

	try(make_grid(job, &grid));
	try(dist_all_reduce(grid.tensor, floats(x), DIST_SUM, NULL));
	/* culprit */
	try(dist_all_reduce(at_fault(job, 2) ? grid.tensor : grid.data,
			    floats(x), DIST_AVG, NULL));
	return DIST_OK;
}

/* Gradients are clipped by a norm that one data-parallel pair forgets. */
enum dist_error norm_forgotten_by_two(struct job *job)
{
	struct grid grid;
	float x[4] = {0}, norm[1] = {0};
	bool forgets = job->wrong && job->rank % 4 == 3;

	try(make_grid(job, &grid));
	try(dist_all_reduce(grid.data, floats(x), DIST_AVG, NULL));
	if (!forgets)
		/* partner */
		try(dist_all_reduce(job->world, floats(norm), DIST_MAX, NULL));
	/* culprit */
	return dist_barrier(job->world, NULL);
}

/* ---- trainers --------------------------------------------------------- */

/* Sharded parameters: gathered for use, gradients scattered; rank 1 frees a
 * layer too early and gathers it once more. Seen in DeepSpeed#7998,
 * DeepSpeed#1888, pytorch#163546, fairseq#689. */
enum dist_error gathers_a_layer_twice(struct job *job)
{
	float shard[2] = {0}, whole[6] = {0};
	struct dist_tensor s = floats(shard), w = floats(whole);

	for (int layer = 0; layer < 3; layer++) {
		try(dist_all_gather_single(job->world, w, s, NULL));
		if (at_fault(job, 1) && layer == 2)
			/* culprit */
			try(dist_all_gather_single(job->world, w, s, NULL));
	}
	for (int layer = 0; layer < 3; layer++)
		/* partner */
		try(dist_reduce_scatter_single(job->world, s, w, DIST_SUM,
					       NULL));
	return DIST_OK;
}

/* Generates until all have ended, but one looks only at itself. Seen in
 * DeepSpeed#8262, DeepSpeed#8321. */
enum dist_error ends_by_itself(struct job *job)
{
	int length = 2 + job->rank;

	for (int i = 0; i < 8; i++) {
		int64_t working[1] = {i < length};

		/* partner */
		try(dist_all_reduce(job->world, longs(working), DIST_MAX,
				    NULL));
		if (at_fault(job, 0))
			working[0] = i < length;
		if (!working[0])
			break;
	}
	/* culprit */
	return dist_barrier(job->world, NULL);
}

/* Gradients in buckets, the loss now and then, all without waiting; rank 2
 * issues the loss before the last bucket. */
enum dist_error loss_between_the_buckets(struct job *job)
{
	float buckets[3][8] = {0}, loss[8] = {0};
	struct dist_tensor order[4] = {floats(buckets[0]), floats(buckets[1]),
				       floats(buckets[2]), floats(loss)};
	struct dist_work *works[4];

	for (int i = 0; i < 3; i++)
		if (i == 2 && at_fault(job, 2))
			/* culprit */
			try(dist_reduce(job->world, order[3], 0, DIST_SUM,
					&works[3]));
		else
			/* partner */
			try(dist_all_reduce(job->world, order[i], DIST_AVG,
					    &works[i]));
	if (at_fault(job, 2))
		try(dist_all_reduce(job->world, order[2], DIST_AVG, &works[2]));
	else
		try(dist_reduce(job->world, order[3], 0, DIST_SUM, &works[3]));
	return end_all(works, 4);
}

/* A checkpoint: rank 0 of every group writes, and only those meet. */
enum dist_error writers_meet_in_the_world(struct job *job)
{
	struct dist_group *pair;
	float x[4] = {0};

	try(dist_new_subgroups(job->world, 2, NULL, &pair));
	try(dist_all_reduce(pair, floats(x), DIST_SUM, NULL));
	if (dist_get_rank(pair) == 0 && job->wrong)
		/* culprit */
		try(dist_barrier(job->world, NULL));
	/* culprit */
	return dist_all_reduce(pair, floats(x), DIST_SUM, NULL);
}

/* ---- right ones ------------------------------------------------------- */

/* Not wrong: a pipeline of one forward, one backward. */
enum dist_error one_forward_one_backward(struct job *job)
{
	int last = job->size - 1, warm = last - job->rank, forward = 0;
	float activations[4][4] = {{0}}, gradient[4] = {0};

	for (int i = 0; i < warm + 4; i++) {
		if (forward < 4) {
			if (job->rank > 0)
				try(dist_recv(job->world,
					      floats(activations[forward]),
					      job->rank - 1, forward));
			if (job->rank < last) {
				struct dist_work *work;

				try(dist_isend(job->world,
					       floats(activations[forward]),
					       job->rank + 1, forward, &work));
				dist_work_free(work);
			}
			forward++;
		}
		if (i < warm)
			continue;
		if (job->rank < last)
			try(dist_recv(job->world, floats(gradient),
				      job->rank + 1, 100 + i - warm));
		if (job->rank > 0)
			try(dist_send(job->world, floats(gradient),
				      job->rank - 1, 100 + i - warm));
	}
	return DIST_OK;
}

/* Not wrong: workers take as many tasks as they come to, until told to stop. */
enum dist_error tasks_as_they_come(struct job *job)
{
	int64_t task[1] = {0};
	int from, stopped = 0;

	if (job->rank > 0) {
		for (;;) {
			try(dist_send(job->world, longs(task), 0, 1));
			try(dist_recv(job->world, longs(task), 0, 2));
			if (task[0] < 0)
				return DIST_OK;
			dist_compute(job->world, job->rank * 1000000, NULL);
		}
	}
	for (int next = 0; stopped < job->size - 1; next++) {
		try(dist_recv_any(job->world, longs(task), 1, &from));
		task[0] = next < 6 ? next : -1;
		stopped += task[0] < 0;
		try(dist_send(job->world, longs(task), from, 2));
	}
	return DIST_OK;
}

/* Not wrong: blocking sends by parity, where two neighbours have the same. */
enum dist_error parity_in_an_odd_ring(struct job *job)
{
	int right = right_of(job), left = left_of(job);
	float out[64] = {0}, in[64];

	if (job->rank % 2 == 0)
		try(dist_recv(job->world, floats(in), left, 0));
	try(dist_send(job->world, floats(out), right, 0));
	return job->rank % 2 ? dist_recv(job->world, floats(in), left, 0)
			     : DIST_OK;
}

/* Not wrong: groups that overlap, in an order that all share. */
enum dist_error groups_that_overlap(struct job *job)
{
	const int lists[3][2] = {{0, 1}, {1, 2}, {2, 0}};
	struct dist_group *groups[3];
	float x[4] = {0};

	for (int i = 0; i < 3; i++)
		try(dist_new_group(job->world, lists[i], 2, NULL, &groups[i]));
	for (int i = 0; i < 3; i++)
		if (groups[i])
			try(dist_all_reduce(groups[i], floats(x), DIST_SUM,
					    NULL));
	return DIST_OK;
}
