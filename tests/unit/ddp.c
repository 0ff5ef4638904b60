/* Buckets, and data-parallel steps on simulated ranks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ddp/bucket.h"
#include "lockstep/ddp.h"
#include "model/training/model.h"
#include "tests/support/okay.h"
#include "tests/support/simulate.h"

#define MIB (1024.0 * 1024)

static const struct dist__ddp_limits usual = {1 * MIB, 25 * MIB};

#define ITEM(num, type)                                                        \
	{                                                                      \
		.parameter = { NULL, num, type }                               \
	}

static struct dist__ddp_partition cut(const struct dist_ddp_parameter *items,
				      size_t num, bool reverse,
				      const struct dist__ddp_limits *limits)
{
	struct dist__ddp_partition p;

	okay(dist__ddp_partition_init(&p, items, num, reverse, limits));
	return p;
}

/* Fails unless every item is in exactly one bucket, of its own dtype. */
static void expect_partition(const struct dist__ddp_partition *p,
			     const struct dist_ddp_parameter *items, size_t num)
{
	bool seen[512] = {false};
	size_t b, i, total = 0;

	for (b = 0; b < p->num_spans; b++) {
		size_t numel = 0;

		cr_assert_eq(p->spans[b].first, total);
		for (i = 0; i < p->spans[b].num; i++) {
			size_t member = p->members[p->spans[b].first + i];

			cr_assert_lt(member, num);
			cr_assert_not(seen[member]);
			seen[member] = true;
			cr_assert_eq(items[member].parameter.dtype,
				     p->spans[b].dtype);
			numel += items[member].parameter.numel;
		}
		cr_assert_eq(numel, p->spans[b].numel);
		total += p->spans[b].num;
	}
	cr_assert_eq(total, num);
}

/* The element counts that a PyTorch profiler recorded for ResNet-50 on two
 * GPUs (scenarios/measured/ddp-buckets-resnet50.csv). */
Test(ddp, resnet50_gives_the_recorded_buckets)
{
	static const size_t recorded[] = {2049000, 7875584, 6563840, 6637568,
					  2431040};
	struct dist_ddp_parameter items[512];
	struct dist__ddp_partition p;
	struct dist_message message;
	struct model model;
	size_t i;

	okay_or(model_load(&model, "scenarios/models/resnet50.csv", &message),
		message);
	cr_assert_eq(model.num_rows, 161);
	for (i = 0; i < model.num_rows; i++)
		items[i] = (struct dist_ddp_parameter)ITEM(model.rows[i].numel,
							   DIST_FLOAT32);
	p = cut(items, model.num_rows, true, &usual);
	expect_partition(&p, items, model.num_rows);
	cr_assert_eq(p.num_spans, 5);
	for (i = 0; i < 5; i++)
		cr_assert_eq(p.spans[i].numel, recorded[i],
			     "bucket %zu: %zu elements, recorded %zu", i,
			     p.spans[i].numel, recorded[i]);
	dist__ddp_partition_release(&p);
	model_release(&model);
}

Test(ddp, bucket_closes_when_it_reaches_the_limit)
{
	/* 2^18 float32 are 1 MiB to the byte: at the limit, so closed. */
	static const struct dist_ddp_parameter items[] = {
		ITEM(1, DIST_FLOAT32), ITEM(1, DIST_FLOAT32),
		ITEM(1 << 18, DIST_FLOAT32)};
	struct dist__ddp_partition p = cut(items, 3, true, &usual);

	expect_partition(&p, items, 3);
	cr_assert_eq(p.num_spans, 2);
	cr_assert_eq(p.spans[0].numel, 1 << 18);
	cr_assert_eq(p.spans[1].numel, 2);
	cr_assert_eq(p.members[1], 1);
	cr_assert_eq(p.members[2], 0);
	dist__ddp_partition_release(&p);
}

Test(ddp, bucket_below_the_limit_stays_open)
{
	static const struct dist_ddp_parameter items[] = {
		ITEM(1, DIST_FLOAT32), ITEM((1 << 18) - 1, DIST_FLOAT32)};
	struct dist__ddp_partition p = cut(items, 2, true, &usual);

	cr_assert_eq(p.num_spans, 1);
	cr_assert_eq(p.spans[0].numel, 1 << 18);
	dist__ddp_partition_release(&p);
}

Test(ddp, only_the_first_bucket_has_the_small_limit)
{
	static const struct dist__ddp_limits limits = {8, 16};
	static const struct dist_ddp_parameter items[] = {
		ITEM(2, DIST_FLOAT32), ITEM(2, DIST_FLOAT32),
		ITEM(2, DIST_FLOAT32), ITEM(2, DIST_FLOAT32),
		ITEM(2, DIST_FLOAT32), ITEM(2, DIST_FLOAT32)};
	struct dist__ddp_partition p = cut(items, 6, false, &limits);

	cr_assert_eq(p.num_spans, 4);
	cr_assert_eq(p.spans[0].num, 1);
	cr_assert_eq(p.spans[1].num, 2);
	cr_assert_eq(p.spans[2].num, 2);
	cr_assert_eq(p.spans[3].num, 1);
	dist__ddp_partition_release(&p);
}

Test(ddp, dtypes_have_buckets_and_limits_of_their_own)
{
	static const struct dist__ddp_limits limits = {8, 16};
	static const struct dist_ddp_parameter items[] = {
		ITEM(1, DIST_FLOAT64), /* closes the first of float64 */
		ITEM(1, DIST_FLOAT32), /* opens the first of float32 */
		ITEM(1, DIST_FLOAT64), /* opens the second of float64 */
		ITEM(1, DIST_FLOAT32), /* closes the first of float32 */
		ITEM(1, DIST_INT64),   /* closes the first of int64 */
		ITEM(1, DIST_FLOAT32), /* opens the second of float32 */
	};
	static const enum dist_dtype order[] = {DIST_FLOAT64, DIST_FLOAT32,
						DIST_INT64, DIST_FLOAT64,
						DIST_FLOAT32};
	struct dist__ddp_partition p = cut(items, 6, false, &limits);
	size_t i;

	expect_partition(&p, items, 6);
	cr_assert_eq(p.num_spans, 5);
	for (i = 0; i < 5; i++)
		cr_assert_eq(p.spans[i].dtype, order[i], "bucket %zu", i);
	cr_assert_eq(p.spans[1].num, 2);
	dist__ddp_partition_release(&p);
}

Test(ddp, one_huge_parameter_is_one_bucket)
{
	static const struct dist_ddp_parameter items[] = {
		ITEM(10, DIST_FLOAT32), ITEM(1000000000, DIST_FLOAT32),
		ITEM(10, DIST_FLOAT32)};
	struct dist__ddp_partition p = cut(items, 3, true, &usual);

	cr_assert_eq(p.num_spans, 2);
	cr_assert_eq(p.spans[0].numel, 1000000010);
	cr_assert_eq(p.spans[1].numel, 10);
	dist__ddp_partition_release(&p);
}

/* ---- on simulated ranks ------------------------------------------------ */

#define PLATFORM "scenarios/platforms/star-8.xml"
#define NUMEL    1000
#define PARAMS   4

static int launch(int world_size, int (*rank_main)(void *arg), void *arg)
{
	return launch_ranks("sim", PLATFORM, world_size, rank_main, arg);
}

/* Ranks cannot use Criterion's assertions; they count what is wrong. */
#define EXPECT(condition)                                                      \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #condition);                         \
			wrong++;                                               \
		}                                                              \
	} while (0)

static float values[8][PARAMS][NUMEL], gradients[8][PARAMS][NUMEL];

static void list_parameters(struct dist_ddp_parameter *params, int rank,
			    bool phantom)
{
	static const char *const names[PARAMS] = {"a", "b", "c", "d"};
	int i;

	for (i = 0; i < PARAMS; i++) {
		params[i].name = names[i];
		params[i].parameter = dist_tensor(
			phantom ? NULL : values[rank][i], NUMEL, DIST_FLOAT32);
		params[i].gradient =
			dist_tensor(phantom ? NULL : gradients[rank][i], NUMEL,
				    DIST_FLOAT32);
	}
}

/* Two parameters fill a bucket. */
static const struct dist_ddp_options small_buckets = {
	.bucket_cap_mb = 8.0 * NUMEL / MIB,
	.first_bucket_mb = 8.0 * NUMEL / MIB};

static int wrong_averages(int rank, int world_size, int step)
{
	int i, j, wrong = 0;

	for (i = 0; i < PARAMS; i++)
		for (j = 0; j < NUMEL; j++)
			wrong += gradients[rank][i][j] !=
				 (float)(i + j + step) +
					 (float)(world_size - 1) / 2;
	return wrong;
}

/* Ranks mark their gradients in different orders; the averages are right. */
static int average_rank(void *arg)
{
	struct dist_ddp_parameter params[PARAMS];
	struct dist_group *group;
	struct dist_ddp *ddp = NULL;
	int rank, wrong = 0, step, i, j, world_size;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	rank = dist_get_rank(group);
	world_size = dist_get_world_size(group);
	list_parameters(params, rank, false);
	for (i = 0; i < PARAMS; i++)
		for (j = 0; j < NUMEL; j++)
			values[rank][i][j] = rank ? -1 : (float)(i * j);
	EXPECT(!dist_ddp_new(group, params, PARAMS, &small_buckets, &ddp));
	for (i = 0; i < PARAMS; i++)
		for (j = 0; j < NUMEL; j++)
			wrong += values[rank][i][j] != (float)(i * j);
	EXPECT(dist_ddp_num_buckets(ddp) == 2);
	EXPECT(dist_ddp_bucket_numel(ddp, 1) == (size_t)2 * NUMEL);
	for (step = 0; step < 3; step++) {
		for (i = 0; i < PARAMS; i++)
			for (j = 0; j < NUMEL; j++)
				gradients[rank][i][j] =
					(float)(i + j + step + rank);
		for (i = 0; i < PARAMS; i++)
			EXPECT(!dist_ddp_gradient_ready(
				ddp, (size_t)((i + rank) % PARAMS)));
		EXPECT(!dist_ddp_finish(ddp));
		EXPECT(wrong_averages(rank, world_size, step) == 0);
	}
	dist_ddp_free(ddp);
	EXPECT(!dist_destroy_process_group(group));
	return wrong != 0;
}

Test(ddp, averages_whatever_the_order)
{
	cr_assert_eq(launch(4, average_rank, NULL), 0);
}

Test(ddp, averages_on_one_rank)
{
	cr_assert_eq(launch(1, average_rank, NULL), 0);
}

Test(ddp, averages_on_five_ranks)
{
	cr_assert_eq(launch(5, average_rank, NULL), 0);
}

/* Gradients that live in their buckets. */
static int view_rank(void *arg)
{
	struct dist_ddp_options options = small_buckets;
	struct dist_ddp_parameter params[PARAMS];
	struct dist_group *group;
	struct dist_ddp *ddp = NULL;
	int rank, wrong = 0, i, j;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	rank = dist_get_rank(group);
	list_parameters(params, rank, false);
	options.gradient_as_bucket_view = true;
	params[0].gradient.data = NULL;
	EXPECT(!dist_ddp_new(group, params, PARAMS, &options, &ddp));
	for (i = PARAMS; i-- > 0;) {
		struct dist_tensor g = dist_ddp_gradient(ddp, (size_t)i);

		EXPECT(g.data && g.numel == NUMEL);
		EXPECT(g.data != (void *)gradients[rank][i]);
		for (j = 0; j < NUMEL; j++)
			((float *)g.data)[j] = (float)(i * j + rank);
		EXPECT(!dist_ddp_gradient_ready(ddp, (size_t)i));
	}
	EXPECT(!dist_ddp_finish(ddp));
	for (i = 0; i < PARAMS; i++) {
		struct dist_tensor g = dist_ddp_gradient(ddp, (size_t)i);

		for (j = 0; j < NUMEL; j++)
			wrong += ((float *)g.data)[j] != (float)(i * j) + 1.5F;
	}
	EXPECT(dist_ddp_gradient(ddp, PARAMS).numel == 0);
	dist_ddp_free(ddp);
	EXPECT(!dist_destroy_process_group(group));
	return wrong != 0;
}

Test(ddp, gradients_can_live_in_their_buckets)
{
	cr_assert_eq(launch(4, view_rank, NULL), 0);
}

/* The first bucket is averaged while the rank computes. */
static int overlap_rank(void *arg)
{
	const int64_t compute_ns = 10000000;
	struct dist_ddp_parameter params[PARAMS];
	struct dist_ddp *ddp = NULL;
	struct dist_group *group;
	int64_t alone_ns, both_ns;
	int wrong = 0, pass, i;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	list_parameters(params, 0, true);
	EXPECT(!dist_ddp_new(group, params, PARAMS, &small_buckets, &ddp));
	alone_ns = both_ns = 0;
	for (pass = 0; pass < 2; pass++) {
		int64_t start_ns = dist_now_ns(group);

		for (i = PARAMS; i-- > 0;) {
			EXPECT(!dist_ddp_gradient_ready(ddp, (size_t)i));
			if (i == 2 && pass == 1)
				dist_compute(group, compute_ns, NULL);
		}
		EXPECT(!dist_ddp_finish(ddp));
		if (pass == 0)
			alone_ns = dist_now_ns(group) - start_ns;
		else
			both_ns = dist_now_ns(group) - start_ns;
	}
	/* Two buckets of equal size: one of them is hidden. */
	EXPECT(alone_ns > 0);
	EXPECT(both_ns < compute_ns + alone_ns);
	EXPECT(llabs(both_ns - compute_ns - alone_ns / 2) < alone_ns / 10);
	dist_ddp_free(ddp);
	EXPECT(!dist_destroy_process_group(group));
	return wrong != 0;
}

Test(ddp, buckets_overlap_with_compute)
{
	cr_assert_eq(launch(4, overlap_rank, NULL), 0);
}

/* What the caller does wrong is said with the parameter's name, and does not
 * end the step. */
static int misuse_rank(void *arg)
{
	struct dist_ddp_parameter params[PARAMS];
	struct dist_ddp *ddp = NULL;
	struct dist_group *group;
	int wrong = 0, i;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	list_parameters(params, 0, true);
	EXPECT(!dist_ddp_new(group, params, PARAMS, NULL, &ddp));
	EXPECT(dist_ddp_gradient_ready(ddp, PARAMS) ==
	       DIST_ERR_INVALID_ARGUMENT);
	for (i = PARAMS; i-- > 1;)
		EXPECT(!dist_ddp_gradient_ready(ddp, (size_t)i));
	EXPECT(dist_ddp_gradient_ready(ddp, 2) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(strstr(dist_ddp_error_message(ddp), "2 (c)"));
	EXPECT(strstr(dist_ddp_error_message(ddp), "twice"));
	EXPECT(dist_ddp_finish(ddp) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(strstr(dist_ddp_error_message(ddp), "0 (a)"));
	EXPECT(!dist_ddp_gradient_ready(ddp, 0));
	EXPECT(!strcmp(dist_ddp_error_message(ddp), ""));
	EXPECT(!dist_ddp_finish(ddp));
	EXPECT(dist_ddp_finish(ddp) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(dist_ddp_finish(NULL) == DIST_ERR_INVALID_ARGUMENT);
	dist_ddp_free(ddp);
	EXPECT(!dist_destroy_process_group(group));
	return wrong != 0;
}

Test(ddp, misuse_is_named)
{
	cr_assert_eq(launch(2, misuse_rank, NULL), 0);
}

static int refusals_rank(void *arg)
{
	struct dist_ddp_parameter params[PARAMS];
	struct dist_message message = {""};
	struct dist_ddp_options options = {.message = &message};
	struct dist_ddp *ddp = NULL;
	struct dist_group *group;
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	list_parameters(params, 0, false);
	EXPECT(dist_ddp_new(group, params, 0, &options, &ddp) ==
	       DIST_ERR_INVALID_ARGUMENT);
	EXPECT(dist_ddp_new(NULL, params, 1, &options, &ddp) ==
	       DIST_ERR_INVALID_ARGUMENT);
	params[2].gradient.numel--;
	EXPECT(dist_ddp_new(group, params, PARAMS, &options, &ddp) ==
	       DIST_ERR_INVALID_ARGUMENT);
	EXPECT(strstr(message.text, "2 (c)"));
	list_parameters(params, 0, false);
	params[3].gradient.data = NULL;
	EXPECT(dist_ddp_new(group, params, PARAMS, &options, &ddp) ==
	       DIST_ERR_INVALID_ARGUMENT);
	EXPECT(strstr(message.text, "3 (d)"));
	list_parameters(params, 0, false);
	options.bucket_cap_mb = -1;
	EXPECT(dist_ddp_new(group, params, PARAMS, &options, &ddp) ==
	       DIST_ERR_INVALID_ARGUMENT);
	options.bucket_cap_mb = NAN;
	EXPECT(dist_ddp_new(group, params, PARAMS, &options, &ddp) ==
	       DIST_ERR_INVALID_ARGUMENT);
	EXPECT(ddp == NULL);
	EXPECT(dist_ddp_num_buckets(NULL) == 0);
	EXPECT(dist_ddp_bucket_numel(NULL, 0) == 0);
	dist_ddp_free(NULL);
	EXPECT(!dist_destroy_process_group(group));
	return wrong != 0;
}

Test(ddp, bad_parameters_are_refused)
{
	cr_assert_eq(launch(1, refusals_rank, NULL), 0);
}
