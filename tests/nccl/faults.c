/* Failures of NCCL, of the device, of ranks: an error on every rank, in words
 * and in time, and the verdict that the same failure gets over TCP. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/nccl/job.h"

TestSuite(nccl_faults);

/* Long before any deadline. */
#define SOON (20 * SECOND)

static struct dist_tensor ones(float *data, size_t numel)
{
	for (size_t i = 0; i < numel; i++)
		data[i] = 1;
	return dist_tensor(data, numel, DIST_FLOAT32);
}

/* All-reduces until one fails, then tries another. */
static int keep_reducing(struct dist_group *group, struct job_note *note)
{
	float data[100];
	int64_t began_ns;

	for (int i = 0; i < 5 && !note->error; i++) {
		began_ns = dist_now_ns(group);
		(void)job_failed(group, note,
				 dist_all_reduce(group, ones(data, 100),
						 DIST_SUM, NULL));
		note->took_ns = dist_now_ns(group) - began_ns;
	}
	note->later = dist_all_reduce(group, ones(data, 100), DIST_SUM, NULL);
	return note->error != DIST_OK;
}

static struct job_outcome fail_in_the_middle(const char *fail,
					     int64_t timeout_ns)
{
	struct job job = {.world_size = 3,
			  .timeout_ns = timeout_ns,
			  .fail = fail,
			  .program = keep_reducing};
	struct job_outcome outcome = job_run(&job);

	for (int rank = 0; rank < 3; rank++) {
		cr_expect_neq(outcome.notes[rank].error, DIST_OK);
		cr_expect_lt(outcome.notes[rank].took_ns, SOON);
		cr_expect_eq(outcome.notes[rank].later, DIST_ERR_ABORTED);
	}
	return outcome;
}

Test(nccl_faults, a_call_returns_an_error)
{
	struct job_outcome outcome = fail_in_the_middle("1:3:return", 0);

	cr_expect_eq(outcome.notes[1].error, DIST_ERR_IO);
	cr_expect(strstr(outcome.notes[1].message,
			 "ncclGroupEnd on device 1 of 3: unhandled system "
			 "error: a failure that was ordered"),
		  "%s", outcome.notes[1].message);
	cr_expect_eq(outcome.notes[0].error, DIST_ERR_PEER_LOST);
	cr_expect_eq(outcome.notes[2].error, DIST_ERR_PEER_LOST);
	cr_expect_neq(outcome.status, DIST_EXIT_OK);
}

Test(nccl_faults, an_error_comes_from_behind)
{
	struct job_outcome outcome = fail_in_the_middle("2:2:async", 0);

	cr_expect_eq(outcome.notes[2].error, DIST_ERR_IO);
	cr_expect(strstr(outcome.notes[2].message, "remote process exited"),
		  "%s", outcome.notes[2].message);
	cr_expect_eq(outcome.notes[0].error, DIST_ERR_PEER_LOST);
	cr_expect_eq(outcome.notes[1].error, DIST_ERR_PEER_LOST);
}

Test(nccl_faults, a_call_hangs)
{
	struct job_outcome outcome = fail_in_the_middle("0:4:hang", SECOND);
	int late = 0;

	for (int rank = 0; rank < 3; rank++)
		late += outcome.notes[rank].error == DIST_ERR_TIMEOUT;
	cr_expect_gt(late, 0);
	cr_expect_eq(outcome.status, DIST_EXIT_TIMEOUT, "%s", outcome.text);
	cr_expect(strstr(outcome.text, "all_reduce"), "%s", outcome.text);
}

Test(nccl_faults, the_communicator_cannot_be_made)
{
	struct job job = {.world_size = 3, .fail = "1:1:init"};
	struct job_outcome outcome = job_run(&job);

	cr_expect_eq(outcome.notes[1].error, DIST_ERR_UNAVAILABLE);
	cr_expect(strstr(outcome.notes[1].message, "unhandled system error"),
		  "%s", outcome.notes[1].message);
	cr_expect_eq(outcome.notes[0].error, DIST_ERR_RENDEZVOUS);
	cr_expect_eq(outcome.notes[2].error, DIST_ERR_RENDEZVOUS);
}

Test(nccl_faults, the_communicator_is_never_ready)
{
	struct job job = {
		.world_size = 2, .fail = "1:1:join", .timeout_ns = SECOND};
	struct job_outcome outcome = job_run(&job);
	bool told = false;

	/* Both give up at about the same time, the other is told. */
	for (int rank = 0; rank < 2; rank++) {
		cr_expect_eq(outcome.notes[rank].error, DIST_ERR_RENDEZVOUS);
		told |= strstr(outcome.notes[rank].message,
			       "no NCCL communicator of 2 ranks: timed out") !=
			NULL;
	}
	cr_expect(told);
}

/* Ranks 0 and 2 of three have one GPU. */
static void expect_sharing_refused(struct job job, const char *advice)
{
	struct job_outcome outcome;
	char text[256];
	bool told = false;

	job.world_size = 3;
	job.devices = 2;
	outcome = job_run(&job);
	snprintf(text, sizeof text, "ranks 0 and 2 have one GPU: %s", advice);
	/* Whoever is told first; the others may learn that they are alone. */
	for (int rank = 0; rank < 3; rank++) {
		cr_expect_eq(outcome.notes[rank].error, DIST_ERR_RENDEZVOUS);
		told |= strcmp(outcome.notes[rank].message, text) == 0;
	}
	cr_expect(told, "%s", outcome.notes[0].message);
	cr_expect_eq(outcome.status, DIST_EXIT_RENDEZVOUS, "%s", outcome.text);
	cr_expect(strstr(outcome.text, text), "%s", outcome.text);
}

Test(nccl_faults, two_ranks_on_one_device)
{
	expect_sharing_refused((struct job){.sharing = "1"},
			       "NCCL 2.28.9 refuses it; from 2.30 on it allows "
			       "it where NCCL_MULTI_RANK_GPU_ENABLE=1 is set");
}

Test(nccl_faults, two_ranks_on_one_device_that_may_not)
{
	expect_sharing_refused((struct job){.version = "23203", .sharing = "0"},
			       "NCCL 2.32.3 allows it where "
			       "NCCL_MULTI_RANK_GPU_ENABLE=1 is set for every "
			       "rank");
}

/* ---- ranks ------------------------------------------------------------- */

static int die_in_the_middle(struct dist_group *group, struct job_note *note)
{
	float data[1] = {1};

	(void)job_failed(group, note,
			 dist_all_reduce(group, ones(data, 1), DIST_SUM, NULL));
	if (dist_get_rank(group) == 1)
		raise(SIGKILL);
	return keep_reducing(group, note);
}

/* The survivors learn it in time, and the launcher gives the verdict. */
static void expect_rank_1_lost(struct job job)
{
	struct job_outcome outcome;

	job.bare = true;
	outcome = job_run(&job);
	for (int rank = 0; rank < job.world_size; rank++) {
		if (rank == 1)
			continue;
		cr_expect_eq(outcome.notes[rank].error, DIST_ERR_PEER_LOST);
		cr_expect_lt(outcome.notes[rank].took_ns, SOON);
	}
	job.bare = false;
	outcome = job_run(&job);
	cr_expect_eq(outcome.status, DIST_EXIT_RANK_LOST, "%s", outcome.text);
}

Test(nccl_faults, a_rank_is_killed)
{
	expect_rank_1_lost(
		(struct job){.world_size = 3, .program = die_in_the_middle});
}

/* Rank 1 dies when its operation is most likely on the devices, where it does
 * not end because rank 0's hangs. */
static int die_underway(struct dist_group *group, struct job_note *note)
{
	struct dist_work *work = NULL;
	float data[1];
	int64_t began_ns;

	if (job_failed(group, note,
		       dist_all_reduce(group, ones(data, 1), DIST_SUM, &work)))
		return 1;
	for (int look = 0; look < 1000 && dist_get_rank(group) == 1; look++)
		(void)dist_work_is_completed(work);
	if (dist_get_rank(group) == 1)
		raise(SIGKILL);
	began_ns = dist_now_ns(group);
	(void)job_failed(group, note,
			 dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	note->took_ns = dist_now_ns(group) - began_ns;
	dist_work_free(work);
	return 1;
}

Test(nccl_faults, a_rank_is_killed_while_the_devices_work)
{
	expect_rank_1_lost((struct job){
		.world_size = 2, .fail = "0:1:hang", .program = die_underway});
}

static int abort_underway(struct dist_group *group, struct job_note *note)
{
	struct dist_work *work = NULL;
	float data[1];

	if (job_failed(group, note,
		       dist_all_reduce(group, ones(data, 1), DIST_SUM, &work)))
		return 1;
	if (dist_get_rank(group) == 0)
		dist_abort(group);
	(void)job_failed(group, note,
			 dist_work_wait(work, DIST_TIMEOUT_OF_GROUP));
	dist_work_free(work);
	return 0;
}

Test(nccl_faults, a_rank_aborts)
{
	struct job job = {
		.world_size = 2, .fail = "0:1:hang", .program = abort_underway};
	struct job_outcome outcome = job_run(&job);

	cr_expect_eq(outcome.notes[0].error, DIST_ERR_ABORTED);
	cr_expect_eq(outcome.notes[1].error, DIST_ERR_PEER_LOST);
}

/* ---- disagreement ------------------------------------------------------ */

static int other_length(struct dist_group *group, struct job_note *note)
{
	size_t numel = dist_get_rank(group) == 1 ? 7 : 8;
	float data[8];

	return job_failed(
		group, note,
		dist_all_reduce(group, ones(data, numel), DIST_SUM, NULL));
}

static int other_call(struct dist_group *group, struct job_note *note)
{
	float data[8];

	if (dist_get_rank(group) == 1)
		return job_failed(
			group, note,
			dist_broadcast(group, ones(data, 8), 0, NULL));
	return job_failed(
		group, note,
		dist_all_reduce(group, ones(data, 8), DIST_SUM, NULL));
}

/* Rank 0 has two elements for rank 1, which expects three. */
static int other_splits(struct dist_group *group, struct job_note *note)
{
	size_t in_splits[2] = {2, 2}, out_splits[2] = {2, 2};
	float in[8], out[8];

	if (dist_get_rank(group) == 1)
		out_splits[0] = 3;
	return job_failed(group, note,
			  dist_all_to_all_single(
				  group,
				  ones(out, out_splits[0] + out_splits[1]),
				  ones(in, 4), out_splits, in_splits, NULL));
}

static int other_message(struct dist_group *group, struct job_note *note)
{
	float data[8];

	if (dist_get_rank(group) == 1)
		return job_failed(group, note,
				  dist_send(group, ones(data, 7), 0, 3));
	return job_failed(group, note, dist_recv(group, ones(data, 8), 1, 3));
}

static struct job_outcome
expect_mismatch(int world_size, const char *fail,
		int (*program)(struct dist_group *group, struct job_note *note))
{
	struct job job = {
		.world_size = world_size, .fail = fail, .program = program};
	struct job_outcome outcome = job_run(&job);
	bool told = false;

	for (int rank = 0; rank < world_size; rank++) {
		enum dist_error error = outcome.notes[rank].error;

		told |= error == DIST_ERR_MISMATCH;
		cr_expect(error == DIST_ERR_MISMATCH ||
				  error == DIST_ERR_PEER_LOST,
			  "rank %d: %s", rank, dist_error_string(error));
	}
	cr_expect(told);
	cr_expect_eq(outcome.status, DIST_EXIT_MISMATCH, "%s", outcome.text);
	return outcome;
}

Test(nccl_faults, lengths_differ)
{
	(void)expect_mismatch(4, NULL, other_length);
}

Test(nccl_faults, calls_differ)
{
	(void)expect_mismatch(3, NULL, other_call);
}

Test(nccl_faults, splits_differ)
{
	(void)expect_mismatch(2, NULL, other_splits);
}

Test(nccl_faults, messages_differ)
{
	(void)expect_mismatch(2, NULL, other_message);
}

static int other_length_afterwards(struct dist_group *group,
				   struct job_note *note)
{
	float data[8];

	return job_failed(group, note,
			  dist_broadcast(group, ones(data, 8), 0, NULL)) ||
	       other_length(group, note);
}

/* Rank 2 does not come out of the broadcast before the others have failed: its
 * call shows that rank 1 is alone with his. */
Test(nccl_faults, lengths_differ_when_one_is_on_its_way)
{
	struct job_outcome outcome =
		expect_mismatch(3, "2:1:late", other_length_afterwards);

	cr_expect(strstr(outcome.notes[2].message, "all_reduce"), "%s",
		  outcome.notes[2].message);
	cr_expect(strstr(outcome.text, "rank 1 called all_reduce") &&
			  strstr(outcome.text, "ranks 0,2 (2) called"),
		  "%s", outcome.text);
}

/* ---- waiting for ever -------------------------------------------------- */

static int both_receive(struct dist_group *group, struct job_note *note)
{
	float data[8];

	return job_failed(
		group, note,
		dist_recv(group, ones(data, 8), 1 - dist_get_rank(group), 0));
}

Test(nccl_faults, a_deadlock)
{
	struct job job = {
		.world_size = 2, .timeout_ns = SECOND, .program = both_receive};
	struct job_outcome outcome = job_run(&job);

	cr_expect_eq(outcome.status, DIST_EXIT_DEADLOCK, "%s", outcome.text);
	cr_expect(strstr(outcome.text, "recv"), "%s", outcome.text);
}

static int calls_once_more(struct dist_group *group, struct job_note *note)
{
	return dist_get_rank(group) == 0 &&
	       job_failed(group, note, dist_barrier(group, NULL));
}

/* They wait in vain for that rank to destroy its group, and do not take as long
 * as they may. */
Test(nccl_faults, others_leave)
{
	struct job job = {
		.world_size = 3, .hasty = true, .program = calls_once_more};
	int64_t began_ns = dist__clock_ns();
	struct job_outcome outcome;

	setenv("LOCKSTEP_PATIENCE", "0.5", 1);
	outcome = job_run(&job);
	cr_expect_eq(outcome.status, DIST_EXIT_DEADLOCK, "%s", outcome.text);
	cr_expect(strstr(outcome.text, "which has finished"), "%s",
		  outcome.text);
	cr_expect_lt(dist__clock_ns() - began_ns, SOON);
}

static int one_is_late(struct dist_group *group, struct job_note *note)
{
	float data[8];

	if (dist_get_rank(group) == 1)
		return dist_compute(group, 60 * SECOND, NULL);
	return job_failed(
		group, note,
		dist_all_reduce(group, ones(data, 8), DIST_SUM, NULL));
}

Test(nccl_faults, a_rank_is_late)
{
	struct job job = {.world_size = 2,
			  .timeout_ns = SECOND,
			  .hasty = true,
			  .program = one_is_late};
	struct job_outcome outcome = job_run(&job);

	cr_expect_eq(outcome.notes[0].error, DIST_ERR_TIMEOUT);
	cr_expect_eq(outcome.status, DIST_EXIT_TIMEOUT, "%s", outcome.text);
}
