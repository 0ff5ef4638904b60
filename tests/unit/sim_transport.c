/*
 * What a message costs in the simulated world. Each test is
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

#include "tests/support/okay.h"
#include "tests/support/seat.h"

/* Of the 40 us in which a receiver copies a megabyte, those of the last 64 KiB.
 */
#define LAST_NS (40 * US * 65536 / MEGABYTE)

/* ---- time ----------------------------------------------------------- */

static int ping_pong(void *arg)
{
	struct seat seat = seat_take();
	int peer = 1 - seat.rank;

	(void)arg;
	for (int i = 0; i < 2; i++) {
		bool sends = (i == 0) == (seat.rank == 0);

		seat_finish(&seat,
			    sends ? seat_isend(&seat, peer, NULL, MEGABYTE)
				  : seat_irecv(&seat, peer, NULL, MEGABYTE));
		cr_expect_eq(seat_now(&seat), (i + 1) * MEGABYTE_NS);
	}
	seat_leave(&seat);
	return 0;
}

Test(sim_transport, a_message_takes_latency_and_size_over_bandwidth)
{
	cr_assert_eq(seat_simulate(2, ping_pong, NULL), DIST_EXIT_OK);
}

SEAT_TEST(sim_transport, an_empty_message_takes_the_latency, 2, DIST_EXIT_OK,
	  NULL)
{
	seat_finish(seat, seat->rank == 0 ? seat_isend(seat, 1, NULL, 0)
					  : seat_irecv(seat, 0, NULL, 0));
	cr_expect_eq(seat_now(seat), 2 * US);
}

SEAT_TEST(sim_transport, links_are_full_duplex, 2, DIST_EXIT_OK, NULL)
{
	struct dist__request *in, *out;

	in = seat_irecv(seat, 1 - seat->rank, NULL, MEGABYTE);
	out = seat_isend(seat, 1 - seat->rank, NULL, MEGABYTE);
	seat_finish(seat, in);
	seat_finish(seat, out);
	cr_expect_eq(seat_now(seat), MEGABYTE_NS);
}

SEAT_TEST(sim_transport, a_transfer_starts_when_both_ends_are_posted, 2,
	  DIST_EXIT_OK, NULL)
{
	if (seat->rank == 1)
		seat_compute(seat, MS);
	seat_finish(seat, seat->rank == 0
				  ? seat_isend(seat, 1, NULL, MEGABYTE)
				  : seat_irecv(seat, 0, NULL, MEGABYTE));
	cr_expect_eq(seat_now(seat), MS + MEGABYTE_NS);
}

SEAT_TEST(sim_transport, an_unsuccessful_look_costs_a_microsecond, 2,
	  DIST_EXIT_OK, NULL)
{
	struct dist__request *request;
	int looks = 0;

	if (seat->rank == 0) {
		seat_compute(seat, 10 * US);
		seat_finish(seat, seat_isend(seat, 1, NULL, MEGABYTE));
	} else {
		request = seat_irecv(seat, 0, NULL, MEGABYTE);
		while (!seat->t->ops->test(seat->t, request))
			looks++;
		seat_finish(seat, request);
		cr_expect_eq(looks, 92);
		cr_expect_eq(seat_now(seat), 92 * US);
	}
}

static int charged(void *arg)
{
	struct seat seat = seat_take();

	/* A reduction of 5 us, the sender's 1 us, then the transfer; what is
	 * owed at the end, of a reduction and a copy, shows on the clock. */
	(void)arg;
	if (seat.rank == 0) {
		seat.t->ops->simulation->charge_reduce(seat.t, 5000);
		seat_finish(&seat, seat_isend(&seat, 1, NULL, MEGABYTE));
		seat.t->ops->simulation->charge_reduce(seat.t, 1000);
		seat.t->ops->simulation->charge_copy(seat.t, NULL, 4000);
		cr_expect_eq(seat_now(&seat), 9 * US + MEGABYTE_NS);
	} else {
		seat_finish(&seat, seat_irecv(&seat, 0, NULL, MEGABYTE));
		cr_expect_eq(seat_now(&seat), 6 * US + MEGABYTE_NS);
	}
	seat_leave(&seat);
	return 0;
}

static int simulate_by(const char *profile, int ranks, int (*program)(void *))
{
	return seat_simulate_by(STAR4, profile, ranks, program);
}

Test(sim_transport, a_profile_charges_messages_reductions_and_copies)
{
	cr_assert_eq(simulate_by("name: charging\nversion: 1\n"
				 "source: this test\n"
				 "message_overhead_ns: 1000\n"
				 "reduce_Bps: 1.0e9\n"
				 "copy_Bps: 2.0e9\n",
				 2, charged),
		     DIST_EXIT_OK);
}

/* Of MEGABYTE, at half and at twice the rate of the profile. */
SEAT_TEST(sim_transport, a_profile_charges_copies_at_their_share, 2,
	  DIST_EXIT_OK,
	  "name: copies\n"
	  "copy_Bps: 2.0e9\n"
	  "rates:\n"
	  "  - {bytes: 250000, share: 1, copy_share: 2}\n"
	  "  - {bytes: 1000000, share: 1, "
	  "copy_share: 0.5}\n")
{
	seat->t->ops->simulation->charge_copy(seat->t, NULL, MEGABYTE);
	cr_expect_eq(seat_now(seat), 1 * MS);
	seat->t->ops->simulation->charge_copy(seat->t, NULL, MEGABYTE / 4);
	cr_expect_eq(seat_now(seat), 1 * MS + MS / 16);
}

/* What came in a message is added up once, at its share: 1 ms, then 2 ms. */
SEAT_TEST(sim_transport, a_profile_charges_sums_of_what_came_at_their_share, 2,
	  DIST_EXIT_OK,
	  "name: sums\n"
	  "reduce_Bps: 0.5e9\n"
	  "intra: shm\n"
	  "rates:\n"
	  "  - {bytes: 8, share: 1, sum_share: 2}\n")
{
	if (seat->rank == 0) {
		seat_finish(seat, seat_isend(seat, 1, NULL, MEGABYTE));
	} else {
		seat_finish(seat, seat_irecv(seat, 0, NULL, MEGABYTE));
		seat->t->ops->simulation->charge_reduce(seat->t, MEGABYTE);
		cr_expect_eq(seat_now(seat), 1 * MS + MEGABYTE_NS);
		seat->t->ops->simulation->charge_reduce(seat->t, MEGABYTE);
		cr_expect_eq(seat_now(seat), 3 * MS + MEGABYTE_NS);
	}
}

/*
 * Ranks 0 and 2 send to rank 1 at once: on two cores rank 2 has its turn after
 * rank 0. Receives take of rank 1's core, one after the other.
 */
SEAT_TEST(sim_transport, ranks_of_one_core_take_turns, 3, DIST_EXIT_OK,
	  "name: shared cores\n"
	  "message_overhead_ns: 1000\n"
	  "receive_overhead_ns: 500\n"
	  "cores: 2\n")
{
	const int64_t ends_ns[] = {3 * US, 4 * US + 500, 4 * US};

	if (seat->rank == 1) {
		struct dist__request *first = seat_irecv(seat, 0, NULL, 0);
		struct dist__request *second = seat_irecv(seat, 2, NULL, 0);

		seat_finish(seat, first);
		cr_expect_eq(seat_now(seat), 3 * US + 500);
		seat_finish(seat, second);
	} else {
		seat_finish(seat, seat_isend(seat, 1, NULL, 0));
	}
	cr_expect_eq(seat_now(seat), ends_ns[seat->rank]);
}

/*
 * On two cores rank 0 sends rank 1 two messages, and rank 2 one, at once: rank
 * 2 has its turn when rank 0 has sent both. What rank 1 sends then rank 2 comes
 * to wait for; it shares its core, and rank 1, which waits for all three, does
 * not. A call is charged once, of the rank that is in it.
 */
SEAT_TEST(sim_transport, a_rank_has_its_core_until_it_waits, 3, DIST_EXIT_OK,
	  "name: shared cores\n"
	  "call_ns: 3000\n"
	  "message_overhead_ns: 1000\n"
	  "receive_overhead_ns: 500\n"
	  "wait_ns: 2000\n"
	  "intra: shm\n"
	  "cores: 2\n"
	  "window_bytes: 0\n")
{
	const int64_t ends_ns[] = {5 * US, 15 * US + 500, 20 * US};
	struct dist__message out[2], in[3];
	int sent[] = {2, 0, 1};

	for (int i = 0; i < 3; i++)
		in[i] = seat_message(i == 2 ? 2 : 0, NULL, 0);
	for (int i = 0; i < 2; i++)
		out[i] = seat_message(1, NULL, 0);
	cr_expect_eq(seat->t->ops->exchange(seat->t, in,
					    seat->rank == 1 ? 3 : 0, out,
					    sent[seat->rank], NEVER),
		     DIST_OK);
	in[0] = seat_message(1, NULL, 0);
	out[0] = seat_message(2, NULL, 0);
	in[0].seq++;
	out[0].seq++;
	if (seat->rank == 1)
		cr_expect_eq(seat_now(seat), 11 * US + 500);
	if (seat->rank > 0)
		cr_expect_eq(seat->t->ops->exchange(seat->t, in,
						    seat->rank == 2, out,
						    seat->rank == 1, NEVER),
			     DIST_OK);
	cr_expect(llabs(seat_now(seat) - ends_ns[seat->rank]) <= 1,
		  "rank %d: %lld ns", seat->rank, (long long)seat_now(seat));
}

/*
 * The same with a megabyte each, which takes 80 us of the sender's core, and of
 * the links at once, and 40 us of the receiver's: of that the last 64 KiB are
 * left when all is there.
 */
SEAT_TEST(sim_transport, bytes_take_the_core_of_either_end, 3, DIST_EXIT_OK,
	  "name: shared cores\n"
	  "cores: 2\n"
	  "send_Bps: 1.25e10\n"
	  "receive_Bps: 2.5e10\n")
{
	const int64_t ends_ns[] = {82 * US, 162 * US + LAST_NS, 162 * US};

	if (seat->rank == 1) {
		struct dist__request *first =
			seat_irecv(seat, 0, NULL, MEGABYTE);
		struct dist__request *second =
			seat_irecv(seat, 2, NULL, MEGABYTE);

		seat_finish(seat, first);
		cr_expect_eq(seat_now(seat), 82 * US + LAST_NS);
		seat_finish(seat, second);
	} else {
		seat_finish(seat, seat_isend(seat, 1, NULL, MEGABYTE));
	}
	cr_expect_eq(seat_now(seat), ends_ns[seat->rank]);
}

/* A megabyte to a rank of the same core: a quarter of all that, and while it is
 * on its way the core has time for 2 us of the copying. */
SEAT_TEST(sim_transport, bytes_between_ranks_of_a_core_have_a_share, 3,
	  DIST_EXIT_OK,
	  "name: shared cores\n"
	  "cores: 2\n"
	  "send_Bps: 1.25e10\n"
	  "receive_Bps: 2.5e10\n"
	  "rates: [{bytes: 8, share: 1, "
	  "core_share: 4}]\n")
{
	if (seat->rank == 0)
		seat_finish(seat, seat_isend(seat, 2, NULL, MEGABYTE));
	if (seat->rank == 2)
		seat_finish(seat, seat_irecv(seat, 0, NULL, MEGABYTE));
	if (seat->rank != 1)
		cr_expect_eq(seat_now(seat), (seat->rank == 0 ? 22 : 30) * US);
}

/* Its sender does not wait for what fills the window, but copies it. */
SEAT_TEST(sim_transport, a_sender_goes_on_when_it_has_copied, 2, DIST_EXIT_OK,
	  "name: shared cores\n"
	  "cores: 2\n"
	  "send_Bps: 1.25e10\n"
	  "receive_Bps: 2.5e10\n"
	  "window_bytes: 0\n")
{
	seat_finish(seat, seat->rank == 0
				  ? seat_isend(seat, 1, NULL, MEGABYTE)
				  : seat_irecv(seat, 0, NULL, MEGABYTE));
	cr_expect_eq(seat_now(seat),
		     seat->rank == 0 ? 80 * US : 82 * US + LAST_NS);
}

/* Who comes when all is there has all of it to copy. */
SEAT_TEST(sim_transport, who_comes_late_has_all_to_copy, 2, DIST_EXIT_OK,
	  "name: shared cores\n"
	  "cores: 2\n"
	  "send_Bps: 1.25e10\n"
	  "receive_Bps: 2.5e10\n"
	  "window_bytes: 0\n")
{
	if (seat->rank == 0) {
		seat_finish(seat, seat_isend(seat, 1, NULL, MEGABYTE));
	} else {
		cr_expect_eq(seat->t->ops->compute(seat->t, 100 * US), DIST_OK);
		seat_finish(seat, seat_irecv(seat, 0, NULL, MEGABYTE));
		cr_expect_eq(seat_now(seat), 140 * US);
	}
}

Test(sim_transport, bytes_take_no_core_that_is_not_shared)
{
	cr_assert_eq(simulate_by("name: own cores\n"
				 "send_Bps: 1.25e9\n"
				 "receive_Bps: 2.5e9\n",
				 2, ping_pong),
		     DIST_EXIT_OK);
}

/* A megabyte, then one of a hundredth; the latter at half the links' rate. */
SEAT_TEST(sim_transport, a_profile_has_rates_by_size, 2, DIST_EXIT_OK,
	  "name: by size\nrates:\n"
	  "  - {bytes: 10000, share: 0.5}\n"
	  "  - {bytes: 1000000, share: 1}\n")
{
	int peer = 1 - seat->rank;

	for (int i = 0; i < 2; i++) {
		size_t bytes = i == 0 ? MEGABYTE : MEGABYTE / 100;

		seat_finish(seat,
			    seat->rank == 0
				    ? seat_isend(seat, peer, NULL, bytes)
				    : seat_irecv(seat, peer, NULL, bytes));
	}
	cr_expect_eq(seat_now(seat), MEGABYTE_NS + 2 * US + 2 * 800);
}

/*
 * Rank 0 sends two megabytes to rank 1 and one to rank 2 and waits for none. On
 * its link the two connections share, until the second megabyte to rank 1,
 * which waits for the first, has it alone; what is short is a rendezvous.
 */
static int streams(void *arg)
{
	const int64_t shared_ns = 2 * US + 2 * (MEGABYTE_NS - 2 * US);
	struct seat seat = seat_take();

	(void)arg;
	if (seat.rank == 0) {
		for (int i = 0; i < 3; i++)
			seat_finish(&seat, seat_isend(&seat, 1 + i / 2, NULL,
						      MEGABYTE));
		cr_expect_eq(seat_now(&seat), 0);
		seat_finish(&seat, seat_isend(&seat, 3, NULL, 0));
		cr_expect_eq(seat_now(&seat), MS + 2 * US);
	} else if (seat.rank < 3) {
		seat_finish(&seat, seat_irecv(&seat, 0, NULL, MEGABYTE));
		cr_expect_eq(seat_now(&seat), shared_ns);
	} else {
		seat_compute(&seat, MS);
		seat_finish(&seat, seat_irecv(&seat, 0, NULL, 0));
	}
	if (seat.rank == 1) {
		seat_finish(&seat, seat_irecv(&seat, 0, NULL, MEGABYTE));
		cr_expect_eq(seat_now(&seat), shared_ns + MEGABYTE_NS);
	}
	seat_leave(&seat);
	return 0;
}

Test(sim_transport, a_message_that_fills_the_window_is_not_waited_for)
{
	cr_assert_eq(simulate_by("name: streams\nwindow_bytes: 1000000\n", 4,
				 streams),
		     DIST_EXIT_OK);
}

/* ---- payload -------------------------------------------------------- */

SEAT_TEST(sim_transport, the_payload_is_the_senders_at_isend, 2, DIST_EXIT_OK,
	  NULL)
{
	int value;

	for (int i = 0; i < 5; i++) {
		value = seat->rank == 0 ? 100 + i : -1;
		if (seat->rank == 0) {
			seat_finish(seat,
				    seat_isend(seat, 1, &value, sizeof value));
			value = -2;
		} else {
			seat_finish(seat,
				    seat_irecv(seat, 0, &value, sizeof value));
			cr_expect_eq(value, 100 + i);
		}
	}
}

SEAT_TEST(sim_transport, a_phantom_has_size_and_no_bytes, 2, DIST_EXIT_OK, NULL)
{
	const size_t terabyte = (size_t)1000000000000;

	seat_finish(seat, seat->rank == 0
				  ? seat_isend(seat, 1, NULL, terabyte)
				  : seat_irecv(seat, 0, NULL, terabyte));
	cr_expect_eq(seat_now(seat), INT64_C(80000002000));
}

SEAT_TEST(sim_transport, equal_tags_match_in_the_order_sent, 2, DIST_EXIT_OK,
	  NULL)
{
	struct dist__request *requests[4];
	int values[4] = {-1, -1, -1, -1};

	/* Two messages of each of two tags, received tag by tag. */
	for (int i = 0; i < 4; i++) {
		struct dist__message m;

		m = seat_message(1 - seat->rank, &values[i], sizeof values[i]);
		m.tag = seat->rank == 0 ? i % 2 : i / 2;
		if (seat->rank == 0) {
			values[i] = i;
			seat->t->ops->isend(seat->t, &m, &requests[i]);
		} else {
			seat->t->ops->irecv(seat->t, &m, &requests[i]);
		}
	}
	for (int i = 4; i-- > 0;)
		seat_finish(seat, requests[i]);
	if (seat->rank == 1) {
		const int expected[4] = {0, 2, 1, 3};

		cr_expect_arr_eq(values, expected, sizeof values);
	}
}

SEAT_TEST(sim_transport, ends_that_disagree_both_hear_of_it, 2,
	  DIST_EXIT_FAILED, NULL)
{
	struct dist__message m = seat_message(1 - seat->rank, NULL, 8);
	struct dist__request *request = NULL;

	m.fingerprint += (uint64_t)seat->rank;
	if (seat->rank == 0)
		cr_assert_eq(seat->t->ops->isend(seat->t, &m, &request), 0);
	else
		cr_assert_eq(seat->t->ops->irecv(seat->t, &m, &request), 0);
	cr_expect_eq(seat_wait(seat, request, NEVER), DIST_ERR_MISMATCH);
}

/* ---- lanes ---------------------------------------------------------- */

SEAT_TEST(sim_transport, a_lane_works_while_the_rank_computes, 2, DIST_EXIT_OK,
	  NULL)
{
	struct dist__lane *lane = NULL;
	struct task tasks[2];

	okay(seat->t->ops->lanes->create(seat->t, &lane));
	for (int i = 0; i < 2; i++)
		task_submit(seat, lane, &tasks[i]);
	seat_compute(seat, 100 * US);
	cr_expect(dist__op_is_done(&tasks[0].op));
	cr_expect_not(dist__op_is_done(&tasks[1].op));
	cr_expect_eq(tasks[0].op.ended_ns, MEGABYTE_NS);
	cr_expect_eq(seat->t->ops->lanes->wait(lane, &tasks[1].op, 101 * US),
		     DIST_ERR_TIMEOUT);
	cr_expect_eq(seat_now(seat), 101 * US);
	cr_expect_eq(seat->t->ops->lanes->wait(lane, &tasks[1].op, NEVER),
		     DIST_OK);
	cr_expect_eq(tasks[1].op.ended_ns, 2 * MEGABYTE_NS);
	cr_expect_eq(seat_now(seat), 2 * MEGABYTE_NS);
	seat->t->ops->lanes->free(lane);
}

static int leave_a_lane(void *arg)
{
	static struct seat left; /* the work outlives the rank program */
	static struct task task;
	struct seat seat = seat_take();
	struct dist__lane *lane = NULL;

	/* Rank 0 leaves work behind that nobody answers, a lane that never
	 * had any, and its transport. */
	(void)arg;
	if (seat.rank == 0) {
		left = seat;
		okay(seat.t->ops->lanes->create(seat.t, &lane));
		okay(seat.t->ops->lanes->create(seat.t, &lane));
		task_submit(&left, lane, &task);
		seat_compute(&seat, MS);
	}
	return 0;
}

Test(sim_transport, a_rank_may_leave_everything_behind)
{
	cr_assert_eq(seat_simulate(2, leave_a_lane, NULL), DIST_EXIT_OK);
}

/* ---- the same every time -------------------------------------------- */

/* Ranks that drift, all to all: their ends, one by one. */
static int drift(void *arg)
{
	struct seat seat = seat_take();
	struct dist__request *requests[8];
	int64_t *ends = arg;
	size_t n = 0;

	for (int round = 0; round < 3; round++) {
		n = 0;
		for (int peer = 0; peer < 4; peer++) {
			size_t bytes = (size_t)(1 + peer + seat.rank) * 100000;

			if (peer == seat.rank)
				continue;
			requests[n++] = seat_irecv(&seat, peer, NULL, bytes);
			requests[n++] = seat_isend(&seat, peer, NULL, bytes);
		}
		for (size_t i = 0; i < n; i++)
			seat_finish(&seat, requests[i]);
		seat_compute(&seat, (7 + seat.rank * 13 % 5) * US);
		ends[seat.rank * 3 + round] = seat_now(&seat);
	}
	seat_leave(&seat);
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

		status = seat_launch(4, drift, mine);
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
