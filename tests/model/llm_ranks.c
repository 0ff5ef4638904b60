/*
 * Steps of the workload llm, message by message on a star without contention,
 * against closed forms of the pieces that they are made of.
 */
#include <math.h>
#include <string.h>

#include "scenarios/llm.h"
#include "tests/support/okay.h"
#include "tests/support/simulate.h"

#define STAR     "tests/support/star16.xml" /* 1 GB/s, 2 links of 5 us */
#define ALPHA_NS 10000.0
#define BETA_NS  1.0 /* a byte */
#define ERROR    1e-3

/* Equal layers: what one computes of a micro-batch. */
#define LAYERS      8
#define FORWARD_NS  3e6
#define BACKWARD_NS 4e6
#define WEIGHTS_NS  2e6
#define PARAMETERS  24000.0

static const struct llm_device device = {
	.name = "clock", .memory_Bps = 1e18, .copy_share = 1};
static const struct llm_pace pace = {1, 1, 1};

/* A step to be. */
struct trial {
	struct llm_work work;
	struct workload_arguments arguments;
	struct workload_result result;
	bool silent; /* communication alone */
};

static void add(struct llm_pass *pass, double ns)
{
	pass->pieces[pass->num++] = (struct llm_piece){
		.label = "piece", .ns = {ns}, .op = DIST__OP_KINDS};
}

static void init(struct trial *t, int ranks)
{
	struct llm_layer *layer = &t->work.layers[LLM_DENSE];
	struct llm_layout *layout = &t->work.layout;

	memset(t, 0, sizeof *t);
	workload_arguments_init(&t->arguments, "llm");
	t->work.model =
		(struct llm_architecture){.name = "equal", .layers = LAYERS};
	llm_layout_init(layout);
	layout->gpus = layout->dp = ranks;
	layout->etp = 1;
	layout->shard = LLM_DDP;
	layout->overlap_grad = layout->overlap_param = false;
	add(&layer->forward, FORWARD_NS);
	add(&layer->again, FORWARD_NS);
	add(&layer->backward, BACKWARD_NS);
	layer->boundary_bytes = 4;
}

/* Runs the trial; the result is then in it. */
static void run(struct trial *t)
{
	const struct simulation simulation = {
		.op = "all_reduce",
		.algorithm = "ring,all_gather=ring,reduce_scatter=ring,"
			     "all_to_all=pairwise",
		.platform = STAR,
		.world_size = t->work.layout.gpus};
	const struct llm_run asked = {&t->work, &device, &pace, NULL};
	struct workload_result *result = simulate_memory(sizeof *result);
	struct workload_setup setup;
	struct dist__refusal refusal;

	if (t->work.layout.global_batch < t->work.layout.dp)
		t->work.layout.global_batch = t->work.layout.dp;
	okay_or(llm_setup_init(&setup, &asked, &t->arguments, &refusal),
		refusal.message);
	setup.job.contents = WORKLOAD_PHANTOM;
	setup.job.result = result;
	if (t->silent)
		setup.job.schedule = &setup.no_computing;
	cr_assert(simulate(&simulation, "message", workload_rank, &setup.job));
	workload_setup_release(&setup);
	t->result = *result;
	cr_expect_leq(llabs(t->result.compute_ns + t->result.idle_ns +
			    t->result.exposed_ns - t->result.step_ns),
		      3);
}

static void expect_near(double got_ns, double want_ns)
{
	cr_expect(fabs(got_ns - want_ns) <= ERROR * want_ns,
		  "simulated %.0f ns, closed form %.0f ns", got_ns, want_ns);
}

/* A reduce-scatter or an all-gather of bytes: half a ring all-reduce. */
static double half_ring_ns(int p, double bytes)
{
	return (p - 1) * (ALPHA_NS + BETA_NS * bytes / p);
}

/* ---- pipelines ----------------------------------------------------------- */

#define STAGES 4

static void init_pipeline(struct trial *t, enum llm_schedule schedule, int vpp,
			  int micro_batches)
{
	init(t, STAGES);
	t->work.layout.pp = STAGES;
	t->work.layout.dp = 1;
	t->work.layout.vpp = vpp;
	t->work.layout.schedule = schedule;
	t->work.layout.global_batch = micro_batches;
	if (schedule == LLM_ZERO_BUBBLE)
		add(&t->work.layers[LLM_DENSE].weights, WEIGHTS_NS);
}

/* Messages take next to nothing: what is idle is the bubble. */
static void expect_bubble(enum llm_schedule schedule, int vpp, bool overlapped,
			  double bubble)
{
	const double stage = (double)LAYERS / STAGES;
	double weights = schedule == LLM_ZERO_BUBBLE ? WEIGHTS_NS : 0;

	for (int m = STAGES; m <= 4 * STAGES; m += STAGES) {
		double computed =
			m * stage * (FORWARD_NS + BACKWARD_NS + weights);
		struct trial t;

		init_pipeline(&t, schedule, vpp, m);
		t.work.layout.overlap_p2p = overlapped;
		run(&t);
		expect_near((double)t.result.compute_ns, computed);
		/* A dozen messages follow each other for each micro-batch. */
		cr_expect(fabs((double)t.result.step_ns - computed -
			       stage * bubble) <
				  ALPHA_NS * 4 * vpp * (m + STAGES),
			  "%d micro-batches: step %lld ns, closed form %.0f", m,
			  (long long)t.result.step_ns,
			  computed + stage * bubble);
		/* Else some of it is waiting for who does not receive yet. */
		cr_expect(!overlapped ||
				  fabs((double)t.result.idle_ns -
				       stage * bubble) <
					  ALPHA_NS * 4 * vpp * (m + STAGES),
			  "%d micro-batches: idle %lld ns, bubble %.0f", m,
			  (long long)t.result.idle_ns, stage * bubble);
	}
}

#define PIECES (FORWARD_NS + BACKWARD_NS)

Test(llm_ranks, gpipe_waits_for_all_stages)
{
	expect_bubble(LLM_GPIPE, 1, true, (STAGES - 1) * PIECES);
	expect_bubble(LLM_GPIPE, 1, false, (STAGES - 1) * PIECES);
}

Test(llm_ranks, one_forward_one_backward_waits_as_long)
{
	expect_bubble(LLM_1F1B, 1, true, (STAGES - 1) * PIECES);
	expect_bubble(LLM_1F1B, 1, false, (STAGES - 1) * PIECES);
}

Test(llm_ranks, two_chunks_wait_half_as_long)
{
	expect_bubble(LLM_1F1B, 2, true, (STAGES - 1) * PIECES / 2);
	expect_bubble(LLM_1F1B, 2, false, (STAGES - 1) * PIECES / 2);
}

Test(llm_ranks, zero_bubble_waits_without_weights)
{
	expect_bubble(LLM_ZERO_BUBBLE, 1, true,
		      (STAGES - 1) * (PIECES - WEIGHTS_NS));
}

/* With messages that take long: ahead they go beside computing, but for those
 * on the way to the last stage and back; else each waits for the one before. */
static void expect_messages(bool overlapped, int m, int exposed)
{
	const double bytes = 2e6, one = ALPHA_NS + BETA_NS * bytes;
	const int slots = (m + STAGES - 1) * LAYERS / STAGES;
	struct trial t;

	init_pipeline(&t, LLM_GPIPE, 1, m);
	t.work.layout.overlap_p2p = overlapped;
	t.work.layers[LLM_DENSE].boundary_bytes = bytes;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_SEND].num, m);
	cr_expect_eq(t.result.calls[WORKLOAD_SEND].bytes, m * (uint64_t)bytes);
	expect_near((double)t.result.step_ns, slots * PIECES + exposed * one);
}

Test(llm_ranks, messages_hide_when_they_are_asked_for_ahead)
{
	const int m = 8;

	expect_messages(true, m, 2 * (STAGES - 1));
	expect_messages(false, m, 2 * (m + STAGES - 2));
}

/* ---- calls of layers ----------------------------------------------------- */

static void set_call(struct llm_pass *pass, enum dist__op_kind op,
		     enum llm_axis axis, double bytes, bool overlapped)
{
	struct llm_piece *piece = &pass->pieces[pass->num - 1];

	piece->op = op;
	piece->axis = axis;
	piece->bytes = bytes;
	piece->overlapped = overlapped;
}

/* Runs a step of tensor-parallel layers: a gather before and a scatter behind
 * each layer's matrices, and `behind` with the backward pass. */
static void run_gathering(struct trial *t, int p, double bytes,
			  enum dist__op_kind behind, bool overlapped)
{
	struct llm_layer *layer;

	init(t, p);
	t->work.layout.tp = p;
	t->work.layout.dp = 1;
	layer = &t->work.layers[LLM_DENSE];
	set_call(&layer->forward, DIST__ALL_GATHER, LLM_TP, bytes, overlapped);
	add(&layer->forward, FORWARD_NS);
	set_call(&layer->forward, DIST__REDUCE_SCATTER, LLM_TP, bytes,
		 overlapped);
	set_call(&layer->backward, behind, LLM_TP, bytes, overlapped);
	run(t);
}

Test(llm_ranks, tensor_parallel_layers_gather_and_scatter)
{
	struct trial t;

	run_gathering(&t, 4, 4e5, DIST__ALL_REDUCE, false);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_GATHER].bytes,
		     LAYERS * (uint64_t)4e5);
	expect_near((double)t.result.exposed_ns,
		    LAYERS * 4 * half_ring_ns(4, 4e5));
	expect_near((double)t.result.compute_ns,
		    LAYERS * (2 * FORWARD_NS + BACKWARD_NS));
}

/* What is overlapped and shorter than the piece beside it takes no time; of
 * the all-gather of the last piece nothing is beside it. */
Test(llm_ranks, calls_hide_behind_the_piece_beside_them)
{
	struct trial t;

	run_gathering(&t, 4, 4e5, DIST__ALL_GATHER, true);
	expect_near(
		(double)t.result.step_ns,
		LAYERS * (2 * FORWARD_NS + BACKWARD_NS + half_ring_ns(4, 4e5)));
}

/* p - 1 rounds around the ring; each beside one of p parts of the next piece,
 * or one after the other. */
Test(llm_ranks, context_goes_around_a_ring)
{
	const int p = 4;
	const double bytes = 3e6, one = ALPHA_NS + BETA_NS * bytes / (p - 1);
	struct llm_layer *layer;
	struct trial t;

	for (int overlapped = 0; overlapped < 2; overlapped++) {
		double part = FORWARD_NS / p;

		init(&t, p);
		t.work.layout.cp = p;
		t.work.layout.dp = 1;
		layer = &t.work.layers[LLM_DENSE];
		set_call(&layer->forward, DIST__SEND, LLM_CP, bytes,
			 overlapped);
		add(&layer->forward, FORWARD_NS);
		run(&t);
		cr_expect_eq(t.result.calls[WORKLOAD_SEND].num,
			     LAYERS * (p - 1));
		expect_near(
			(double)t.result.step_ns,
			LAYERS * (FORWARD_NS + BACKWARD_NS +
				  (overlapped ? part + (p - 1) * fmax(part, one)
					      : FORWARD_NS + (p - 1) * one)));
	}
}

/* Experts: of bytes that the fullest rank gets, the mean leaves each. */
Test(llm_ranks, tokens_go_to_the_fullest_rank_last)
{
	const int p = 4;
	const double bytes = 4e6, imbalance = 2;
	struct llm_layer *layer;
	struct trial t;

	init(&t, p);
	t.work.layout.ep = p;
	t.work.layout.imbalance = imbalance;
	layer = &t.work.layers[LLM_DENSE];
	set_call(&layer->forward, DIST__ALL_TO_ALL, LLM_EP, bytes, false);
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_TO_ALL].bytes,
		     LAYERS * (uint64_t)(bytes / imbalance));
	/* It hears from three, one after the other. */
	expect_near((double)t.result.step_ns,
		    LAYERS * (FORWARD_NS + BACKWARD_NS +
			      (p - 1) * (ALPHA_NS + BETA_NS * bytes / p)));
}

/* ---- data parallelism ---------------------------------------------------- */

static void init_data(struct trial *t, int ranks, enum llm_shard shard)
{
	init(t, ranks);
	t->work.layout.shard = shard;
	t->work.layers[LLM_DENSE].dense_parameters = PARAMETERS;
}

/* Gradients have 4 bytes, parameters 2; without overlap, so many of each. */
static void expect_data(enum llm_shard shard, int micro_batches,
			double gradients, double parameters)
{
	const int p = 6;
	bool units = shard == LLM_FSDP;
	int num = units ? LAYERS : 1;
	struct trial t;

	init_data(&t, p, shard);
	t.work.layout.global_batch = p * micro_batches;
	t.silent = true;
	run(&t);
	expect_near((double)t.result.step_ns,
		    num * (gradients * half_ring_ns(p, 4 * PARAMETERS * LAYERS /
							       num) +
			   parameters * half_ring_ns(p, 2 * PARAMETERS *
								LAYERS / num)));
}

Test(llm_ranks, data_parallel_ranks_send_what_zero_says)
{
	expect_data(LLM_DDP, 2, 2, 0);
	expect_data(LLM_ZERO1, 2, 1, 1);
	expect_data(LLM_ZERO2, 2, 2, 1);
	expect_data(LLM_FSDP, 1, 1, 2);
	expect_data(LLM_FSDP, 2, 2, 4);
}

/* Kept from forward to backward; and with a pipeline, of which each stage has
 * half of the layers, from one micro-batch to the next. */
Test(llm_ranks, fsdp_keeps_parameters)
{
	const int p = 6;
	struct trial t;

	init_data(&t, p, LLM_FSDP);
	t.work.layout.reshard = false;
	t.work.layout.global_batch = 3 * p;
	t.silent = true;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_GATHER].num, 3 * LAYERS);
	cr_expect_eq(t.result.calls[WORKLOAD_REDUCE_SCATTER].num, 3 * LAYERS);
	t.work.layout.pp = 2;
	t.work.layout.dp = p / 2;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_GATHER].num, LAYERS / 2);
	cr_expect_eq(t.result.calls[WORKLOAD_REDUCE_SCATTER].num, LAYERS / 2);
}

/* Told to wait, FSDP sums in the last micro-batch alone; it still gathers
 * before each pass. */
Test(llm_ranks, fsdp_sums_late)
{
	const int p = 6;
	struct trial t;

	init_data(&t, p, LLM_FSDP);
	t.work.layout.defer_sums = true;
	t.work.layout.global_batch = 3 * p;
	t.silent = true;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_GATHER].num, 3 * 2 * LAYERS);
	cr_expect_eq(t.result.calls[WORKLOAD_REDUCE_SCATTER].num, LAYERS);
}

/* Two chunks of a stage take turns of two micro-batches, and sum behind each.
 */
Test(llm_ranks, zero2_sums_behind_each_turn_of_a_chunk)
{
	const int p = 6;
	struct trial t;

	init_data(&t, p, LLM_ZERO2);
	t.work.layout.pp = t.work.layout.vpp = 2;
	t.work.layout.dp = p / 2;
	t.work.layout.global_batch = 4 * p / 2;
	t.silent = true;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_REDUCE_SCATTER].num, 2 * 2);
}

/* Overlapped, the first layer's gather and the last scatter are exposed. */
Test(llm_ranks, fsdp_hides_all_but_the_ends)
{
	const int p = 6;
	struct trial t;

	init_data(&t, p, LLM_FSDP);
	t.work.layout.overlap_grad = t.work.layout.overlap_param = true;
	run(&t);
	/* The last layer's parameters are let go of and asked for again. */
	expect_near((double)t.result.step_ns,
		    LAYERS * (FORWARD_NS + BACKWARD_NS) +
			    2 * half_ring_ns(p, 2 * PARAMETERS) +
			    half_ring_ns(p, 4 * PARAMETERS));
}

/* Shards of three of six ranks: their sums go to the other three's. */
Test(llm_ranks, hsdp_sums_over_copies)
{
	struct trial t;

	init_data(&t, 6, LLM_HSDP);
	t.work.layout.shard_ranks = 3;
	t.silent = true;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_REDUCE].bytes,
		     (uint64_t)(LAYERS * 4 * PARAMETERS / 3));
	expect_near((double)t.result.step_ns,
		    LAYERS * (2 * half_ring_ns(3, 2 * PARAMETERS) +
			      half_ring_ns(3, 4 * PARAMETERS) +
			      2 * half_ring_ns(2, 4 * PARAMETERS / 3)));
}

/* Frozen weights are gathered, and nothing is summed. */
Test(llm_ranks, frozen_weights_have_no_gradients)
{
	struct trial t;

	init_data(&t, 6, LLM_FSDP);
	t.work.layout.lora = true;
	t.silent = true;
	run(&t);
	expect_near((double)t.result.step_ns,
		    2 * LAYERS * half_ring_ns(6, 2 * PARAMETERS));
	t.work.layout.shard = LLM_ZERO1;
	run(&t);
	cr_expect_eq(t.result.step_ns, 0);
}

/* Megatron's buckets of 40e6 elements: two layers each, the next one's gather
 * beside the forward of the one before. */
Test(llm_ranks, buckets_are_megatrons)
{
	const int p = 2;
	struct trial t;

	init_data(&t, p, LLM_ZERO1);
	t.work.layers[LLM_DENSE].dense_parameters = 24e6;
	t.work.layout.overlap_grad = t.work.layout.overlap_param = true;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_REDUCE_SCATTER].num, LAYERS / 2);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_GATHER].num, LAYERS / 2);
	cr_expect_eq(t.result.calls[WORKLOAD_REDUCE_SCATTER].bytes,
		     (uint64_t)(LAYERS * 24e6 * 4));
}

/* ---- what other ranks have alike ----------------------------------------- */

/* Two norms a layer and the last one. */
Test(llm_ranks, ranks_of_tp_sum_gradients_of_norms)
{
	const int p = 4, hidden = 1000;
	struct trial t;

	init(&t, p);
	t.work.layout.tp = p;
	t.work.layout.dp = 1;
	t.work.model.hidden = hidden;
	t.silent = true;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_REDUCE].num, 1);
	expect_near((double)t.result.step_ns,
		    2 * half_ring_ns(p, 4.0 * (2 * LAYERS + 1) * hidden));
	t.work.layout.sequence = false;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_REDUCE].num, 0);
}

Test(llm_ranks, stages_sum_gradients_of_a_tied_embedding)
{
	const int hidden = 100, vocab = 1000;
	struct trial t;

	init_pipeline(&t, LLM_1F1B, 1, STAGES);
	t.work.model.tied = true;
	t.work.model.hidden = hidden;
	t.work.model.vocab = vocab;
	run(&t);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_REDUCE].num, 1);
	cr_expect_eq(t.result.calls[WORKLOAD_ALL_REDUCE].bytes,
		     4 * (uint64_t)hidden * (uint64_t)vocab);
}

/* ---- recomputation ------------------------------------------------------- */

Test(llm_ranks, recomputed_layers_go_forward_twice)
{
	struct trial t;

	init(&t, 1);
	t.work.layout.recompute = LLM_RECOMPUTE_FULL;
	t.work.layout.recompute_layers = 3;
	run(&t);
	expect_near((double)t.result.step_ns, LAYERS * PIECES + 3 * FORWARD_NS);
}
