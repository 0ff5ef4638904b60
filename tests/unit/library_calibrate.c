/* Profiles made to agree with measured times. */
#include <math.h>
#include <string.h>

#include "model/library/calibrate.h"
#include "tests/support/fabrics.h"
#include "tests/support/okay.h"

#define GIB (1024.0 * 1024 * 1024)

static const struct fabric cluster = {
	GPUS(2, 8, "A100 80GB", FABRIC_NVSWITCH, 300e9), CARDS("ib", 4, 25e9)};
static const struct fabric node = {
	GPUS(1, 8, "A100 80GB", FABRIC_NVSWITCH, 300e9)};

static struct dist__profile profile, truth;
static struct dist_message message;

static void setup(void)
{
	dist__profile_init(&profile);
	dist__profile_init(&truth);
	strcpy(profile.library, "nccl");
	strcpy(truth.library, "nccl");
}

static void teardown(void)
{
	dist__profile_release(&profile);
	dist__profile_release(&truth);
}

TestSuite(library_calibrate, .init = setup, .fini = teardown);

/* A call as it is in truth. */
static struct library_sample sample(const struct fabric *fabric, double bytes)
{
	struct library_sample it = {
		.fabric = *fabric,
		.call = {.op = DIST__ALL_REDUCE,
			 .numel = (size_t)bytes,
			 .element_bytes = 1,
			 .ranks = fabric_ranks(fabric)},
	};
	struct library_estimate estimate;

	okay(library_estimate(&truth, &it.fabric, &it.call, &estimate,
			      &message));
	it.time_ns = library_time_ns(&estimate);
	return it;
}

static void set_truth(const char *constant, double value)
{
	okay(dist__profile_set(&truth, constant, value));
}

static double found(struct calibration *calibration, const char *constant)
{
	const struct calibration_constant *it =
		library_calibration_constant(calibration, constant);

	return it ? it->value : NAN;
}

static struct calibration calibrate(const struct library_sample *small,
				    const struct library_sample *large)
{
	struct calibration result = {.rows = 0};

	okay_or(library_calibrate(&profile, small, large, &result, &message),
		message);
	return result;
}

/* What a small and a large call there say of truth. */
static struct calibration recover(const struct fabric *fabric)
{
	const struct library_sample small = sample(fabric, 32);
	const struct library_sample large = sample(fabric, 8 * GIB);

	return calibrate(&small, &large);
}

Test(library_calibrate, finds_latency_and_rate_of_a_network)
{
	struct calibration result;

	set_truth("net_us", 40);
	set_truth("net_share", 0.6);
	result = recover(&cluster);
	cr_expect_float_eq(found(&result, "net_us"), 40, 0.01);
	cr_expect_float_eq(found(&result, "net_share"), 0.6, 1e-4);
	cr_expect_lt(result.residual, 1e-5);
	cr_assert_eq(result.num_constants, 2);
	cr_expect_str_eq(result.library, "nccl");
	cr_expect_str_eq(result.transport, "ib");
}

Test(library_calibrate, finds_start_and_rate_of_a_node)
{
	struct calibration result;

	set_truth("launch_us", 33);
	set_truth("intra_share", 0.8);
	result = recover(&node);
	cr_expect_float_eq(found(&result, "launch_us"), 33, 0.01);
	cr_expect_float_eq(found(&result, "intra_share"), 0.8, 1e-4);
	cr_expect_str_eq(result.transport, "");
}

Test(library_calibrate, one_sample_moves_its_constants_alone)
{
	struct library_sample small, large;
	struct calibration result;

	set_truth("launch_us", 3);
	set_truth("intra_share", 0.8);
	small = sample(&node, 32);
	result = calibrate(&small, NULL);
	cr_assert_eq(result.num_constants, 1);
	cr_expect_str_eq(result.constants[0].name, "launch_us");
	large = sample(&node, 8 * GIB);
	result = calibrate(NULL, &large);
	cr_assert_eq(result.num_constants, 1);
	cr_expect_str_eq(result.constants[0].name, "intra_share");
}

Test(library_calibrate, what_is_given_stays)
{
	struct calibration result = {.num_constants = 1};
	struct library_sample small;

	strcpy(result.constants[0].name, "launch_us");
	result.constants[0].value = 9;
	result.constants[0].is_given = true;
	set_truth("launch_us", 33);
	small = sample(&node, 32);
	okay(library_calibrate(&profile, &small, NULL, &result, &message));
	cr_assert_eq(result.num_constants, 1);
	cr_expect_eq(result.constants[0].value, 9);
	cr_expect_gt(result.residual, 0.1);
}

Test(library_calibrate, says_what_no_constant_can_explain)
{
	struct library_sample large = sample(&node, 8 * GIB);
	struct calibration result;
	char text[256];

	large.time_ns /= 3;
	result = calibrate(NULL, &large);
	cr_expect_float_eq(result.residual, 1.4, 0.05);
	cr_expect_eq(found(&result, "intra_share"), 1.25);
	cr_expect(result.constants[0].is_at_bound);
	library_calibration_describe(&result, text, sizeof text);
	cr_expect(strstr(text, "the model lacks something: intra_share"), "%s",
		  text);
}

/* A latency below what physics allows stays at its bound. */
Test(library_calibrate, nothing_becomes_negative)
{
	struct library_sample small = sample(&cluster, 32);
	struct calibration result;

	small.time_ns /= 100;
	result = calibrate(&small, NULL);
	for (size_t i = 0; i < result.num_constants; i++)
		cr_expect_geq(result.constants[i].value, 0);
	cr_expect_eq(found(&result, "launch_us"), 2);
	cr_expect(library_calibration_constant(&result, "launch_us")
			  ->is_at_bound);
}

Test(library_calibrate, a_library_without_constants_is_scaled)
{
	struct library_sample small, large;
	struct calibration result;

	struct fabric slow = cluster;

	slow.inter_latency_ns = 5000;
	profile.library[0] = truth.library[0] = '\0';
	small = sample(&slow, 32);
	large = sample(&slow, 8 * GIB);
	small.time_ns *= 1.5;
	large.time_ns *= 2;
	result = calibrate(&small, &large);
	cr_expect_str_eq(result.library, "lockstep");
	cr_expect_float_eq(found(&result, "hop_times"), 1.5, 1e-3);
	cr_expect_float_eq(found(&result, "rate_share"), 0.5, 1e-3);
}

/* As a platform carries one. */
Test(library_calibrate, a_line_of_text_says_all_of_it)
{
	struct library_sample small, large;
	struct calibration result, again;
	char text[CALIBRATION_TEXT], other[CALIBRATION_TEXT];

	set_truth("net_us", 4.0 / 3);
	set_truth("net_share", 0.6);
	small = sample(&cluster, 32);
	large = sample(&cluster, 8 * GIB);
	result = calibrate(&small, &large);
	strcpy(result.date, "2026-01-31");
	strcpy(result.from, "a-table");
	result.rows = 2;
	cr_assert(library_calibration_print(&result, text));
	cr_assert(library_calibration_parse(&again, text), "%s", text);
	cr_assert(library_calibration_print(&again, other));
	cr_expect_str_eq(text, other);
	cr_expect_eq(found(&again, "net_us"), found(&result, "net_us"));
	cr_expect_not(library_calibration_parse(&again, "rows=two"));
	cr_expect_not(library_calibration_parse(&again, "nonsense"));
}
