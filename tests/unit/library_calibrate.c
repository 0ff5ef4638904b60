/* Profiles made to agree with measured times. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "model/library/calibrate.h"

#define GIB (1024.0 * 1024 * 1024)

static const struct fabric cluster = {.nodes = 2,
				      .node_ranks = 8,
				      .gpu = "A100 80GB",
				      .intra = FABRIC_NVSWITCH,
				      .intra_Bps = 300e9,
				      .transport = "ib",
				      .cards = 4,
				      .card_Bps = 25e9};
static const struct fabric node = {.nodes = 1,
				   .node_ranks = 8,
				   .gpu = "A100 80GB",
				   .intra = FABRIC_NVSWITCH,
				   .intra_Bps = 300e9};

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

	cr_assert_eq(library_estimate(&truth, &it.fabric, &it.call, &estimate,
				      &message),
		     DIST_OK);
	it.time_ns = library_time_ns(&estimate);
	return it;
}

static void set_truth(const char *constant, double value)
{
	cr_assert_eq(dist__profile_set(&truth, constant, value), DIST_OK);
}

static double found(const char *constant)
{
	return dist__profile_constant(&profile, constant, NAN);
}

static struct library_calibration calibrate(const struct library_sample *small,
					    const struct library_sample *large)
{
	struct library_calibration result;

	cr_assert_eq(
		library_calibrate(&profile, small, large, &result, &message),
		DIST_OK, "%s", message.text);
	return result;
}

Test(library_calibrate, finds_latency_and_rate_of_a_network)
{
	struct library_sample small, large;
	struct library_calibration result;

	set_truth("net_us", 40);
	set_truth("net_share", 0.6);
	small = sample(&cluster, 32);
	large = sample(&cluster, 8 * GIB);
	result = calibrate(&small, &large);
	cr_expect_float_eq(found("net_us"), 40, 0.01);
	cr_expect_float_eq(found("net_share"), 0.6, 1e-4);
	cr_expect_lt(result.residual, 1e-5);
	cr_assert_eq(result.num_moves, 2);
	cr_expect_str_eq(result.moves[0].constant, "net_us");
	cr_expect_eq(result.moves[0].from, 0);
	cr_expect_eq(result.moves[0].to, found("net_us"));
}

Test(library_calibrate, finds_start_and_rate_of_a_node)
{
	struct library_sample small, large;

	set_truth("launch_us", 33);
	set_truth("intra_share", 0.8);
	small = sample(&node, 32);
	large = sample(&node, 8 * GIB);
	(void)calibrate(&small, &large);
	cr_expect_float_eq(found("launch_us"), 33, 0.01);
	cr_expect_float_eq(found("intra_share"), 0.8, 1e-4);
}

Test(library_calibrate, one_sample_moves_its_constants_alone)
{
	struct library_sample small, large;
	struct library_calibration result;

	set_truth("launch_us", 3);
	set_truth("intra_share", 0.8);
	small = sample(&node, 32);
	result = calibrate(&small, NULL);
	cr_assert_eq(result.num_moves, 1);
	cr_expect_str_eq(result.moves[0].constant, "launch_us");
	large = sample(&node, 8 * GIB);
	result = calibrate(NULL, &large);
	cr_assert_eq(result.num_moves, 1);
	cr_expect_str_eq(result.moves[0].constant, "intra_share");
}

Test(library_calibrate, says_what_no_constant_can_explain)
{
	struct library_sample large = sample(&node, 8 * GIB);

	large.time_ns /= 3;
	cr_expect_float_eq(calibrate(NULL, &large).residual, 1, 0.05);
	cr_expect_eq(found("intra_share"), 1.5);
}

Test(library_calibrate, refuses_a_library_without_free_constants)
{
	struct library_sample small = sample(&node, 32);
	struct library_calibration result;

	profile.library[0] = '\0';
	cr_expect_eq(
		library_calibrate(&profile, &small, NULL, &result, &message),
		DIST_ERR_INVALID_ARGUMENT);
	cr_expect(strstr(message.text, "no constants"), "%s", message.text);
}
