/*
 * Tensors in the device's memory, messages, the device's time: on the doubles
 * with several ranks, and the same programs with one rank on a GPU where there
 * is one.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/device.h"
#include "tests/nccl/job.h"

TestSuite(nccl_device);
TestSuite(nccl_gpu);

#define PART 1000 /* elements that a rank has for each */

/* A rank at work on tensors of the device. */
struct bench {
	struct dist_group *group;
	struct job_note *note;
	int rank, size;
	int32_t *host; /* size parts */
};

static void check(struct bench *b, const char *what, bool good)
{
	if (!good && b->note->wrong++ == 0)
		snprintf(b->note->message, sizeof b->note->message,
			 "rank %d: %s: %s", b->rank, what,
			 dist_error_message(b->group));
}

/* What rank src has for rank dst. */
static int32_t value(int src, int dst, size_t i)
{
	return (int32_t)(1000000 * src + 10000 * dst + (int)i);
}

/* A tensor of parts for so many ranks, on the device or (odd) on the host. */
static struct dist_tensor new_tensor(struct bench *b, int parts, bool host)
{
	size_t numel = (size_t)parts * PART;
	void *data = NULL;

	if (host)
		data = calloc(numel, sizeof(int32_t));
	else
		check(b, "alloc",
		      !dist_device_alloc(b->group, numel * sizeof(int32_t),
					 &data));
	return dist_tensor(data, numel, DIST_INT32);
}

static void drop(struct bench *b, struct dist_tensor t, bool host)
{
	if (host)
		free(t.data);
	else
		dist_device_free(b->group, t.data);
}

/* Fills t with what src has for dst, dst + 1, ... */
static void fill(struct bench *b, struct dist_tensor t, int src, int dst)
{
	for (size_t i = 0; i < t.numel; i++)
		b->host[i] = value(src, dst + (int)(i / PART), i % PART);
	check(b, "copy to",
	      !dist_device_copy(b->group, t.data, b->host,
				t.numel * sizeof(int32_t)));
}

/* Expects in part of t what src has for dst; src < 0: what all have, summed. */
static void expect(struct bench *b, const char *what, struct dist_tensor t,
		   int part, int src, int dst)
{
	bool same = true;

	check(b, "copy from",
	      !dist_device_copy(b->group, b->host,
				(char *)t.data +
					(size_t)part * PART * sizeof(int32_t),
				PART * sizeof(int32_t)));
	for (size_t i = 0; i < PART; i++) {
		int32_t wanted = src < 0 ? 0 : value(src, dst, i);

		for (int from = 0; src < 0 && from < b->size; from++)
			wanted += value(from, dst, i);
		same &= b->host[i] == wanted;
	}
	check(b, what, same);
}

static void reductions(struct bench *b, bool host)
{
	struct dist_tensor t = new_tensor(b, 1, host);

	fill(b, t, b->rank, 0);
	check(b, "all_reduce", !dist_all_reduce(b->group, t, DIST_SUM, NULL));
	expect(b, "all_reduce", t, 0, -1, 0);
	fill(b, t, b->rank, 0);
	check(b, "reduce",
	      !dist_reduce(b->group, t, b->size - 1, DIST_SUM, NULL));
	if (b->rank == b->size - 1)
		expect(b, "reduce", t, 0, -1, 0);
	fill(b, t, b->rank, 0);
	check(b, "broadcast", !dist_broadcast(b->group, t, 0, NULL));
	expect(b, "broadcast", t, 0, 0, 0);
	drop(b, t, host);
}

/* Of two tensors of one call one may be here and the other there. */
static void parts(struct bench *b, bool host, bool other)
{
	struct dist_tensor one = new_tensor(b, 1, host);
	struct dist_tensor in = new_tensor(b, b->size, other);
	struct dist_tensor out = new_tensor(b, b->size, host);

	fill(b, one, b->rank, 0);
	check(b, "all_gather",
	      !dist_all_gather_single(b->group, out, one, NULL));
	for (int rank = 0; rank < b->size; rank++)
		expect(b, "all_gather", out, rank, rank, 0);
	fill(b, in, b->rank, 0);
	check(b, "reduce_scatter",
	      !dist_reduce_scatter_single(b->group, one, in, DIST_SUM, NULL));
	expect(b, "reduce_scatter", one, 0, -1, b->rank);
	check(b, "all_to_all",
	      !dist_all_to_all_single(b->group, out, in, NULL, NULL, NULL));
	for (int rank = 0; rank < b->size; rank++)
		expect(b, "all_to_all", out, rank, rank, b->rank);
	drop(b, one, host);
	drop(b, in, other);
	drop(b, out, host);
}

/* Part r of whole, for all r. */
static void cut(struct dist_tensor *list, int size, struct dist_tensor whole)
{
	for (int rank = 0; rank < size; rank++)
		list[rank] = dist_tensor((char *)whole.data +
						 (size_t)rank * PART *
							 sizeof(int32_t),
					 PART, DIST_INT32);
}

static void lists(struct bench *b, bool host)
{
	struct dist_tensor in = new_tensor(b, b->size, host);
	struct dist_tensor out = new_tensor(b, b->size, host);
	struct dist_tensor from[JOB_MOST_RANKS] = {{0}};
	struct dist_tensor to[JOB_MOST_RANKS] = {{0}};
	bool root = b->rank == 0;

	cut(from, b->size, in);
	cut(to, b->size, out);
	fill(b, in, b->rank, 0);
	check(b, "all_to_all", !dist_all_to_all(b->group, to, from, NULL));
	for (int rank = 0; rank < b->size; rank++)
		expect(b, "all_to_all", out, rank, rank, b->rank);
	check(b, "all_gather", !dist_all_gather(b->group, to, from[0], NULL));
	for (int rank = 0; rank < b->size; rank++)
		expect(b, "all_gather", out, rank, rank, 0);
	check(b, "gather",
	      !dist_gather(b->group, from[1 % b->size], root ? to : NULL, 0,
			   NULL));
	for (int rank = 0; root && rank < b->size; rank++)
		expect(b, "gather", out, rank, rank, 1 % b->size);
	/* In place: the root's own part stays where it is. */
	check(b, "scatter",
	      !dist_scatter(b->group, root ? from[0] : to[0],
			    root ? from : NULL, 0, NULL));
	expect(b, "scatter", root ? in : out, 0, 0, b->rank);
	fill(b, in, b->rank, 0);
	check(b, "reduce_scatter",
	      !dist_reduce_scatter(b->group, to[0], from, DIST_SUM, NULL));
	expect(b, "reduce_scatter", out, 0, -1, b->rank);
	drop(b, in, host);
	drop(b, out, host);
}

static bool bench_open(struct bench *b, struct dist_group *group,
		       struct job_note *note)
{
	*b = (struct bench){.group = group,
			    .note = note,
			    .rank = dist_get_rank(group),
			    .size = dist_get_world_size(group)};
	b->host = calloc((size_t)b->size * PART, sizeof(int32_t));
	return b->host != NULL;
}

static int all_calls(struct dist_group *group, struct job_note *note)
{
	struct bench b;

	if (!bench_open(&b, group, note))
		return 1;
	for (int host = 0; host < 2; host++) {
		reductions(&b, host);
		parts(&b, host, host);
		parts(&b, host, !host);
		lists(&b, host);
		check(&b, "barrier", !dist_barrier(group, NULL));
	}
	free(b.host);
	return 0;
}

/* ---- messages ---------------------------------------------------------- */

#define MESSAGES 20

/* Every rank has messages for every other under way at once, both ways, and
 * receives them in another order than they were sent in; a collective in the
 * middle does not wait for them, nor they for it. */
static int all_messages(struct dist_group *group, struct job_note *note)
{
	static int32_t in[JOB_MOST_RANKS][MESSAGES];
	static int32_t out[JOB_MOST_RANKS][MESSAGES];
	struct dist_work *works[2 * JOB_MOST_RANKS * MESSAGES], *middle;
	int num_works = 0, me = dist_get_rank(group);
	int size = dist_get_world_size(group);
	int32_t sum = 1;

	for (int i = 0; i < MESSAGES; i++) {
		for (int peer = 0; peer < size; peer++) {
			int tag = (7 * i + me) % MESSAGES;

			if (peer == me)
				continue;
			out[peer][i] = value(me, peer, (size_t)i);
			note->wrong +=
				dist_irecv(group,
					   dist_tensor(&in[peer][tag], 1,
						       DIST_INT32),
					   peer, tag, &works[num_works++]) != 0;
			note->wrong +=
				dist_isend(group,
					   dist_tensor(&out[peer][i], 1,
						       DIST_INT32),
					   peer, i, &works[num_works++]) != 0;
		}
		if (i == MESSAGES / 2)
			note->wrong +=
				dist_all_reduce(
					group, dist_tensor(&sum, 1, DIST_INT32),
					DIST_SUM, &middle) != 0;
	}
	note->wrong += dist_work_wait(middle, DIST_TIMEOUT_OF_GROUP) != 0;
	dist_work_free(middle);
	for (int i = num_works - 1; i >= 0; i--) {
		note->wrong +=
			dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP) != 0;
		dist_work_free(works[i]);
	}
	for (int peer = 0; peer < size; peer++)
		for (int i = 0; peer != me && i < MESSAGES; i++)
			note->wrong +=
				in[peer][i] != value(peer, me, (size_t)i);
	note->wrong += sum != size;
	return 0;
}

#define MANY 300

/* Messages of one tag under way at once keep their order. */
static int one_tag(struct dist_group *group, struct job_note *note)
{
	static int32_t data[MANY];
	struct dist_work *works[MANY];
	int sends = dist_get_rank(group) == 0;

	for (int i = 0; i < MANY; i++) {
		struct dist_tensor t = dist_tensor(&data[i], 1, DIST_INT32);

		data[i] = sends ? i : -1;
		note->wrong +=
			(sends ? dist_isend(group, t, 1, 1, &works[i])
			       : dist_irecv(group, t, 0, 1, &works[i])) != 0;
	}
	for (int i = 0; i < MANY; i++) {
		note->wrong +=
			dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP) != 0 ||
			data[i] != i;
		dist_work_free(works[i]);
	}
	return 0;
}

/* All others send to rank 0, which takes what comes; then a batch around the
 * ring. */
static int any_source(struct dist_group *group, struct job_note *note)
{
	int me = dist_get_rank(group), size = dist_get_world_size(group);
	int32_t mine = 100 + me, got = 0, sum = 0, from = 0;
	struct dist_p2p_op ops[2] = {
		{DIST_IRECV, dist_tensor(&got, 1, DIST_INT32),
		 (me + size - 1) % size, 1},
		{DIST_ISEND, dist_tensor(&mine, 1, DIST_INT32), (me + 1) % size,
		 1}};
	struct dist_work *works[2];
	int src;

	if (me > 0)
		note->wrong +=
			dist_send(group, dist_tensor(&mine, 1, DIST_INT32), 0,
				  7) != 0;
	for (int i = 1; me == 0 && i < size; i++) {
		note->wrong +=
			dist_recv_any(group, dist_tensor(&got, 1, DIST_INT32),
				      7, &src) != 0;
		note->wrong += got != 100 + src;
		sum += got;
		from += src;
	}
	if (me == 0)
		note->wrong += from != size * (size - 1) / 2 ||
			       sum != 100 * (size - 1) + from;
	if (dist_batch_isend_irecv(group, ops, 2, works))
		return 1;
	for (int i = 0; i < 2; i++) {
		note->wrong +=
			dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP) != 0;
		dist_work_free(works[i]);
	}
	note->wrong += got != 100 + (me + size - 1) % size;
	return 0;
}

/* ---- time -------------------------------------------------------------- */

/* The device is busy for as long as it was asked to be. */
static int busy(struct dist_group *group, struct job_note *note)
{
	int64_t asked_ns = SECOND / 20, began_ns = dist_now_ns(group);

	note->wrong += dist_compute(group, asked_ns, NULL) != 0;
	note->took_ns = dist_now_ns(group) - began_ns;
	note->wrong += note->took_ns < asked_ns;
	return 0;
}

/* Rank 0 calls nothing that looks after its operation until rank 1 has it. */
static int elsewhere(struct dist_group *group, struct job_note *note)
{
	struct dist_work *work;
	int32_t one = 1;

	if (dist_get_rank(group) == 1) {
		note->wrong +=
			dist_all_reduce(group, dist_tensor(&one, 1, DIST_INT32),
					DIST_SUM, NULL) != 0;
		atomic_store(&note->done, true);
		return one != 2;
	}
	if (dist_all_reduce(group, dist_tensor(&one, 1, DIST_INT32), DIST_SUM,
			    &work))
		return 1;
	while (!atomic_load(&note[1].done))
		note->wrong += dist_compute(group, SECOND / 1000, NULL) != 0;
	note->wrong += dist_work_wait(work, DIST_TIMEOUT_OF_GROUP) != 0;
	dist_work_free(work);
	return one != 2;
}

/* ---- life -------------------------------------------------------------- */

/* Handles given up, operations that the end of the group waits for. */
static int given_up(struct dist_group *group, struct job_note *note)
{
	static int32_t data[10][100];
	struct dist_work *work;

	for (int i = 0; i < 10; i++) {
		note->wrong +=
			dist_all_reduce(group,
					dist_tensor(data[i], 100, DIST_INT32),
					DIST_MAX, &work) != 0;
		dist_work_free(work);
	}
	return 0;
}

static int abort_it(struct dist_group *group, struct job_note *note)
{
	int32_t data = 1;

	note->wrong += dist_barrier(group, NULL) != 0;
	dist_abort(group);
	note->wrong += dist_all_reduce(group, dist_tensor(&data, 1, DIST_INT32),
				       DIST_SUM, NULL) != DIST_ERR_ABORTED;
	return 0;
}

static void run_right(struct job job)
{
	struct job_outcome outcome = job_run(&job);

	for (int rank = 0; rank < job.world_size; rank++)
		cr_expect_eq(outcome.notes[rank].wrong, 0, "%s",
			     outcome.notes[rank].message);
	cr_expect_eq(outcome.status, DIST_EXIT_OK, "%s", outcome.text);
}

Test(nccl_device, tensors_of_the_device)
{
	run_right((struct job){.world_size = 3, .program = all_calls});
}

/* More ranks than GPUs, which a new NCCL is told to allow. */
Test(nccl_device, several_ranks_on_one_device)
{
	struct job job = {.world_size = 4,
			  .devices = 1,
			  .version = "23000",
			  .program = all_calls};
	struct job_outcome outcome = job_run(&job);

	for (int rank = 0; rank < job.world_size; rank++)
		cr_expect_eq(outcome.notes[rank].wrong, 0, "%s",
			     outcome.notes[rank].message);
	cr_expect_eq(outcome.status, DIST_EXIT_OK, "%s", outcome.text);
	/* Sanitizers may have words, too. */
	cr_expect(strstr(outcome.text,
			 "lockstep: 4 ranks on 1 GPU: "
			 "NCCL_MULTI_RANK_GPU_ENABLE=1 is set, so that NCCL "
			 "allows it\n"),
		  "%s", outcome.text);
}

/* There are GPUs enough, and nothing to say. */
Test(nccl_device, a_device_each_in_a_new_version)
{
	struct job_outcome outcome = job_run(&(struct job){
		.world_size = 2, .version = "23000", .program = all_messages});

	cr_expect_eq(outcome.status, DIST_EXIT_OK);
	cr_expect(!strstr(outcome.text, "lockstep:"), "%s", outcome.text);
}

Test(nccl_device, messages_in_any_order)
{
	run_right((struct job){.world_size = 4, .program = all_messages});
}

Test(nccl_device, messages_of_one_tag_in_order)
{
	run_right((struct job){.world_size = 2, .program = one_tag});
}

Test(nccl_device, messages_from_any_source_and_in_a_batch)
{
	run_right((struct job){.world_size = 4, .program = any_source});
}

Test(nccl_device, compute_keeps_it_busy)
{
	run_right((struct job){.world_size = 1, .program = busy});
}

Test(nccl_device, operations_go_on_while_the_rank_is_elsewhere)
{
	run_right((struct job){.world_size = 2, .program = elsewhere});
}

Test(nccl_device, the_group_ends_after_its_operations)
{
	run_right((struct job){.world_size = 2, .program = given_up});
}

Test(nccl_device, a_group_is_aborted)
{
	run_right((struct job){.world_size = 1, .program = abort_it});
}

/* ---- on a GPU ---------------------------------------------------------- */

static void run_on_gpu(int (*program)(struct dist_group *group,
				      struct job_note *note))
{
	job_use_gpu(false);
	run_right((struct job){
		.world_size = 1, .real = true, .program = program});
}

Test(nccl_gpu, tensors_of_the_device)
{
	run_on_gpu(all_calls);
}

Test(nccl_gpu, compute_keeps_it_busy)
{
	run_on_gpu(busy);
}

Test(nccl_gpu, the_group_ends_after_its_operations)
{
	run_on_gpu(given_up);
}

Test(nccl_gpu, a_group_is_aborted)
{
	run_on_gpu(abort_it);
}

/* Four ranks on it, where NCCL allows that. */
static void share_gpu(int (*program)(struct dist_group *group,
				     struct job_note *note))
{
	struct job job = {.world_size = 4, .real = true, .program = program};
	struct job_outcome outcome;

	job_use_gpu(true);
	outcome = job_run(&job);
	for (int rank = 0; rank < job.world_size; rank++)
		cr_expect_eq(outcome.notes[rank].wrong, 0, "%s",
			     outcome.notes[rank].message);
	cr_expect_eq(outcome.status, DIST_EXIT_OK, "%s", outcome.text);
}

Test(nccl_gpu, tensors_of_the_device_of_several_ranks)
{
	share_gpu(all_calls);
}

Test(nccl_gpu, messages_in_any_order)
{
	share_gpu(all_messages);
}
