/*
 * memory.c - what a rank holds at its peak: the states of what it trains by
 * ZeRO's shards, activations by the schedule's micro-batches in flight, what a
 * layer at work needs, and what library and allocator take.
 */
#include "model/llm/memory.h"

#include <math.h>

#define MIB 1048576.0

/*
 * CUDA's context with the kernels that are loaded, and NCCL's buffers of a
 * communicator: some 24 channels, with 4 MiB (NCCL_BUFFSIZE) and those of LL
 * and LL128 for each neighbour of rings and trees.
 */
#define CONTEXT_BYTES      (1024 * MIB)
#define COMMUNICATOR_BYTES (768 * MIB)

/*
 * What PyTorch's allocator reserves beyond what is allocated: blocks of no size
 * that is asked for. What nvidia-smi showed of the 70 layouts of BLOOM's search
 * (scenarios/measured/llm/bigscience-bloom-a100.tsv) is a seventh more than
 * what is allocated. Where memory is short the allocator gives these back, all
 * but a few.
 */
#define LOST_SHARE  0.14
#define STUCK_SHARE 0.02

static int least(int a, int b)
{
	return a < b ? a : b;
}

/*
 * 1F1B: a stage has as many forward passes before its first backward pass as
 * there are stages from it on (D. Narayanan et al., 2021, section 2.2). Chunks
 * take turns of pp micro-batches (Megatron's schedules.py,
 * get_pp_rank_microbatches). ZB-H1 holds as many everywhere as the first stage
 * of 1F1B (P. Qi et al., 2024, section 3).
 */
int llm_in_flight(const struct llm_layout *l, int stage, int chunk)
{
	const int num = llm_micro_batches(l);
	int passes, turns, rest;

	if (l->pp == 1)
		return 1;
	if (l->schedule == LLM_GPIPE)
		return num;
	if (l->schedule == LLM_ZERO_BUBBLE)
		return least(num, l->pp);
	if (l->vpp == 1)
		return least(num, l->pp - stage);
	passes = 2 * (l->pp - stage - 1) + (l->vpp - 1) * l->pp + 1;
	turns = passes / (l->pp * l->vpp);
	rest = passes - turns * l->pp * l->vpp - chunk * l->pp;
	rest = rest < 0 ? 0 : least(rest, l->pp);
	return least(num, turns * l->pp + rest);
}

/* What a stage is made of. */
struct stage {
	double dense, expert; /* parameters of a rank */
	double kept;          /* activations of all in flight */
	double working;       /* the most that a layer needs beside */
	double widest;        /* parameters of the largest, ends too */
	double block;         /* of the largest layer */
	double ends;          /* of embedding and head */
};

static double parameters_of(const struct llm_layer *layer)
{
	return layer->dense_parameters + layer->expert_parameters;
}

static bool is_layer(int kind)
{
	return kind != LLM_EMBEDDING && kind != LLM_HEAD;
}

/* Adds num layers of a kind, `full` of them recomputed, `away` of them in the
 * host's memory but for one that comes and one that goes. */
static void add_layers(struct stage *stage, const struct llm_layer *layer,
		       int num, int full, int away, int in_flight)
{
	const double whole = layer->activation_bytes;
	double working = layer->working_bytes;

	if (num == 0)
		return;
	if (full > 0)
		working += whole - layer->input_bytes;
	if (away > 0)
		working += 2 * whole;
	stage->dense += num * layer->dense_parameters;
	stage->expert += num * layer->expert_parameters;
	stage->kept += in_flight * (full * layer->input_bytes +
				    fmax(0, num - full - away) * whole);
	stage->working = fmax(stage->working, working);
	stage->widest = fmax(stage->widest, parameters_of(layer));
}

static void add_up(const struct llm_work *work, int place, struct stage *stage)
{
	const struct llm_layout *l = &work->layout;
	int recomputed = llm_recomputed_layers(work, place);
	int away = l->offload_layers, num[LLM_LAYER_KINDS];

	*stage = (struct stage){0};
	for (int chunk = 0; chunk < l->vpp; chunk++) {
		int in_flight = llm_in_flight(l, place, chunk);

		llm_stage_layers(work, place, chunk, num);
		for (int kind = 0; kind < LLM_LAYER_KINDS; kind++) {
			int full = is_layer(kind) ? least(recomputed, num[kind])
						  : 0;

			int gone = is_layer(kind) ? least(away, num[kind]) : 0;

			recomputed -= full;
			away -= gone;
			add_layers(stage, &work->layers[kind], num[kind], full,
				   gone, in_flight);
			if (is_layer(kind) && num[kind] > 0)
				stage->block = fmax(
					stage->block,
					parameters_of(&work->layers[kind]));
		}
		if (num[LLM_EMBEDDING])
			stage->ends +=
				work->layers[LLM_EMBEDDING].dense_parameters;
		if (num[LLM_HEAD])
			stage->ends += work->layers[LLM_HEAD].dense_parameters;
		else if (l->keep_outputs)
			stage->kept += in_flight *
				       work->layers[LLM_HEAD].boundary_bytes;
	}
}

/* Ranks that share the states of what is not an expert, and of experts. */
static void count_shards(const struct llm_layout *l, double *dense,
			 double *expert)
{
	*dense = llm_layout_group(l, LLM_DP, l->gpus).ranks;
	*expert = llm_layout_group(l, LLM_EXPERT_DP, l->gpus).ranks;
	if (l->shard == LLM_HSDP)
		*expert = fmax(1, *expert * l->shard_ranks / l->dp);
}

/* Megatron holds parameters whole, gradients whole in one buffer, and its
 * distributed optimizer a shard of the rest. FSDP's shard of 32 bits is the
 * optimizer's master copy; its gradients are in shards, too, unless they are
 * summed late. */
static void set_states(struct llm_memory *m, const struct llm_layout *l,
		       const struct stage *s)
{
	double dense, expert, whole = s->dense + s->expert, shard;
	const bool sharded = llm_layout_is_fsdp(l);
	const double master = 4;

	count_shards(l, &dense, &expert);
	shard = s->dense / dense + s->expert / expert;
	m->parameters = (l->parameter_bytes + l->copy_bytes) * whole;
	if (sharded)
		m->parameters = (l->lora ? l->parameter_bytes : master) * shard;
	if (l->lora)
		return;
	m->gradients =
		l->gradient_bytes *
		((sharded && !llm_fsdp_sums_late(l)) || l->shard == LLM_ZERO2
			 ? shard
			 : whole);
	m->optimizer = sharded ? fmax(0, l->state_bytes - master) * shard
			       : l->state_bytes *
					 (l->shard == LLM_DDP ? whole : shard);
}

/* ZeRO-2 sums a layer's gradients, or those of a chunk while the next is at
 * work. FSDP gathers a layer while it computes another, and sums a whole
 * layer's gradients; what it does not reshard stays, as embedding and head do,
 * which belong to no layer, from forward to backward
 * (torch/distributed/fsdp/_fully_shard/_fsdp_state.py, _lazy_init: the root),
 * and in a pipeline all from a backward to the next forward. */
static double gathered(const struct llm_layout *l, const struct stage *s)
{
	double layers = l->reshard && l->pp == 1 ? 2 * s->block + s->ends
						 : s->dense + s->expert;

	if (!llm_layout_is_fsdp(l))
		return l->shard != LLM_ZERO2 ? 0
		       : l->vpp > 1          ? l->gradient_bytes * 2 *
					      (s->dense + s->expert) / l->vpp
				    : l->gradient_bytes * s->widest;
	return l->parameter_bytes * layers +
	       (l->lora ? 0 : l->gradient_bytes * s->block);
}

static double library_bytes(const struct llm_layout *l)
{
	int communicators = (l->gpus > 1) /* of all */ + (l->dp * l->cp > 1);

	communicators +=
		(l->tp > 1) + (l->cp > 1) + (l->ep > 1) + 2 * (l->pp > 1);
	if (l->ep > 1 && l->gpus / l->pp > l->ep * l->etp)
		communicators++;
	return CONTEXT_BYTES + communicators * COMMUNICATOR_BYTES;
}

void llm_memory_of_stage(struct llm_memory *memory, const struct llm_work *work,
			 const struct llm_device *device, int stage)
{
	const struct llm_layout *l = &work->layout;
	struct stage s;
	double usual;

	*memory = (struct llm_memory){.stage = stage};
	add_up(work, stage, &s);
	set_states(memory, l, &s);
	memory->activations = s.kept;
	memory->temporary = s.working + gathered(l, &s);
	memory->allocated = memory->parameters + memory->gradients +
			    memory->optimizer + memory->activations +
			    memory->temporary;
	memory->library = library_bytes(l);
	memory->capacity = device->memory_bytes;
	memory->least = (1 + STUCK_SHARE) * memory->allocated + memory->library;
	usual = (1 + LOST_SHARE) * memory->allocated + memory->library;
	memory->fits = memory->least <= memory->capacity;
	memory->tight = memory->fits &&
			memory->least > (1 - LLM_HEADROOM) * memory->capacity;
	memory->total =
		memory->fits ? fmin(memory->capacity, usual) : memory->least;
	memory->slack = memory->total - memory->allocated - memory->library;
}

void llm_memory_worst(struct llm_memory *memory, const struct llm_work *work,
		      const struct llm_device *device)
{
	struct llm_memory other;

	llm_memory_of_stage(memory, work, device, 0);
	for (int stage = 1; stage < work->layout.pp; stage++) {
		llm_memory_of_stage(&other, work, device, stage);
		if (other.allocated > memory->allocated)
			*memory = other;
	}
}

bool llm_memory_has_room(const struct llm_memory *memory,
			 const struct llm_layout *layout)
{
	return memory->fits && (layout->no_headroom || !memory->tight);
}

static enum dist_error try(const struct llm_layout *layout,
			   const struct llm_architecture *model,
			   const struct llm_device *device,
			   const struct llm_pace *pace, bool *roomy,
			   struct dist_message *message)
{
	struct llm_memory memory;
	struct llm_work work;
	enum dist_error error =
		llm_work_init(&work, model, layout, device, pace, message);

	if (error)
		return error;
	llm_memory_worst(&memory, &work, device);
	*roomy = llm_memory_has_room(&memory, layout);
	return DIST_OK;
}

/* What is made again for mixtures of experts: no products but those of latents
 * (DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 3.2). */
static int cheap_modules(const struct llm_architecture *model)
{
	return LLM_MODULE_ACTIVATION | LLM_MODULE_NORM |
	       (model->kv_rank ? LLM_MODULE_HEADS : 0);
}

/* Where all layers would be made again, as of chunks of one layer, the MLPs
 * alone, if that does. */
static enum dist_error spare_attention(struct llm_layout *layout,
				       const struct llm_architecture *model,
				       const struct llm_device *device,
				       const struct llm_pace *pace,
				       struct dist_message *message)
{
	struct llm_layout less = *layout;
	bool roomy = false;
	enum dist_error error;

	if (model->experts > 0)
		return DIST_OK;
	less.recompute = LLM_RECOMPUTE_SELECTIVE;
	less.recompute_modules = LLM_MODULE_MLP;
	if (layout->attention == LLM_UNFUSED)
		less.recompute_modules |= LLM_MODULE_SCORES;
	error = try(&less, model, device, pace, &roomy, message);
	if (!error && roomy)
		*layout = less;
	return error;
}

enum dist_error llm_recompute_choose(struct llm_layout *layout,
				     const struct llm_architecture *model,
				     const struct llm_device *device,
				     const struct llm_pace *pace,
				     struct dist_message *message)
{
	/* Layers of each chunk are counted, as by Megatron-LM. */
	const int chunks = layout->pp * layout->vpp;
	const int all = (model->layers + chunks - 1) / chunks;
	bool roomy = false;
	int low = 1, high = all;
	enum dist_error error;

	if (layout->recompute != LLM_RECOMPUTE_AUTO)
		return DIST_OK;
	layout->recompute_layers = 0;
	layout->recompute = LLM_RECOMPUTE_NONE;
	error = try(layout, model, device, pace, &roomy, message);
	if (error || roomy)
		return error;
	if (layout->attention == LLM_UNFUSED || model->experts > 0) {
		const int usual = layout->recompute_modules;

		layout->recompute = LLM_RECOMPUTE_SELECTIVE;
		if (layout->attention != LLM_UNFUSED)
			layout->recompute_modules = cheap_modules(model);
		error = try(layout, model, device, pace, &roomy, message);
		if (error || roomy)
			return error;
		layout->recompute_modules = usual;
	}
	if (layout->overlap_ep && layout->ep > 1)
		return DIST_OK; /* see llm_layout_complete */
	layout->recompute = LLM_RECOMPUTE_FULL;
	while (low < high) { /* the least that does, else all */
		layout->recompute_layers = (low + high) / 2 * layout->vpp;
		error = try(layout, model, device, pace, &roomy, message);
		if (error)
			return error;
		if (roomy)
			high = (low + high) / 2;
		else
			low = (low + high) / 2 + 1;
	}
	layout->recompute_layers = low == all ? 0 : low * layout->vpp;
	return low == all
		       ? spare_attention(layout, model, device, pace, message)
		       : DIST_OK;
}
