/* The flags of a language model's layout. */
#include "scenarios/llm.h"

#include <string.h>

#include "base/refuse.h"

#define AT(field) offsetof(struct llm_arguments, field)
#define COUNT     OPTION_COUNT
#define CHOICE    OPTION_CHOICE
#define SWITCH    OPTION_SWITCH

#define RANKS .min = 1, .max = 1 << 20

/* What nobody asked for. */
#define SEQ    8192
#define ROUNDS 4 /* micro-batches of each stage of a pipeline */

const struct option llm_options[] = {
	{"tp", COUNT, AT(tp), "N", .help = "ranks that share each layer",
	 .usual = "1", RANKS,
	 .also = "tensor-parallel|tensor-parallel-size|tensor-model-parallel-"
		 "size"},
	{"pp", COUNT, AT(pp), "N", .help = "stages of the pipeline",
	 .usual = "1", RANKS,
	 .also = "pipeline-parallel|pipeline-parallel-size|pipeline-model-"
		 "parallel-size"},
	{"cp", COUNT, AT(cp), "N", .help = "ranks that share each sequence",
	 .usual = "1", RANKS, .also = "context-parallel|context-parallel-size"},
	{"ep", COUNT, AT(ep), "N", .help = "ranks that share the experts",
	 .usual = "1", RANKS,
	 .also = "expert-parallel|expert-parallel-size|expert-model-parallel-"
		 "size"},
	{"etp", COUNT, AT(etp), "N", .help = "ranks that share each expert",
	 .usual = "as --tp", RANKS, .also = "expert-tensor-parallel-size"},
	{"vpp", COUNT, AT(vpp), "N",
	 .help = "model chunks of a stage, interleaved", .usual = "1", RANKS,
	 .also = "virtual-pipeline|num-virtual-stages-per-pipeline-rank"},
	{"shard", CHOICE, AT(shard), "ddp|zero1|zero2|zero3|fsdp|fsdp2|hsdp",
	 .help = "what is sharded over data-parallel ranks: "
		 "nothing; optimizer state; and gradients; and "
		 "parameters, by three names; parameters within groups "
		 "of --shard-ranks",
	 .usual = "zero1", .also = "zero|zero-stage|sharding|dp-shard"},
	{"shard-ranks", COUNT, AT(shard_ranks), "N",
	 .help = "ranks of a shard group of hsdp or zero1", RANKS},
	{"keep-parameters", SWITCH, AT(keep_parameters), NULL,
	 .help = "fsdp: keep parameters from forward to backward"},
	{"no-sync", SWITCH, AT(no_sync), NULL,
	 .help = "fsdp: sum gradients in the last micro-batch alone, and hold "
		 "them whole until then"},
	{"no-sequence-parallel", SWITCH, AT(no_sequence), NULL,
	 .help = "every tp rank computes all norms"},
	{"context", CHOICE, AT(context), "ring|gather",
	 .help = "how cp ranks exchange keys and values", .usual = "ring"},
	{"schedule", CHOICE, AT(schedule), "gpipe|1f1b|zero-bubble",
	 .help = "order of the micro-batches", .usual = "1f1b"},
	{"recompute", CHOICE, AT(recompute),
	 "none|selective|operators|full|auto",
	 .help = "what backward recomputes: nothing; attention; all "
		 "except attention and half of the matrices; whole "
		 "layers; the least that fits with 7 % to spare",
	 .usual = "none",
	 .also = "activation-checkpointing|checkpointing|recompute-"
		 "granularity"},
	{"recompute-modules", OPTION_TEXT, AT(recompute_modules), "NAME,...",
	 .help = "modules that selective recomputes, as Megatron-LM names "
		 "them: core_attn, mla_up_proj, mlp, moe_act, layernorm, "
		 "shared_experts; and mlp_act, of dense layers",
	 .usual = "core_attn"},
	{"recompute-layers", COUNT, AT(recompute_layers), "N",
	 .help = "layers of a stage that full recomputes", .usual = "all",
	 RANKS, .also = "recompute-num-layers"},
	{"no-headroom", SWITCH, AT(no_headroom), NULL,
	 .help = "allow auto, and plan, to fill all memory"},
	{"offload-layers", COUNT, AT(offload_layers), "N",
	 .help = "layers of a stage whose activations are kept in "
		 "the host's memory",
	 .usual = "none", RANKS},
	{"seq", COUNT, AT(seq), "TOKENS", .help = "length of a sequence",
	 .usual = "8192, or the model's positions, if less", .min = 1,
	 .max = 1 << 30, .kilo = true,
	 .also = "seq-len|seq-length|seqlen|sequence-length|context-length"},
	{"micro-batch", COUNT, AT(micro_batch), "N",
	 .help = "sequences of a micro-batch", .usual = "1", RANKS,
	 .also = "mbs|micro-batch-size|local-batch-size"},
	{"global-batch", COUNT, AT(global_batch), "N",
	 .help = "sequences of a step, over all ranks",
	 .usual = "a micro-batch for each replica; with a pipeline four for "
		  "each stage",
	 .min = 1, .max = 1 << 30,
	 .also = "gbs|global-batch-size|gradient-accumulation|"
		 "gradient-accumulation-steps"},
	{"precision", CHOICE, AT(precision),
	 "bf16|fp16|fp8|mxfp8|fp4|nvfp4|tf32|fp32",
	 .help = "precision of matrix products", .usual = "bf16",
	 .also = "dtype"},
	{"gradient-bytes", COUNT, AT(gradient_bytes), "N",
	 .help = "bytes of a reduced gradient", .usual = "4", .min = 2,
	 .max = 4},
	{"state-bytes", COUNT, AT(state_bytes), "N",
	 .help = "bytes of a parameter's master copy and moments",
	 .usual = "12", .min = 1, .max = 16},
	{"attention", CHOICE, AT(attention), "fastest|flash-2|flash-1|unfused",
	 .help = "attention by the fastest library known for the "
		 "GPU; by FlashAttention 2, like PyTorch's SDPA; by "
		 "FlashAttention 1, of 2022; or unfused, with scores in "
		 "memory",
	 .usual = "fastest"},
	{"fused-loss", SWITCH, AT(fused_loss), NULL,
	 .help = "one kernel makes the loss of logits, one their gradient, as "
		 "flash-attn has it",
	 .also = "cross-entropy-loss-fusion"},
	{"loss-chunks", COUNT, AT(loss_chunks), "N",
	 .help = "loss and gradient are made in N parts, each gradient in the "
		 "place of its logits, as Liger has it",
	 .usual = "none", RANKS, .also = "lmhead-chunks"},
	{"lora", SWITCH, AT(lora), NULL,
	 .help = "freeze the weights and train adapters"},
	{"overlap", OPTION_TEXT, AT(overlap), "WHAT,...",
	 .help = "calls that overlap with computing: grad, param, "
		 "tp, p2p, ep; all or none",
	 .usual = "grad,param,p2p"},
	{"imbalance", OPTION_NUMBER, AT(imbalance), "FACTOR",
	 .help = "tokens of the fullest expert rank divided by the "
		 "mean",
	 .usual = "1", .min = 1},
	{.name = NULL}};

/* Reads "grad,tp" into the layout's switches. */
static enum dist_error read_overlap(struct llm_layout *layout, const char *text,
				    struct dist__refusal *refusal)
{
	const struct {
		const char *name;
		bool *on;
	} list[] = {{"grad", &layout->overlap_grad},
		    {"param", &layout->overlap_param},
		    {"tp", &layout->overlap_tp},
		    {"p2p", &layout->overlap_p2p},
		    {"ep", &layout->overlap_ep}};
	const size_t num = sizeof list / sizeof *list;
	bool all = strcmp(text, "all") == 0;
	size_t i, len;

	for (i = 0; i < num; i++)
		*list[i].on = all;
	if (all || strcmp(text, "none") == 0)
		return DIST_OK;
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = 0; i < num; i++)
			if (strlen(list[i].name) == len &&
			    memcmp(list[i].name, text, len) == 0)
				break;
		if (i == num)
			return dist__refuse_option(
				refusal, "overlap",
				"--overlap: expected grad, param, tp, p2p or "
				"ep, in a list, all or none, got "
				"\"%.40s\"",
				text);
		*list[i].on = true;
		if (!text[len])
			return DIST_OK;
	}
}

static void set(int *field, int asked)
{
	if (asked > 0)
		*field = asked;
}

static void set_choices(struct llm_layout *layout,
			const struct llm_arguments *a)
{
	if (a->shard)
		layout->shard = llm_shard_find(a->shard);
	if (a->schedule)
		layout->schedule = llm_schedule_find(a->schedule);
	if (a->recompute)
		layout->recompute = llm_recompute_find(a->recompute);
	if (a->recompute_modules)
		layout->recompute_modules =
			llm_modules_find(a->recompute_modules);
	if (a->precision)
		layout->precision = llm_precision_find(a->precision);
	if (layout->precision == LLM_TF32 || layout->precision == LLM_FP32)
		layout->parameter_bytes = 4;
	if (a->attention)
		layout->attention = llm_attention_library_find(a->attention);
	layout->lora = a->lora;
	layout->fused_loss = a->fused_loss || a->loss_chunks > 0;
	layout->no_headroom = a->no_headroom;
	layout->reshard = !a->keep_parameters;
	layout->defer_sums = a->no_sync;
	layout->sequence = !a->no_sequence;
	layout->gather_cp = a->context && strcmp(a->context, "gather") == 0;
	if (a->imbalance > 0)
		layout->imbalance = a->imbalance;
}

static enum dist_error check_modules(const struct llm_arguments *a,
				     const struct llm_architecture *model,
				     struct dist__refusal *refusal)
{
	const int modules = llm_modules_find(a->recompute_modules);
	const int of_experts = LLM_MODULE_ACTIVATION | LLM_MODULE_SHARED;
	const int of_dense = LLM_MODULE_MLP | LLM_MODULE_DENSE_ACTIVATION;

	if (!modules)
		return dist__refuse_option(
			refusal, "recompute-modules",
			"--recompute-modules: expected core_attn, mla_up_proj, "
			"mlp, moe_act, layernorm, shared_experts or mlp_act, "
			"in a list, got \"%.80s\"",
			a->recompute_modules);
	if ((modules & of_experts && !model->experts) ||
	    (modules & of_dense && !model->ffn) ||
	    (modules & LLM_MODULE_SHARED && !model->shared_ffn) ||
	    (modules & LLM_MODULE_HEADS && !model->kv_rank))
		return dist__refuse_option(
			refusal, "recompute-modules",
			"--recompute-modules: expected modules that the model "
			"has, got \"%.80s\"",
			a->recompute_modules);
	return DIST_OK;
}

static bool is(const char *asked, const char *value)
{
	return asked && strcmp(asked, value) == 0;
}

/* Refuses options that have no effect without another. */
static enum dist_error check_effects(const struct llm_arguments *a,
				     struct dist__refusal *refusal)
{
	const bool all = a->searched;
	const struct {
		const char *option;
		bool given, matters;
		const char *expected;
	} rows[] = {
		{"keep-parameters", a->keep_parameters,
		 a->shard ? llm_shard_find(a->shard) >= LLM_FSDP : all,
		 "--shard fsdp or hsdp"},
		{"no-sequence-parallel", a->no_sequence,
		 a->tp > 0 ? a->tp > 1 : all, "--tp above 1"},
		{"context", a->context, a->cp > 0 ? a->cp > 1 : all,
		 "--cp above 1"},
		{"schedule", a->schedule, a->pp > 0 ? a->pp > 1 : all,
		 "--pp above 1"},
		{"recompute-modules", a->recompute_modules,
		 is(a->recompute, "selective"), "--recompute selective"},
		{"recompute-layers", a->recompute_layers > 0,
		 is(a->recompute, "full"), "--recompute full"},
		{"no-headroom", a->no_headroom, all || is(a->recompute, "auto"),
		 "--recompute auto"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !a->varied; i++)
		if (rows[i].given && !rows[i].matters)
			return dist__refuse_option(refusal, rows[i].option,
						   "--%s: expected with %s",
						   rows[i].option,
						   rows[i].expected);
	return DIST_OK;
}

enum dist_error llm_arguments_check(const struct llm_arguments *a,
				    const struct llm_architecture *model,
				    struct dist__refusal *refusal)
{
	struct llm_layout layout;
	enum dist_error error;

	if (model->experts == 0 && (a->etp > 0 || a->imbalance > 1)) {
		const char *option = a->etp > 0 ? "etp" : "imbalance";

		return dist__refuse_option(
			refusal, option,
			"--%s: expected with experts, which the "
			"model has not",
			option);
	}
	error = check_effects(a, refusal);
	if (!error && a->recompute_modules)
		error = check_modules(a, model, refusal);
	if (error)
		return error;
	if (model->positions > 0 && a->seq > model->positions)
		return dist__refuse_option(
			refusal, "seq",
			"--seq: expected at most %d, the positions "
			"that the model has learned, got %d",
			model->positions, a->seq);
	return a->overlap ? read_overlap(&layout, a->overlap, refusal)
			  : DIST_OK;
}

enum dist_error llm_arguments_layout(const struct llm_arguments *a, int gpus,
				     const struct llm_architecture *model,
				     struct llm_layout *layout,
				     struct dist__refusal *refusal)
{
	enum dist_error error = DIST_OK;
	int copy;

	llm_layout_init(layout);
	layout->gpus = gpus;
	set(&layout->tp, a->tp);
	set(&layout->pp, a->pp);
	set(&layout->cp, a->cp);
	set(&layout->ep, a->ep);
	set(&layout->etp, a->etp);
	set(&layout->vpp, a->vpp);
	set(&layout->shard_ranks, a->shard_ranks);
	set(&layout->recompute_layers, a->recompute_layers);
	set(&layout->offload_layers, a->offload_layers);
	set(&layout->loss_chunks, a->loss_chunks);
	layout->seq = SEQ;
	if (model->positions > 0 && model->positions < SEQ)
		layout->seq = model->positions;
	set(&layout->seq, a->seq);
	set(&layout->micro_batch, a->micro_batch);
	set_choices(layout, a);
	set(&layout->gradient_bytes, a->gradient_bytes);
	set(&layout->state_bytes, a->state_bytes);
	error = llm_arguments_check(a, model, refusal);
	if (!error && a->overlap)
		error = read_overlap(layout, a->overlap, refusal);
	if (error)
		return error;
	copy = layout->tp * layout->pp * layout->cp;
	layout->global_batch = gpus > copy ? gpus / copy : 1;
	layout->global_batch *= layout->micro_batch;
	if (layout->pp > 1)
		layout->global_batch *= ROUNDS * layout->pp;
	set(&layout->global_batch, a->global_batch);
	error = llm_layout_complete(layout, model, refusal);
	if (error || !a->no_sync || a->searched || a->varied ||
	    (layout->pp == 1 && llm_micro_batches(layout) > 1))
		return error;
	return dist__refuse_option(refusal, "no-sync",
				   "--no-sync: expected with --pp 1 and "
				   "several micro-batches (see "
				   "--global-batch), got --pp %d and %d",
				   layout->pp, llm_micro_batches(layout));
}
