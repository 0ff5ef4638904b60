/*
 * llm_case.c - of a measured row a case to predict. What its source does not
 * publish is assumed, in this order: by the recipe of the framework for that
 * model, GPU and precision; by what the framework does unless told; by what the
 * GPU is sold with.
 */
#include "model/validation/llm_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define GIGABIT 0.125e9

static bool has(const char *text, const char *word)
{
	return text && strstr(text, word);
}

static bool is(const char *text, const char *word)
{
	return text && strcmp(text, word) == 0;
}

/* ---- model ------------------------------------------------------------- */

/* GPT as its family is: learned or no positions, MLP of two matrices, biases,
 * embeddings tied. */
static void fill_gpt(struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct llm_architecture *model = &made->model;
	bool llama = dist__begins(row->model, "Llama");

	snprintf(model->name, sizeof model->name, "%s", row->model);
	snprintf(model->source, sizeof model->source, "%s", made->source);
	model->layers = row->layers;
	model->hidden = row->hidden;
	/* A width of 128 is usual; of those divisible by 8 the nearest. */
	model->heads = row->heads;
	for (int best = 0, n = 8; !row->heads && n <= row->hidden / 32; n += 8)
		if (row->hidden % n == 0 &&
		    (!best || abs(row->hidden / n - 128) <
				      abs(row->hidden / best - 128)))
			model->heads = best = n;
	model->kv_heads = model->heads;
	model->head_dim = model->heads ? model->hidden / model->heads : 0;
	model->ffn = row->ffn;
	model->gated = llama;
	model->biases = !llama;
	model->qkv_biases = !llama;
	model->vocab = row->vocab;
	model->tied = true;
}

static enum dist_error fill_model(struct llm_case *made,
				  struct dist_message *message)
{
	const struct llm_row *row = made->row;
	enum dist_error error;

	if (row->hidden) {
		fill_gpt(made);
		return llm_architecture_check(&made->model, message);
	}
	error = llm_architecture_find(&made->model, row->model, message);
	if (error)
		return error;
	if (row->vocab)
		made->model.vocab = row->vocab;
	if (row->layers) {
		made->model.layers = row->layers;
		made->model.published = 0;
		if (made->model.dense_layers > 1)
			made->model.dense_layers = 1;
	}
	return DIST_OK;
}

/* ---- machine ----------------------------------------------------------- */

/* What a GPU is sold with, where nobody says: Gbit/s of cards a GPU. */
static int card_of(const char *gpu)
{
	static const struct {
		const char *gpu;
		int gbit;
	} usual[] = {{"V100", 25},
		     {"A100", 200},
		     {"GB300", 800},
		     {"B300", 800},
		     {"GH200", 200}};

	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		if (dist__begins(gpu, usual[i].gpu))
			return usual[i].gbit;
	return 400;
}

static void fill_machine(struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct fabric *fabric = &made->fabric;
	int domain = row->domain ? row->domain : 8;
	int cards = row->cards ? row->cards : domain;
	int gbit = row->card_gbit ? row->card_gbit : card_of(row->gpu);

	/* Trays of four of an NVL72 have cards of their own. */
	if (domain == 72)
		cards = domain;
	snprintf(made->gpu, sizeof made->gpu, "%s", row->gpu);
	fabric->node_ranks = domain;
	fabric->nodes = (row->gpus + domain - 1) / domain;
	snprintf(fabric->gpu, sizeof fabric->gpu, "%s", row->gpu);
	fabric->intra = has(row->gpu, "PCIe")          ? FABRIC_PCIE
			: dist__begins(row->gpu, "MI") ? FABRIC_NVLINK
						       : FABRIC_NVSWITCH;
	snprintf(fabric->transport, sizeof fabric->transport, "%s",
		 row->transport ? row->transport : "ib");
	fabric->cards = cards;
	fabric->card_Bps = gbit * GIGABIT;
}

/* ---- layout ------------------------------------------------------------ */

/* Recomputation: "selective" of FMS is of every second layer or third, and
 * "selective layer" of torchtitan of every second. */
/* Of so many modules that a layer has (Megatron-LM --recompute-modules). */
#define MODULES 8.0

static double remade_by(const char *word)
{
	double modules = dist__begins(word, "selective=");

	for (const char *c = word && modules > 0 ? word : ""; *c; c++)
		modules += *c == '+';
	return modules / MODULES;
}

static void fill_recompute(struct llm_case *made, const char *word)
{
	struct llm_layout *l = &made->layout;
	bool layers = dist__begins(made->row->framework, "torchtitan") ||
		      dist__begins(made->row->framework, "fms");
	const char *number = strchr(word ? word : "", '=');
	int stage = made->model.layers / l->pp;

	if (!word) {
		l->recompute = LLM_RECOMPUTE_AUTO;
	} else if (dist__begins(word, "full")) {
		l->recompute = LLM_RECOMPUTE_FULL;
		l->recompute_layers = number ? atoi(number + 1) : 0;
		if (l->recompute_layers > stage)
			l->recompute_layers = stage;
	} else if (is(word, "selective-op")) {
		l->recompute = LLM_RECOMPUTE_OPERATORS;
	} else if (is(word, "selective-layer")) {
		l->recompute = LLM_RECOMPUTE_FULL;
		l->recompute_layers = stage / 2;
	} else if (is(word, "selective") && layers) {
		l->recompute = LLM_RECOMPUTE_FULL;
		l->recompute_layers = stage / 3;
		made->guessed = true;
	} else if (dist__begins(word, "selective=")) {
		l->recompute = LLM_RECOMPUTE_SELECTIVE;
		l->recompute_modules = llm_modules_find(word + 10);
	} else if (is(word, "selective")) {
		l->recompute = LLM_RECOMPUTE_SELECTIVE;
	} else {
		l->recompute = LLM_RECOMPUTE_NONE;
	}
}

static const struct llm_recipe *recipe_of(const struct llm_row *row,
					  const struct llm_recipes *recipes,
					  size_t num)
{
	const struct llm_recipe *found = NULL;

	for (size_t i = 0; !found && i < num; i++)
		found = llm_recipe_of(&recipes[i], row);
	return found;
}

/* The parts that a table prints. */
static void fill_sizes(struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;

	l->gpus = row->gpus;
	l->tp = row->tp ? row->tp : 1;
	l->pp = row->pp ? row->pp : 1;
	l->cp = row->cp ? row->cp : 1;
	l->ep = row->ep ? row->ep : 1;
	l->vpp = row->vpp && l->pp > 1 ? row->vpp : 1;
	/* NeMo's recipes give each chunk one layer. */
	if (!row->vpp && dist__begins(row->framework, "NeMo/") &&
	    made->model.layers % l->pp == 0)
		l->vpp = l->pp > 1 ? made->model.layers / l->pp : 1;
	l->seq = row->seq;
	l->global_batch = row->batch;
	l->micro_batch = row->micro_batch ? row->micro_batch : 1;
	l->precision = llm_precision_find(row->precision);
	l->lora = is(row->task, "lora");
}

/* Megatron-Bridge has graphs and fused permutations from release 26.06 on. */
static enum llm_software software_of(const struct llm_row *row)
{
	if (dist__begins(row->version, "MLPerf"))
		return LLM_TUNED;
	if (has(row->overlap, "CUDA graphs") ||
	    dist__begins(row->version, "NeMo 26.06") ||
	    dist__begins(row->version, "NeMo 26.08"))
		return LLM_GRAPHED;
	return LLM_EAGER;
}

/* PyTorch's own attention is FlashAttention 2 (torchtitan, FMS; nanotron by
 * flash-attn), and so was NeMo's until Transformer Engine preferred cuDNN on
 * Hopper (github.com/NVIDIA/NeMo, pull request 9188). InternEvo's figures are
 * as old as its first commit, fa7337b of July 2023, whose doc/install.md has
 * flash-attention 1.0.5. */
static enum llm_attention_library library_of(const struct llm_row *row,
					     bool old)
{
	static const char *const flash[] = {"torchtitan", "fms", "nanotron"};

	for (size_t i = 0; i < sizeof flash / sizeof *flash; i++)
		if (dist__begins(row->framework, flash[i]))
			return LLM_FLASH_2;
	if (dist__begins(row->framework, "InternEvo"))
		return LLM_FLASH_1;
	if (dist__begins(row->framework, "llm-foundry"))
		return has(row->overlap, "flash") ? LLM_FLASH_2 : LLM_FLASH_1;
	if (dist__begins(row->version, "NeMo 24.03"))
		return LLM_FLASH_2;
	return old ? LLM_UNFUSED : LLM_FASTEST;
}

/* How a framework sends tokens to experts, and computes these. */
static void fill_experts(struct llm_case *made, const struct llm_recipe *recipe)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;

	/* Recipes are of one release: of others' layouts not all can overlap
	 * exchanges. */
	l->overlap_ep =
		has(row->overlap, "EP overlap on") ||
		(!row->overlap && recipe && has(recipe->overlap, "ep") &&
		 (l->pp == 1 || l->vpp > 1));
	l->fused_experts = made->software == LLM_GRAPHED;
	l->even_experts = has(row->remark, "tokendrop");
	l->plain_exchange = !has(row->remark, "DeepEP") &&
			    !has(row->overlap, "HybridEP") &&
			    !(recipe && (is(recipe->dispatcher, "hybridep") ||
					 is(recipe->dispatcher, "deepep")));
	if (made->model.experts > 0)
		l->etp = row->etp ? row->etp : 1;
}

/* AutoModel sums gradients late (defer_fsdp_grad_sync), but its recipes of
 * dense models do not; it, KempnerForge and torchtitan have FSDP2. FMS and they
 * have checkpoints that are not reentrant, KempnerForge a plan of tp that names
 * matrices (distributed/tensor_parallel.py, _build_block_tp_plan). */
static void fill_fsdp(struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;
	const bool experts = made->model.experts > 0;
	const bool kempner = dist__begins(row->framework, "KempnerForge");
	const bool titan = dist__begins(row->framework, "torchtitan");
	const bool automodel = dist__begins(row->framework, "NeMo-AutoModel");

	l->defer_sums =
		l->shard == LLM_FSDP && (kempner || (experts && automodel));
	l->early_stop = kempner || titan || dist__begins(row->framework, "fms");
	l->dtensors = kempner || titan;
	l->lone_inputs = kempner;
	l->flat_shards = !automodel && !kempner && !titan;
}

/* What frameworks do: Megatron-LM overlaps nothing before August 2023
 * (2d5220a424 adds --overlap-grad-reduce); Megatron-DeepSpeed of 2022 knows
 * neither sequence parallelism nor fused attention; nanotron overlaps nothing
 * of data parallelism; InternEvo's tensor parallelism is without sequence
 * parallelism (configs/7B_sft.py of 2023), its gate eager
 * (internlm/model/linear.py), its norms of 32 bits (modeling_internlm.py:
 * norm1(residual.float())), and it waits for parameters before it goes on
 * (hybrid_zero_optim.py, broadcast_params(overlap=False)); FSDP2 sums gradients
 * in float32, FMS, InternEvo (internlm/solver/optimizer/hybrid_zero_optim.py:
 * an all-reduce) and NVIDIA's performance recipes (grad_reduce_in_fp32=False)
 * in 16 bits; Megatron's experts are not divided by tensor parallelism. */
static void fill_habits(struct llm_case *made, const struct llm_recipe *recipe)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;
	bool deepspeed = dist__begins(row->framework, "Megatron-DeepSpeed");
	bool old = deepspeed || (dist__begins(row->framework, "Megatron-LM") &&
				 dist__begins(row->version, "2021"));
	bool tuned = dist__begins(row->framework, "NeMo/") ||
		     dist__begins(row->framework, "Megatron-Bridge") ||
		     dist__begins(row->version, "MLPerf");
	bool kempner = dist__begins(row->framework, "KempnerForge");
	bool experts = made->model.experts > 0;
	bool serial = old || (dist__begins(row->framework, "Megatron-LM") &&
			      dist__begins(row->version, "20") &&
			      strcmp(row->version, "2023-08") < 0);

	made->software = deepspeed ? LLM_OLD : software_of(row);
	l->shard = row->shard ? llm_shard_find(row->shard) : LLM_ZERO1;
	if (l->shard == LLM_SHARDS)
		l->shard = LLM_ZERO1;
	if (recipe && is(recipe->shard, "fsdp") && !is(row->shard, "zero1"))
		l->shard = LLM_FSDP;
	if (l->shard == LLM_HSDP || (l->shard == LLM_ZERO1 && !experts))
		l->shard_ranks = row->shard_ranks;
	l->reshard = true;
	fill_fsdp(made);
	l->sequence = !old && !(kempner && l->pp > 1);
	l->attention = library_of(row, old);
	l->overlap_grad = l->overlap_param = !serial;
	l->overlap_p2p = !serial && l->vpp > 1;
	l->overlap_tp = !experts && l->tp > 1 &&
			(has(row->overlap, "asyncTP") ||
			 has(row->overlap, "TP and PP") || tuned);
	fill_experts(made, recipe);
	if (dist__begins(row->framework, "nanotron"))
		l->overlap_grad = l->overlap_param = false;
	if (has(row->overlap, "unfused attention")) {
		l->attention = LLM_UNFUSED;
		l->dropout = true;
	}
	if (dist__begins(row->framework, "InternEvo")) {
		l->whole_sums = true;
		l->cast_norms = true;
		l->overlap_param = l->sequence = l->fused_kernels = false;
	}
	if (old || dist__begins(row->framework, "fms") ||
	    dist__begins(row->framework, "InternEvo") ||
	    (tuned && !dist__begins(row->version, "20")))
		l->gradient_bytes = 2;
	if (dist__begins(row->framework, "llm-foundry"))
		l->gradient_bytes = has(row->overlap, "pure") ? 2 : 4;
	l->schedule =
		dist__begins(row->schedule, "zb") ? LLM_ZERO_BUBBLE : LLM_1F1B;
}

/* Tokens of an example of SQuAD, context, question and answer. */
#define SQUAD 200

/* NeMo fine-tunes on examples of SQuAD, packed into sequences, each of which
 * attends to itself (its recipes' SquadDataModule with packed_sequence_specs),
 * NeMo 1 with LoRA beside queries, keys and values (target_modules
 * attention_qkv). MLPerf's reports are as long as a sequence; its LoRA is of
 * attention, its weights are in 8 bits, and what activations take, too
 * (mlcommons/training_results_v5.1, llama2_70b_lora, FP8_ACTIVATION and
 * fp8_params). */
static void fill_tuning(struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;
	bool tuning = l->lora || is(row->task, "sft");

	if (dist__begins(row->version, "MLPerf") && l->lora) {
		l->adapters = LLM_ADAPT_ATTENTION;
		l->small_activation = true;
		l->parameter_bytes = 1;
	} else if (tuning && (dist__begins(row->framework, "NeMo/") ||
			      dist__begins(row->framework, "Megatron"))) {
		l->document = SQUAD;
		l->adapters = LLM_ADAPT_QKV;
	}
}

/* One group of micro-batches less or more than fits: the batch that does, as
 * its source rounded (global_batch not divisible by dp x micro_batch). */
static double mend_batch(struct llm_layout *l)
{
	int copies = l->gpus / (l->tp * l->pp * l->cp) * l->micro_batch;
	int whole = l->global_batch / (copies ? copies : 1);
	int asked = l->global_batch;

	if (copies == 0 || l->global_batch % copies == 0)
		return 1;
	l->global_batch = (whole ? whole : 1) * copies;
	return (double)l->global_batch / asked;
}

/*
 * DeepSpeed keeps a stage's outputs and, of fp16, a copy of the gradient's
 * shard (stage_1_and_2.py), of bf16 sums in 32 bits beside the gradients
 * (bf16_optimizer.py); nanotron the gradients of a whole backward pass beside
 * the sums (gradient_accumulator.py). NeMo AutoModel trains parameters of 16
 * bits as they are, with moments of 16 bits (torch_dtype bfloat16, AdamW).
 * Moonlight's recipe in Megatron-Bridge has moments in 16 bits. LLM Foundry's
 * loss is flash-attn's unless told otherwise (modeling_mpt.py, loss_fn
 * fused_crossentropy). NeMo 1 stores of 32-bit master copies of bf16 parameters
 * the lower half (megatron_base_model.py, store_param_remainders).
 */
/*
 * What a compiler does not fuse. torchtitan compiles its blocks; its loss is
 * eager unless compiled, too, which it was until 18 December 2024 and again
 * since February 2025 (commits e8977b007 and d1f62be73). Its norm is Triton's
 * in April 2024, but for 70 billion parameters (train_configs, norm_type),
 * later operators in 32 bits. KempnerForge's loss is eager, of logits in 16
 * bits, its norm as torchtitan's (training/loss.py, model/norm.py).
 */
static void fill_kernels(struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;
	const bool eager = dist__begins(row->overlap, "eager");

	if (dist__begins(row->framework, "torchtitan")) {
		l->fused_kernels = !eager;
		l->eager_norms =
			eager && (made->model.hidden >= 8192 ||
				  strcmp(row->version, "2024-12") >= 0);
		if (eager || strcmp(row->version, "2025-02") < 0)
			l->eager_loss = 4;
		else
			l->fused_loss = true;
	}
	if (dist__begins(row->framework, "KempnerForge")) {
		l->eager_loss = 2;
		l->whole_logits = l->tp > 1;
		l->fused_kernels = !eager;
		l->eager_norms = eager;
	}
}

static void fill_states(struct llm_case *made)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;

	if (dist__begins(row->framework, "Megatron-DeepSpeed")) {
		l->keep_outputs = true;
		if (l->precision == LLM_FP16)
			l->state_bytes = 16;
		else
			l->copy_bytes = 4;
	}
	if (dist__begins(row->framework, "nanotron")) {
		l->even_matrices = true;
		l->piecewise = true;
		l->copy_bytes = 2;
		l->fused_kernels = false;
	}
	l->copied_heads = dist__begins(row->framework, "torchtitan");
	if (dist__begins(row->framework, "llm-foundry") ||
	    dist__begins(row->framework, "llmq"))
		l->fused_loss = true;
	if (dist__begins(row->framework, "llmq")) { /* --opt-m-dtype=bf16 */
		l->loss_chunks = row->loss_chunks ? row->loss_chunks : 1;
		l->gradient_bytes = 2;
		l->state_bytes = 4;
	}
	if (dist__begins(row->framework, "NeMo/") &&
	    (dist__begins(row->version, "NeMo 24.0") ||
	     dist__begins(row->version, "v24")))
		l->state_bytes = 10;
	if (dist__begins(row->framework, "NeMo-AutoModel")) {
		l->gradient_bytes = 2;
		l->state_bytes = 6;
	}
	if (dist__begins(row->framework, "KempnerForge"))
		l->state_bytes = 6; /* all in 16 bits: model.to(param_dtype) */
	if (dist__begins(row->framework, "Megatron-Bridge") &&
	    dist__begins(row->model, "Moonlight"))
		l->state_bytes = 8;
}

static enum dist_error fill_layout(struct llm_case *made,
				   const struct llm_recipe *recipe,
				   struct dist_message *message)
{
	const struct llm_row *row = made->row;
	struct llm_layout *l = &made->layout;
	const char *recompute = row->recompute;
	struct dist__refusal refusal;
	enum dist_error error;

	llm_layout_init(l);
	l->no_headroom = true; /* it ran */
	fill_sizes(made);
	fill_habits(made, recipe);
	fill_tuning(made);
	fill_kernels(made);
	fill_states(made);
	if (!recompute && recipe)
		recompute = recipe->recompute;
	made->guessed = !row->recompute;
	fill_recompute(made, recompute);
	made->remade = remade_by(recompute);
	/* InternEvo makes norms again unless it does so with whole layers
	 * (modeling_internlm.py, dropout_selective_checkpoint). */
	if (dist__begins(row->framework, "InternEvo") &&
	    l->recompute == LLM_RECOMPUTE_NONE) {
		l->recompute = LLM_RECOMPUTE_SELECTIVE;
		l->recompute_modules = LLM_MODULE_NORM;
	}
	if (recipe && l->gpus == recipe->gpus &&
	    recipe->offload_layers <= made->model.layers / l->pp)
		l->offload_layers = recipe->offload_layers;
	made->scale = mend_batch(l);
	error = llm_layout_complete(l, &made->model, &refusal);
	if (error)
		snprintf(message->text, sizeof message->text, "%s: %.100s",
			 refusal.option, refusal.message.text);
	return error;
}

/* ---- the step ---------------------------------------------------------- */

/* TFLOP/s of those that publish nothing else count attention whole (Megatron-LM
 * num_floating_point_operations of 2024). */
static double measured_ns(const struct llm_case *made, double peak)
{
	const struct llm_row *row = made->row;
	double tokens = (double)row->batch * row->seq;
	double flops = tokens / row->gpus *
		       llm_model_flops(&made->model, row->seq, false);

	if (row->step_s.value > 0)
		return 1e9 * row->step_s.value;
	if (row->tokens_per_s_gpu.value > 0)
		return 1e9 * tokens / row->gpus / row->tokens_per_s_gpu.value;
	if (row->tflops_gpu.value > 0)
		return flops / row->tflops_gpu.value / 1e3;
	return 1e9 * flops / (row->mfu.value / 100 * peak);
}

void llm_case_make(struct llm_case *made, const struct llm_row *row,
		   const char *source, const struct llm_recipes *recipes,
		   size_t num)
{
	struct dist_message message = {.text = ""};

	*made = (struct llm_case){.row = row, .source = source, .scale = 1};
	if (row->unfit || !row->gpus || !row->batch) {
		snprintf(made->why, sizeof made->why, "%s",
			 row->unfit  ? row->unfit
			 : row->gpus ? "batch not published"
				     : "number of GPUs not published");
		return;
	}
	fill_machine(made);
	if (fill_model(made, &message) ||
	    fill_layout(made, recipe_of(row, recipes, num), &message))
		snprintf(made->why, sizeof made->why, "%.159s", message.text);
}

void llm_case_place(struct llm_case *made, const struct llm_device *device)
{
	const enum llm_precision precision = made->layout.precision;
	struct dist_message message;

	made->fabric.intra_Bps = device->link_Bps;
	if (llm_device_can(device, precision, &message))
		snprintf(made->why, sizeof made->why, "%.159s", message.text);
	made->measured_ns =
		made->scale * measured_ns(made, device->peak[precision]);
}

bool llm_case_same_model(const struct llm_case *a, const struct llm_case *b)
{
	return strcmp(a->source, b->source) == 0 &&
	       strcmp(a->gpu, b->gpu) == 0 &&
	       strcmp(a->model.name, b->model.name) == 0 &&
	       a->model.hidden == b->model.hidden &&
	       a->model.layers == b->model.layers &&
	       a->layout.precision == b->layout.precision;
}

/* ---- memory ------------------------------------------------------------ */

double llm_case_memory(const struct llm_case *made,
		       const struct llm_device *device)
{
	const char *framework = made->row->framework;
	const struct llm_pace pace = {1, 1, 1};
	struct dist_message message;
	struct llm_memory memory;
	struct llm_work work;

	if (llm_work_init(&work, &made->model, &made->layout, device, &pace,
			  &message))
		return NAN;
	llm_memory_worst(&memory, &work, device);
	if (dist__begins(framework, "Megatron-DeepSpeed"))
		return memory.total;
	if (has(made->row->version, "core")) /* Megatron-LM's last rank logs */
		llm_memory_of_stage(&memory, &work, device,
				    made->layout.pp - 1);
	if (dist__begins(framework, "Megatron"))
		return memory.allocated;
	if (dist__begins(framework, "nanotron") ||
	    dist__begins(framework, "KempnerForge"))
		llm_memory_of_stage(&memory, &work, device, 0);
	/* What was allocated, not what was reserved (metrics/memory.py). */
	if (dist__begins(framework, "KempnerForge"))
		return memory.allocated;
	return memory.total - memory.library;
}
