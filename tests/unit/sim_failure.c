/*
 * How calls of the simulated world fail: deadlocks at once, timeouts at their
 * deadline, aborts, ranks that leave. Each test is one simulation.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/launch.h"
#include "tests/support/group.h"
#include "tests/support/okay.h"
#include "tests/support/seat.h"

/* ---- failing -------------------------------------------------------- */

static int both_receive(void *arg)
{
	struct seat seat = seat_take();
	struct dist__request *request;
	int64_t *errors = arg;

	seat_compute(&seat, seat.rank == 0 ? MS : 5 * MS);
	seat_record_recv(&seat, 1 - seat.rank);
	request = seat_irecv(&seat, 1 - seat.rank, NULL, 8);
	errors[seat.rank] = seat_wait(&seat, request, NEVER);
	cr_expect_eq(seat_now(&seat), 5 * MS);
	cr_expect_eq(seat.t->ops->compute(seat.t, MS), DIST_ERR_DEADLOCK);
	seat_leave(&seat);
	return 0;
}

Test(sim_failure, a_deadlock_is_known_the_moment_nothing_can_move)
{
	int64_t errors[2] = {0};

	cr_redirect_stderr();
	cr_assert_eq(seat_simulate(2, both_receive, errors),
		     DIST_EXIT_DEADLOCK);
	cr_expect_eq(errors[0], DIST_ERR_DEADLOCK);
	cr_expect_eq(errors[1], DIST_ERR_DEADLOCK);
}

static int one_leaves(void *arg)
{
	struct seat seat = seat_take();

	(void)arg;
	if (seat.rank > 0) {
		seat_record_recv(&seat, 0);
		cr_expect_eq(
			seat_wait(&seat, seat_irecv(&seat, 0, NULL, 8), NEVER),
			DIST_ERR_DEADLOCK);
	} else {
		seat_compute(&seat, MS);
	}
	seat_leave(&seat);
	return 0;
}

Test(sim_failure, waiting_for_one_who_left_is_a_deadlock)
{
	cr_redirect_stderr();
	cr_assert_eq(seat_simulate(4, one_leaves, NULL), DIST_EXIT_DEADLOCK);
}

SEAT_TEST(sim_failure, a_deadlock_of_a_lane_ends_its_op, 2, DIST_EXIT_DEADLOCK,
	  NULL)
{
	struct dist__lane *lane = NULL;
	struct task task;

	/* Rank 0's lane sends, rank 1 does not receive. */
	if (seat->rank == 0) {
		okay(seat->t->ops->lanes->create(seat->t, &lane));
		task_submit(seat, lane, &task);
		cr_expect_eq(seat->t->ops->lanes->wait(lane, &task.op, NEVER),
			     DIST_OK);
		cr_expect_eq(task.op.error, DIST_ERR_DEADLOCK);
		seat->t->ops->lanes->free(lane);
	}
}

static int late_peer(void *arg)
{
	struct seat seat = seat_take();
	struct dist__message m = seat_message(0, NULL, 8);
	struct dist__request *request;

	(void)arg;
	if (seat.rank == 0) {
		seat_record_recv(&seat, 1);
		request = seat_irecv(&seat, 1, NULL, 8);
		cr_expect_eq(seat_wait(&seat, request, 3 * MS),
			     DIST_ERR_TIMEOUT);
		cr_expect_eq(seat_now(&seat), 3 * MS);
		seat.t->ops->abort(seat.t, 0);
		seat_leave(&seat);
		return 1;
	}
	seat_compute(&seat, 10 * MS);
	cr_expect_eq(seat.t->ops->isend(seat.t, &m, &request),
		     DIST_ERR_PEER_LOST);
	seat_leave(&seat);
	return 1;
}

Test(sim_failure, late_is_a_timeout_at_the_deadline)
{
	cr_redirect_stderr();
	cr_assert_eq(seat_simulate(2, late_peer, NULL), DIST_EXIT_TIMEOUT);
}

static int torn(void *arg)
{
	struct seat seat = seat_take();
	bool same_deadline = arg != NULL;
	struct dist__request *request;
	enum dist_error error;

	if (seat.rank == 0) {
		request = seat_isend(&seat, 1, NULL, MEGABYTE);
		error = seat_wait(&seat, request, 50 * US);
		cr_expect_eq(error, DIST_ERR_TIMEOUT);
	} else {
		request = seat_irecv(&seat, 0, NULL, MEGABYTE);
		error = seat_wait(&seat, request,
				  same_deadline ? 50 * US : NEVER);
		cr_expect_eq(error, same_deadline ? DIST_ERR_TIMEOUT
						  : DIST_ERR_PEER_LOST);
	}
	cr_expect_eq(seat_now(&seat), 50 * US);
	seat_leave(&seat);
	return 0;
}

Test(sim_failure, a_torn_transfer_loses_the_peer)
{
	cr_assert_eq(seat_simulate(2, torn, NULL), DIST_EXIT_OK);
}

Test(sim_failure, a_deadline_of_both_is_a_timeout_of_both)
{
	static int yes;

	cr_assert_eq(seat_simulate(2, torn, &yes), DIST_EXIT_OK);
}

SEAT_TEST(sim_failure, an_abort_ends_the_waiting_of_the_group, 2, DIST_EXIT_OK,
	  NULL)
{
	struct dist__message m = seat_message(1 - seat->rank, NULL, 8);
	struct dist__request *request, *other;

	request = seat_irecv(seat, 1 - seat->rank, NULL, 8);
	other = seat_irecv(seat, 1 - seat->rank, NULL, 8);
	if (seat->rank == 0) {
		cr_expect_eq(seat_wait(seat, other, NEVER), DIST_ERR_PEER_LOST);
		cr_expect_eq(seat_wait(seat, request, NEVER),
			     DIST_ERR_PEER_LOST);
		m.tag = 3;
		cr_expect_eq(seat->t->ops->irecv(seat->t, &m, &request),
			     DIST_ERR_PEER_LOST);
		m.group = 1;
		m.bytes = 0;
		cr_expect_eq(seat->t->ops->irecv(seat->t, &m, &request),
			     DIST_OK);
		seat_finish(seat, request);
		cr_expect_eq(seat_now(seat), MS + 2 * US);
	} else {
		seat_compute(seat, MS);
		seat->t->ops->abort(seat->t, 0);
		seat->t->ops->abort(seat->t, 0);
		cr_expect_eq(seat_wait(seat, request, NEVER), DIST_ERR_ABORTED);
		cr_expect_eq(seat_wait(seat, other, NEVER), DIST_ERR_ABORTED);
		cr_expect_eq(seat->t->ops->isend(seat->t, &m, &request),
			     DIST_ERR_ABORTED);
		m.tag = 3;
		m.group = 1;
		m.bytes = 0;
		cr_expect_eq(seat->t->ops->isend(seat->t, &m, &request),
			     DIST_OK);
		seat_finish(seat, request);
	}
}

SEAT_TEST(sim_failure, an_abort_frees_the_ranks_own_lane, 2, DIST_EXIT_OK, NULL)
{
	struct dist__lane *lane = NULL;
	struct task task;

	if (seat->rank == 0) {
		okay(seat->t->ops->lanes->create(seat->t, &lane));
		task_submit(seat, lane, &task);
		seat_compute(seat, MS);
		seat->t->ops->abort(seat->t, 0);
		cr_expect_eq(seat->t->ops->lanes->wait(lane, &task.op, NEVER),
			     DIST_OK);
		cr_expect_eq(task.op.error, DIST_ERR_ABORTED);
		cr_expect_eq(seat_now(seat), MS);
		seat->t->ops->lanes->free(lane);
	}
}

/* ---- joining -------------------------------------------------------- */

static int join_twice(void *arg)
{
	struct seat seat = seat_take();
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct dist__place place;

	(void)arg;
	cr_expect_eq(dist__world_here(), &dist__sim_world);
	cr_expect_eq(dist__sim_world.attach(&options, &place, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	seat.t->ops->abort(seat.t, 0);
	seat_leave(&seat);
	options.world_size = 2;
	options.rank = 1 - seat.rank;
	cr_expect_eq(dist__sim_world.attach(&options, &place, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	seat = seat_take();
	seat_finish(&seat, seat.rank == 0 ? seat_isend(&seat, 1, NULL, 0)
					  : seat_irecv(&seat, 0, NULL, 0));
	seat_leave(&seat);
	return 0;
}

Test(sim_failure, a_rank_joins_once_at_a_time)
{
	cr_assert_eq(seat_simulate(2, join_twice, NULL), DIST_EXIT_OK);
}

Test(sim_failure, there_is_no_joining_outside_a_simulation)
{
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct dist__place place;

	cr_expect_null(dist__world_here());
	cr_expect_eq(dist__sim_world.attach(&options, &place, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect(strstr(message.text, "dist_launch") != NULL);
}

static int fail(void *arg)
{
	(void)arg;
	return 3;
}

Test(sim_failure, a_failed_rank_fails_the_job)
{
	cr_assert_eq(seat_simulate(2, fail, NULL), DIST_EXIT_FAILED);
}

/* ---- what is told of it ----------------------------------------------- */

#define SECOND (INT64_C(1000) * MS)

static int launch_3_by(const char *algorithm, int (*program)(void *arg))
{
	const struct dist_launch_options options = {
		.backend = "sim",
		.world_size = 3,
		.platform = STAR4,
		.algorithm = algorithm,
		.timeout_ns = SECOND,
	};

	return dist_launch(&options, program, NULL);
}

static int launch_3(int (*program)(void *arg))
{
	return launch_3_by(NULL, program);
}

/* Rank 2 is late in a group with rank 1, which gives up; ranks 0 and 2 then
 * wait for rank 1 for ever. */
static int late_in_a_part(void *arg)
{
	static const int part[] = {1, 2};
	struct dist_group *all = join(), *sub;
	enum dist_error error;

	(void)arg;
	okay(dist_new_group(all, part, 2, NULL, &sub));
	if (dist_get_rank(all) == 2)
		dist_compute(all, 3 * SECOND, NULL);
	error = sub ? dist_barrier(sub, NULL) : DIST_OK;
	if (dist_get_rank(all) == 2 || !error)
		error = dist_barrier(all, NULL);
	return leave(all, error);
}

Test(sim_failure, a_deadlock_after_a_timeout_is_told_as_the_timeout)
{
	cr_redirect_stderr();
	cr_assert_eq(launch_3(late_in_a_part), DIST_EXIT_TIMEOUT);
}

/* Rank 0 sends one element too many to each, and nobody waits for it. */
static int unequal_parts(void *arg)
{
	struct dist_group *all = join();
	struct dist_work *work;
	struct dist_tensor none = {NULL, 6, DIST_FLOAT32};
	enum dist_error error;

	(void)arg;
	if (dist_get_rank(all) == 0)
		none.numel = 9;
	okay(dist_all_to_all_single(all, none, none, NULL, NULL, &work));
	error = dist_barrier(all, NULL);
	dist_work_free(work);
	return leave(all, error);
}

Test(sim_failure, unequal_parts_are_no_timeout)
{
	cr_redirect_stderr();
	cr_assert_eq(launch_3(unequal_parts), DIST_EXIT_MISMATCH);
}

/* The same where no rank needs an actor to send its parts. */
Test(sim_failure, unequal_parts_in_steps_are_no_timeout)
{
	cr_redirect_stderr();
	cr_assert_eq(launch_3_by("all_to_all=pairwise", unequal_parts),
		     DIST_EXIT_MISMATCH);
}

/* Rank 1 sends rank 2 one element more than that expects; everybody waits, with
 * lengths that only the two ranks of a message know. */
static int unequal_splits(void *arg)
{
	size_t expected[] = {2, 2, 2}, sent[] = {2, 2, 2};
	struct dist_tensor out = dist_tensor(NULL, 6, DIST_FLOAT32);
	struct dist_tensor in = out;
	struct dist_group *all = join();

	(void)arg;
	if (dist_get_rank(all) == 1) {
		sent[2]++;
		in.numel++;
	}
	return leave(all, dist_all_to_all_single(all, out, in, expected, sent,
						 NULL));
}

Test(sim_failure, unequal_splits_in_steps)
{
	cr_redirect_stderr();
	cr_assert_eq(launch_3_by("all_to_all=pairwise", unequal_splits),
		     DIST_EXIT_MISMATCH);
}

/* Ranks with data, of which one has nothing to send and nothing to get, as far
 * as it knows the same as where nobody has data. */
static int nothing_for_one(void *arg)
{
	float from[2], to[2] = {-1, -1};
	size_t splits[] = {1, 1, 0}, none[] = {0, 0, 0};
	struct dist_tensor in, out;
	struct dist_group *all = join();
	bool empty, well;
	int rank = dist_get_rank(all);

	(void)arg;
	empty = rank == 2;
	from[0] = 10.0F * (float)rank;
	from[1] = from[0] + 1;
	in = dist_tensor(empty ? NULL : from, empty ? 0 : 2, DIST_FLOAT32);
	out = dist_tensor(empty ? NULL : to, in.numel, DIST_FLOAT32);
	okay(dist_all_to_all_single(all, out, in, empty ? none : splits,
				    empty ? none : splits, NULL));
	well = empty || (to[0] == (float)rank && to[1] == 10.0F + (float)rank);
	return leave(all, DIST_OK) || !well;
}

Test(sim_failure, nothing_for_one)
{
	cr_assert_eq(launch_3_by("all_to_all=pairwise", nothing_for_one), 0);
}

/* One of the ranks says how long its parts are, which are as long as those of
 * the others. */
static int one_with_splits(void *arg)
{
	const size_t part = 1 << 17, splits[] = {part, part, part};
	struct dist_tensor parts = dist_tensor(NULL, 3 * part, DIST_FLOAT32);
	const size_t *own;
	struct dist_group *all = join();

	(void)arg;
	own = dist_get_rank(all) == 1 ? splits : NULL;
	return leave(all,
		     dist_all_to_all_single(all, parts, parts, own, own, NULL));
}

Test(sim_failure, one_with_splits)
{
	cr_assert_eq(launch_3_by(NULL, one_with_splits), 0);
}

Test(sim_failure, one_with_splits_in_steps)
{
	cr_assert_eq(launch_3_by("all_to_all=pairwise", one_with_splits), 0);
}
