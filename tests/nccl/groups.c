/* Groups of some of the ranks: a communicator each, in use at once. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/nccl/job.h"
#include "tests/support/threaded.h"

TestSuite(nccl_groups);

#define ROUNDS 5

/* Starts the sum of what the members of group have, which is one each. */
static struct dist_work *start(struct dist_group *group, struct job_note *note,
			       int32_t *one)
{
	struct dist_work *work = NULL;

	*one = 1;
	if (group)
		note->wrong +=
			dist_all_reduce(group, dist_tensor(one, 1, DIST_INT32),
					DIST_SUM, &work) != 0;
	return work;
}

static void finish(struct dist_work *work, struct job_note *note,
		   const int32_t *one, int wanted)
{
	if (!work)
		return;
	note->wrong += dist_work_wait(work, DIST_TIMEOUT_OF_GROUP) != 0;
	note->wrong += *one != wanted;
	dist_work_free(work);
}

/* Ranks 0 and 1, ranks 3, 2 and 1 in that order, and all: at once, and on each
 * rank started in another order. */
static int overlap(struct dist_group *all, struct job_note *note)
{
	static const int pair[] = {0, 1}, back[] = {3, 2, 1};
	const struct dist_group_options ordered = {.keep_order = true,
						   .members_only = true};
	struct dist_group *groups[3] = {all, NULL, NULL};
	const int sizes[] = {4, 2, 3};
	struct dist_work *works[3];
	int32_t ones[3];
	int rank = dist_get_rank(all);

	if (dist_new_group(all, pair, 2, NULL, &groups[1]) ||
	    dist_new_group(all, back, 3, &ordered, &groups[2]))
		return 1;
	if (rank == 1)
		note->wrong += dist_get_rank(groups[2]) != 2 ||
			       dist_get_world_size(groups[1]) != 2;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 3; i++) {
			int which = (i + rank + round) % 3;

			works[which] = start(groups[which], note, &ones[which]);
		}
		for (int i = 0; i < 3; i++)
			finish(works[i], note, &ones[i], sizes[i]);
	}
	note->wrong += groups[2] && dist_destroy_process_group(groups[2]) != 0;
	return 0;
}

Test(nccl_groups, overlap)
{
	struct job job = {.world_size = 4, .program = overlap};
	struct job_outcome outcome = job_run(&job);

	for (int rank = 0; rank < 4; rank++)
		cr_expect_eq(outcome.notes[rank].wrong, 0, "rank %d", rank);
	cr_expect_eq(outcome.status, DIST_EXIT_OK, "%s", outcome.text);
}

/* Rank 0 destroys a group at once, rank 1 only after it has met rank 0 in
 * another: no rank waits for another in destroying. */
static int leave(struct dist_group *all, struct job_note *note)
{
	static const int pair[] = {0, 1};
	struct dist_group *group;
	struct dist_work *work;
	int32_t one;

	for (int round = 0; round < ROUNDS; round++) {
		if (dist_new_group(all, pair, 2, NULL, &group))
			return 1;
		work = start(group, note, &one);
		finish(work, note, &one, 2);
		if (dist_get_rank(all) == 1)
			finish(start(all, note, &one), note, &one, 2);
		note->wrong += dist_destroy_process_group(group) != 0;
		if (dist_get_rank(all) == 0)
			finish(start(all, note, &one), note, &one, 2);
	}
	return 0;
}

Test(nccl_groups, destroying_one_waits_for_nobody)
{
	struct job job = {
		.world_size = 2, .timeout_ns = 20 * SECOND, .program = leave};
	struct job_outcome outcome = job_run(&job);

	cr_expect_eq(outcome.notes[0].wrong + outcome.notes[1].wrong, 0);
	cr_expect_eq(outcome.status, DIST_EXIT_OK, "%s", outcome.text);
}

/* A group that cannot have its communicator says why; the others go on. */
static int refused(struct dist_group *all, struct job_note *note)
{
	static const int pair[] = {0, 1};
	struct dist_group *group = NULL;
	int32_t one = 1;
	enum dist_error error = dist_new_group(all, pair, 2, NULL, &group);

	(void)job_failed(all, note, error);
	note->wrong += dist_all_reduce(all, dist_tensor(&one, 1, DIST_INT32),
				       DIST_SUM, NULL) != 0;
	note->wrong += one != 2;
	return 0;
}

Test(nccl_groups, one_cannot_be_made)
{
	struct job job = {
		.world_size = 2, .fail = "1:2:init", .program = refused};
	struct job_outcome outcome = job_run(&job);

	cr_expect_eq(outcome.notes[1].error, DIST_ERR_UNAVAILABLE);
	cr_expect(strstr(outcome.notes[1].message, "new_group: NCCL on device "
						   "1 of 2: unhandled system "
						   "error"),
		  "%s", outcome.notes[1].message);
	cr_expect_eq(outcome.notes[0].error, DIST_ERR_RENDEZVOUS);
	for (int rank = 0; rank < 2; rank++)
		cr_expect_eq(outcome.notes[rank].wrong, 0, "rank %d", rank);
}

/* ---- from two threads ---------------------------------------------------- */

static int walk_in_threads(struct dist_group *all, struct job_note *note)
{
	note->wrong += threaded_walk(all);
	return note->wrong != 0;
}

Test(nccl_groups, another_thread_waits)
{
	struct job_outcome outcome = job_run(
		&(struct job){.world_size = 2, .program = walk_in_threads});

	cr_expect_eq(outcome.status, DIST_EXIT_OK, "%s", outcome.text);
}
