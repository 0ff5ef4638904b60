/* What layers of language models compute, call and keep, against closed forms
 * of the papers that say so. */

#include "model/llm/work.h"
#include "tests/support/llm_spread.h"
#include "tests/support/okay.h"

static const struct llm_pace as_measured = {1, 1, 1};

static struct llm_work describe_model(const struct llm_architecture *model,
				      struct llm_layout l)
{
	struct dist_message message = {""};
	struct dist__refusal refusal;
	struct llm_device device;
	struct llm_work work;

	okay_or(llm_device_find(&device, "H100", &message), message);
	cr_assert_eq(llm_layout_complete(&l, model, &refusal), DIST_OK,
		     "%s: %s", refusal.option, refusal.message.text);
	okay_or(llm_work_init(&work, model, &l, &device, &as_measured,
			      &message),
		message);
	llm_device_release(&device);
	return work;
}

static struct llm_work describe(const char *name, struct llm_layout l)
{
	struct llm_architecture model;
	struct dist_message message = {""};

	okay_or(llm_architecture_find(&model, name, &message), message);
	return describe_model(&model, l);
}

static void same(double found, double expected, const char *what)
{
	cr_expect_float_eq(found / expected, 1, 1e-9, "%s: %.17g, not %.17g",
			   what, found, expected);
}

/* ---- FLOP -------------------------------------------------------------- */

static void has_the_models_flops(const char *name, struct llm_layout l)
{
	const struct llm_work work = describe(name, l);

	same(work.flops,
	     llm_model_flops(&work.model, l.seq, true) * l.seq * l.global_batch,
	     name);
	same(work.hardware_flops, work.flops, name);
}

Test(llm_work, pieces_add_up_to_the_models_flops)
{
	struct llm_layout l = spread(64, 8, 4, 1, 1);

	has_the_models_flops("Llama-3-70B", l);
	l.sequence = false;
	has_the_models_flops("Llama-3-70B", l);
	l.schedule = LLM_ZERO_BUBBLE;
	has_the_models_flops("GPT-3-175B", l);
	l = spread(128, 4, 4, 2, 1);
	l.vpp = 5;
	has_the_models_flops("Llama-3-70B", l);
	l.gather_cp = true;
	has_the_models_flops("Llama-3-70B", l);
	has_the_models_flops("Qwen2.5-32B",
			     spread(56, 1, 7, 1, 1)); /* uneven */
}

Test(llm_work, pieces_of_experts_add_up_to_the_models_flops)
{
	struct llm_layout l = spread(64, 2, 4, 1, 8);

	has_the_models_flops("Mixtral-8x7B", l);
	l.etp = 1;
	l.imbalance = 1.5; /* the fullest rank's time, the mean rank's FLOP */
	has_the_models_flops("Mixtral-8x7B", l);
	l.ep = 1;
	l.etp = 2;
	l.imbalance = 1;
	has_the_models_flops("Mixtral-8x7B", l);
	has_the_models_flops("DeepSeek-V3", spread(512, 2, 8, 1, 32));
	has_the_models_flops("DeepSeek-V2-Lite", spread(64, 1, 1, 2, 8));
	has_the_models_flops("gpt-oss-120b", spread(64, 1, 4, 1, 16));
	has_the_models_flops("Llama-4-Maverick-400B", spread(64, 4, 2, 1, 4));
}

Test(llm_work, full_recomputation_makes_layers_once_more)
{
	struct llm_layout l = spread(64, 8, 4, 1, 1);
	struct llm_work work;
	double head;

	l.recompute = LLM_RECOMPUTE_FULL;
	work = describe("Llama-3-70B", l);
	head = 2.0 * 128256 * 8192 * l.seq * l.global_batch;
	same(work.hardware_flops - work.flops, work.flops / 3 - head, "all");
	cr_expect_eq(llm_recomputed_layers(&work, 1), 20);
	l.recompute_layers = 5;
	work = describe("Llama-3-70B", l);
	same(work.hardware_flops - work.flops, (work.flops / 3 - head) / 4,
	     "a quarter");
	cr_expect_eq(llm_recomputed_layers(&work, 1), 5);
}

/* Of Llama-3 8B: every second of wq, wk, wv, wo, w1, w3, w2. */
Test(llm_work, operators_make_every_second_matrix_again)
{
	struct llm_layout l = spread(8, 1, 1, 1, 1);
	const double again = 4096.0 * (1024 + 4096 + 14336);
	struct llm_work work;

	l.recompute = LLM_RECOMPUTE_OPERATORS;
	work = describe("Llama-3-8B", l);
	same(work.hardware_flops - work.flops,
	     32 * 2 * again * l.seq * l.global_batch, "again");
	/* Input, q, v, attention and its 32 sums, w1; without a compiler w2. */
	same(work.layers[LLM_DENSE].activation_bytes,
	     4096.0 * (2 * (3 * 4096 + 1024 + 14336) + 32 * 4), "kept");
	l.fused_kernels = false;
	work = describe("Llama-3-8B", l);
	same(work.layers[LLM_DENSE].activation_bytes,
	     4096.0 * (2 * (4 * 4096 + 1024 + 14336) + 32 * 4), "w2 too");
}

/* Of a copy of the logits in 32 bits log-softmax is kept, and two gradients are
 * made, with tp one more; of the logits themselves these are there, too. */
Test(llm_work, operators_of_a_loss_hold_a_tensor_each)
{
	const struct {
		int tp, bytes;
		bool whole;
		double kept, working;
	} cases[] = {{1, 4, false, 4, 8},
		     {1, 2, false, 2, 6},
		     {8, 4, false, 0.5, 1.5},
		     {8, 2, true, 2, 6}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct llm_layout l = spread(8, cases[i].tp, 1, 1, 1);
		const double logits = 128256.0 * l.seq;
		struct llm_work work;

		l.eager_loss = cases[i].bytes;
		l.whole_logits = cases[i].whole;
		work = describe("Llama-3-8B", l);
		same(work.layers[LLM_HEAD].activation_bytes,
		     logits * cases[i].kept + 2.0 * l.seq / l.tp * 4096 * 2,
		     "kept");
		same(work.layers[LLM_HEAD].working_bytes,
		     logits * cases[i].working, "working");
	}
}

/* A checkpoint that stops early leaves out the last of seven matrices. */
Test(llm_work, an_early_stop_does_not_make_the_last_matrix)
{
	struct llm_layout l = spread(8, 1, 1, 1, 1);
	struct llm_work work;
	double whole;

	l.recompute = LLM_RECOMPUTE_FULL;
	work = describe("Llama-3-8B", l);
	whole = work.hardware_flops;
	l.early_stop = true;
	work = describe("Llama-3-8B", l);
	same(whole - work.hardware_flops,
	     32 * 2 * 4096.0 * 14336 * l.seq * l.global_batch, "left out");
}

/* Where each matrix gathers its input: three for heads, two for a gate. */
Test(llm_work, lone_inputs_are_gathered_each)
{
	struct llm_layout l = spread(8, 8, 1, 1, 1);
	const double stream = 4096.0 * l.seq * 2;
	const struct llm_pass *forward;
	struct llm_work work;

	l.lone_inputs = true;
	l.fused_kernels = false;
	work = describe("Llama-3-8B", l);
	forward = &work.layers[LLM_DENSE].forward;
	same(forward->pieces[0].bytes, 3 * stream, "heads");
	same(forward->pieces[4].bytes, 2 * stream, "gate");
}

Test(llm_work, frozen_weights_have_no_gradients)
{
	struct llm_layout l = spread(8, 4, 1, 1, 1);
	struct llm_work work;
	double scores;

	l.lora = true;
	work = describe("Llama-2-70B", l);
	/* 4 FLOP a parameter instead of 6; scores have none. */
	scores = 3.0 * 80 * 2 * 8192 * l.seq * l.seq * l.global_batch;
	same(work.flops,
	     (llm_model_flops(&work.model, l.seq, true) * l.seq *
		      l.global_batch -
	      scores) * 2 / 3 +
		     scores,
	     "LoRA");
}

/* ns of a kind in a layer's passes. */
static double spent_on(const struct llm_layer *layer, enum llm_kind kind)
{
	double ns = 0;

	for (size_t i = 0; i < layer->forward.num; i++)
		ns += layer->forward.pieces[i].ns[kind];
	for (size_t i = 0; i < layer->backward.num; i++)
		ns += layer->backward.pieces[i].ns[kind];
	return ns;
}

/* Llama 3 8B: hidden 4096, of queries, keys and values 6144 wide. A matrix of
 * `in` to `out` passes 6 x in + 6 x out elements of two bytes, in 8 kernels. */
Test(llm_work, adapters_cost_what_they_read_and_write)
{
	struct llm_layout l = spread(8, 1, 1, 1, 1);
	struct dist_message message;
	struct llm_device device;
	double qkv, both;

	okay(llm_device_find(&device, "H100", &message));
	l.lora = true;
	l.adapters = LLM_ADAPT_QKV;
	qkv = spent_on(&describe("Llama-3-8B", l).layers[LLM_DENSE],
		       LLM_ELEMENTWISE);
	l.adapters = LLM_ADAPT_ATTENTION;
	both = spent_on(&describe("Llama-3-8B", l).layers[LLM_DENSE],
			LLM_ELEMENTWISE);
	same(both - qkv,
	     llm_memory_ns(&device, &as_measured, 4096. * 2 * 12 * 4096, 8),
	     "output's adapter");
	l.adapters = LLM_ADAPT_ALL;
	same(spent_on(&describe("Llama-3-8B", l).layers[LLM_DENSE],
		      LLM_ELEMENTWISE) -
		     both,
	     llm_memory_ns(&device, &as_measured,
			   4096. * 2 * 6 * (4096 + 28672 + 14336 + 4096), 16),
	     "the MLP's adapters");
	llm_device_release(&device);
}

/* Of packed examples each attends to itself: as many sequences, shorter. */
Test(llm_work, packed_examples_attend_to_themselves)
{
	struct llm_layout packed = spread(8, 1, 1, 1, 1), apart = packed;

	packed.document = 512;
	apart.seq = 512;
	apart.micro_batch = packed.seq / 512;
	same(spent_on(&describe("Llama-3-8B", packed).layers[LLM_DENSE],
		      LLM_ATTENTION),
	     spent_on(&describe("Llama-3-8B", apart).layers[LLM_DENSE],
		      LLM_ATTENTION),
	     "attention");
}

/* ---- calls ------------------------------------------------------------- */

struct calls {
	int num;
	double bytes;
};

static struct calls calls_of(const struct llm_pass *pass, enum dist__op_kind op,
			     enum llm_axis axis)
{
	struct calls calls = {0, 0};

	for (size_t i = 0; i < pass->num; i++) {
		const struct llm_piece *p = &pass->pieces[i];

		if (p->op != op || p->axis != axis)
			continue;
		calls.num++;
		calls.bytes += p->bytes;
	}
	return calls;
}

static void calls(const struct llm_pass *pass, enum dist__op_kind op,
		  enum llm_axis axis, int num, double bytes)
{
	const struct calls found = calls_of(pass, op, axis);

	cr_expect_eq(found.num, num, "%d %s along %s, not %d", found.num,
		     dist__op_name(op), llm_axis_name(axis), num);
	cr_expect_float_eq(found.bytes, bytes, 1e-6 * bytes,
			   "%s along %s: %g bytes, not %g", dist__op_name(op),
			   llm_axis_name(axis), found.bytes, bytes);
}

/* Shoeybi 2019: two all-reduces of s b h forward, two backward. */
Test(llm_work, tensor_parallelism_sums_twice_each_way)
{
	struct llm_layout l = spread(64, 8, 4, 1, 1);
	const double sbh = 2.0 * 4096 * 8192; /* of 2 bytes */
	struct llm_work work;
	const struct llm_layer *layer = &work.layers[LLM_DENSE];

	l.sequence = false;
	work = describe("Llama-3-70B", l);
	calls(&layer->forward, DIST__ALL_REDUCE, LLM_TP, 2, 2 * sbh);
	calls(&layer->backward, DIST__ALL_REDUCE, LLM_TP, 2, 2 * sbh);
	calls(&layer->backward, DIST__ALL_GATHER, LLM_TP, 0, 0);
	same(layer->boundary_bytes, sbh, "to the next stage");
}

/* Korthikanti 2022, section 4.2.2: an all-gather and a reduce-scatter in place
 * of each, and one more all-gather for the gradient of weights. */
Test(llm_work, sequence_parallelism_gathers_once_more_for_weights)
{
	const struct llm_work work =
		describe("Llama-3-70B", spread(64, 8, 4, 1, 1));
	const struct llm_layer *layer = &work.layers[LLM_DENSE];
	const double sbh = 2.0 * 4096 * 8192;

	calls(&layer->forward, DIST__ALL_GATHER, LLM_TP, 2, 2 * sbh);
	calls(&layer->forward, DIST__REDUCE_SCATTER, LLM_TP, 2, 2 * sbh);
	calls(&layer->backward, DIST__ALL_GATHER, LLM_TP, 4, 4 * sbh);
	calls(&layer->backward, DIST__REDUCE_SCATTER, LLM_TP, 2, 2 * sbh);
	same(layer->boundary_bytes, sbh / 8, "to the next stage");
	/* Three sums of a number a token in the loss. */
	calls(&work.layers[LLM_HEAD].forward, DIST__ALL_REDUCE, LLM_TP, 3,
	      3 * 4.0 * 4096);
}

Test(llm_work, eight_bits_are_gathered_and_sums_have_sixteen)
{
	struct llm_layout l = spread(64, 8, 4, 1, 1);
	const double sbh = 2.0 * 4096 * 8192;
	struct llm_work work;

	l.precision = LLM_FP8;
	work = describe("Llama-3-70B", l);
	calls(&work.layers[LLM_DENSE].forward, DIST__ALL_GATHER, LLM_TP, 2,
	      sbh);
	calls(&work.layers[LLM_DENSE].forward, DIST__REDUCE_SCATTER, LLM_TP, 2,
	      2 * sbh);
	calls(&work.layers[LLM_HEAD].forward, DIST__ALL_GATHER, LLM_TP, 1, sbh);
}

Test(llm_work, frozen_weights_gather_no_input)
{
	struct llm_layout l = spread(8, 8, 1, 1, 1);
	struct llm_work work;

	l.lora = true;
	work = describe("Llama-3-70B", l);
	calls(&work.layers[LLM_DENSE].backward, DIST__ALL_GATHER, LLM_TP, 2,
	      2 * 2.0 * 4096 * 8192);
}

Test(llm_work, context_parallelism_passes_keys_and_values)
{
	struct llm_layout l = spread(64, 2, 4, 4, 1);
	struct llm_work work = describe("Llama-3-70B", l);
	const struct llm_layer *layer = &work.layers[LLM_DENSE];
	/* Keys and values of 4 heads of 128 and 1024 tokens, of 2 bytes. */
	const double block = 2 * 2.0 * 4 * 128 * 1024;

	calls(&layer->forward, DIST__SEND, LLM_CP, 1, 3 * block);
	calls(&layer->backward, DIST__SEND, LLM_CP, 1, 2 * 3 * block);
	l.gather_cp = true;
	work = describe("Llama-3-70B", l);
	calls(&layer->forward, DIST__ALL_GATHER, LLM_CP, 1, 4 * block);
	calls(&layer->backward, DIST__ALL_GATHER, LLM_CP, 1, 4 * block);
	calls(&layer->backward, DIST__REDUCE_SCATTER, LLM_CP, 1, 4 * block);
	calls(&layer->forward, DIST__SEND, LLM_CP, 0, 0);
}

Test(llm_work, experts_exchange_tokens_twice_each_way)
{
	struct llm_layout l = spread(64, 2, 4, 1, 8);
	const double sent = 2.0 * 4096 / 2 * 2 * 4096; /* top 2, half of s */
	struct llm_work work;
	const struct llm_layer *layer = &work.layers[LLM_EXPERT];

	l.etp = 1;
	work = describe("Mixtral-8x7B", l);
	calls(&layer->forward, DIST__ALL_TO_ALL, LLM_EP, 2, 2 * sent);
	calls(&layer->backward, DIST__ALL_TO_ALL, LLM_EP, 2, 2 * sent);
	calls(&layer->forward, DIST__ALL_GATHER, LLM_TP, 1, 2.0 * 4096 * 4096);
	l.etp = 2; /* and tokens of all of tp */
	l.imbalance = 1.25;
	work = describe("Mixtral-8x7B", l);
	calls(&layer->forward, DIST__ALL_TO_ALL, LLM_EP, 2, 2.5 * sent);
	calls(&layer->forward, DIST__ALL_GATHER, LLM_TP, 2,
	      2.0 * 4096 * 4096 + 2.5 * sent);
}

/* ---- what is kept (Korthikanti 2022, equations 1 to 6) ----------------- */

static double kept(struct llm_layout l)
{
	struct llm_architecture model;
	struct dist_message message = {""};
	struct llm_work work;

	okay(llm_architecture_find(&model, "GPT-3-175B", &message));
	l.seq = 2048;
	l.dropout = true;
	l.attention = LLM_UNFUSED;
	work = describe_model(&model, l);
	return work.layers[LLM_DENSE].activation_bytes;
}

Test(llm_work, layers_keep_what_the_paper_counts)
{
	const double sbh = 2048.0 * 12288, scores = 5.0 * 96 * 2048 / 12288;
	struct llm_layout l = spread(8, 1, 1, 1, 1);

	same(kept(l), sbh * (34 + scores), "equation 1");
	l = spread(8, 8, 1, 1, 1);
	l.sequence = false;
	same(kept(l), sbh * (10 + 24.0 / 8 + scores / 8), "equation 2");
	l.sequence = true;
	same(kept(l), sbh / 8 * (34 + scores), "equation 4");
	l.recompute = LLM_RECOMPUTE_SELECTIVE;
	same(kept(l), sbh / 8 * 34, "equation 6");
}

/* Adapters beside attention's matrices need their inputs, the MLP's frozen
 * matrices none. */
Test(llm_work, frozen_weights_keep_no_inputs)
{
	struct llm_layout l = spread(8, 4, 1, 1, 1);
	struct llm_work work = describe("Llama-2-70B", l);
	double whole = work.layers[LLM_DENSE].activation_bytes;

	l.lora = true;
	work = describe("Llama-2-70B", l);
	same(whole - work.layers[LLM_DENSE].activation_bytes,
	     2 * 4096.0 / 4 * (8192 + 28672), "inputs");
}

/* Of DeepSeek-V3's layers with experts, on four ranks of tp: the heads of 128,
 * the activation of 8 experts a token, two norms. */
Test(llm_work, modules_that_are_made_again_are_not_kept)
{
	struct llm_layout l = spread(256, 4, 8, 1, 32);
	struct llm_work none, again;
	const double heads = 4096.0 * 128 / 4 * (2 * 192 + 128);
	char names[80];
	const double made = 4096.0 * 128 / 4 * (1536.0 * 192 + 512.0 * 256);

	l.etp = 1;
	none = describe("DeepSeek-V3", l);
	l.recompute = LLM_RECOMPUTE_SELECTIVE;
	l.recompute_modules = llm_modules_find("mla_up_proj+moe_act+layernorm");
	cr_assert_eq(l.recompute_modules, LLM_MODULE_HEADS |
						  LLM_MODULE_ACTIVATION |
						  LLM_MODULE_NORM);
	llm_modules_name(l.recompute_modules, '+', names);
	cr_expect_str_eq(names, "mla_up_proj+moe_act+layernorm");
	cr_expect_eq(llm_modules_find("mla_up_proj+mtp"), 0);
	again = describe("DeepSeek-V3", l);
	same(none.layers[LLM_EXPERT].activation_bytes -
		     again.layers[LLM_EXPERT].activation_bytes,
	     2 * (heads + 4096.0 / 4 * 8 * 2048 + 2 * 4096.0 / 4 * 7168),
	     "not kept");
	same(again.layers[LLM_EXPERT].again_flops, 2 * made, "made again");
	cr_expect_gt(llm_pass_ns(&again.layers[LLM_EXPERT].backward),
		     llm_pass_ns(&none.layers[LLM_EXPERT].backward));
	same(again.flops, none.flops, "model FLOP");
}

/* Three matrices of Llama-3 70B, with tp's calls once more. */
Test(llm_work, an_mlp_is_made_again)
{
	struct llm_layout l = spread(64, 8, 4, 1, 1);
	const double sbh = 2.0 * 4096 * 8192;
	struct llm_work work;
	const struct llm_layer *layer = &work.layers[LLM_DENSE];

	l.recompute = LLM_RECOMPUTE_SELECTIVE;
	l.recompute_modules = LLM_MODULE_MLP;
	work = describe("Llama-3-70B", l);
	same(layer->again_flops, 2 * 4096.0 * 3 * 8192 * 28672 / 8, "again");
	calls(&layer->backward, DIST__ALL_GATHER, LLM_TP, 5, 5 * sbh);
	calls(&layer->backward, DIST__REDUCE_SCATTER, LLM_TP, 3, 3 * sbh);
}

/* ---- stages ------------------------------------------------------------ */

static void has_layers(const struct llm_work *work, int stage, int chunk,
		       int embedding, int layers, int head)
{
	int num[LLM_LAYER_KINDS];

	llm_stage_layers(work, stage, chunk, num);
	cr_expect_eq(num[LLM_EMBEDDING], embedding);
	cr_expect_eq(num[LLM_DENSE], layers, "stage %d: %d layers", stage,
		     num[LLM_DENSE]);
	cr_expect_eq(num[LLM_HEAD], head);
}

Test(llm_work, stages_divide_layers)
{
	struct llm_layout l = spread(64, 1, 4, 1, 1);
	struct llm_work work;

	l.vpp = 5;
	work = describe("Llama-3-70B", l);
	has_layers(&work, 0, 0, 1, 4, 0);
	has_layers(&work, 0, 1, 0, 4, 0);
	has_layers(&work, 3, 4, 0, 4, 1);
	/* 70 layers, embedding and head: 6 a stage, as BLOOM was trained. */
	l = spread(96, 1, 12, 1, 1);
	work = describe("BLOOM-176B", l);
	has_layers(&work, 0, 0, 1, 5, 0);
	has_layers(&work, 6, 0, 0, 6, 0);
	has_layers(&work, 11, 0, 0, 5, 1);
	/* 126 on 4 x 32 chunks: the ends have one of their own. */
	l = spread(64, 1, 16, 1, 1);
	l.vpp = 8;
	work = describe("Llama-3.1-405B", l);
	has_layers(&work, 0, 0, 1, 0, 0);
	has_layers(&work, 1, 0, 0, 1, 0);
	has_layers(&work, 15, 7, 0, 0, 1);
	/* 64 + 2 on 7 stages: 10, 10, 10, 9, ... */
	work = describe("Qwen2.5-32B", spread(56, 1, 7, 1, 1));
	has_layers(&work, 0, 0, 1, 9, 0);
	has_layers(&work, 2, 0, 0, 10, 0);
	has_layers(&work, 3, 0, 0, 9, 0);
	has_layers(&work, 6, 0, 0, 8, 1);
}

/* The head has as many weights as 2.2 layers: a stage takes layers until it has
 * more than a quarter of 34.2. */
Test(llm_work, stages_divide_matrices)
{
	struct llm_layout l = spread(64, 1, 4, 1, 1);
	struct llm_work work;

	l.even_matrices = true;
	work = describe("Llama-3-8B", l);
	has_layers(&work, 0, 0, 1, 9, 0);
	has_layers(&work, 1, 0, 0, 9, 0);
	has_layers(&work, 2, 0, 0, 8, 0);
	has_layers(&work, 3, 0, 0, 6, 1);
}

Test(llm_work, windows_and_experts_stand_where_the_model_has_them)
{
	const struct llm_work work =
		describe("gpt-oss-120b", spread(64, 1, 4, 1, 16));
	int num[LLM_LAYER_KINDS];

	llm_stage_layers(&work, 1, 0, num);
	cr_expect_eq(num[LLM_EXPERT] + num[LLM_LOCAL_EXPERT], 9);
	cr_expect_eq(num[LLM_EXPERT], 5);
	cr_expect_eq(num[LLM_DENSE] + num[LLM_LOCAL], 0);
}

/* ---- passes ------------------------------------------------------------ */

Test(llm_work, zero_bubble_parts_backward_in_two)
{
	struct llm_layout l = spread(64, 4, 4, 1, 1);
	struct llm_work whole = describe("Llama-3-70B", l), parted;

	l.schedule = LLM_ZERO_BUBBLE;
	parted = describe("Llama-3-70B", l);
	for (int kind = LLM_EMBEDDING; kind < LLM_LAYER_KINDS; kind++) {
		const struct llm_layer *layer = &parted.layers[kind];

		cr_expect_float_eq(llm_pass_ns(&whole.layers[kind].backward),
				   llm_pass_ns(&layer->backward) +
					   llm_pass_ns(&layer->weights),
				   1);
		cr_expect(whole.layers[kind].weights.num == 0);
	}
	/* Of a layer's matrices, gradients of inputs and weights weigh alike.
	 */
	cr_expect_gt(llm_pass_ns(&parted.layers[LLM_DENSE].weights), 0);
}

Test(llm_work, ranks_hold_the_models_parameters)
{
	const char *const names[] = {"Llama-3-70B", "Mixtral-8x7B",
				     "DeepSeek-V3", "gpt-oss-20b"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct llm_work work =
			describe(names[i], spread(8, 1, 1, 1, 1));
		int num[LLM_LAYER_KINDS];
		double sum = 0;
		struct llm_parameters p;

		llm_stage_layers(&work, 0, 0, num);
		for (int kind = 0; kind < LLM_LAYER_KINDS; kind++)
			sum += num[kind] *
			       (work.layers[kind].dense_parameters +
				work.layers[kind].expert_parameters);
		llm_count_parameters(&work.model, &p);
		same(sum, p.total, names[i]);
	}
}
