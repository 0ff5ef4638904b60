/* llm_flags.c - a layout as command lines: ours, torchtitan's, Megatron-LM's.
 */
#include "cli/llm_flags.h"
#include "base/text.h"

#include <stdio.h>

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
	if (!layout->reshard)
		append(&all, " --keep-parameters");
	if (layout->tp > 1 && !layout->sequence)
		append(&all, " --no-sequence-parallel");
	if (layout->gather_cp)
		append(&all, " --context gather");
	if (layout->attention != usual.attention)
		append(&all, " --attention %s",
		       llm_attention_library_name(layout->attention));
	if (layout->lora)
		append(&all, " --lora");
	append_count(&all, "offload-layers", layout->offload_layers, 0);
	append_count(&all, "gradient-bytes", layout->gradient_bytes,
		     usual.gradient_bytes);
	append_count(&all, "state-bytes", layout->state_bytes,
		     usual.state_bytes);
	if (layout->no_headroom)
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
	if (layout->recompute != usual.recompute)
		append(&all, " --recompute %s",
		       llm_recompute_name(layout->recompute));
	if (layout->recompute == LLM_RECOMPUTE_FULL)
		append_count(&all, "recompute-layers", layout->recompute_layers,
			     0);
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

/* ---- others' ------------------------------------------------------------ */

static void append_titan(struct text *text, const char *name, int count)
{
	if (count > 1)
		append(text, " --parallelism.%s_degree=%d", name, count);
}

/* What of a layout torchtitan cannot do; NULL: nothing. */
static const char *titan_lacks(const struct llm_layout *layout, int layers)
{
	if (layout->shard == LLM_ZERO1)
		return "data-parallel ranks that divide optimizer state alone";
	if (layout->schedule == LLM_ZERO_BUBBLE)
		return "zero-bubble's schedule ZB-H1";
	if (layout->recompute == LLM_RECOMPUTE_FULL &&
	    layout->recompute_layers > 0 &&
	    layout->recompute_layers * layout->pp < layers)
		return "recomputation of some layers and not of others";
	return NULL;
}

void llm_flags_torchtitan(const struct llm_layout *layout, int layers,
			  char *text, size_t size)
{
	static const char *const recomputes[LLM_RECOMPUTES] = {
		"none", "selective", "full", "full"};
	const char *lack = titan_lacks(layout, layers);
	struct text all = {text, size};
	bool copies = layout->shard == LLM_DDP;
	int shard =
		layout->shard == LLM_HSDP ? layout->shard_ranks : layout->dp;

	*text = '\0';
	if (lack) {
		append(&all, " has no flag for %s", lack);
		return;
	}
	append_titan(&all, "data_parallel_replicate",
		     copies ? layout->dp : layout->dp / shard);
	append(&all, " --parallelism.data_parallel_shard_degree=%d",
	       copies ? 1 : shard);
	if (layout->shard == LLM_ZERO2)
		append(&all, " --parallelism.fsdp_reshard_after_forward=never");
	append_titan(&all, "tensor_parallel", layout->tp);
	append_titan(&all, "context_parallel", layout->cp);
	append_titan(&all, "expert_parallel", layout->ep);
	append_titan(&all, "pipeline_parallel", layout->pp);
	if (layout->pp > 1)
		append(&all,
		       " --parallelism.pipeline_parallel_schedule=%s "
		       "--parallelism.pipeline_parallel_microbatch_size=%d",
		       layout->vpp > 1                 ? "Interleaved1F1B"
		       : layout->schedule == LLM_GPIPE ? "GPipe"
						       : "1F1B",
		       layout->micro_batch);
	append(&all,
	       " --training.local_batch_size=%d --training.global_batch_size=%d"
	       " --training.seq_len=%d --activation_checkpoint.mode=%s",
	       layout->pp > 1 ? layout->micro_batch * llm_micro_batches(layout)
			      : layout->micro_batch,
	       layout->global_batch, layout->seq,
	       recomputes[layout->recompute]);
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
	if (layout->overlap_param && layout->shard != LLM_DDP)
		append(text, " --overlap-param-gather");
	if (layout->overlap_tp && layout->tp > 1)
		append(text, " --tp-comm-overlap");
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
	const int chunks = layout->pp * layout->vpp;

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

void llm_flags_megatron(const struct llm_layout *layout,
			const struct llm_architecture *model, char *text,
			size_t size)
{
	struct text all = {text, size};

	*text = '\0';
	append(&all,
	       " --tensor-model-parallel-size %d "
	       "--pipeline-model-parallel-size %d",
	       layout->tp, layout->pp);
	append_pipeline(&all, layout, model);
	append_count(&all, "context-parallel-size", layout->cp, 1);
	append_count(&all, "expert-model-parallel-size", layout->ep, 1);
	if (layout->ep > 1)
		append(&all, " --expert-tensor-parallel-size %d", layout->etp);
	if (layout->tp > 1 && layout->sequence)
		append(&all, " --sequence-parallel");
	append_megatron_dp(&all, layout);
	append(&all,
	       " --seq-length %d --micro-batch-size %d --global-batch-size %d",
	       layout->seq, layout->micro_batch, layout->global_batch);
	if (layout->recompute == LLM_RECOMPUTE_SELECTIVE)
		append(&all, " --recompute-granularity selective");
	else if (layout->recompute == LLM_RECOMPUTE_FULL)
		append(&all,
		       " --recompute-granularity full --recompute-method %s "
		       "--recompute-num-layers %d",
		       layout->recompute_layers > 0 ? "block" : "uniform",
		       layout->recompute_layers > 0 ? layout->recompute_layers
						    : 1);
	append_precision(&all, layout->precision);
	if (layout->schedule == LLM_ZERO_BUBBLE)
		append(&all, " (its 1F1B instead of zero-bubble's ZB-H1)");
}
