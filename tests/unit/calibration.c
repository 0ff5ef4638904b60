/* Fitting a model of loopback to measures that follow one. */
#include <criterion/criterion.h>
#include <math.h>

#include "model/loopback/calibration.h"

static struct calibration_model model; /* what was fitted */
static const char *what;               /* spreads the most */

static struct dist__sample exactly(double value)
{
	return (struct dist__sample){value, value, value, value, value};
}

/* Measures of a machine with the given constants and no noise. */
static struct calibration_measures ideal(double alpha_ns, double capacity_Bps)
{
	struct calibration_measures m = {.world_size = 4};
	int i;

	m.half_trip = exactly(alpha_ns / 2);
	m.round = exactly(alpha_ns);
	m.issue = exactly(2000);
	m.pair_message = exactly(1048576 / 3.0); /* 3 GB/s */
	m.reduce = exactly(1048576 / 5.0);       /* 5 GB/s */
	m.exchange[0] = exactly(alpha_ns);
	for (i = 1; i < CALIBRATION_SIZES; i++)
		m.exchange[i] =
			exactly(alpha_ns + (double)calibration_bytes[i] * 4 /
						   capacity_Bps * 1e9);
	for (i = 1; i < CALIBRATION_SIZES; i++)
		m.copies[i] =
			exactly((double)calibration_bytes[i] / 6); /* 6 GB/s */
	return m;
}

/* The same of one machine of four ranks on so many cores, where a call takes 1
 * us, a send 0.5 us, a receive 0.8 us, a wait for a turn 0.9 us, to add up a
 * byte that came 0.1 ns, 0.6 of a byte is its sender's, and a step of an
 * exchange step_ns. */
static struct calibration_measures node(int cores, double step_ns)
{
	int turns = 4 / cores;
	struct calibration_measures m = ideal(turns * step_ns, 4e9);

	m.cores = cores;
	m.in_memory = true;
	m.round = exactly(1); /* no part of the fit */
	m.call = exactly(1000);
	m.sends = exactly(1000 + 3 * 500);
	m.receives = exactly(1000 + 3 * 800 + (turns - 1) * (1000 + 500));
	m.waits = exactly(turns * (1000 + 3 * (500 + 800)) + (turns - 1) * 900);
	for (int i = 1; i < CALIBRATION_SIZES; i++)
		m.sums[i] = exactly(2 * m.exchange[i].median +
				    turns * 0.1 * (double)calibration_bytes[i]);
	m.one_way = exactly(
		0.6 * (double)calibration_bytes[CALIBRATION_ONE_WAY] / turns);
	return m;
}

static bool near(double value, double expected)
{
	return fabs(value / expected - 1) < 1e-9;
}

Test(calibration, finds_the_constants_of_an_ideal_machine)
{
	struct calibration_measures m = ideal(20000, 4e9);

	calibration_fit(&m, &model);
	cr_assert(near(model.overhead_ns, 2000));
	cr_assert(near(model.latency_ns, 18000));
	cr_assert(near(model.pair_Bps, 3e9));
	cr_assert(near(model.capacity_Bps, 4e9), "%g", model.capacity_Bps);
	cr_assert(near(model.reduce_Bps, 5e9));
	cr_assert(near(model.copy_Bps, 6e9));
	cr_assert_lt(model.residual, 1e-3);
	cr_assert_eq(calibration_spread(&m, &what), 0);
}

/* Twice as fast to 64 KiB, as from a cache, and nothing learnt of 16 KiB. */
Test(calibration, finds_rates_by_size)
{
	struct calibration_measures m = ideal(20000, 4e9);
	int i;

	for (i = 1; calibration_bytes[i] <= 65536; i++)
		m.exchange[i] =
			exactly(20000 + (double)calibration_bytes[i] * 4 / 8);
	calibration_fit(&m, &model);
	cr_assert(near(model.capacity_Bps, 4e9));
	cr_assert_eq(model.rates[0].bytes, 32768);
	cr_assert(near(model.rates[0].shares[DIST__LOAD], 2));
	cr_assert(near(model.rates[1].shares[DIST__LOAD], 2));
	cr_assert(near(model.rates[2].shares[DIST__LOAD], 1));
	cr_assert(near(calibration_exchange_ns(&model, 16384),
		       20000 + 16384 * 0.5));
	cr_assert(near(calibration_exchange_ns(&model, 2097152),
		       20000 + 2097152));
	/* 128 KiB by its neighbours: at one and a half. */
	cr_assert(near(1 - model.residual,
		       (20000 + 131072 / 1.5 * 4 / 4) / (20000 + 131072)),
		  "%g", model.residual);
}

Test(calibration, overhead_never_eats_the_latency)
{
	struct calibration_measures m = ideal(3000, 4e9);

	calibration_fit(&m, &model);
	cr_assert_gt(model.latency_ns, 0);
	cr_assert(near(model.overhead_ns + model.latency_ns, 3000));
}

Test(calibration, two_ranks_take_half_a_round_trip)
{
	struct calibration_measures m = ideal(20000, 4e9);

	m.world_size = 2;
	m.round.high_quartile *= 9; /* no part of the fit */
	calibration_fit(&m, &model);
	cr_assert(near(model.overhead_ns + model.latency_ns, 10000));
	cr_assert_eq(calibration_spread(&m, &what), 0);
}

/* Four ranks on two cores, and the two of a core exchange twice as fast. */
Test(calibration, finds_what_stays_on_a_core)
{
	struct calibration_measures m = ideal(20000, 4e9);

	m.cores = 2;
	calibration_fit(&m, &model);
	for (size_t i = 0; i < model.num_rates; i++)
		cr_expect(near(model.rates[i].shares[DIST__CORE_LOAD], 1));
	for (int i = 1; i < CALIBRATION_SIZES; i++)
		m.core_exchange[i] =
			exactly(20000 + (double)calibration_bytes[i] / 2);
	calibration_fit(&m, &model);
	for (size_t i = 0; i < model.num_rates; i++) {
		cr_expect(near(model.rates[i].shares[DIST__LOAD], 1));
		cr_expect(near(model.rates[i].shares[DIST__CORE_LOAD], 2));
	}
	cr_assert_eq(calibration_spread(&m, &what), 0);
	m.core_exchange[5].high_quartile *= 2;
	cr_assert(near(calibration_spread(&m, &what), 1));
	cr_assert_str_eq(what, "an exchange on one core");
}

/* Four ranks on two cores; 1 KiB waited for the turn of another rank. */
Test(calibration, ranks_of_one_core_take_turns)
{
	struct calibration_measures m = ideal(20000, 4e9);

	m.cores = 2;
	m.exchange[0].high_quartile *= 9; /* no part of the fit */
	m.pair_message.high_quartile *= 9;
	m.exchange[1] = exactly(90000);
	calibration_fit(&m, &model);
	cr_assert_eq(calibration_spread(&m, &what), 0);
	cr_assert_eq(model.cores, 2);
	cr_assert(near(model.overhead_ns, 2000));
	cr_assert(near(model.overhead_ns + model.receive_ns + model.latency_ns,
		       10000));
	cr_assert(near(model.capacity_Bps, 4e9), "%g", model.capacity_Bps);
	cr_assert(near(model.send_Bps, 3e9), "%g", model.send_Bps);
	cr_assert(near(model.receive_Bps, 6e9), "%g", model.receive_Bps);
	cr_assert_eq(model.rates[0].bytes, calibration_bytes[1]);
	cr_assert(near(model.rates[0].shares[DIST__LOAD], 1));
	cr_assert(near(calibration_exchange_ns(&model, 8), 20000 + 8));
	cr_assert(near(calibration_exchange_ns(&model, 2097152),
		       20000 + 2097152));
}

Test(calibration, a_receive_takes_some_of_a_message)
{
	struct calibration_measures m = ideal(10000, 4e9);

	m.cores = 4;
	m.issue = exactly(30000);
	calibration_fit(&m, &model);
	cr_assert(near(model.overhead_ns, 8000));
	cr_assert_gt(model.receive_ns, 0);
	cr_assert_gt(model.latency_ns, 0);
}

/* The same through memory. */
Test(calibration, a_rank_leaves_its_core_to_wait)
{
	struct calibration_measures m = node(2, 10000);

	m.pair_message.high_quartile *= 9; /* no part of the fit */
	m.issue.high_quartile *= 9;
	m.exchange[1] = exactly(19000); /* in luck */
	m.exchange[2] = exactly(26000); /* lines on their way */
	for (int i = 1; i < CALIBRATION_SIZES; i++)
		m.core_exchange[i] = m.exchange[i];
	m.core_exchange[4] = exactly(90000); /* waited for its turn */
	calibration_fit(&m, &model);
	cr_assert_eq(calibration_spread(&m, &what), 0);
	cr_assert_eq(model.cores, 2);
	cr_assert(near(model.call_ns, 1000));
	cr_assert(near(model.overhead_ns, 500));
	cr_assert(near(model.receive_ns, 800));
	cr_assert(near(model.wait_ns, 900));
	cr_assert(near(model.capacity_Bps, 4e9), "%g", model.capacity_Bps);
	cr_assert(near(model.send_Bps, 2e9 / 0.6), "%g", model.send_Bps);
	cr_assert(near(model.receive_Bps, 2e9 / 0.4), "%g", model.receive_Bps);
	cr_assert_eq(model.rates[0].bytes, calibration_bytes[4]);
	cr_assert(near(calibration_exchange_ns(&model, 1024), 20000 + 1024));
	cr_assert(near(model.rates[0].shares[DIST__CORE_LOAD], 1));
	cr_assert(near(calibration_exchange_ns(&model, 2097152),
		       20000 + 2097152));
}

/* 64 bytes are next to nothing, as 8 are. */
Test(calibration, the_slower_of_the_shortest_rings_counts)
{
	struct calibration_measures m = node(2, 10000);

	m.exchange[1] = exactly(24000);
	calibration_fit(&m, &model);
	cr_assert(near(model.step_ns, 12000));
}

/* All of a core wait, and meanwhile the others' sends are done. */
Test(calibration, long_waits_are_of_all_ranks)
{
	struct calibration_measures m = node(2, 10000);

	m.waits = exactly(2 * (9000 + 3 * 800) + 1000 + 500);
	calibration_fit(&m, &model);
	cr_assert(near(model.wait_ns, 9000));
}

/* Calls that all wait in seem to take less than their messages. */
Test(calibration, a_wait_takes_no_time_rather_than_less)
{
	struct calibration_measures m = node(2, 10000);

	m.waits = exactly(5000);
	calibration_fit(&m, &model);
	cr_assert_eq(model.wait_ns, 0);
}

/* What is left of a step is the receive's, and nobody waits for a turn. */
Test(calibration, ranks_with_a_core_each_do_not_leave_it)
{
	struct calibration_measures m = node(4, 12000);

	calibration_fit(&m, &model);
	cr_assert(near(model.call_ns, 1000));
	cr_assert(near(model.overhead_ns, 500));
	cr_assert_eq(model.wait_ns, 0);
	cr_assert(near(model.receive_ns + model.latency_ns,
		       12000 - 1000 / 3.0 - 500));
	cr_assert(near(calibration_exchange_ns(&model, 8), 12000 + 8));
}

Test(calibration, a_receive_takes_some_of_a_step)
{
	struct calibration_measures m = node(4, 10000);

	m.sends = exactly(90000);
	calibration_fit(&m, &model);
	cr_assert_lt(model.overhead_ns, 8000);
	cr_assert_gt(model.receive_ns, 0);
	cr_assert_gt(model.latency_ns, 0);
}

/* What is as slow one way as both ways at once is its sender's but for a rest,
 * and what is faster than half of that could be, half of it. */
Test(calibration, a_sender_takes_half_of_a_byte_or_more)
{
	struct calibration_measures m = node(4, 10000);

	m.one_way =
		exactly(0.1 * (double)calibration_bytes[CALIBRATION_ONE_WAY]);
	calibration_fit(&m, &model);
	cr_assert(near(model.send_Bps, model.receive_Bps));
	m.one_way = exactly((double)calibration_bytes[CALIBRATION_ONE_WAY]);
	calibration_fit(&m, &model);
	cr_assert(near(model.send_Bps, 1e9 / 0.9), "%g", model.send_Bps);
}

/* By TCP one pair tells, where each rank has a core. */
Test(calibration, a_pair_tells_what_its_sender_takes)
{
	struct calibration_measures m = ideal(10000, 4e9);

	m.cores = 4;
	m.pair_message = exactly(0.6 * 1048576);
	calibration_fit(&m, &model);
	cr_assert(near(model.send_Bps, 1e9 / 0.6), "%g", model.send_Bps);
	cr_assert(near(model.receive_Bps, 1e9 / 0.4), "%g", model.receive_Bps);
	m.pair_message.high_quartile *= 1.25;
	cr_assert(near(calibration_spread(&m, &what), 0.25));
	cr_assert_str_eq(what, "stream of one pair");
}

/* A sum takes 0.2 ns a byte when nothing comes. */
Test(calibration, sums_have_a_rate_of_their_own)
{
	struct calibration_measures m = node(2, 10000);

	calibration_fit(&m, &model);
	for (size_t i = 0; i < model.num_rates; i++)
		cr_expect(near(model.rates[i].shares[DIST__SUM], 2), "%g",
			  model.rates[i].shares[DIST__SUM]);
	/* One that takes nothing has a rate all the same. */
	m.sums[CALIBRATION_SIZES - 1] = exactly(1);
	calibration_fit(&m, &model);
	cr_expect(isfinite(model.rates[model.num_rates - 1].shares[DIST__SUM]));
	m.in_memory = false;
	calibration_fit(&m, &model);
	cr_expect_eq(model.rates[0].shares[DIST__SUM], 1);
}

/* Four times as fast up to 64 KiB, as in a cache. */
Test(calibration, copies_have_a_rate_by_size)
{
	struct calibration_measures m = node(2, 10000);

	for (int i = 1; calibration_bytes[i] <= 65536; i++)
		m.copies[i] = exactly((double)calibration_bytes[i] / 24);
	calibration_fit(&m, &model);
	cr_expect(near(model.copy_Bps, 6e9));
	for (size_t i = 0; i < model.num_rates; i++)
		cr_expect(near(model.rates[i].shares[DIST__COPY],
			       model.rates[i].bytes <= 65536 ? 4 : 1));
}

/* What a call takes beside a step counts by the step. */
Test(calibration, a_call_spreads_by_what_it_is_a_part_of)
{
	struct calibration_measures m = node(2, 10000);

	m.sends.high_quartile += 5000;
	cr_expect(near(calibration_spread(&m, &what), 0.25));
	cr_expect_str_eq(what, "a call that sends");
	m.waits.high_quartile += m.waits.median / 2;
	cr_expect(near(calibration_spread(&m, &what), 0.5));
	cr_expect_str_eq(what, "a call that waits");
}

Test(calibration, stays_finite_when_size_costs_nothing)
{
	struct calibration_measures m = ideal(20000, 4e9);
	int i;

	for (i = 0; i < CALIBRATION_SIZES; i++)
		m.exchange[i] = exactly(20000);
	calibration_fit(&m, &model);
	cr_assert(isfinite(model.capacity_Bps));
	cr_assert_gt(model.capacity_Bps, 0);
	cr_assert_geq(model.pair_Bps, model.capacity_Bps / 4);
}

Test(calibration, names_the_noisiest_measure)
{
	struct calibration_measures m = ideal(20000, 4e9);

	m.half_trip.high_quartile *= 9; /* no part of the fit */
	m.reduce.low_quartile *= 0.5;
	m.reduce.high_quartile *= 1.5;
	cr_assert(near(calibration_spread(&m, &what), 1));
	cr_assert_str_eq(what, "local reduction");
}
