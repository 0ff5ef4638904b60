/*
 * The engine by itself: actors, gates, transfers and the clock, as engine.h
 * says. Links carry 12.5 GB/s; a route has two of them, of 1 us each.
 */

#include "sim/engine/engine.h"
#include "sim/platform/state.h"
#include "tests/support/okay.h"

#define LATENCY_S 2e-6
#define BYTES     12500000 /* a millisecond on a link */
#define BYTES_S   1e-3

static struct {
	struct dist__engine_gate gate;
	struct dist__engine_path path;
	struct dist__engine_end ends[3];
	enum dist__engine_outcome outcome;
	double end_s[6]; /* when actors and transfers were through */
	bool well[6];
	int num;
} seen;

/* A test of SimGrid, and of our own engine. */
#define BOTH(name)                                                             \
	static void name(void);                                                \
	Test(engine_simgrid, name)                                             \
	{                                                                      \
		name();                                                        \
	}                                                                      \
	Test(engine_own, name)                                                 \
	{                                                                      \
		is_own = true;                                                 \
		name();                                                        \
	}                                                                      \
	static void name(void)

static bool is_own;

static void open_engine(void)
{
	struct dist__platform *platform;
	struct dist_message message;

	okay_or(dist__platform_open("tests/support/star4.xml", 4, NULL, !is_own,
				    &platform, &message),
		message);
	cr_assert(dist__platform_start(platform, is_own));
	dist__platform_close(platform);
}

static void nothing(void *arg)
{
	(void)arg;
}

static void run(void)
{
	dist__engine->run(nothing, NULL);
}

static void note(int number)
{
	seen.end_s[number] = dist__engine->now_s();
	seen.num++;
}

static void expect_s(double found_s, double expected_s)
{
	cr_expect_float_eq(found_s, expected_s, 1e-9 * expected_s + 1e-15,
			   "%.12g, not %.12g", found_s, expected_s);
}

/* ---- transfers without an end ------------------------------------------- */

static void over(void *arg, bool well)
{
	int number = *(int *)arg;

	seen.well[number] = well;
	note(number);
}

static int numbers[] = {0, 1, 2, 3, 4, 5};

static void carry(int number, struct dist__engine_transfer transfer)
{
	transfer.bytes = BYTES;
	dist__engine->carry(&transfer, over, &numbers[number]);
}

/* The route from host 0 to 1 is the first's link up and the second's down. */
static void carry_some(void *arg)
{
	uint32_t links[2], twice[2];
	double latency_s;

	(void)arg;
	cr_assert_eq(dist__engine_way(0, 1, links, 2, &latency_s), 2);
	expect_s(latency_s, LATENCY_S);
	cr_expect_eq(dist__engine_way(0, 1, links, 1, NULL), 2);
	carry(0, (struct dist__engine_transfer){.from = 0, .to = 1});
	dist__engine->sleep(1);
	carry(1, (struct dist__engine_transfer){
			 .from = 0, .to = 1, .most_Bps = 1.25e9});
	dist__engine->sleep(1);
	twice[0] = twice[1] = links[0];
	carry(2, (struct dist__engine_transfer){
			 .links = twice, .num_links = 2, .latency_s = 5e-6});
	carry(5, (struct dist__engine_transfer){.links = &links[1],
						.num_links = 1,
						.latency_s = 5e-6,
						.most_Bps = 2.5e9});
	dist__engine->sleep(1);
	carry(3, (struct dist__engine_transfer){.from = 0, .to = 1});
	carry(4, (struct dist__engine_transfer){.from = 0, .to = 2});
}

BOTH(what_is_carried_takes_latency_and_bytes)
{
	open_engine();
	dist__engine->spawn(0, 0, carry_some, &seen);
	run();
	cr_assert_eq(seen.num, 6);
	expect_s(seen.end_s[0], LATENCY_S + BYTES_S);
	expect_s(seen.end_s[1], 1 + LATENCY_S + 10 * BYTES_S);
	expect_s(seen.end_s[2], 2 + 5e-6 + 2 * BYTES_S);
	expect_s(seen.end_s[3], 3 + LATENCY_S + 2 * BYTES_S);
	expect_s(seen.end_s[4], 3 + LATENCY_S + 2 * BYTES_S);
	expect_s(seen.end_s[5], 2 + 5e-6 + 5 * BYTES_S);
	for (int i = 0; i < 6; i++)
		cr_expect(seen.well[i]);
}

/* ---- transfers with ends ------------------------------------------------ */

static void post(int number, bool sends, int other)
{
	dist__engine->post(&seen.path, sends, sends ? BYTES : 0,
			   &seen.ends[number],
			   other < 0 ? NULL : &seen.ends[other]);
}

static void send_late(void *arg)
{
	(void)arg;
	dist__engine->sleep(1);
	post(1, true, 0);
	cr_expect(!dist__engine->has_ended(&seen.ends[1]));
	cr_expect_eq(dist__engine->wait(&seen.ends[1], -1), DIST__ENGINE_DONE);
	cr_expect_null(seen.ends[1].transfer);
	note(1);
}

static void receive_patiently(void *arg)
{
	(void)arg;
	dist__engine->open_path(&seen.path);
	post(0, false, -1);
	cr_expect_eq(dist__engine->wait(&seen.ends[0], 0.25),
		     DIST__ENGINE_LATE);
	expect_s(dist__engine->now_s(), 0.25);
	cr_expect_eq(dist__engine->wait(&seen.ends[0], -1), DIST__ENGINE_DONE);
	cr_expect_null(seen.ends[0].transfer);
	note(0);
}

static void begin_ends(void (*first)(void *arg), void (*second)(void *arg))
{
	open_engine();
	seen.path = (struct dist__engine_path){.from = 0, .to = 1};
	dist__engine->spawn(1, 0, first, &seen);
	if (second)
		dist__engine->spawn(0, 0, second, &seen);
	run();
}

BOTH(both_ends_end_together)
{
	begin_ends(receive_patiently, send_late);
	cr_assert_eq(seen.num, 2);
	expect_s(seen.end_s[0], 1 + LATENCY_S + BYTES_S);
	expect_s(seen.end_s[1], 1 + LATENCY_S + BYTES_S);
}

static void receive_and_fail(void *arg)
{
	(void)arg;
	dist__engine->open_path(&seen.path);
	post(0, false, -1);
	seen.outcome = dist__engine->wait(&seen.ends[0], 5);
	note(0);
}

static void send_and_cancel(void *arg)
{
	(void)arg;
	dist__engine->sleep(1);
	post(1, true, 0);
	dist__engine->sleep(BYTES_S / 2);
	cr_expect(!dist__engine->cancel(&seen.ends[1]));
	cr_expect_null(seen.ends[1].transfer);
}

BOTH(one_end_taken_back_fails_the_other)
{
	begin_ends(receive_and_fail, send_and_cancel);
	cr_assert_eq(seen.num, 1);
	cr_expect_eq(seen.outcome, DIST__ENGINE_FAILED);
	expect_s(seen.end_s[0], 1 + BYTES_S / 2);
}

static void fail_all(void *arg)
{
	(void)arg;
	dist__engine->sleep(1);
	dist__engine->fail(&seen.path, false, &seen.ends[0]);
}

BOTH(ends_that_nobody_meets_can_fail)
{
	begin_ends(receive_and_fail, fail_all);
	cr_assert_eq(seen.num, 1);
	cr_expect_neq(seen.outcome, DIST__ENGINE_LATE);
	expect_s(seen.end_s[0], 1);
}

static void start_one(void *arg)
{
	const struct dist__engine_transfer transfer = {.to = 1, .bytes = BYTES};

	(void)arg;
	dist__engine->start(&transfer, &seen.ends[2]);
	dist__engine->sleep(LATENCY_S + BYTES_S / 4);
	cr_expect_float_eq(dist__engine->bytes_left(&seen.ends[2]),
			   BYTES * 0.75, BYTES * 1e-6);
	cr_expect_eq(dist__engine->wait(&seen.ends[2], -1), DIST__ENGINE_DONE);
	note(2);
}

BOTH(what_is_started_can_be_looked_at)
{
	begin_ends(start_one, NULL);
	expect_s(seen.end_s[2], LATENCY_S + BYTES_S);
}

/* ---- gates and the clock ------------------------------------------------ */

static void wait_at_gate(void *arg)
{
	cr_expect_eq(dist__engine->self(), arg);
	cr_expect(!dist__engine->wait_at(&seen.gate, 1));
	cr_expect_null(seen.gate.waiter);
	expect_s(dist__engine->now_s(), 1);
	cr_expect(dist__engine->wait_at(&seen.gate, 5));
	cr_expect_null(seen.gate.waiter);
	expect_s(dist__engine->now_s(), 2);
	/* Opened in the very instant in which the time is up. */
	seen.well[0] = dist__engine->wait_at(&seen.gate, 1);
	expect_s(dist__engine->now_s(), 3);
	note(0);
}

static void open_gate(void *arg)
{
	(void)arg;
	dist__engine->sleep(2);
	dist__engine->open(&seen.gate);
	dist__engine->sleep(1);
	seen.well[1] = seen.gate.waiter != NULL;
	if (seen.well[1])
		dist__engine->open(&seen.gate);
	dist__engine->sleep(0);
	dist__engine->sleep(-1);
	expect_s(dist__engine->now_s(), 3);
	note(1);
}

BOTH(a_gate_opens_or_the_time_is_up)
{
	open_engine();
	dist__engine->spawn(0, 0, wait_at_gate, &numbers[0]);
	dist__engine->spawn(1, 0, open_gate, &numbers[1]);
	run();
	cr_expect_eq(seen.num, 2);
	cr_expect_eq(seen.well[0], seen.well[1], "who opens and who waits");
	cr_expect_null(dist__engine->self());
}

static void at_last(void *arg)
{
	*(double *)arg = dist__engine->now_s();
	cr_expect_eq(seen.num, 2, "before the actors of its instant");
}

static void yield_and_note(void *arg)
{
	int number = *(int *)arg;

	if (number == 0)
		dist__engine->at(dist__engine->now_s(), at_last,
				 &seen.end_s[2]);
	dist__engine->yield();
	note(number);
	dist__engine->sleep(1);
}

static void count_advance(void *arg)
{
	++*(int *)arg;
}

BOTH(the_end_of_an_instant_is_after_all_actors)
{
	int advances = 0;

	open_engine();
	seen.end_s[2] = -1;
	dist__engine->spawn(0, 0, yield_and_note, &numbers[0]);
	dist__engine->spawn(1, 0, yield_and_note, &numbers[1]);
	dist__engine->run(count_advance, &advances);
	expect_s(seen.end_s[2], 0);
	cr_expect_geq(advances, 1);
	expect_s(dist__engine->now_s(), 1);
}

BOTH(links_say_what_they_are)
{
	uint32_t links[2];
	struct dist__graph_link link;

	open_engine();
	cr_assert_eq(dist__engine_way(2, 3, links, 2, NULL), 2);
	cr_expect_lt(links[1], dist__engine_num_links());
	link = dist__engine->link(links[1]);
	cr_expect_eq(link.bandwidth_Bps, 12.5e9);
	cr_expect_eq(link.latency_s, 1e-6);
	cr_expect(link.is_on && link.is_shared);
}
