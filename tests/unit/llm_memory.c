/* What a rank of a language model's layout holds: ZeRO's closed forms,
 * micro-batches in flight counted by hand, and published measurements. */
#include <math.h>
#include <stdlib.h>

#include "base/data.h"
#include "model/llm/memory.h"
#include "model/validation/llm_case.h"
#include "tests/support/llm_spread.h"
#include "tests/support/okay.h"

#define GIB 1073741824.0

static const struct llm_pace as_measured = {1, 1, 1};

static struct llm_architecture find(const char *name)
{
	struct llm_architecture model;
	struct dist_message message = {""};

	okay_or(llm_architecture_find(&model, name, &message), message);
	return model;
}

static struct llm_device device_of(const char *gpu)
{
	struct llm_device device;
	struct dist_message message = {""};

	okay_or(llm_device_find(&device, gpu, &message), message);
	return device;
}

static void complete(struct llm_layout *l, const struct llm_architecture *model)
{
	struct dist__refusal refusal;

	cr_assert_eq(llm_layout_complete(l, model, &refusal), DIST_OK, "%s: %s",
		     refusal.option, refusal.message.text);
}

static struct llm_memory hold(const struct llm_architecture *model,
			      struct llm_layout l, const char *gpu)
{
	struct llm_device device = device_of(gpu);
	struct dist_message message = {""};
	struct llm_memory memory;
	struct llm_work work;

	complete(&l, model);
	okay_or(llm_work_init(&work, model, &l, &device, &as_measured,
			      &message),
		message);
	llm_memory_worst(&memory, &work, &device);
	llm_device_release(&device);
	return memory;
}

/* ---- states (S. Rajbhandari et al., "ZeRO", 2020, table 1) ------------- */

static double states(enum llm_shard shard, int gradient_bytes)
{
	struct llm_architecture model = find("Llama-3-8B");
	struct llm_layout l = spread(64, 1, 1, 1, 1);
	struct llm_parameters p;
	struct llm_memory m;

	l.shard = shard;
	l.shard_ranks = shard == LLM_HSDP ? 8 : 0;
	l.gradient_bytes = gradient_bytes;
	m = hold(&model, l, "H100");
	llm_count_parameters(&model, &p);
	return (m.parameters + m.gradients + m.optimizer) / p.total;
}

Test(llm_memory, shards_hold_what_zero_says)
{
	cr_expect_float_eq(states(LLM_DDP, 2), 16, 1e-9);
	cr_expect_float_eq(states(LLM_ZERO1, 2), 4 + 12.0 / 64, 1e-9);
	cr_expect_float_eq(states(LLM_ZERO2, 2), 2 + 14.0 / 64, 1e-9);
	/* FSDP2's shard is the master copy: 4, a gradient of 4, moments. */
	cr_expect_float_eq(states(LLM_FSDP, 4), 16.0 / 64, 1e-9);
	cr_expect_float_eq(states(LLM_HSDP, 4), 16.0 / 8, 1e-9);
}

Test(llm_memory, experts_have_shards_of_their_own)
{
	struct llm_architecture model = find("Mixtral-8x7B");
	struct llm_layout l = spread(64, 1, 1, 1, 1);
	struct llm_parameters p;
	struct llm_memory m;
	double experts;

	l.ep = 8;
	m = hold(&model, l, "B200");
	llm_count_parameters(&model, &p);
	experts = 32 * p.experts / 8;
	cr_expect_float_eq(m.optimizer,
			   12 * ((p.total - 8 * experts) / 64 + experts / 8),
			   1e-6 * m.optimizer);
}

/* In a pipeline FSDP's gradients stay whole until the last micro-batch, and its
 * parameters from a backward pass to the next forward one. */
Test(llm_memory, fsdp_in_a_pipeline_holds_whole_stages)
{
	struct llm_architecture model = find("Llama-2-70B");
	struct llm_layout l = spread(64, 1, 4, 1, 1);
	struct llm_memory whole, sharded;

	whole = hold(&model, l, "H100"); /* ZeRO-1 */
	l.shard = LLM_FSDP;
	sharded = hold(&model, l, "H100");
	cr_expect_float_eq(sharded.gradients, whole.gradients, 1);
	cr_expect_gt(sharded.temporary, whole.temporary + whole.parameters);
	cr_expect_lt(sharded.parameters, 0.2 * whole.parameters);
}

/* Without stages FSDP sums each micro-batch's gradients into shards, unless it
 * is told to wait for the last one. */
Test(llm_memory, fsdp_accumulates_shards_unless_sums_are_late)
{
	struct llm_architecture model = find("Llama-3-8B");
	struct llm_layout l = spread(64, 1, 1, 1, 1);
	struct llm_parameters p;
	double once;

	llm_count_parameters(&model, &p);
	l.shard = LLM_FSDP;
	l.defer_sums = true;
	l.global_batch = 64 * l.micro_batch;
	once = hold(&model, l, "H100").gradients;
	cr_expect_float_eq(once, 4 * p.total / 64, 1e-6 * once);
	l.global_batch *= 4;
	cr_expect_float_eq(hold(&model, l, "H100").gradients, 4 * p.total,
			   1e-6 * p.total);
	l.defer_sums = false;
	cr_expect_float_eq(hold(&model, l, "H100").gradients, once, 1);
}

/* A loss in chunks needs one chunk's logits, in 16 bits, and keeps none. */
Test(llm_memory, chunks_of_a_loss_hold_their_logits_alone)
{
	struct llm_architecture model = find("Qwen2.5-0.5B");
	struct llm_layout l = spread(1, 1, 1, 1, 1);
	const double logits = 16.0 * 4096 * model.vocab * 2;
	double kept, working;

	l.micro_batch = l.global_batch = 16;
	l.seq = 4096;
	l.recompute = LLM_RECOMPUTE_FULL;
	l.fused_loss = true;
	kept = hold(&model, l, "B200").activations;
	l.loss_chunks = 1;
	working = hold(&model, l, "B200").temporary;
	cr_expect_float_eq(kept - hold(&model, l, "B200").activations, logits,
			   1e-6 * logits);
	cr_expect_float_eq(working, logits, 1e-6 * logits);
	l.loss_chunks = 2;
	cr_expect_float_eq(hold(&model, l, "B200").temporary, logits / 2,
			   1e-6 * logits);
}

/* Embedding and head are gathered from forward to backward, of the layers two
 * at a time, and one layer's gradients are summed. */
Test(llm_memory, fsdp_gathers_ends_and_two_layers)
{
	struct llm_architecture model = find("Llama-3-8B");
	struct llm_layout l = spread(64, 1, 1, 1, 1);
	struct llm_parameters p;
	double whole;

	llm_count_parameters(&model, &p);
	l.shard = LLM_DDP;
	whole = hold(&model, l, "H100").temporary;
	l.shard = LLM_FSDP;
	cr_expect_float_eq(hold(&model, l, "H100").temporary - whole,
			   2 * (p.embedding + p.head) +
				   (2 * 2 + 4) * (p.attention + p.mlp),
			   1e5);
}

Test(llm_memory, one_gpu_has_no_communicators)
{
	struct llm_architecture model = find("Qwen2.5-0.5B");
	const double context = 1024.0 * 1048576;

	cr_expect_eq(hold(&model, spread(1, 1, 1, 1, 1), "H100").library,
		     context);
	cr_expect_gt(hold(&model, spread(8, 1, 1, 1, 1), "H100").library,
		     context);
}

Test(llm_memory, what_does_not_fit_is_said)
{
	struct llm_architecture model = find("Llama-3-8B");
	struct llm_layout l = spread(64, 1, 1, 1, 1);

	l.shard = LLM_DDP; /* 8 billion of 18 bytes */
	cr_expect(!hold(&model, l, "H100").fits);
	l.shard = LLM_FSDP;
	cr_expect(hold(&model, l, "H100").fits);
	l.micro_batch = 8;
	cr_expect(!hold(&model, l, "H100").fits);
}

Test(llm_memory, parts_add_up)
{
	struct llm_architecture model = find("Llama-3-70B");
	struct llm_memory m = hold(&model, spread(64, 8, 4, 1, 1), "H100");

	cr_expect_float_eq(m.allocated,
			   m.parameters + m.gradients + m.optimizer +
				   m.activations + m.temporary,
			   1);
	cr_expect_float_eq(m.total, m.allocated + m.library + m.slack, 1);
	cr_expect_eq(m.stage, 0);
	cr_expect_leq(m.total, m.capacity);
}

/* ---- micro-batches in flight ------------------------------------------- */

static int in_flight(enum llm_schedule schedule, int vpp, int batches,
		     int stage, int chunk)
{
	struct llm_layout l = spread(4, 1, 4, 1, 1);
	struct llm_architecture model = find("Llama-3-8B");

	l.schedule = schedule;
	l.vpp = vpp;
	l.global_batch = batches;
	complete(&l, &model);
	return llm_in_flight(&l, stage, chunk);
}

Test(llm_memory, schedules_hold_micro_batches)
{
	cr_expect_eq(in_flight(LLM_GPIPE, 1, 16, 3, 0), 16);
	cr_expect_eq(in_flight(LLM_1F1B, 1, 16, 0, 0), 4);
	cr_expect_eq(in_flight(LLM_1F1B, 1, 16, 3, 0), 1);
	cr_expect_eq(in_flight(LLM_1F1B, 1, 2, 0, 0), 2);
	cr_expect_eq(in_flight(LLM_ZERO_BUBBLE, 1, 16, 3, 0), 4);
	/* Two chunks: 2 x 3 + 4 forward passes, then one more: four of the
	 * first chunk, four of the second, three of the first. */
	cr_expect_eq(in_flight(LLM_1F1B, 2, 16, 0, 0), 7);
	cr_expect_eq(in_flight(LLM_1F1B, 2, 16, 0, 1), 4);
	cr_expect_eq(in_flight(LLM_1F1B, 2, 16, 3, 0), 4);
	cr_expect_eq(in_flight(LLM_1F1B, 2, 16, 3, 1), 1);
	cr_expect_eq(in_flight(LLM_1F1B, 2, 4, 0, 0), 4);
}

/* ---- recomputation ----------------------------------------------------- */

static struct llm_layout chosen_of(const char *name, struct llm_layout l)
{
	struct llm_architecture model = find(name);
	struct llm_device device = device_of("H100");
	struct dist_message message = {""};

	l.recompute = LLM_RECOMPUTE_AUTO;
	complete(&l, &model);
	okay(llm_recompute_choose(&l, &model, &device, &as_measured, &message));
	llm_device_release(&device);
	return l;
}

static struct llm_layout chosen(int micro_batch)
{
	struct llm_layout l = spread(64, 4, 4, 1, 1);

	l.micro_batch = micro_batch;
	return chosen_of("Llama-3-70B", l);
}

static bool has_room(const struct llm_architecture *model, struct llm_layout l)
{
	struct llm_memory memory = hold(model, l, "H100");

	return llm_memory_has_room(&memory, &l);
}

Test(llm_memory, recomputation_is_the_least_that_has_room)
{
	struct llm_architecture model = find("Llama-3-70B");
	struct llm_layout l = chosen(1);

	cr_expect_eq(l.recompute, LLM_RECOMPUTE_NONE);
	l = chosen(2);
	cr_expect_eq(l.recompute, LLM_RECOMPUTE_FULL);
	cr_assert_gt(l.recompute_layers, 1);
	cr_expect(has_room(&model, l));
	l.recompute_layers--;
	cr_expect(!has_room(&model, l));
	cr_expect(hold(&model, l, "H100").fits);
	l.no_headroom = true;
	cr_expect(has_room(&model, l));
	l = chosen(32); /* nothing fits */
	cr_expect_eq(l.recompute, LLM_RECOMPUTE_FULL);
	cr_expect_eq(l.recompute_layers, 0);
	cr_expect(!hold(&model, l, "H100").fits);
}

/* Meta's layout of Llama 3 405B (arXiv:2407.21783, table 4): a layer a chunk,
 * nothing recomputed. ZeRO-1 holds whole gradients of 32 bits and does not fit;
 * shards and two of eight chunks at work fit as the paper says, once what the
 * second matrix of an MLP takes is not kept. */
Test(llm_memory, llama_3_405b_fits_as_it_ran)
{
	struct llm_architecture model = find("Llama-3.1-405B");
	struct llm_layout l = spread(8192, 8, 16, 1, 1);
	struct llm_memory zero1, zero2, act;
	double whole;

	l.vpp = 8;
	l.seq = 8192;
	l.global_batch = 2048;
	zero1 = hold(&model, l, "H100");
	whole = zero1.gradients;
	l.shard = LLM_ZERO2;
	zero2 = hold(&model, l, "H100");
	cr_expect_float_eq(zero2.gradients, whole / 64, 1e-6 * whole);
	cr_expect_float_eq(zero2.temporary - zero1.temporary, whole / 4,
			   1e-6 * whole);
	l.recompute = LLM_RECOMPUTE_SELECTIVE;
	l.recompute_modules = LLM_MODULE_DENSE_ACTIVATION;
	act = hold(&model, l, "H100");
	/* 141 layers of 8,192 tokens in flight */
	cr_expect_float_eq(zero2.activations - act.activations,
			   141 * 8192.0 * 53248 / 8 * 2, 1e6);
	cr_expect(!zero1.fits && !zero2.fits && act.fits);
}

/* Where the least is all layers, MLPs alone if that has room. */
Test(llm_memory, chunks_of_a_layer_keep_their_attention)
{
	struct llm_architecture model = find("Llama-3.1-405B");
	struct llm_layout l = spread(8192, 8, 16, 1, 1);

	l.vpp = 8;
	l.seq = 8192;
	l.global_batch = 2048;
	l = chosen_of("Llama-3.1-405B", l);
	cr_expect_eq(l.recompute, LLM_RECOMPUTE_SELECTIVE);
	cr_expect_eq(l.recompute_modules, LLM_MODULE_MLP);
	cr_expect(has_room(&model, l));
}

/* What a layer of experts makes again without a product, before whole layers.
 */
Test(llm_memory, modules_of_experts_are_recomputed_first)
{
	struct llm_architecture model = find("Mixtral-8x7B");
	struct llm_layout l = spread(64, 1, 1, 1, 8);

	l.shard = LLM_FSDP;
	l.seq = 8192;
	l = chosen_of("Mixtral-8x7B", l);
	cr_expect_eq(l.recompute, LLM_RECOMPUTE_SELECTIVE);
	cr_expect_eq(l.recompute_modules,
		     LLM_MODULE_ACTIVATION | LLM_MODULE_NORM);
	cr_expect(has_room(&model, l));
	l.recompute = LLM_RECOMPUTE_NONE;
	cr_expect(!has_room(&model, l));
	l.recompute_modules = LLM_MODULE_SCORES;
	l.seq = 32768;
	l = chosen_of("Mixtral-8x7B", l);
	cr_expect_eq(l.recompute, LLM_RECOMPUTE_FULL);
	cr_expect_eq(l.recompute_modules, LLM_MODULE_SCORES);
}

Test(llm_memory, layers_wait_in_the_hosts_memory)
{
	struct llm_architecture model = find("Llama-3-70B");
	struct llm_layout l = spread(64, 8, 4, 1, 1);
	struct llm_memory whole = hold(&model, l, "H100"), part;

	l.offload_layers = 5;
	part = hold(&model, l, "H100");
	/* Five layers of four micro-batches, and two layers at work. */
	cr_expect_gt(part.temporary, whole.temporary);
	cr_expect_float_eq(whole.activations - part.activations,
			   10 * (part.temporary - whole.temporary),
			   1e-6 * whole.activations);
}

/* ---- what others measured ---------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Error of a case in percent: of a row that ran, and fits. */
static double error_of(const struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct llm_memory m = hold(&made->model, made->layout, made->gpu);
	struct llm_device device = device_of(made->gpu);
	double gib = llm_case_memory(made, &device) / GIB;
	double error = 100 * (gib / row->memory_gib.value - 1);

	cr_log_info("%s %s: %.1f GiB, measured %.1f, %+.1f %%", row->id,
		    row->model, gib, row->memory_gib.value, error);
	cr_expect(m.fits, "%s ran, and is said not to fit", row->id);
	llm_device_release(&device);
	return fabs(error);
}

/* Holds the cases of a table against errors in percent. */
static void holds_against(const char *table, double median, double most)
{
	struct dist_message message = {""};
	struct llm_rows rows;
	char path[512];
	double errors[128];
	size_t num = 0;

	dist__data_dir(table, path, sizeof path);
	okay_or(llm_rows_load(&rows, path, &message), message);
	for (size_t i = 0; i < rows.tsv.num_rows; i++) {
		struct llm_case made;

		llm_case_make(&made, &rows.rows[i], table, NULL, 0);
		if (rows.rows[i].memory_gib.known && !made.why[0])
			errors[num++] = error_of(&made);
	}
	dist__tsv_release(&rows.tsv);
	cr_assert_gt(num, 0);
	qsort(errors, num, sizeof *errors, by_size);
	cr_log_info("%s: median %.1f %%, most %.1f %% of %zu", table,
		    errors[num / 2], errors[num - 1], num);
	cr_expect_lt(errors[num / 2], median);
	cr_expect_lt(errors[num - 1], most, "%s: %.1f %%", table,
		     errors[num - 1]);
}

Test(llm_memory, simumax_on_b200)
{
	holds_against("measured/llm/simumax-b200.tsv", 2, 5);
}

/* Slack and library's buffers were fitted to these. */
Test(llm_memory, bloom_on_a100)
{
	holds_against("measured/llm/bigscience-bloom-a100.tsv", 4, 10);
}

/* Rank 0's, and of stages that have as much of the matrices each. */
Test(llm_memory, nanotron_on_h100)
{
	holds_against("measured/llm/nanotron-best-h100.tsv", 8, 22);
}

/* One layout was measured at 26, 26, 29, 32 and 32 GB. */
Test(llm_memory, gpt_on_v100)
{
	holds_against("measured/llm/bigscience-gpt-v100.tsv", 16, 16);
}

Test(llm_memory, megatron_bridge_on_h100)
{
	holds_against("measured/llm/megatron-bridge-ablations.tsv", 6, 10);
}
