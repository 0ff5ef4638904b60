/*
 * Links that let pass in order: what messages that meet there take. Each test
 * is one simulation of a small program over the bare transport. On queues4 a
 * message of n bytes takes 2 us + n / 12.5 GB/s, to and from rank 3 four times
 * as long; a turn of a connection is 62,636 bytes.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/support/seat.h"

#define QUEUES4 "tests/support/queues4.xml"

/* A message of a turn at most, and what it takes of a link. */
#define SHORT    ((size_t)50000)
#define SHORT_NS (4 * US)

/* Sends are the connection's. */
static int simulate(int ranks, int (*program)(void *))
{
	return seat_simulate_by(QUEUES4, "name: streams\nwindow_bytes: 65536\n",
				ranks, program);
}

static void send(struct seat *seat, int peer, size_t bytes)
{
	seat_finish(seat, seat_isend(seat, peer, NULL, bytes));
}

/* Returns when it is there. */
static int64_t receive(struct seat *seat, int peer, size_t bytes)
{
	seat_finish(seat, seat_irecv(seat, peer, NULL, bytes));
	return seat_now(seat);
}

static int alone(void *arg)
{
	static const size_t bytes[] = {0, 1, SHORT, MEGABYTE};
	struct seat seat = seat_take();
	int64_t then;

	(void)arg;
	for (int i = 0; i < 4 && seat.rank % 3 == 0; i++) {
		int64_t link_ns = (int64_t)(bytes[i] * 4 / 12.5 + 0.5);

		if (seat.rank == 0) {
			send(&seat, 3, bytes[i]);
			cr_expect_eq(seat_now(&seat), i * MS);
		} else {
			then = receive(&seat, 0, bytes[i]);
			cr_expect_eq(then, i * MS + 2 * US + link_ns);
		}
		seat_compute(&seat, (i + 1) * MS - seat_now(&seat));
	}
	seat_leave(&seat);
	return 0;
}

Test(queues, a_message_alone_takes_latency_and_size_over_bandwidth)
{
	cr_assert_eq(simulate(4, alone), DIST_EXIT_OK);
}

/* Shared, both would be there when the second is. */
static int one_by_one(void *arg)
{
	struct seat seat = seat_take();

	(void)arg;
	for (int peer = 1; peer < 3; peer++)
		if (seat.rank == 0)
			send(&seat, peer, SHORT);
		else if (seat.rank == peer)
			cr_expect_eq(receive(&seat, 0, SHORT),
				     2 * US + peer * SHORT_NS);
	seat_leave(&seat);
	return 0;
}

Test(queues, short_messages_leave_a_host_one_by_one)
{
	cr_assert_eq(simulate(3, one_by_one), DIST_EXIT_OK);
}

/* Rank 3 is still receiving when another one sends to it: shared, the first
 * would be there when the second is. */
static int behind(void *arg)
{
	struct seat seat = seat_take();

	(void)arg;
	if (seat.rank == 1)
		seat_compute(&seat, SHORT_NS);
	if (seat.rank < 2)
		send(&seat, 3, SHORT);
	if (seat.rank == 3) {
		struct dist__request *second =
			seat_irecv(&seat, 1, NULL, SHORT);

		cr_expect_eq(receive(&seat, 0, SHORT), 2 * US + 4 * SHORT_NS);
		seat_finish(&seat, second);
		cr_expect_eq(seat_now(&seat), 2 * US + 8 * SHORT_NS);
	}
	seat_leave(&seat);
	return 0;
}

Test(queues, what_comes_second_to_a_slow_link_waits)
{
	cr_assert_eq(simulate(4, behind), DIST_EXIT_OK);
}

/* 16 turns each, the last of which are not whole; the two ways have the first
 * link alone in common. */
static int by_turns(void *arg)
{
	const int64_t both_ns = 2 * (MEGABYTE_NS - 2 * US);
	const int64_t last_ns = (int64_t)((MEGABYTE - 15 * 62636) / 12.5);
	struct seat seat = seat_take();

	(void)arg;
	if (seat.rank == 0) {
		send(&seat, 1, MEGABYTE);
		send(&seat, 2, MEGABYTE);
		cr_expect_eq(seat_now(&seat), 0);
	} else {
		int64_t there = receive(&seat, 0, MEGABYTE);

		cr_expect_leq(llabs(there - 2 * US - both_ns +
				    (seat.rank == 1 ? last_ns : 0)),
			      1);
	}
	seat_leave(&seat);
	return 0;
}

Test(queues, long_messages_of_a_host_take_turns)
{
	cr_assert_eq(simulate(3, by_turns), DIST_EXIT_OK);
}

/* A connection to a slow host fills its window, and then leaves the link to
 * others: three quarters of it, less what turns cost at the begin. */
static int window(void *arg)
{
	struct seat seat = seat_take();

	(void)arg;
	if (seat.rank == 0) {
		send(&seat, 3, 10 * MEGABYTE);
		send(&seat, 2, 10 * MEGABYTE);
	} else if (seat.rank == 3) {
		cr_expect_eq(receive(&seat, 0, 10 * MEGABYTE),
			     2 * US + 40 * (MEGABYTE_NS - 2 * US));
	} else if (seat.rank == 2) {
		double ideal_ns = 10 * (double)(MEGABYTE_NS - 2 * US) / 0.75;
		double there_ns = (double)receive(&seat, 0, 10 * MEGABYTE);

		cr_expect_float_eq(there_ns, ideal_ns, 0.03 * ideal_ns);
	}
	seat_leave(&seat);
	return 0;
}

Test(queues, a_window_leaves_the_link_to_others)
{
	cr_assert_eq(simulate(4, window), DIST_EXIT_OK);
}
