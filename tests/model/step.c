/*
 * A step as arithmetic (model/training/step.h) against the same step
 * simulated message by message: within 0.1 %, on a star without contention.
 */
#include <math.h>

#include "coll/algorithm.h"
#include "lockstep/dist.h"
#include "scenarios/workload.h"
#include "model/training/step.h"
#include "tests/support/okay.h"

#define STAR  "tests/support/star16.xml" /* 1 GB/s, 2 links of 5 us */
#define ERROR 1e-3
#define RANKS 8

static double ring_ns(const void *arg, size_t bytes)
{
	const struct dist__cost cost = {.alpha_ns = 10e3,
					.beta_ns_per_byte = 1};
	const struct dist__algorithm *ring = arg;

	return ring->cost_ns(&cost, RANKS, bytes / sizeof(float),
			     sizeof(float));
}

/* A step of one GPU and so many milliseconds, by both. */
static void expect_equal(double alone_ms, double bucket_cap_mb,
			 struct schedule_job job)
{
	const struct dist_launch_options options = {
		.backend = "sim",
		.platform = STAR,
		.world_size = RANKS,
		.algorithm = "all_reduce=ring",
	};
	struct workload_arguments arguments = {.seed = 0};
	struct workload_result result = {0};
	struct workload_setup setup;
	struct dist__refusal refusal;
	struct step step = {
		.model = &setup.model,
		.alone_ms = alone_ms,
		.accumulation = 1,
		.schedule = STREAM_BUCKETED,
		.bucket_cap_mb = bucket_cap_mb,
		.gpus = RANKS,
		.job = job,
		.cost_ns = ring_ns,
		.cost_arg = dist__algorithm_find(DIST__ALL_REDUCE, "ring"),
	};
	double ms;

	workload_arguments_init(&arguments, "ddp_step");
	arguments.rate = (struct schedule_rate){
		.batch = 1, .step_ms = alone_ms, .job = job};
	arguments.bucket_cap_mb = bucket_cap_mb;
	okay_or(workload_setup_init(&setup, &workload_ddp_step, &arguments, "",
				    &refusal),
		refusal.message);
	setup.job.contents = WORKLOAD_PHANTOM;
	setup.job.result = &result;
	cr_assert_eq(dist_launch(&options, workload_rank, &setup.job),
		     DIST_EXIT_OK);
	okay(step_predict(&step, &ms));
	cr_assert_gt(ms, 1.01 * alone_ms);
	cr_expect_lt(fabs(ms * 1e6 / (double)result.step_ns - 1), ERROR,
		     "predicted %.3f ms, simulated %.3f ms", ms,
		     (double)result.step_ns / 1e6);
	workload_setup_release(&setup);
}

static const struct schedule_job nothing;

Test(step, most_communication_hides_as_when_simulated)
{
	expect_equal(250, 25, nothing);
}

Test(step, no_communication_hides_as_when_simulated)
{
	expect_equal(50, 25, nothing);
}

Test(step, small_buckets_follow_each_other_as_when_simulated)
{
	expect_equal(150, 1, nothing);
}

/* What DDP and more GPUs take is the same in both: here 161 tensors of 0.2 ms,
 * their buckets of 1 ms, and three doublings of 5 %. */
static const struct schedule_job job = {
	.tensor_ns = 0.2e6, .bucket_ns = 1e6, .doubling = 0.05};

Test(step, what_a_job_takes_is_what_it_takes_simulated)
{
	expect_equal(250, 25, job);
}

Test(step, what_a_job_takes_with_small_buckets_too)
{
	expect_equal(50, 1, job);
}
