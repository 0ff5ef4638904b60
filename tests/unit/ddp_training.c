/* Accumulated micro-batches, unused parameters, static graphs, uneven inputs.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lockstep/ddp.h"

#define PARAMS 3
#define NUMEL  4

/* One rank's model; a and b share the second bucket, c is the first. */
struct model {
	struct dist_group *group;
	struct dist_ddp *ddp;
	int rank;
	int wrong; /* ranks cannot use Criterion's assertions: they count */
	float values[PARAMS][NUMEL], gradients[PARAMS][NUMEL];
};

#define EXPECT(m, condition)                                                   \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #condition);                         \
			(m)->wrong++;                                          \
		}                                                              \
	} while (0)

/* Runs a program simulated and over TCP; -1: they end differently. */
static int launch(int world_size, int (*rank_main)(void *arg), const void *arg)
{
	struct dist_launch_options options = {
		.backend = "sim",
		.world_size = world_size,
		.platform = "scenarios/platforms/star-8.xml"};
	void *given = (void *)arg;
	int status = dist_launch(&options, rank_main, given);

	options.backend = "tcp";
	return dist_launch(&options, rank_main, given) == status ? status : -1;
}

static const struct dist_ddp_options plain;

/* Joins and makes ddp; a rank's parameters are those of rank 0 then. */
static enum dist_error join(struct model *m,
			    const struct dist_ddp_options *options)
{
	static const char *const names[PARAMS] = {"a", "b", "c"};
	struct dist_ddp_options small = *options;
	struct dist_ddp_parameter params[PARAMS];
	enum dist_error error;

	memset(m, 0, sizeof *m);
	error = dist_init_process_group(NULL, &m->group);
	if (error)
		return error;
	m->rank = dist_get_rank(m->group);
	small.first_bucket_mb = (double)sizeof m->values[0] / (1 << 20);
	small.bucket_cap_mb = 2 * small.first_bucket_mb;
	for (int i = 0; i < PARAMS; i++)
		params[i] = (struct dist_ddp_parameter){
			names[i],
			dist_tensor(m->values[i], NUMEL, DIST_FLOAT32),
			dist_tensor(m->gradients[i], NUMEL, DIST_FLOAT32)};
	return dist_ddp_new(m->group, params, PARAMS, &small, &m->ddp);
}

static int leave(struct model *m)
{
	dist_ddp_free(m->ddp);
	EXPECT(m, !dist_destroy_process_group(m->group));
	return m->wrong != 0;
}

static float *gradient(const struct model *m, int param)
{
	return dist_ddp_gradient(m->ddp, (size_t)param).data;
}

/* Backward: adds x to each element of a gradient, and marks it. */
static enum dist_error add(struct model *m, int param, float x)
{
	for (int i = 0; i < NUMEL; i++)
		gradient(m, param)[i] += x;
	return dist_ddp_gradient_ready(m->ddp, (size_t)param);
}

static void backward(struct model *m, float x)
{
	for (int param = PARAMS; param-- > 0;)
		EXPECT(m, !add(m, param, x));
}

static bool all_are(const struct model *m, int param, float x)
{
	for (int i = 0; i < NUMEL; i++)
		if (gradient(m, param)[i] != x)
			return false;
	return true;
}

static void zero(struct model *m)
{
	for (int param = 0; param < PARAMS; param++)
		memset(gradient(m, param), 0, sizeof m->gradients[param]);
}

static bool says(const struct model *m, const char *text)
{
	return strstr(dist_ddp_error_message(m->ddp), text) != NULL;
}

/* ---- no_sync ----------------------------------------------------------- */

/* Two steps of three micro-batches; rank r adds (r + 1) * 1, 2, 4. */
static int accumulate_rank(void *arg)
{
	const struct dist_ddp_options *options = arg;
	struct model m;
	bool simulated;

	EXPECT(&m, !join(&m, options));
	simulated = strcmp(dist_get_backend(m.group), "sim") == 0;
	for (int step = 0; step < 2; step++) {
		float own = (float)(m.rank + 1);
		int64_t start_ns = dist_now_ns(m.group);

		for (int batch = 0; batch < 2; batch++) {
			EXPECT(&m, !dist_ddp_no_sync(m.ddp));
			backward(&m, own * (float)(1 << batch));
			EXPECT(&m, !dist_ddp_finish(m.ddp));
		}
		EXPECT(&m, !simulated || dist_now_ns(m.group) == start_ns);
		EXPECT(&m, all_are(&m, 1, 3 * own));
		backward(&m, 4 * own);
		EXPECT(&m, !dist_ddp_finish(m.ddp));
		EXPECT(&m, dist_now_ns(m.group) > start_ns);
		for (int param = 0; param < PARAMS; param++)
			EXPECT(&m, all_are(&m, param, 7 * 2.5F));
		EXPECT(&m, !dist_ddp_optimizer_step(m.ddp));
		zero(&m);
	}
	return leave(&m);
}

Test(ddp_training, micro_batches_accumulate)
{
	cr_expect_eq(launch(4, accumulate_rank, &plain), 0);
}

Test(ddp_training, micro_batches_accumulate_in_buckets)
{
	const struct dist_ddp_options views = {.gradient_as_bucket_view = true};

	cr_expect_eq(launch(4, accumulate_rank, &views), 0);
}

static int drift_rank(void *arg)
{
	struct model m;

	EXPECT(&m, !join(&m, arg));
	backward(&m, 1);
	EXPECT(&m, dist_ddp_no_sync(m.ddp) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(&m, says(&m, "has begun"));
	EXPECT(&m, dist_ddp_optimizer_step(m.ddp) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, !dist_ddp_no_sync(m.ddp));
	backward(&m, 1);
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, dist_ddp_optimizer_step(m.ddp) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(&m, says(&m, "step 0 ends with 1 of its 2 micro-batches"));
	backward(&m, 1);
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, !dist_ddp_optimizer_step(m.ddp));
	return leave(&m);
}

Test(ddp_training, a_step_with_sums_of_ones_own_is_refused)
{
	cr_expect_eq(launch(2, drift_rank, &plain), 0);
}

/* ---- unused parameters ------------------------------------------------- */

/* All use b, rank 0 uses a, nobody uses c. */
static int unused_rank(void *arg)
{
	const struct dist_ddp_options *options = arg;
	struct model m;

	EXPECT(&m, !join(&m, options));
	for (int step = 0; step < 2; step++) {
		zero(&m);
		if (!options->gradient_as_bucket_view)
			gradient(&m, 2)[0] = (float)m.rank;
		EXPECT(&m, !add(&m, 1, (float)m.rank));
		if (m.rank == 0)
			EXPECT(&m, !add(&m, 0, 8));
		EXPECT(&m, !dist_ddp_finish(m.ddp));
		EXPECT(&m, all_are(&m, 0, 2));
		EXPECT(&m, all_are(&m, 1, 1.5F));
		EXPECT(&m, options->gradient_as_bucket_view ||
				   gradient(&m, 2)[0] == (float)m.rank);
		EXPECT(&m, dist_ddp_is_used(m.ddp, 0));
		EXPECT(&m, dist_ddp_is_used(m.ddp, 1));
		EXPECT(&m, !dist_ddp_is_used(m.ddp, 2));
	}
	EXPECT(&m, !dist_ddp_is_used(m.ddp, PARAMS));
	return leave(&m);
}

Test(ddp_training, unused_parameters_are_found)
{
	const struct dist_ddp_options find = {.find_unused_parameters = true};

	cr_expect_eq(launch(4, unused_rank, &find), 0);
}

Test(ddp_training, unused_parameters_are_found_in_buckets)
{
	const struct dist_ddp_options find = {.find_unused_parameters = true,
					      .gradient_as_bucket_view = true};

	cr_expect_eq(launch(4, unused_rank, &find), 0);
}

/* What an accumulated micro-batch used, the average has. */
static int used_before_rank(void *arg)
{
	struct model m;

	EXPECT(&m, !join(&m, arg));
	EXPECT(&m, !dist_ddp_no_sync(m.ddp));
	if (m.rank == 1)
		EXPECT(&m, !add(&m, 0, 6));
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, !add(&m, 1, 1));
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, dist_ddp_is_used(m.ddp, 0));
	EXPECT(&m, all_are(&m, 0, 3));
	EXPECT(&m, !add(&m, 1, 0));
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, !dist_ddp_is_used(m.ddp, 0));
	EXPECT(&m, all_are(&m, 0, 3));
	return leave(&m);
}

Test(ddp_training, use_counts_since_the_last_average)
{
	const struct dist_ddp_options find = {.find_unused_parameters = true};

	cr_expect_eq(launch(2, used_before_rank, &find), 0);
}

static int names_rank(void *arg)
{
	struct model m;

	EXPECT(&m, !join(&m, arg));
	EXPECT(&m, !add(&m, 1, 0));
	EXPECT(&m, dist_ddp_finish(m.ddp) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(&m, says(&m, "step 0, micro-batch 0 has no gradient of 2 of 3 "
			    "parameters: 0 (a), 2 (c)"));
	EXPECT(&m, !add(&m, 0, 0));
	EXPECT(&m, !add(&m, 2, 0));
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	return leave(&m);
}

Test(ddp_training, missing_gradients_are_named)
{
	cr_expect_eq(launch(2, names_rank, &plain), 0);
}

/* ---- static graphs ----------------------------------------------------- */

/* The first micro-batch uses a and c. */
static int static_rank(void *arg)
{
	const bool *accumulate = arg;
	const struct dist_ddp_options graph = {.static_graph = true};
	struct model m;

	EXPECT(&m, !join(&m, &graph));
	if (*accumulate)
		EXPECT(&m, !dist_ddp_no_sync(m.ddp));
	EXPECT(&m, !add(&m, 2, (float)m.rank));
	EXPECT(&m, !add(&m, 0, (float)m.rank));
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, all_are(&m, 0, *accumulate ? (float)m.rank : 0.5F));
	zero(&m);
	EXPECT(&m, add(&m, 1, 1) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(&m, says(&m, "not static: parameter 1 (b) has a gradient"));
	EXPECT(&m, !add(&m, 2, (float)m.rank));
	EXPECT(&m, dist_ddp_finish(m.ddp) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(&m, says(&m, "has no gradient of 0 (a), of which the first"));
	EXPECT(&m, !add(&m, 0, 3 * (float)m.rank));
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, all_are(&m, 0, 1.5F));
	EXPECT(&m, all_are(&m, 1, 1));
	EXPECT(&m, all_are(&m, 2, 0.5F));
	EXPECT(&m, dist_ddp_is_used(m.ddp, 2));
	EXPECT(&m, !dist_ddp_is_used(m.ddp, 1));
	return leave(&m);
}

Test(ddp_training, a_static_graph_is_what_the_first_marks)
{
	const bool accumulate = false;

	cr_expect_eq(launch(2, static_rank, &accumulate), 0);
}

Test(ddp_training, a_static_graph_may_begin_under_no_sync)
{
	const bool accumulate = true;

	cr_expect_eq(launch(2, static_rank, &accumulate), 0);
}

/* ---- uneven inputs ----------------------------------------------------- */

struct uneven {
	struct dist_ddp_options ddp;
	struct dist_ddp_join_options join;
	int inputs[4];
	bool accumulate; /* every other micro-batch under no_sync */
};

/* What the average of ranks' numbers + 1 should be in micro-batch number. */
static float average(const struct uneven *u, int number, int world_size)
{
	int count = 0, sum = 0;

	for (int rank = 0; rank < world_size; rank++)
		if (number < u->inputs[rank]) {
			count++;
			sum += rank + 1;
		}
	return (float)sum /
	       (float)(u->join.divide_by_remaining ? count : world_size);
}

/* The highest rank with most inputs. */
static int longest(const struct uneven *u, int world_size)
{
	int best = 0;

	for (int rank = 1; rank < world_size; rank++)
		if (u->inputs[rank] >= u->inputs[best])
			best = rank;
	return best;
}

static bool about(float a, float b)
{
	return a > b - 1e-5F && a < b + 1e-5F;
}

static int uneven_rank(void *arg)
{
	const struct uneven *u = arg;
	struct model m;
	int size;

	EXPECT(&m, !join(&m, &u->ddp));
	size = dist_get_world_size(m.group);
	/* Twice: joining is over when it has ended. */
	for (int epoch = 0; epoch < 2; epoch++) {
		EXPECT(&m, !dist_ddp_join_begin(m.ddp, &u->join));
		for (int i = 0; i < u->inputs[m.rank]; i++) {
			if (u->accumulate && i % 2 == 0)
				EXPECT(&m, !dist_ddp_no_sync(m.ddp));
			zero(&m);
			backward(&m, (float)(m.rank + 1));
			EXPECT(&m, !dist_ddp_finish(m.ddp));
			if (u->accumulate && i % 2 == 0)
				continue;
			for (int param = 0; param < PARAMS; param++)
				EXPECT(&m, about(gradient(&m, param)[0],
						 average(u, i, size)));
			EXPECT(&m, !dist_ddp_optimizer_step(m.ddp));
			m.values[1][0] = (float)(100 * m.rank + i);
		}
		EXPECT(&m, !dist_ddp_join_end(m.ddp));
		EXPECT(&m, about(m.values[1][0],
				 (float)(100 * longest(u, size) +
					 u->inputs[longest(u, size)] - 1)));
	}
	zero(&m);
	backward(&m, (float)m.rank);
	EXPECT(&m, !dist_ddp_finish(m.ddp));
	EXPECT(&m, about(gradient(&m, 0)[0], (float)(size - 1) / 2));
	return leave(&m);
}

Test(ddp_training, uneven_inputs_average_over_all)
{
	const struct uneven u = {.inputs = {1, 0, 3, 2}};

	cr_expect_eq(launch(4, uneven_rank, &u), 0);
}

Test(ddp_training, uneven_inputs_average_over_those_that_remain)
{
	const struct uneven u = {.inputs = {1, 0, 3, 2},
				 .join = {.divide_by_remaining = true}};

	cr_expect_eq(launch(4, uneven_rank, &u), 0);
}

Test(ddp_training, uneven_inputs_with_unused_parameters_and_views)
{
	const struct uneven u = {.inputs = {3, 1, 3},
				 .ddp = {.find_unused_parameters = true,
					 .gradient_as_bucket_view = true}};

	cr_expect_eq(launch(3, uneven_rank, &u), 0);
}

Test(ddp_training, uneven_inputs_with_accumulation)
{
	const struct uneven u = {.inputs = {2, 2, 6, 4}, .accumulate = true};

	cr_expect_eq(launch(4, uneven_rank, &u), 0);
}

static int early_rank(void *arg)
{
	const struct dist_ddp_join_options options = {
		.throw_on_early_termination = true};
	const int *inputs = arg;
	struct model m;
	enum dist_error error = DIST_OK;
	int i;

	EXPECT(&m, !join(&m, &plain));
	EXPECT(&m, dist_ddp_join_end(m.ddp) == DIST_ERR_INVALID_ARGUMENT);
	EXPECT(&m, !dist_ddp_join_begin(m.ddp, &options));
	EXPECT(&m, dist_ddp_join_begin(m.ddp, &options) ==
			   DIST_ERR_INVALID_ARGUMENT);
	for (i = 0; i < inputs[m.rank] && !error; i++) {
		error = dist_ddp_gradient_ready(m.ddp, 0);
		for (int param = 1; param < PARAMS && !error; param++)
			EXPECT(&m, !add(&m, param, 1));
		if (!error)
			EXPECT(&m, !dist_ddp_finish(m.ddp));
	}
	EXPECT(&m,
	       error == (inputs[m.rank] > 1 ? DIST_ERR_PEER_LOST : DIST_OK));
	EXPECT(&m, dist_ddp_join_end(m.ddp) == DIST_ERR_PEER_LOST);
	EXPECT(&m, says(&m, "2 of 3 ranks have inputs left"));
	EXPECT(&m, !dist_barrier(m.group, NULL));
	return leave(&m);
}

Test(ddp_training, uneven_inputs_may_end_together)
{
	static const int inputs[] = {2, 1, 3};

	cr_expect_eq(launch(3, early_rank, inputs), 0);
}

/* ---- communication hooks ------------------------------------------------ */

/* Averages x, alike on all ranks, and returns what came out. */
static float average_of(struct model *m, float x)
{
	zero(m);
	backward(m, x);
	EXPECT(m, !dist_ddp_finish(m->ddp));
	EXPECT(m, all_are(m, 1, gradient(m, 0)[0]));
	return gradient(m, 0)[0];
}

/* Three ranks: thirds of 3 are exact, those of 4097 have too many digits for
 * what is sent, and the sum of three 60000 is no float16. */
static int hook_rank(void *arg)
{
	const struct dist_ddp_options *options = arg;
	bool fp16 = options->comm_hook == DIST_DDP_FP16_COMPRESS;
	struct model m;
	float x;

	EXPECT(&m, !join(&m, options));
	EXPECT(&m, average_of(&m, 3) == 3);
	x = average_of(&m, 4097);
	EXPECT(&m, x != 4097 && x > 4064 && x < 4128);
	EXPECT(&m, !fp16 || average_of(&m, 60000) == 60000);
	return leave(&m);
}

Test(ddp_training, fp16_compress_sends_float16)
{
	const struct dist_ddp_options options = {
		.comm_hook = DIST_DDP_FP16_COMPRESS};

	cr_expect_eq(launch(3, hook_rank, &options), 0);
}

Test(ddp_training, bf16_compress_sends_bfloat16)
{
	const struct dist_ddp_options options = {
		.comm_hook = DIST_DDP_BF16_COMPRESS};

	cr_expect_eq(launch(3, hook_rank, &options), 0);
}

static int no_hook_rank(void *arg)
{
	const struct dist_ddp_options options = {
		.comm_hook = DIST_DDP_BF16_COMPRESS + 1};
	struct model m;

	(void)arg;
	EXPECT(&m, join(&m, &options) == DIST_ERR_INVALID_ARGUMENT);
	return leave(&m);
}

Test(ddp_training, a_hook_that_there_is_not_is_refused)
{
	cr_expect_eq(launch(1, no_hook_rank, NULL), 0);
}
