/* llm_flags.c - a layout as command lines: ours, torchtitan's, Megatron-LM's.
 */
#include "cli/llm.h"
#include "base/text.h"

/* A text that grows. */
struct text {
	char *at;
	size_t size;
};

#define append(text, ...)                                                      \
	((void)dist__append((text)->at, (text)->size, __VA_ARGS__))

static void append_count(struct text *text, const char *flag, int count,
			 int usual)
{
	if (count != usual)
		append(text, " --%s %d", flag, count);
}

/* What is not overlapped as usual: "--overlap grad,param". */
static void append_overlap(struct text *text, const struct llm_layout *layout,
			   const struct llm_layout *usual)
{
	const struct {
		const char *name;
		bool now, before;
	} kinds[] = {
		{"grad", layout->overlap_grad, usual->overlap_grad},
		{"param", layout->overlap_param, usual->overlap_param},
		{"tp", layout->overlap_tp, usual->overlap_tp},
		{"p2p", layout->overlap_p2p, usual->overlap_p2p},
		{"ep", layout->overlap_ep, usual->overlap_ep},
	};
	const size_t num = sizeof kinds / sizeof kinds[0];
	const char *between = " --overlap ";
	bool differs = false;

	for (size_t i = 0; i < num; i++)
		differs = differs || kinds[i].now != kinds[i].before;
	for (size_t i = 0; differs && i < num; i++)
		if (kinds[i].now) {
			append(text, "%s%s", between, kinds[i].name);
			between = ",";
		}
	if (differs && *between != ',')
		append(text, " --overlap none");
}

static void append_recompute(struct text *text, const struct llm_layout *layout,
			     const struct llm_layout *usual)
{
	char modules[80];

	if (layout->recompute != usual->recompute)
		append(text, " --recompute %s",
		       llm_recompute_name(layout->recompute));
	if (layout->recompute == LLM_RECOMPUTE_SELECTIVE &&
	    layout->recompute_modules != usual->recompute_modules) {
		llm_modules_name(layout->recompute_modules, ',', modules);
		append(text, " --recompute-modules %s", modules);
	}
	if (layout->recompute == LLM_RECOMPUTE_FULL)
		append_count(text, "recompute-layers", layout->recompute_layers,
			     0);
}

void llm_flags_layout(const struct llm_layout *layout, char *text, size_t size)
{
	struct text all = {text, size};
	struct llm_layout usual;

	llm_layout_init(&usual);
	*text = '\0';
	append_count(&all, "tp", layout->tp, usual.tp);
	append_count(&all, "pp", layout->pp, usual.pp);
	append_count(&all, "vpp", layout->vpp, usual.vpp);
	append_count(&all, "cp", layout->cp, usual.cp);
	append_count(&all, "ep", layout->ep, usual.ep);
	if (layout->ep > 1 && layout->etp != layout->tp)
		append(&all, " --etp %d", layout->etp);
	append(&all, " --shard %s", llm_shard_name(layout->shard));
	append_count(&all, "shard-ranks", layout->shard_ranks, 0);
	if (!layout->reshard && llm_layout_is_fsdp(layout))
		append(&all, " --keep-parameters");
	if (layout->defer_sums)
		append(&all, " --no-sync");
	if (layout->tp > 1 && !layout->sequence)
		append(&all, " --no-sequence-parallel");
	if (layout->gather_cp && layout->cp > 1)
		append(&all, " --context gather");
	if (layout->attention != usual.attention)
		append(&all, " --attention %s",
		       llm_attention_library_name(layout->attention));
	if (layout->fused_loss && layout->loss_chunks == 0)
		append(&all, " --fused-loss");
	append_count(&all, "loss-chunks", layout->loss_chunks, 0);
	if (layout->lora)
		append(&all, " --lora");
	append_count(&all, "offload-layers", layout->offload_layers, 0);
	append_count(&all, "gradient-bytes", layout->gradient_bytes,
		     usual.gradient_bytes);
	append_count(&all, "state-bytes", layout->state_bytes,
		     usual.state_bytes);
	if (layout->no_headroom && layout->recompute == LLM_RECOMPUTE_AUTO)
		append(&all, " --no-headroom");
	if (layout->imbalance != usual.imbalance)
		append(&all, " --imbalance %g", layout->imbalance);
	if (layout->pp > 1)
		append(&all, " --schedule %s",
		       llm_schedule_name(layout->schedule));
	append(&all, " --seq %d --micro-batch %d --global-batch %d",
	       layout->seq, layout->micro_batch, layout->global_batch);
	if (layout->precision != usual.precision)
		append(&all, " --precision %s",
		       llm_precision_name(layout->precision));
	append_recompute(&all, layout, &usual);
	append_overlap(&all, layout, &usual);
}

void llm_flags_predict(const struct llm_question *question,
		       const struct llm_layout *layout, char *text, size_t size)
{
	static const char *const links[REWIRING_OPTIONS] = {
		"inter-bandwidth", "inter-latency", "intra-bandwidth",
		"intra-latency"};
	const struct llm_request *request = question->request;
	struct text all = {text, size};
	char flags[512];

	*text = '\0';
	llm_flags_layout(layout, flags, sizeof flags);
	append(&all, "lockstep predict --model %s --machine %s", request->model,
	       request->machine);
	if (request->gpu)
		append(&all, " --gpu %s", request->gpu);
	append_count(&all, "ranks-per-node", request->ranks_per_node, 0);
	if (request->topology)
		append(&all, " --topology %s", request->topology);
	if (request->profile)
		append(&all, " --profile %s", request->profile);
	if (request->uncalibrated)
		append(&all, " --uncalibrated");
	for (size_t i = 0; i < REWIRING_OPTIONS; i++)
		if (request->rewiring.text[i])
			append(&all, " --%s %s", links[i],
			       request->rewiring.text[i]);
	if (request->software)
		append(&all, " --software %s", request->software);
	if (request->exchange)
		append(&all, " --exchange %s", request->exchange);
	if (request->compute)
		append(&all, " --compute %s", request->compute);
	if (request->compute_layout)
		append(&all, " --compute-layout \"%s\"",
		       request->compute_layout);
	append(&all, " --world-size %d%s", layout->gpus, flags);
}

/* ---- torchtitan's ------------------------------------------------------- */

/* Chunks of a layout's pipeline. */
static int chunks_of(const struct llm_layout *layout)
{
	return layout->pp * layout->vpp;
}

/* Layers of a chunk that torchtitan is to be told; it divides them, embedding
 * and loss as a layer each unless chunks are alike without, by rounding up. 0:
 * none makes so many chunks. */
static int titan_layers(const struct llm_layout *layout, int layers)
{
	const int chunks = chunks_of(layout);
	const int units = layers % chunks == 0 ? layers : layers + 2;
	const int each = (units + chunks - 1) / chunks;

	return (units + each - 1) / each == chunks ? each : 0;
}

/* What of a layout torchtitan cannot do; NULL: nothing. */
static const char *titan_lacks(const struct llm_layout *layout, int layers)
{
	if (layout->shard == LLM_ZERO1)
		return "data-parallel ranks that divide optimizer state alone";
	if (layout->schedule == LLM_ZERO_BUBBLE)
		return "zero-bubble's schedule ZB-H1";
	if (layout->recompute == LLM_RECOMPUTE_SELECTIVE)
		return "recomputation of single modules";
	if (layout->shard == LLM_DDP && (layout->cp > 1 || layout->ep > 1))
		return "copies of the model beside context or expert groups";
	if (layout->ep > 1 && layout->etp > 1)
		return "tensor groups within experts";
	if (layout->vpp > 1 && titan_layers(layout, layers) == 0)
		return "chunks of so many layers";
	if (layout->gradient_bytes < 4)
		return "sums of gradients in 16 bits";
	if (layout->fused_loss)
		return "a loss by one kernel";
	if (layout->defer_sums)
		return "gradients that are summed late";
	if (layout->lora || layout->offload_layers > 0)
		return layout->lora ? "LoRA" : "offloaded activations";
	return NULL;
}

static void append_titan(struct text *text, const char *name, int count)
{
	append(text, " --parallelism.%s_degree=%d", name, count);
}

/* Under a pipeline it keeps parameters unless it is told not to. */
static void append_titan_dp(struct text *text, const struct llm_layout *layout)
{
	const bool copies = layout->shard == LLM_DDP;
	const int shard =
		layout->shard == LLM_HSDP ? layout->shard_ranks : layout->dp;

	append_titan(text, "data_parallel_replicate",
		     copies ? layout->dp : layout->dp / shard);
	append_titan(text, "data_parallel_shard", copies ? 1 : shard);
	if (layout->shard == LLM_ZERO2 || (!copies && !layout->reshard))
		append(text, " --parallelism.fsdp_reshard_after_forward=never");
	else if (!copies && layout->pp > 1)
		append(text,
		       " --parallelism.fsdp_reshard_after_forward=always");
}

static void append_titan_pp(struct text *text, const struct llm_layout *layout,
			    int layers)
{
	append_titan(text, "pipeline_parallel", layout->pp);
	if (layout->pp > 1)
		append(text,
		       " --parallelism.pipeline_parallel_schedule=%s "
		       "--parallelism.num_pp_microbatches=%d",
		       layout->vpp > 1                 ? "Interleaved1F1B"
		       : layout->schedule == LLM_GPIPE ? "GPipe"
						       : "1F1B",
		       llm_micro_batches(layout));
	if (layout->vpp > 1)
		append(text,
		       " --parallelism.pipeline_parallel_layers_per_stage=%d",
		       titan_layers(layout, layers));
	if (layout->pp > 1 && layers % chunks_of(layout) == 0)
		append(text,
		       " --parallelism.pipeline_parallel_first_stage_less_"
		       "layers=0 --parallelism.pipeline_parallel_last_stage_"
		       "less_layers=0");
}

static void append_titan_compile(struct text *text,
				 const struct llm_layout *layout)
{
	if (layout->fused_kernels)
		append(text, " --compile.enable");
	if (layout->fused_kernels && layout->overlap_tp && layout->tp > 1)
		append(text, " --compile.enable_async_tensor_parallel");
	if (layout->pp > 1 || layout->ep > 1)
		append(text, " --training.disable_cuda_graphs");
}

/* Degrees of 1 are said, too: a model's config may have others. The last is a
 * subcommand, behind all flags. Layers are all recomputed or
 * none. */
bool llm_flags_torchtitan(const struct llm_layout *layout, int layers,
			  char *text, size_t size)
{
	static const char *const recomputes[LLM_RECOMPUTES] = {
		[LLM_RECOMPUTE_NONE] = "none",
		[LLM_RECOMPUTE_OPERATORS] = "selective",
		[LLM_RECOMPUTE_FULL] = "full"};
	const char *lack = titan_lacks(layout, layers);
	struct text all = {text, size};

	*text = '\0';
	if (lack) {
		append(&all, " has no flag for %s", lack);
		return false;
	}
	append_titan_dp(&all, layout);
	append_titan(&all, "tensor_parallel", layout->tp);
	if (layout->tp > 1 && !layout->sequence)
		append(&all, " --parallelism.no-enable-sequence-parallel");
	append_titan(&all, "context_parallel", layout->cp);
	append_titan(&all, "expert_parallel", layout->ep);
	append_titan_pp(&all, layout, layers);
	append(&all,
	       " --training.num_tokens_per_microbatch_per_dp_rank=%lld "
	       "--training.num_tokens_per_train_step=%lld "
	       "--training.max_context_length=%d",
	       (long long)layout->micro_batch * layout->seq,
	       (long long)layout->global_batch * layout->seq, layout->seq);
	append_titan_compile(&all, layout);
	append(&all, " activation_checkpoint:%s",
	       recomputes[layout->recompute]);
	return true;
}

/* ---- Megatron-LM's ------------------------------------------------------ */

/* What of a layout Megatron-LM cannot do; NULL: nothing. */
static const char *megatron_lacks(const struct llm_layout *layout)
{
	if (layout->schedule == LLM_ZERO_BUBBLE)
		return "zero-bubble's schedule ZB-H1";
	if (layout->schedule == LLM_GPIPE && layout->pp > 1)
		return "GPipe's schedule";
	if (layout->recompute == LLM_RECOMPUTE_OPERATORS)
		return "recomputation of single operators";
	if (layout->recompute == LLM_RECOMPUTE_SELECTIVE &&
	    layout->recompute_modules & LLM_MODULE_DENSE_ACTIVATION)
		return "recomputation of a dense layer's activation alone";
	if (layout->lora)
		return "LoRA";
	if (layout->loss_chunks > 0)
		return "a loss in chunks";
	if (layout->defer_sums)
		return "FSDP's gradients that are summed late";
	return NULL;
}

/* What data-parallel ranks divide, and overlap. */
static void append_megatron_dp(struct text *text,
			       const struct llm_layout *layout)
{
	static const char *const shards[LLM_SHARDS] = {
		[LLM_ZERO2] = "optim_grads",
		[LLM_FSDP] = "optim_grads_params",
		[LLM_HSDP] = "optim_grads_params"};

	if (layout->shard != LLM_DDP)
		append(text, " --use-distributed-optimizer");
	if (shards[layout->shard])
		append(text,
		       " --use-megatron-fsdp --data-parallel-sharding-strategy "
		       "%s --no-gradient-accumulation-fusion "
		       "--ckpt-format fsdp_dtensor",
		       shards[layout->shard]);
	if (layout->shard_ranks > 0)
		append(text, " --num-distributed-optimizer-instances %d",
		       layout->dp / layout->shard_ranks);
	if (layout->overlap_grad)
		append(text, " --overlap-grad-reduce");
	if (layout->overlap_grad && layout->overlap_param &&
	    layout->shard != LLM_DDP)
		append(text, " --overlap-param-gather");
	if (layout->overlap_tp && layout->tp > 1 && layout->sequence)
		append(text, " --tp-comm-overlap");
	if (layout->gradient_bytes < 4)
		append(text, " --grad-reduce-in-bf16");
}

/* Groups of experts. */
static void append_megatron_experts(struct text *text,
				    const struct llm_layout *layout)
{
	if (layout->ep == 1)
		return;
	append(text,
	       " --expert-model-parallel-size %d --expert-tensor-parallel-size "
	       "%d --moe-grouped-gemm --moe-token-dispatcher-type %s",
	       layout->ep, layout->etp,
	       layout->plain_exchange
		       ? "alltoall"
		       : "flex --moe-flex-dispatcher-backend deepep");
	if (layout->overlap_ep)
		append(text, " --overlap-moe-expert-parallel-comm");
}

/* Layers of a chunk, by its place in the pipeline. */
static int layers_at(const struct llm_work *work, int place)
{
	const int pp = work->layout.pp;
	int num[LLM_LAYER_KINDS], layers = 0;

	llm_stage_layers(work, place % pp, place / pp, num);
	for (int kind = 0; kind < LLM_LAYER_KINDS; kind++)
		if (kind != LLM_EMBEDDING && kind != LLM_HEAD)
			layers += num[kind];
	return layers;
}

/* Chunks that are not alike, one after the other, of those that are alike how
 * many: "Et*1|(t*2|)*30L" (Megatron-LM
 * docs/user-guide/features/pipeline_parallel_layout.md). */
static void append_chunks(struct text *text, const struct llm_layout *layout,
			  const struct llm_architecture *model)
{
	const struct llm_work work = {.model = *model, .layout = *layout};
	const int last = layout->pp * layout->vpp - 1;

	append(text, " --pipeline-model-parallel-layout \"E");
	for (int place = 0, like = 1; place <= last; place += like) {
		const int layers = layers_at(&work, place);

		for (like = 1; place > 0 && place + like < last &&
			       layers_at(&work, place + like) == layers;)
			like++;
		append(text, "%s", like > 1 ? "(" : "");
		if (layers > 0)
			append(text, "t*%d", layers);
		append(text, "%s", place < last ? "|" : "L\"");
		if (like > 1)
			append(text, ")*%d", like);
	}
}

static void append_pipeline(struct text *text, const struct llm_layout *layout,
			    const struct llm_architecture *model)
{
	const int chunks = chunks_of(layout);

	if (layout->vpp > 1 && !layout->overlap_p2p)
		append(text, " --no-overlap-p2p-communication");
	if (model->layers % chunks != 0 && (model->layers + 2) % chunks != 0) {
		append_chunks(text, layout, model);
		return;
	}
	append_count(text, "num-virtual-stages-per-pipeline-rank", layout->vpp,
		     1);
	if (model->layers % chunks != 0)
		append(text, " --account-for-embedding-in-pipeline-split "
			     "--account-for-loss-in-pipeline-split");
}

/* Whole layers are counted of each chunk (core/recompute.py). */
static void append_megatron_recompute(struct text *text,
				      const struct llm_layout *layout)
{
	const int layers = layout->recompute_layers;
	char modules[80];

	llm_modules_name(layout->recompute_modules, ' ', modules);
	if (layout->recompute == LLM_RECOMPUTE_SELECTIVE)
		append(text,
		       " --recompute-granularity selective "
		       "--recompute-modules %s",
		       modules);
	else if (layout->recompute == LLM_RECOMPUTE_FULL)
		append(text,
		       " --recompute-granularity full --recompute-method %s "
		       "--recompute-num-layers %d",
		       layers > 0 ? "block" : "uniform",
		       layers > 0 ? (layers + layout->vpp - 1) / layout->vpp
				  : 1);
	append_count(text, "cpu-offloading-num-layers", layout->offload_layers,
		     0);
}

static void append_precision(struct text *text, enum llm_precision precision)
{
	static const char *const flags[LLM_PRECISIONS] = {
		[LLM_BF16] = "--bf16",
		[LLM_FP16] = "--fp16",
		[LLM_FP8] = "--bf16 --fp8-format hybrid",
		[LLM_MXFP8] = "--bf16 --fp8-format e4m3 --fp8-recipe mxfp8",
		[LLM_FP4] = "--bf16 --fp4-format e2m1"};

	if (flags[precision])
		append(text, " %s", flags[precision]);
}

bool llm_flags_megatron(const struct llm_layout *layout,
			const struct llm_architecture *model, char *text,
			size_t size)
{
	const char *lack = megatron_lacks(layout);
	struct text all = {text, size};

	*text = '\0';
	if (lack) {
		append(&all, " has no flag for %s", lack);
		return false;
	}
	append(&all,
	       " --tensor-model-parallel-size %d "
	       "--pipeline-model-parallel-size %d",
	       layout->tp, layout->pp);
	append_pipeline(&all, layout, model);
	append_count(&all, "context-parallel-size", layout->cp, 1);
	if (layout->cp > 1 && layout->gather_cp)
		append(&all, " --cp-comm-type all_gather");
	if (layout->tp > 1 && layout->sequence)
		append(&all, " --sequence-parallel");
	append_megatron_experts(&all, layout);
	append_megatron_dp(&all, layout);
	append(&all,
	       " --seq-length %d --micro-batch-size %d --global-batch-size %d",
	       layout->seq, layout->micro_batch, layout->global_batch);
	append_megatron_recompute(&all, layout);
	append_precision(&all, layout->precision);
	if (layout->fused_loss)
		append(&all, " --cross-entropy-loss-fusion");
	return true;
}
