/*
 * What a message costs in the simulated world, and how it fails. Each test is
 * one simulation (Criterion gives it a process of its own) of a small program
 * over the bare transport.
 *
 * On star4 a message of n bytes takes 2 us + n / 12.5 GB/s.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/record.h"
#include "core/backend.h"
#include "tests/support/leaks.h"

#define STAR4 LOCKSTEP_DATADIR "/../tests/support/star4.xml"
#define NEVER DIST_TIMEOUT_NEVER
#define US    INT64_C(1000)
#define MS    INT64_C(1000000)

/* One megabyte takes 2 us + 80 us. */
#define MEGABYTE    ((size_t)1000000)
#define MEGABYTE_NS (82 * US)

/* The calling rank, and the slots of its transport as plain functions. */
struct seat {
	struct dist__place place;
	struct dist__transport *t;
	int rank;
};

static struct seat sit(void)
{
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct seat seat = {0};
	enum dist_error error;

	error = dist__sim_world.attach(&options, &seat.place, &message);
	cr_assert_eq(error, DIST_OK, "%s", message.text);
	seat.t = seat.place.transport;
	seat.rank = seat.place.rank;
	return seat;
}

static void leave(struct seat *seat)
{
	seat->t->ops->free(seat->t);
}

static int64_t now(struct seat *seat)
{
	return seat->t->ops->now_ns(seat->t);
}

static void compute(struct seat *seat, int64_t ns)
{
	cr_assert_eq(seat->t->ops->compute(seat->t, ns), DIST_OK);
}

static struct dist__message message_of(int peer, void *data, size_t bytes)
{
	return (struct dist__message){.peer = peer,
				      .tag = -1,
				      .fingerprint = 7,
				      .data = data,
				      .bytes = bytes};
}

static struct dist__request *isend(struct seat *seat, int peer,
				   const void *data, size_t bytes)
{
	struct dist__message m = message_of(peer, (void *)data, bytes);
	struct dist__request *request = NULL;

	cr_assert_eq(seat->t->ops->isend(seat->t, &m, &request), DIST_OK);
	return request;
}

static struct dist__request *irecv(struct seat *seat, int peer, void *data,
				   size_t bytes)
{
	struct dist__message m = message_of(peer, data, bytes);
	struct dist__request *request = NULL;

	cr_assert_eq(seat->t->ops->irecv(seat->t, &m, &request), DIST_OK);
	return request;
}

static enum dist_error wait_until(struct seat *seat,
				  struct dist__request *request,
				  int64_t deadline_ns)
{
	return seat->t->ops->wait(seat->t, request, deadline_ns);
}

static void finish(struct seat *seat, struct dist__request *request)
{
	cr_assert_eq(wait_until(seat, request, NEVER), DIST_OK);
}

static int launch(int ranks, int (*program)(void *arg), void *arg)
{
	struct dist_launch_options options = {
		.world_size = ranks,
		.platform = STAR4,
		.timeout_ns = DIST_TIMEOUT_DEFAULT,
	};

	return dist__sim_world.launch(&options, program, arg);
}

/* Runs program on ranks of star4 and returns the exit status. */
static int simulate(int ranks, int (*program)(void *arg), void *arg)
{
	int status = launch(ranks, program, arg);

	cr_expect_eq(leaks_found(), 0);
	return status;
}

/* Writes into the rank's records that it waits in a receive from peer, as
 * core does for a call. */
static void record_recv(struct seat *seat, int peer)
{
	struct check_call call = {.group_size = 2, .peer = peer, .numel = 1};

	strcpy(call.op, "recv");
	strcpy(call.dtype, "float32");
	strcpy(call.group, "default");
	check_site_set(&call.site, __FILE__, __LINE__);
	seat->place.slot->state = CHECK_RANK_RUNNING;
	check_wait(seat->place.slot, check_issue(seat->place.slot, &call),
		   NULL);
}

/* ---- time ----------------------------------------------------------- */

static int ping_pong(void *arg)
{
	struct seat seat = sit();
	int peer = 1 - seat.rank;

	(void)arg;
	for (int i = 0; i < 2; i++) {
		bool sends = (i == 0) == (seat.rank == 0);

		finish(&seat, sends ? isend(&seat, peer, NULL, MEGABYTE)
				    : irecv(&seat, peer, NULL, MEGABYTE));
		cr_expect_eq(now(&seat), (i + 1) * MEGABYTE_NS);
	}
	leave(&seat);
	return 0;
}

Test(sim_transport, a_message_takes_latency_and_size_over_bandwidth)
{
	cr_assert_eq(simulate(2, ping_pong, NULL), DIST_EXIT_OK);
}

static int empty_message(void *arg)
{
	struct seat seat = sit();

	(void)arg;
	finish(&seat, seat.rank == 0 ? isend(&seat, 1, NULL, 0)
				     : irecv(&seat, 0, NULL, 0));
	cr_expect_eq(now(&seat), 2 * US);
	leave(&seat);
	return 0;
}

Test(sim_transport, an_empty_message_takes_the_latency)
{
	cr_assert_eq(simulate(2, empty_message, NULL), DIST_EXIT_OK);
}

static int both_ways(void *arg)
{
	struct seat seat = sit();
	struct dist__request *in, *out;

	(void)arg;
	in = irecv(&seat, 1 - seat.rank, NULL, MEGABYTE);
	out = isend(&seat, 1 - seat.rank, NULL, MEGABYTE);
	finish(&seat, in);
	finish(&seat, out);
	cr_expect_eq(now(&seat), MEGABYTE_NS);
	leave(&seat);
	return 0;
}

Test(sim_transport, links_are_full_duplex)
{
	cr_assert_eq(simulate(2, both_ways, NULL), DIST_EXIT_OK);
}

static int late_receiver(void *arg)
{
	struct seat seat = sit();

	(void)arg;
	if (seat.rank == 1)
		compute(&seat, MS);
	finish(&seat, seat.rank == 0 ? isend(&seat, 1, NULL, MEGABYTE)
				     : irecv(&seat, 0, NULL, MEGABYTE));
	cr_expect_eq(now(&seat), MS + MEGABYTE_NS);
	leave(&seat);
	return 0;
}

Test(sim_transport, a_transfer_starts_when_both_ends_are_posted)
{
	cr_assert_eq(simulate(2, late_receiver, NULL), DIST_EXIT_OK);
}

static int poll_for_message(void *arg)
{
	struct seat seat = sit();
	struct dist__request *request;
	int looks = 0;

	(void)arg;
	if (seat.rank == 0) {
		compute(&seat, 10 * US);
		finish(&seat, isend(&seat, 1, NULL, MEGABYTE));
	} else {
		request = irecv(&seat, 0, NULL, MEGABYTE);
		while (!seat.t->ops->test(seat.t, request))
			looks++;
		finish(&seat, request);
		cr_expect_eq(looks, 92);
		cr_expect_eq(now(&seat), 92 * US);
	}
	leave(&seat);
	return 0;
}

Test(sim_transport, an_unsuccessful_look_costs_a_microsecond)
{
	cr_assert_eq(simulate(2, poll_for_message, NULL), DIST_EXIT_OK);
}

static int charged(void *arg)
{
	struct seat seat = sit();

	/* A reduction of 5 us, the sender's 1 us, then the transfer; what is
	 * owed at the end shows on the clock. */
	(void)arg;
	if (seat.rank == 0) {
		seat.t->ops->charge_reduce(seat.t, 5000);
		finish(&seat, isend(&seat, 1, NULL, MEGABYTE));
		seat.t->ops->charge_reduce(seat.t, 3000);
		cr_expect_eq(now(&seat), 9 * US + MEGABYTE_NS);
	} else {
		finish(&seat, irecv(&seat, 0, NULL, MEGABYTE));
		cr_expect_eq(now(&seat), 6 * US + MEGABYTE_NS);
	}
	leave(&seat);
	return 0;
}

Test(sim_transport, a_profile_charges_messages_and_reductions)
{
	char path[] = "/tmp/lockstep-profile-XXXXXX";
	struct dist_launch_options options = {
		.world_size = 2,
		.platform = STAR4,
		.profile = path,
		.timeout_ns = DIST_TIMEOUT_DEFAULT,
	};
	const char *text = "name: charging\nversion: 1\nsource: this test\n"
			   "message_overhead_ns: 1000\nreduce_Bps: 1.0e9\n";
	int fd = mkstemp(path), status;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	status = dist__sim_world.launch(&options, charged, NULL);
	unlink(path);
	cr_assert_eq(status, DIST_EXIT_OK);
}

/* ---- payload -------------------------------------------------------- */

static int overwrite(void *arg)
{
	struct seat seat = sit();
	int value;

	(void)arg;
	for (int i = 0; i < 5; i++) {
		value = seat.rank == 0 ? 100 + i : -1;
		if (seat.rank == 0) {
			finish(&seat, isend(&seat, 1, &value, sizeof value));
			value = -2;
		} else {
			finish(&seat, irecv(&seat, 0, &value, sizeof value));
			cr_expect_eq(value, 100 + i);
		}
	}
	leave(&seat);
	return 0;
}

Test(sim_transport, the_payload_is_the_senders_at_isend)
{
	cr_assert_eq(simulate(2, overwrite, NULL), DIST_EXIT_OK);
}

static int phantom(void *arg)
{
	const size_t terabyte = (size_t)1000000000000;
	struct seat seat = sit();

	(void)arg;
	finish(&seat, seat.rank == 0 ? isend(&seat, 1, NULL, terabyte)
				     : irecv(&seat, 0, NULL, terabyte));
	cr_expect_eq(now(&seat), INT64_C(80000002000));
	leave(&seat);
	return 0;
}

Test(sim_transport, a_phantom_has_size_and_no_bytes)
{
	cr_assert_eq(simulate(2, phantom, NULL), DIST_EXIT_OK);
}

static int in_order_of_tags(void *arg)
{
	struct seat seat = sit();
	struct dist__request *requests[4];
	int values[4] = {-1, -1, -1, -1};

	/* Two messages of each of two tags, received tag by tag. */
	(void)arg;
	for (int i = 0; i < 4; i++) {
		struct dist__message m;

		m = message_of(1 - seat.rank, &values[i], sizeof values[i]);
		m.tag = seat.rank == 0 ? i % 2 : i / 2;
		if (seat.rank == 0) {
			values[i] = i;
			seat.t->ops->isend(seat.t, &m, &requests[i]);
		} else {
			seat.t->ops->irecv(seat.t, &m, &requests[i]);
		}
	}
	for (int i = 4; i-- > 0;)
		finish(&seat, requests[i]);
	if (seat.rank == 1) {
		const int expected[4] = {0, 2, 1, 3};

		cr_expect_arr_eq(values, expected, sizeof values);
	}
	leave(&seat);
	return 0;
}

Test(sim_transport, equal_tags_match_in_the_order_sent)
{
	cr_assert_eq(simulate(2, in_order_of_tags, NULL), DIST_EXIT_OK);
}

static int disagree(void *arg)
{
	struct seat seat = sit();
	struct dist__message m = message_of(1 - seat.rank, NULL, 8);
	struct dist__request *request = NULL;

	(void)arg;
	m.fingerprint += (uint64_t)seat.rank;
	if (seat.rank == 0)
		cr_assert_eq(seat.t->ops->isend(seat.t, &m, &request), 0);
	else
		cr_assert_eq(seat.t->ops->irecv(seat.t, &m, &request), 0);
	cr_expect_eq(wait_until(&seat, request, NEVER), DIST_ERR_MISMATCH);
	leave(&seat);
	return 1;
}

Test(sim_transport, ends_that_disagree_both_hear_of_it)
{
	cr_assert_eq(simulate(2, disagree, NULL), DIST_EXIT_FAILED);
}

/* ---- lanes ---------------------------------------------------------- */

struct task {
	struct dist__job job;
	struct seat *seat;
	struct dist__lane *lane;
	struct dist__op op;
};

/* Does what a collective does: a message, then the end of the op. */
static void exchange(void *arg)
{
	struct task *task = arg;
	struct seat *seat = task->seat;
	struct dist__request *request;
	enum dist_error error;
	int peer = 1 - seat->rank;

	request = seat->rank == 0 ? isend(seat, peer, NULL, MEGABYTE)
				  : irecv(seat, peer, NULL, MEGABYTE);
	error = wait_until(seat, request, NEVER);
	dist__op_finish(&task->op, error, now(seat));
	seat->t->ops->lane_notify(task->lane);
}

static void submit(struct seat *seat, struct dist__lane *lane,
		   struct task *task)
{
	*task = (struct task){.seat = seat, .lane = lane};
	task->job = (struct dist__job){.run = exchange, .arg = task};
	cr_assert_eq(seat->t->ops->lane_submit(lane, &task->job), DIST_OK);
}

static int overlap(void *arg)
{
	struct seat seat = sit();
	struct dist__lane *lane = NULL;
	struct task tasks[2];

	(void)arg;
	cr_assert_eq(seat.t->ops->lane_new(seat.t, &lane), DIST_OK);
	for (int i = 0; i < 2; i++)
		submit(&seat, lane, &tasks[i]);
	compute(&seat, 100 * US);
	cr_expect(dist__op_is_done(&tasks[0].op));
	cr_expect_not(dist__op_is_done(&tasks[1].op));
	cr_expect_eq(tasks[0].op.ended_ns, MEGABYTE_NS);
	cr_expect_eq(seat.t->ops->lane_wait(lane, &tasks[1].op, 101 * US),
		     DIST_ERR_TIMEOUT);
	cr_expect_eq(now(&seat), 101 * US);
	cr_expect_eq(seat.t->ops->lane_wait(lane, &tasks[1].op, NEVER),
		     DIST_OK);
	cr_expect_eq(tasks[1].op.ended_ns, 2 * MEGABYTE_NS);
	cr_expect_eq(now(&seat), 2 * MEGABYTE_NS);
	seat.t->ops->lane_free(lane);
	leave(&seat);
	return 0;
}

Test(sim_transport, a_lane_works_while_the_rank_computes)
{
	cr_assert_eq(simulate(2, overlap, NULL), DIST_EXIT_OK);
}

static int leave_a_lane(void *arg)
{
	static struct seat left; /* the work outlives the rank program */
	static struct task task;
	struct seat seat = sit();
	struct dist__lane *lane = NULL;

	/* Rank 0 leaves work behind that nobody answers, a lane that never
	 * had any, and its transport. */
	(void)arg;
	if (seat.rank == 0) {
		left = seat;
		cr_assert_eq(seat.t->ops->lane_new(seat.t, &lane), DIST_OK);
		cr_assert_eq(seat.t->ops->lane_new(seat.t, &lane), DIST_OK);
		submit(&left, lane, &task);
		compute(&seat, MS);
	}
	return 0;
}

Test(sim_transport, a_rank_may_leave_everything_behind)
{
	cr_assert_eq(simulate(2, leave_a_lane, NULL), DIST_EXIT_OK);
}

/* ---- failing -------------------------------------------------------- */

static int both_receive(void *arg)
{
	struct seat seat = sit();
	struct dist__request *request;
	int64_t *errors = arg;

	compute(&seat, seat.rank == 0 ? MS : 5 * MS);
	record_recv(&seat, 1 - seat.rank);
	request = irecv(&seat, 1 - seat.rank, NULL, 8);
	errors[seat.rank] = wait_until(&seat, request, NEVER);
	cr_expect_eq(now(&seat), 5 * MS);
	cr_expect_eq(seat.t->ops->compute(seat.t, MS), DIST_ERR_DEADLOCK);
	leave(&seat);
	return 0;
}

Test(sim_transport, a_deadlock_is_known_the_moment_nothing_can_move)
{
	int64_t errors[2] = {0};

	cr_redirect_stderr();
	cr_assert_eq(simulate(2, both_receive, errors), DIST_EXIT_DEADLOCK);
	cr_expect_eq(errors[0], DIST_ERR_DEADLOCK);
	cr_expect_eq(errors[1], DIST_ERR_DEADLOCK);
}

static int one_leaves(void *arg)
{
	struct seat seat = sit();

	(void)arg;
	if (seat.rank > 0) {
		record_recv(&seat, 0);
		cr_expect_eq(wait_until(&seat, irecv(&seat, 0, NULL, 8), NEVER),
			     DIST_ERR_DEADLOCK);
	} else {
		compute(&seat, MS);
	}
	leave(&seat);
	return 0;
}

Test(sim_transport, waiting_for_one_who_left_is_a_deadlock)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate(4, one_leaves, NULL), DIST_EXIT_DEADLOCK);
}

static int lanes_deadlock(void *arg)
{
	struct seat seat = sit();
	struct dist__lane *lane = NULL;
	struct task task;

	/* Rank 0's lane sends, rank 1 does not receive. */
	(void)arg;
	if (seat.rank == 0) {
		cr_assert_eq(seat.t->ops->lane_new(seat.t, &lane), DIST_OK);
		submit(&seat, lane, &task);
		cr_expect_eq(seat.t->ops->lane_wait(lane, &task.op, NEVER),
			     DIST_OK);
		cr_expect_eq(task.op.error, DIST_ERR_DEADLOCK);
		seat.t->ops->lane_free(lane);
	}
	leave(&seat);
	return 1;
}

Test(sim_transport, a_deadlock_of_a_lane_ends_its_op)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate(2, lanes_deadlock, NULL), DIST_EXIT_DEADLOCK);
}

static int late_peer(void *arg)
{
	struct seat seat = sit();
	struct dist__message m = message_of(0, NULL, 8);
	struct dist__request *request;

	(void)arg;
	if (seat.rank == 0) {
		record_recv(&seat, 1);
		request = irecv(&seat, 1, NULL, 8);
		cr_expect_eq(wait_until(&seat, request, 3 * MS),
			     DIST_ERR_TIMEOUT);
		cr_expect_eq(now(&seat), 3 * MS);
		seat.t->ops->abort(seat.t, 0);
		leave(&seat);
		return 1;
	}
	compute(&seat, 10 * MS);
	cr_expect_eq(seat.t->ops->isend(seat.t, &m, &request),
		     DIST_ERR_PEER_LOST);
	leave(&seat);
	return 1;
}

Test(sim_transport, late_is_a_timeout_at_the_deadline)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate(2, late_peer, NULL), DIST_EXIT_TIMEOUT);
}

static int torn(void *arg)
{
	struct seat seat = sit();
	bool same_deadline = arg != NULL;
	struct dist__request *request;
	enum dist_error error;

	if (seat.rank == 0) {
		request = isend(&seat, 1, NULL, MEGABYTE);
		error = wait_until(&seat, request, 50 * US);
		cr_expect_eq(error, DIST_ERR_TIMEOUT);
	} else {
		request = irecv(&seat, 0, NULL, MEGABYTE);
		error = wait_until(&seat, request,
				   same_deadline ? 50 * US : NEVER);
		cr_expect_eq(error, same_deadline ? DIST_ERR_TIMEOUT
						  : DIST_ERR_PEER_LOST);
	}
	cr_expect_eq(now(&seat), 50 * US);
	leave(&seat);
	return 0;
}

Test(sim_transport, a_torn_transfer_loses_the_peer)
{
	cr_assert_eq(simulate(2, torn, NULL), DIST_EXIT_OK);
}

Test(sim_transport, a_deadline_of_both_is_a_timeout_of_both)
{
	static int yes;

	cr_assert_eq(simulate(2, torn, &yes), DIST_EXIT_OK);
}

static int one_aborts(void *arg)
{
	struct seat seat = sit();
	struct dist__message m = message_of(1 - seat.rank, NULL, 8);
	struct dist__request *request, *other;

	(void)arg;
	request = irecv(&seat, 1 - seat.rank, NULL, 8);
	other = irecv(&seat, 1 - seat.rank, NULL, 8);
	if (seat.rank == 0) {
		cr_expect_eq(wait_until(&seat, other, NEVER),
			     DIST_ERR_PEER_LOST);
		cr_expect_eq(wait_until(&seat, request, NEVER),
			     DIST_ERR_PEER_LOST);
		m.tag = 3;
		cr_expect_eq(seat.t->ops->irecv(seat.t, &m, &request),
			     DIST_ERR_PEER_LOST);
		m.group = 1;
		m.bytes = 0;
		cr_expect_eq(seat.t->ops->irecv(seat.t, &m, &request), DIST_OK);
		finish(&seat, request);
		cr_expect_eq(now(&seat), MS + 2 * US);
	} else {
		compute(&seat, MS);
		seat.t->ops->abort(seat.t, 0);
		seat.t->ops->abort(seat.t, 0);
		cr_expect_eq(wait_until(&seat, request, NEVER),
			     DIST_ERR_ABORTED);
		cr_expect_eq(wait_until(&seat, other, NEVER), DIST_ERR_ABORTED);
		cr_expect_eq(seat.t->ops->isend(seat.t, &m, &request),
			     DIST_ERR_ABORTED);
		m.tag = 3;
		m.group = 1;
		m.bytes = 0;
		cr_expect_eq(seat.t->ops->isend(seat.t, &m, &request), DIST_OK);
		finish(&seat, request);
	}
	leave(&seat);
	return 0;
}

Test(sim_transport, an_abort_ends_the_waiting_of_the_group)
{
	cr_assert_eq(simulate(2, one_aborts, NULL), DIST_EXIT_OK);
}

static int abort_a_lane(void *arg)
{
	struct seat seat = sit();
	struct dist__lane *lane = NULL;
	struct task task;

	(void)arg;
	if (seat.rank == 0) {
		cr_assert_eq(seat.t->ops->lane_new(seat.t, &lane), DIST_OK);
		submit(&seat, lane, &task);
		compute(&seat, MS);
		seat.t->ops->abort(seat.t, 0);
		cr_expect_eq(seat.t->ops->lane_wait(lane, &task.op, NEVER),
			     DIST_OK);
		cr_expect_eq(task.op.error, DIST_ERR_ABORTED);
		cr_expect_eq(now(&seat), MS);
		seat.t->ops->lane_free(lane);
	}
	leave(&seat);
	return 0;
}

Test(sim_transport, an_abort_frees_the_ranks_own_lane)
{
	cr_assert_eq(simulate(2, abort_a_lane, NULL), DIST_EXIT_OK);
}

/* ---- joining -------------------------------------------------------- */

static int join_twice(void *arg)
{
	struct seat seat = sit();
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct dist__place place;

	(void)arg;
	cr_expect(dist__sim_world.is_here());
	cr_expect_eq(dist__sim_world.attach(&options, &place, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	seat.t->ops->abort(seat.t, 0);
	leave(&seat);
	options.world_size = 2;
	options.rank = 1 - seat.rank;
	cr_expect_eq(dist__sim_world.attach(&options, &place, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	seat = sit();
	finish(&seat, seat.rank == 0 ? isend(&seat, 1, NULL, 0)
				     : irecv(&seat, 0, NULL, 0));
	leave(&seat);
	return 0;
}

Test(sim_transport, a_rank_joins_once_at_a_time)
{
	cr_assert_eq(simulate(2, join_twice, NULL), DIST_EXIT_OK);
}

Test(sim_transport, there_is_no_joining_outside_a_simulation)
{
	struct dist_init_options options = {0};
	struct dist_message message = {""};
	struct dist__place place;

	cr_expect_not(dist__sim_world.is_here());
	cr_expect_eq(dist__sim_world.attach(&options, &place, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect(strstr(message.text, "dist_launch") != NULL);
}

static int fail(void *arg)
{
	(void)arg;
	return 3;
}

Test(sim_transport, a_failed_rank_fails_the_job)
{
	cr_assert_eq(simulate(2, fail, NULL), DIST_EXIT_FAILED);
}

/* ---- the same every time -------------------------------------------- */

/* Ranks that drift, all to all: their ends, one by one. */
static int drift(void *arg)
{
	struct seat seat = sit();
	struct dist__request *requests[8];
	int64_t *ends = arg;
	size_t n = 0;

	for (int round = 0; round < 3; round++) {
		n = 0;
		for (int peer = 0; peer < 4; peer++) {
			size_t bytes = (size_t)(1 + peer + seat.rank) * 100000;

			if (peer == seat.rank)
				continue;
			requests[n++] = irecv(&seat, peer, NULL, bytes);
			requests[n++] = isend(&seat, peer, NULL, bytes);
		}
		for (size_t i = 0; i < n; i++)
			finish(&seat, requests[i]);
		compute(&seat, (7 + seat.rank * 13 % 5) * US);
		ends[seat.rank * 3 + round] = now(&seat);
	}
	leave(&seat);
	return 0;
}

/* Simulates in a child process and stores what it measured. */
static void measure(int64_t ends[12])
{
	int pipe_ends[2], status = -1;
	pid_t child;

	cr_assert_eq(pipe(pipe_ends), 0);
	child = fork();
	if (child == 0) {
		int64_t mine[12] = {0};

		status = launch(4, drift, mine);
		if (write(pipe_ends[1], mine, sizeof mine) != sizeof mine)
			status = 1;
		_exit(status);
	}
	cr_assert_gt(child, 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	cr_assert_eq(read(pipe_ends[0], ends, 12 * sizeof ends[0]),
		     12 * (ssize_t)sizeof ends[0]);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

Test(sim_transport, two_runs_take_the_same_times)
{
	int64_t first[12], second[12];

	measure(first);
	measure(second);
	cr_expect_gt(first[0], 0);
	cr_expect_arr_eq(first, second, sizeof first);
}
