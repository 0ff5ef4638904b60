/*
 * Steps of the workloads, message by message on a star without contention,
 * against closed forms.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/workload.h"
#include "tests/support/okay.h"

#define STAR     "tests/support/star16.xml" /* 1 GB/s, 2 links of 5 us */
#define ALPHA_NS 10000.0
#define BETA_NS  1.0 /* a byte */
#define ERROR    1e-3

/* A model of equal layers: an attention's weight, used at so many positions,
 * and an MLP's bias. */
#define LAYERS    8
#define WEIGHT    24000
#define CHANNELS  120
#define POSITIONS 10
#define HEADS     6
#define NUMEL     ((double)(WEIGHT + CHANNELS))
#define BATCH     8
#define STEP_MS   240.0

/* A step to be: what main() makes of a command line. */
struct trial {
	struct model model;
	struct model_row rows[2 * LAYERS];
	struct dist_ddp_parameter phantoms[2 * LAYERS];
	char names[2 * LAYERS][24];
	struct workload_arguments arguments;
	struct layers layers;
	double optimizer_ns; /* of the whole model */
	struct pace pace;
	struct workload_result result;
};

static void make_model(struct trial *t)
{
	t->model = (struct model){.name = "equal",
				  .rows = t->rows,
				  .num_rows = 2 * LAYERS,
				  .phantoms = t->phantoms};
	for (int i = 0; i < 2 * LAYERS; i++) {
		struct model_row *row = &t->rows[i];

		snprintf(t->names[i], sizeof t->names[i], "h.%d.%c", i / 2,
			 i % 2 ? 'b' : 'w');
		row->name = t->names[i];
		row->numel = i % 2 ? CHANNELS : WEIGHT;
		row->forward_flops = i % 2 ? 0 : 2.0 * WEIGHT * POSITIONS;
		row->width = CHANNELS;
		row->positions = POSITIONS;
		row->heads = i % 2 ? 0 : HEADS;
		row->mlp = i % 2;
		t->phantoms[i].name = row->name;
		t->phantoms[i].parameter = t->phantoms[i].gradient =
			dist_tensor(NULL, row->numel, DIST_FLOAT32);
		t->model.num_parameters++;
		t->model.numel += row->numel;
		t->model.forward_flops += row->forward_flops;
	}
	okay(layers_init(&t->layers, &t->model));
	cr_assert_eq(t->layers.num, LAYERS);
}

static void init(struct trial *t, const char *name)
{
	memset(t, 0, sizeof *t);
	make_model(t);
	workload_arguments_init(&t->arguments, name);
	t->arguments.rate.batch = BATCH;
	t->arguments.rate.step_ms = STEP_MS;
}

/* Runs the trial on so many ranks; the result is then in it. */
static void run(struct trial *t, const char *name, int world_size)
{
	const struct dist_launch_options options = {
		.backend = "sim",
		.world_size = world_size,
		.platform = STAR,
		.fidelity = "message",
		.algorithm = "all_reduce=ring,all_gather=ring,"
			     "reduce_scatter=ring,all_to_all=pairwise"};
	struct schedule schedule;
	struct workload_job job = {
		.workload = workload_find(name),
		.arguments = &t->arguments,
		.model = &t->model,
		.layers = &t->layers,
		.schedule = &schedule,
		.pace = &t->pace,
		.contents = WORKLOAD_PHANTOM,
		.result = &t->result,
	};

	cr_assert_not_null(job.workload);
	okay(schedule_init(&schedule, &t->model, &t->arguments.rate));
	cr_assert_eq(dist_launch(&options, workload_rank, &job), 0);
	cr_expect_leq(llabs(t->result.compute_ns + t->result.idle_ns +
			    t->result.exposed_ns - t->result.step_ns),
		      3);
	t->optimizer_ns = (double)schedule.optimizer_ns;
	schedule_release(&schedule);
	layers_release(&t->layers);
}

static void expect_near(double got_ns, double want_ns)
{
	cr_expect(fabs(got_ns - want_ns) <= ERROR * want_ns,
		  "simulated %.0f ns, closed form %.0f ns", got_ns, want_ns);
}

/* Half a ring all-reduce: a reduce-scatter or an all-gather of bytes. */
static double half_ring_ns(int p, double bytes)
{
	return (p - 1) * (ALPHA_NS + BETA_NS * bytes / p);
}

/* ---- data parallelism --------------------------------------------------- */

static void expect_merged(const char *comm_hook, double element_bytes)
{
	char hook[32];
	struct trial t;

	init(&t, "ddp_step");
	t.arguments.no_overlap = 1;
	if (comm_hook) {
		snprintf(hook, sizeof hook, "%s", comm_hook);
		t.arguments.comm_hook = hook;
	}
	run(&t, "ddp_step", 6);
	cr_expect_eq(t.result.num_buckets, 1);
	expect_near((double)t.result.exposed_ns,
		    2 * half_ring_ns(6, element_bytes * LAYERS * NUMEL));
	expect_near((double)t.result.compute_ns, STEP_MS * 1e6);
}

Test(workloads, merged_gradients_are_one_all_reduce)
{
	expect_merged(NULL, 4);
}

Test(workloads, compressed_gradients_are_half_an_all_reduce)
{
	expect_merged("fp16_compress", 2);
}

Test(workloads, a_bucket_for_every_tensor_hides_all_but_the_last)
{
	struct trial t;

	init(&t, "ddp_step");
	t.arguments.per_tensor = 1;
	run(&t, "ddp_step", 6);
	cr_expect_eq(t.result.num_buckets, 2 * LAYERS);
	/* That is the first layer's weight: its bias was ready before. */
	expect_near((double)t.result.exposed_ns,
		    2 * half_ring_ns(6, 4 * WEIGHT));
}

Test(workloads, accumulated_micro_batches_are_sent_once)
{
	struct trial t;

	init(&t, "ddp_step");
	t.arguments.no_overlap = 1;
	t.arguments.accumulate = 3;
	run(&t, "ddp_step", 6);
	expect_near((double)t.result.exposed_ns,
		    2 * half_ring_ns(6, 4 * LAYERS * NUMEL));
	expect_near((double)t.result.compute_ns,
		    3 * STEP_MS * 1e6 - 2 * t.optimizer_ns);
}

/* ---- shards ------------------------------------------------------------- */

/* What ZeRO sends: so many all-gathers and reduce-scatters of all layers. */
static void expect_shards(int zero, int passes)
{
	struct trial t;

	init(&t, "fsdp");
	t.arguments.zero = zero;
	t.arguments.rate.no_compute = true;
	run(&t, "fsdp", 6);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_GATHER].bytes,
		     (uint64_t)(4 * (passes - 1) * LAYERS * NUMEL));
	cr_expect_eq(t.result.calls[WORKLOAD_REDUCE_SCATTER].bytes,
		     (uint64_t)(4 * LAYERS * NUMEL));
	expect_near((double)t.result.step_ns,
		    passes * LAYERS * half_ring_ns(6, 4 * NUMEL));
}

Test(workloads, zero_3_sends_parameters_twice_and_gradients_once)
{
	expect_shards(3, 3);
}

Test(workloads, zero_2_sends_as_much_as_an_all_reduce)
{
	expect_shards(2, 2);
}

Test(workloads, zero_1_sends_as_much_as_an_all_reduce)
{
	expect_shards(1, 2);
}

/* ---- pipelines ---------------------------------------------------------- */

/*
 * Four stages of two equal layers. Without messages a step is m + p - 1 times
 * what a stage computes for a micro-batch. A stage asks for a message when it
 * has nothing else to do: with gpipe the last stage waits for m + p - 2 of them
 * one after the other, the first for as many back; with 1f1b no longer than
 * twice that.
 */
static void expect_bubble(const char *schedule, int micro_batches)
{
	const int p = 4, m = micro_batches;
	double piece_ns, messages_ns, bubble_ns, least_ns, want_ns, most_ns;
	bool is_gpipe = strcmp(schedule, "gpipe") == 0;
	char text[8];
	struct trial t;

	snprintf(text, sizeof text, "%s", schedule);
	init(&t, "pipeline");
	t.arguments.schedule = text;
	t.arguments.micro_batches = m;
	run(&t, "pipeline", p);
	piece_ns = (STEP_MS * 1e6 - t.optimizer_ns) / p / m;
	messages_ns =
		2 * (m + p - 2) *
		(ALPHA_NS + BETA_NS * 4 * CHANNELS * POSITIONS * BATCH / m);
	least_ns = (m + p - 1) * piece_ns + t.optimizer_ns / p;
	want_ns = least_ns + messages_ns;
	most_ns = is_gpipe ? want_ns : want_ns + messages_ns;
	cr_expect_eq(t.result.calls[WORKLOAD_SEND].num, m);
	if (is_gpipe)
		expect_near((double)t.result.step_ns, want_ns);
	cr_expect((double)t.result.step_ns >= least_ns &&
			  (double)t.result.step_ns <= most_ns * (1 + 1e-6),
		  "%s: %lld ns, expected %.0f to %.0f", schedule,
		  (long long)t.result.step_ns, least_ns, most_ns);
	/* The bubble, (p-1) / (m+p-1) of the pieces; who sends later for want
	 * of a message lets others idle. */
	bubble_ns = (double)t.result.idle_ns - (p - 1) * piece_ns;
	cr_expect(bubble_ns >= -1 && bubble_ns <= messages_ns,
		  "%s: idle %lld ns, closed form %.0f", schedule,
		  (long long)t.result.idle_ns, (p - 1) * piece_ns);
	expect_near((double)t.result.compute_ns - t.optimizer_ns / p,
		    m * piece_ns);
}

Test(workloads, gpipe_has_its_bubble)
{
	expect_bubble("gpipe", 8);
}

Test(workloads, one_forward_one_backward_has_the_same)
{
	expect_bubble("1f1b", 8);
}

Test(workloads, few_micro_batches_leave_a_larger_one)
{
	expect_bubble("1f1b", 2);
}

/* ---- tensor parallelism ------------------------------------------------- */

Test(workloads, a_layer_has_two_all_reduces_each_way)
{
	struct trial t;

	init(&t, "tensor_parallel");
	run(&t, "tensor_parallel", 6);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_REDUCE].num, 4 * LAYERS);
	expect_near((double)t.result.exposed_ns,
		    4 * LAYERS * 2 *
			    half_ring_ns(6, 4 * CHANNELS * POSITIONS * BATCH));
	expect_near((double)t.result.compute_ns, STEP_MS * 1e6 / 6);
}

/* Two replicas of three ranks each: their averages hide behind backward, all
 * but the first layer's. */
Test(workloads, the_ranks_that_are_left_are_replicas)
{
	struct trial t;

	init(&t, "hybrid");
	t.arguments.tp = 3;
	t.arguments.micro_batches = 1;
	run(&t, "hybrid", 6);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_REDUCE].num, 5 * LAYERS);
	expect_near((double)t.result.exposed_ns,
		    4 * LAYERS * 2 *
				    half_ring_ns(3, 4 * CHANNELS * POSITIONS *
							    BATCH) +
			    2 * half_ring_ns(2, 4 * NUMEL / 3));
}

/* ---- parameter servers -------------------------------------------------- */

/* All layers come at once to the servers' links, and go back by them: returns
 * by how much a step takes longer than that. */
static double beyond_incast(int servers, const char *via)
{
	const double workers = 6 - servers;
	const double bytes = 4 * LAYERS * NUMEL;
	struct trial t;

	init(&t, "ps");
	t.arguments.servers = servers;
	t.arguments.via = via;
	t.arguments.rate.no_compute = true;
	run(&t, "ps", 6);
	return (double)t.result.step_ns -
	       2 * (ALPHA_NS + BETA_NS * workers * bytes / servers);
}

static void expect_no_more(int servers)
{
	double beyond_ns = beyond_incast(servers, NULL);

	cr_expect(fabs(beyond_ns) < ERROR * ALPHA_NS, "%g", beyond_ns);
}

Test(workloads, a_server_hears_all_workers_by_one_link)
{
	expect_no_more(1);
}

Test(workloads, two_servers_share_them)
{
	expect_no_more(2);
}

/* A frame goes before the bytes of a call, and of its reply. */
static void expect_frames(int servers)
{
	double beyond_ns = beyond_incast(servers, "rpc");

	cr_expect(beyond_ns > 0 && beyond_ns < 2.1 * ALPHA_NS, "%g", beyond_ns);
}

Test(workloads, a_server_is_called_by_all_workers)
{
	expect_frames(1);
}

Test(workloads, two_servers_share_the_calls)
{
	expect_frames(2);
}

/* The others' time until it pushes is idle; a layer's way to the server, which
 * has heard of them before, its update and its way back to all are exposed: of
 * each layer to them, of the last to the late one. */
Test(workloads, who_waits_for_a_late_worker_is_idle)
{
	const double bytes = 4 * NUMEL;
	double trip_ns;
	struct trial t;

	init(&t, "ps");
	t.pace.num_stragglers = 1;
	t.pace.stragglers[0].rank = 5;
	t.pace.stragglers[0].factor = 3;
	run(&t, "ps", 6);
	trip_ns = 2 * ALPHA_NS + BETA_NS * (1 + 5) * bytes +
		  t.optimizer_ns / LAYERS;
	expect_near((double)t.result.exposed_ns,
		    (4 * LAYERS + 1) * trip_ns / 5);
}

/* ---- mixtures of experts ------------------------------------------------ */

/* Two thirds of each layer become an expert. Tokens go to their experts and
 * come back, forward and backward. */
static void init_experts(struct trial *t)
{
	init(t, "moe");
	t->arguments.top_k = 2;
	for (int i = 0; i < 2 * LAYERS; i++) {
		struct model_row *row = &t->rows[i];

		row->numel = i % 2 ? CHANNELS + WEIGHT * 2 / 3 : WEIGHT / 3;
		row->forward_flops =
			2.0 * WEIGHT * POSITIONS * (i % 2 ? 2 : 1) / 3;
	}
	layers_release(&t->layers);
	okay(layers_init(&t->layers, &t->model));
}

Test(workloads, tokens_go_and_come_back_each_way)
{
	const double bytes = 4.0 * 2 * CHANNELS * POSITIONS * BATCH;
	double average_ns, least_ns;
	struct trial t;

	init_experts(&t);
	run(&t, "moe", 5);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_TO_ALL].num, 4 * LAYERS);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_TO_ALL].bytes,
		     (uint64_t)(4 * LAYERS * bytes));
	/* Of the averages of the dense thirds the first layer's is exposed as a
	 * whole, the others as far as tokens share the links with them. */
	average_ns = 2 * half_ring_ns(5, 4 * floor(WEIGHT / 3.0));
	least_ns =
		4 * LAYERS * 4 * (ALPHA_NS + BETA_NS * bytes / 5) + average_ns;
	cr_expect((double)t.result.exposed_ns >= least_ns * (1 - ERROR) &&
			  (double)t.result.exposed_ns <=
				  least_ns + (LAYERS - 1) * average_ns,
		  "%lld ns, expected %.0f or a little more",
		  (long long)t.result.exposed_ns, least_ns);
	/* A token is worked on by two experts. */
	expect_near((double)t.result.compute_ns,
		    (STEP_MS * 1e6 - t.optimizer_ns) * 5 / 3 + t.optimizer_ns);
}

Test(workloads, unevenly_liked_experts_keep_others_waiting)
{
	struct trial t;

	init_experts(&t);
	t.arguments.imbalance_percent = 50;
	run(&t, "moe", 6);
	/* All tokens are worked on, by whomever: what ranks compute together
	 * is as much. */
	expect_near((double)t.result.compute_ns,
		    (STEP_MS * 1e6 - t.optimizer_ns) * 5 / 3 + t.optimizer_ns);
	cr_expect_gt((double)t.result.idle_ns,
		     0.1 * (double)t.result.compute_ns);
}
