/*
 * step.c - a training step by closed form: what a stage computes and what of
 * its calls nothing hides, the pipeline's bubble, what data-parallel ranks sum
 * and gather, the optimizer, the host.
 */
#include "model/llm/step.h"

#include <math.h>
#include <string.h>

#include "base/refuse.h"
#include "model/library/library.h"
#include "model/llm/links.h"

/* Where time goes. */
struct spent {
	double ns[LLM_KINDS];
	double exposed[LLM_AXES];
	double recompute;
	double again[LLM_KINDS]; /* of that, kernels */
	double offload;
	double other;
};

struct maker {
	const struct llm_work *work;
	const struct llm_layout *layout;
	const struct llm_cluster *cluster;
	struct fabric fabrics[LLM_AXES];
	struct llm_group groups[LLM_AXES];
	struct llm_pace pace;
	const double *known; /* constants */
	enum dist_error error;
	struct dist_message *message;
};

static double computed(const struct spent *spent)
{
	double sum = spent->recompute + spent->other;

	for (int k = 0; k < LLM_KINDS; k++)
		sum += spent->ns[k];
	return sum;
}

static double total(const struct spent *spent)
{
	double sum = computed(spent) + spent->offload;

	for (int a = 0; a < LLM_AXES; a++)
		sum += spent->exposed[a];
	return sum;
}

static void add(struct spent *to, const struct spent *more, double times)
{
	for (int k = 0; k < LLM_KINDS; k++) {
		to->ns[k] += times * more->ns[k];
		to->again[k] += times * more->again[k];
	}
	for (int a = 0; a < LLM_AXES; a++)
		to->exposed[a] += times * more->exposed[a];
	to->recompute += times * more->recompute;
	to->offload += times * more->offload;
	to->other += times * more->other;
}

/* ---- calls ------------------------------------------------------------- */

/* The time of a call alone on its links. What a ring of context parallelism
 * sends, and one stage to the next, is what an all-gather of them sends. */
static double call_ns(struct maker *m, enum llm_axis axis,
		      enum dist__op_kind op, double bytes)
{
	struct library_call call = {.op = op, .element_bytes = 2};
	struct library_estimate estimate;
	int ranks = m->groups[axis].ranks;

	if (m->error || ranks <= 1 || bytes <= 0 || op >= DIST__OP_KINDS)
		return 0;
	if (op == DIST__SEND) {
		call.op = DIST__ALL_GATHER;
		bytes *= (double)ranks / (ranks - 1);
	}
	call.ranks = ranks;
	call.numel = (size_t)(bytes / 2);
	m->error = library_estimate(m->cluster->profile, &m->fabrics[axis],
				    &call, &estimate, m->message);
	return m->error ? 0 : library_time_ns(&estimate);
}

/* An exchange of tokens with experts. Where a token goes once to a node and
 * from there to the ranks that have its experts (DeepEP,
 * github.com/deepseek-ai), less leaves a node, and inside all of it passes once
 * more. */
static double exchange_ns(struct maker *m, double bytes)
{
	const struct fabric *fabric = &m->fabrics[LLM_EP];
	double ranks = m->groups[LLM_EP].ranks;
	double copies = m->work->model.top_k;
	double inside;

	if (m->layout->plain_exchange || ranks <= 1 || copies < 1)
		return call_ns(m, LLM_EP, DIST__ALL_TO_ALL, bytes);
	inside = bytes * llm_distinct(copies, ranks);
	if (fabric->nodes == 1)
		return call_ns(m, LLM_EP, DIST__ALL_TO_ALL, inside);
	return fmax(call_ns(m, LLM_EP, DIST__ALL_TO_ALL,
			    bytes * llm_distinct(copies, fabric->nodes)),
		    1e9 * inside / fabric->intra_Bps);
}

/* ---- passes ------------------------------------------------------------ */

static double piece_ns(const struct llm_piece *piece)
{
	double sum = 0;

	for (int k = 0; k < LLM_KINDS; k++)
		sum += piece->ns[k];
	return sum;
}

/* What of a call of `ns` stays exposed beside `beside` ns of computing. */
static double exposed_of(const struct maker *m, double ns, double beside)
{
	return fmax(0, ns - beside) +
	       m->known[LLM_BESIDE_LOSS] * fmin(ns, beside);
}

static double exposed_ns(struct maker *m, const struct llm_pass *pass, size_t i)
{
	const struct llm_piece *piece = &pass->pieces[i];
	double ns = piece->op == DIST__ALL_TO_ALL
			    ? exchange_ns(m, piece->bytes)
			    : call_ns(m, piece->axis, piece->op, piece->bytes);
	double beside = i + 1 < pass->num ? piece_ns(piece + 1) : 0;

	if (!piece->overlapped || ns <= 0)
		return ns;
	if (piece->axis == LLM_EP)
		return m->known[LLM_EP_EXPOSED] * ns;
	if (piece->op == DIST__REDUCE_SCATTER || piece->op == DIST__ALL_REDUCE)
		beside = fmax(beside, piece_ns(piece));
	if (piece->axis == LLM_TP)
		return fmax(m->known[LLM_TP_EXPOSED] * ns,
			    exposed_of(m, ns, beside));
	return exposed_of(m, ns, beside);
}

static void add_pass(struct maker *m, struct spent *spent,
		     const struct llm_pass *pass)
{
	for (size_t i = 0; i < pass->num; i++) {
		const struct llm_piece *piece = &pass->pieces[i];

		for (int k = 0; k < LLM_KINDS; k++)
			spent->ns[k] += piece->ns[k];
		if (piece->op < DIST__OP_KINDS)
			spent->exposed[piece->axis] += exposed_ns(m, pass, i);
	}
}

/* ---- layers ------------------------------------------------------------ */

/* One layer for one micro-batch, both ways. */
struct layer {
	struct spent forward, backward;
	struct spent spared;  /* of forward, where it is made again */
	double weights_ns;    /* of backward, what zero-bubble moves */
	double dense, expert; /* parameters */
	/* Exposed, of FSDP: in a pipeline of one gather beside forward; where
	 * gradients are summed late, of their sum. */
	double gather_ns, sum_ns;
};

static bool is_layer(int kind)
{
	return kind != LLM_EMBEDDING && kind != LLM_HEAD;
}

static bool has_experts(int kind)
{
	return kind == LLM_EXPERT || kind == LLM_LOCAL_EXPERT;
}

/* Sums of gradients over the copies of a shard, which its ranks have made. */
static double copies_ns(struct maker *m, double parameters)
{
	const struct llm_layout *l = m->layout;

	return l->shard_ranks > 0 ? call_ns(m, LLM_REPLICAS, DIST__ALL_REDUCE,
					    parameters * l->gradient_bytes /
						    l->shard_ranks)
				  : 0;
}

/* Which share of a stage's layers is made again. */
static double remade_share(const struct maker *m)
{
	int layers = m->work->model.layers / m->layout->pp;

	return layers > 0 ? fmin(1, (double)llm_recomputed_layers(m->work, 0) /
					    layers)
			  : 0;
}

/*
 * What FSDP2 copies beside its calls, on the stream that computes: gathered
 * parameters into those of the layer, gradients into what is reduced
 * (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py,
 * foreach_all_gather_copy_out and foreach_reduce_scatter_copy_in).
 */
static void add_copies(const struct maker *m, struct layer *layer)
{
	const struct llm_layout *l = m->layout;
	const struct llm_device *device = m->cluster->device;
	const double parameters =
		(m->groups[LLM_DP].ranks > 1 ? layer->dense : 0) +
		(m->groups[LLM_EXPERT_DP].ranks > 1 ? layer->expert : 0);
	double out, in;

	if (l->flat_shards)
		return;
	out = llm_memory_ns(device, &m->pace,
			    2.0 * l->parameter_bytes * parameters, 0);
	in = l->lora ? 0
		     : llm_memory_ns(device, &m->pace,
				     (l->parameter_bytes + l->gradient_bytes) *
					     parameters,
				     0);
	if (l->pp > 1) {
		layer->gather_ns += out;
	} else {
		layer->forward.ns[LLM_ELEMENTWISE] += out;
		layer->backward.ns[LLM_ELEMENTWISE] +=
			l->reshard ? (1 - remade_share(m)) * out : 0;
	}
	if (llm_fsdp_sums_late(l))
		layer->sum_ns += in;
	else
		layer->backward.ns[LLM_ELEMENTWISE] += in;
}

/* The gathers of FSDP before each pass, the sums of gradients after backward,
 * beside the passes. What backward makes again needs no gather of its own, and
 * hides more. In a pipeline backward lets go of no parameters until the last
 * micro-batch: the next forward has them
 * (torch/distributed/pipelining/stage.py, backward_maybe_with_nosync). */
static void add_fsdp(struct maker *m, struct layer *layer)
{
	const struct llm_layout *l = m->layout;
	const double again = remade_share(m);
	double gather, sum, forward, backward, hidden;

	gather = call_ns(m, LLM_DP, DIST__ALL_GATHER,
			 layer->dense * l->parameter_bytes) +
		 call_ns(m, LLM_EXPERT_DP, DIST__ALL_GATHER,
			 layer->expert * l->parameter_bytes);
	sum = call_ns(m, LLM_DP, DIST__REDUCE_SCATTER,
		      layer->dense * l->gradient_bytes) +
	      call_ns(m, LLM_EXPERT_DP, DIST__REDUCE_SCATTER,
		      layer->expert * l->gradient_bytes);
	sum += copies_ns(m, layer->dense);
	if (l->lora)
		sum = 0;
	forward = total(&layer->forward);
	backward = total(&layer->backward);
	layer->gather_ns =
		l->overlap_param ? exposed_of(m, gather, forward) : gather;
	if (llm_fsdp_sums_late(l)) {
		layer->sum_ns =
			l->overlap_grad
				? exposed_of(m, sum, backward + again * forward)
				: sum;
		sum = 0;
	}
	if (l->pp == 1) {
		layer->forward.exposed[LLM_DP] += layer->gather_ns;
		layer->gather_ns = 0;
	}
	gather = l->reshard ? gather : 0;
	hidden = (l->overlap_grad ? sum : 0) + (l->overlap_param ? gather : 0);
	layer->backward.exposed[LLM_DP] +=
		sum + gather - hidden +
		(1 - again) * exposed_of(m, hidden, backward) +
		again * exposed_of(m, hidden, backward + forward);
}

/* Of a layer's kernels, those of forward. */
#define FORWARD_SHARE (1.0 / 3)

/* A processor launches kernel by kernel: no layer is faster. Of experts it
 * waits for how many tokens each has, unless all have as many. Of graphs and
 * compiled code it launches a twentieth (launch_ms of torch-steps-h100.tsv).
 * Latents, shared experts, calls of tp and cp and attention in parts are more
 * to launch. */
static void add_host(const struct maker *m, struct layer *layer, int kind)
{
	const enum llm_software software = m->cluster->software;
	const struct llm_layout *l = m->layout;
	const int parts = (m->work->model.kv_rank > 0) +
			  (has_experts(kind) && m->work->model.shared_ffn) +
			  (l->tp > 1) + (l->cp > 1) +
			  (l->attention == LLM_UNFUSED);
	const bool waits = has_experts(kind) && !l->even_experts;
	double least =
		(1 + m->cluster->remade * FORWARD_SHARE) *
		(m->known[waits ? LLM_HOST_EXPERT_NS : LLM_HOST_DENSE_NS] +
		 parts * m->known[LLM_HOST_PART_NS]);
	double more = least - total(&layer->forward) - total(&layer->backward);

	if (!is_layer(kind) || software == LLM_GRAPHED ||
	    software == LLM_TUNED || more <= 0)
		return;
	layer->forward.other += more / 3;
	layer->backward.other += more * 2 / 3;
}

/*
 * Bytes an element that experts give out, to add their biases times the scores
 * of a router in 32 bits, expert by expert (Megatron-LM
 * megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias). Forward
 * the product writes 4, the sum reads 2 and 4 and writes 4, putting together
 * reads and writes 4, the cast reads 4 and writes 2. Backward the casts' read
 * and write 2 and 4 each, the products' for scores and for biases read and
 * write 4 each, and each is read once more to be summed.
 */
#define BIAS_FORWARD  28.0
#define BIAS_BACKWARD 36.0

static void add_biases(const struct maker *m, struct layer *layer)
{
	const struct llm_layout *l = m->layout;
	const struct llm_architecture *model = &m->work->model;
	double tokens = (double)l->micro_batch * l->seq / l->cp / l->tp;
	double size =
		tokens * model->top_k * l->etp * l->imbalance * model->hidden;

	layer->forward.ns[LLM_ELEMENTWISE] += llm_memory_ns(
		m->cluster->device, &m->pace, BIAS_FORWARD * size, 0);
	layer->backward.ns[LLM_ELEMENTWISE] += llm_memory_ns(
		m->cluster->device, &m->pace, BIAS_BACKWARD * size, 0);
}

static bool is_unaligned(const struct maker *m)
{
	const struct llm_architecture *model = &m->work->model;

	return (model->hidden / m->layout->tp) % 64 != 0 ||
	       (model->ffn / m->layout->tp) % 64 != 0;
}

/* What libraries of 2022 made of widths that their kernels were not for. */
static void misfit(const struct maker *m, struct spent *pass)
{
	if (is_unaligned(m))
		pass->ns[LLM_GEMM] /= m->known[LLM_UNALIGNED];
	if (m->layout->attention == LLM_UNFUSED &&
	    m->work->model.head_dim % 8 != 0)
		pass->ns[LLM_ATTENTION] *= m->known[LLM_ODD_HEAD];
}

/* Gradients of a layer that a rank adds to those of the micro-batches before:
 * shards, if FSDP sums in each. */
static double accumulated(const struct maker *m, const struct layer *layer)
{
	const bool whole =
		!llm_layout_is_fsdp(m->layout) || llm_fsdp_sums_late(m->layout);

	return layer->dense / (whole ? 1 : m->groups[LLM_DP].ranks) +
	       layer->expert / (whole ? 1 : m->groups[LLM_EXPERT_DP].ranks);
}

static void make_layer(struct maker *m, struct layer *layer, int kind)
{
	const struct llm_layer *of = &m->work->layers[kind];
	const struct llm_device *device = m->cluster->device;

	*layer = (struct layer){.dense = of->dense_parameters,
				.expert = of->expert_parameters};
	add_pass(m, &layer->forward, &of->forward);
	add_pass(m, &layer->backward, &of->backward);
	if (m->layout->early_stop && is_layer(kind)) {
		struct spent again = {.recompute = 0};

		add_pass(m, &again, &of->again);
		layer->spared = layer->forward;
		add(&layer->spared, &again, -1);
	}
	if (m->cluster->software == LLM_OLD && is_layer(kind)) {
		misfit(m, &layer->forward);
		misfit(m, &layer->backward);
	}
	if (has_experts(kind) && m->cluster->software == LLM_EAGER) {
		/* Permutation, activation and casts of experts in kernels of
		 * their own. */
		layer->forward.ns[LLM_ELEMENTWISE] *=
			m->known[LLM_EXPERT_EAGER];
		layer->backward.ns[LLM_ELEMENTWISE] *=
			m->known[LLM_EXPERT_EAGER];
		if (m->work->model.biases)
			add_biases(m, layer);
	}
	if (of->weights.num > 0) {
		layer->weights_ns = llm_pass_ns(&of->weights);
		add_pass(m, &layer->backward, &of->weights);
	}
	if (llm_micro_batches(m->layout) > 1 && !m->layout->lora)
		layer->backward.ns[LLM_ELEMENTWISE] += llm_memory_ns(
			device, &m->pace,
			accumulated(m, layer) *
				m->known[m->cluster->software == LLM_OLD
						 ? LLM_ACCUMULATE_OLD
						 : LLM_ACCUMULATE_BYTES],
			0);
	if (llm_layout_is_fsdp(m->layout)) {
		add_fsdp(m, layer);
		add_copies(m, layer);
	}
	add_host(m, layer, kind);
}

/* ---- stages ------------------------------------------------------------ */

struct stage {
	struct spent micro; /* one micro-batch, both ways */
	double forward_ns, backward_ns, weights_ns;
	double dense, expert; /* parameters of a rank */
	double once_ns;       /* exposed once a step: see add_fsdp */
};

static void add_recompute(const struct maker *m, struct stage *stage, int index,
			  const struct layer *layers, const int *num)
{
	double all = 0, ns = 0;

	for (int k = 0; k < LLM_LAYER_KINDS; k++)
		if (is_layer(k)) {
			all += num[k];
			ns += num[k] * (total(&layers[k].forward) -
					total(&layers[k].spared) -
					layers[k].forward.exposed[LLM_DP]);
		}
	if (all > 0) {
		double share = llm_recomputed_layers(m->work, index) / all;

		for (int k = 0; k < LLM_LAYER_KINDS; k++)
			for (int i = 0; is_layer(k) && i < LLM_KINDS; i++)
				stage->micro.again[i] +=
					share * num[k] *
					(layers[k].forward.ns[i] -
					 layers[k].spared.ns[i]);
		ns *= share;
		stage->micro.recompute += ns;
		stage->backward_ns += ns;
	}
}

/* Activations of offloaded layers go to the host's memory beside the stage's
 * forward pass, and come back beside its backward pass, each way at the rate of
 * one copy alone (Transformer Engine's cpu_offload.py,
 * AsyncDoubleBufferGroupOffloadHandler: a stream each way, and windows that
 * spread the copies over all layers). Layers that are made again keep none. */
static void add_offload(const struct maker *m, struct stage *stage, int index,
			const int *num)
{
	int away = m->layout->offload_layers, kept = 0;
	double bytes = 0, out, back;

	for (int k = 0; k < LLM_LAYER_KINDS; k++)
		kept += is_layer(k) ? num[k] : 0;
	kept -= llm_recomputed_layers(m->work, index);
	for (int k = 0; k < LLM_LAYER_KINDS && away > 0; k++) {
		int gone =
			(int)fmin(fmin(away, kept), is_layer(k) ? num[k] : 0);

		bytes += gone * m->work->layers[k].activation_bytes;
		away -= gone;
		kept -= gone;
	}
	if (bytes <= 0)
		return;
	out = fmax(0, 1e9 * bytes / m->cluster->device->host_Bps -
			      stage->forward_ns);
	back = fmax(0, 1e9 * bytes / m->cluster->device->host_Bps -
			       stage->backward_ns);
	stage->micro.offload += out + back;
	stage->forward_ns += out;
	stage->backward_ns += back;
}

/* Messages to the next stage and back, and from the one before and back: both
 * ways at once (Megatron's send_forward_recv_backward and its like). The first
 * and the last stage have one neighbour, but where chunks close a ring. Those
 * that computing hides wait for nothing but their start. */
static void add_sends(struct maker *m, struct stage *stage, int index)
{
	const struct llm_layout *l = m->layout;
	const bool end = l->vpp == 1 && (index == 0 || index == l->pp - 1);
	double ns = 0, bytes = 0;

	if (l->pp == 1)
		return;
	for (int k = 0; k < LLM_LAYER_KINDS; k++)
		bytes = fmax(bytes, m->work->layers[k].boundary_bytes);
	ns = (end ? 1 : 2) * l->vpp * call_ns(m, LLM_PP, DIST__SEND, bytes);
	if (l->overlap_p2p)
		ns = exposed_of(m, ns, computed(&stage->micro));
	stage->micro.exposed[LLM_PP] += ns;
	stage->forward_ns += ns / 2;
	stage->backward_ns += ns / 2;
}

static void make_stage(struct maker *m, struct stage *stage, int index,
		       const struct layer *layers)
{
	const struct llm_layout *l = m->layout;
	int num[LLM_LAYER_KINDS] = {0};

	*stage = (struct stage){.dense = 0};
	for (int c = 0; c < l->vpp; c++) {
		/* Passes before the first backward. */
		int gathers = l->reshard ? llm_in_flight(l, index, c) : 1;
		int more[LLM_LAYER_KINDS] = {0};

		llm_stage_layers(m->work, index, c, more);
		for (int k = 0; k < LLM_LAYER_KINDS; k++) {
			num[k] += more[k];
			stage->once_ns +=
				more[k] * (gathers * layers[k].gather_ns +
					   layers[k].sum_ns);
		}
	}
	for (int k = 0; k < LLM_LAYER_KINDS; k++) {
		add(&stage->micro, &layers[k].forward, num[k]);
		add(&stage->micro, &layers[k].backward, num[k]);
		stage->forward_ns += num[k] * total(&layers[k].forward);
		stage->backward_ns += num[k] * total(&layers[k].backward);
		stage->weights_ns += num[k] * layers[k].weights_ns;
		stage->dense += num[k] * layers[k].dense;
		stage->expert += num[k] * layers[k].expert;
	}
	add_recompute(m, stage, index, layers, num);
	add_offload(m, stage, index, num);
	add_sends(m, stage, index);
}

/* ---- the step ---------------------------------------------------------- */

/* What the other stages wait while the slowest fills and drains: (pp - 1)
 * stages, of 1 / vpp of their layers when interleaved (D. Narayanan et al.,
 * 2021); of ZB-H1 without what weights take (P. Qi et al., 2024). */
static double bubble_ns(const struct maker *m, const struct stage *stages,
			int slowest)
{
	double ns = 0;

	for (int s = 0; s < m->layout->pp; s++)
		if (s != slowest)
			ns += stages[s].forward_ns + stages[s].backward_ns -
			      (m->layout->schedule == LLM_ZERO_BUBBLE
				       ? 2 * stages[s].weights_ns
				       : 0);
	return ns / m->layout->vpp;
}

/* How many passes of a micro-batch through its stage a call of each chunk has
 * beside it. Interleaved, a chunk does pp micro-batches before the next one
 * begins: gradients of the last chunk are summed beside those passes of all
 * others, parameters gathered a chunk ahead (Megatron-LM
 * core/pipeline_parallel/schedules.py, grad_sync_func and param_sync_func). */
static double turns_of(const struct llm_layout *l)
{
	const double chunks = fmin(l->pp, llm_micro_batches(l));

	return 1 + (chunks - 1) * (l->vpp - 1) / l->vpp;
}

/* What of calls of ns for all chunks passes can hide, `pass` ns each. The calls
 * of one chunk, first to gather and last to sum, have its own pass alone. */
static double hidden_ns(const struct llm_layout *l, double ns, double pass)
{
	return fmin(turns_of(l) * pass, ns - fmax(0, ns - pass) / l->vpp);
}

/* Sums of gradients and gathers of parameters, once a step, beside the last
 * backward and the first forward of a stage; sums with ZeRO-2 more often
 * (layout.h). DeepSpeed of 2022 reduces each bucket by an all-reduce. */
static void add_data(struct maker *m, struct spent *spent,
		     const struct stage *stage)
{
	const struct llm_layout *l = m->layout;
	const struct {
		enum llm_axis axis;
		double parameters;
	} parts[] = {{LLM_DP, stage->dense}, {LLM_EXPERT_DP, stage->expert}};
	const double turns = turns_of(l);
	double forward = m->known[LLM_DP_BESIDE] * stage->forward_ns;
	double backward = m->known[LLM_DP_BESIDE] * stage->backward_ns;

	if (llm_layout_is_fsdp(l) || l->lora)
		return;
	for (size_t i = 0; i < 2; i++) {
		bool ddp = l->shard == LLM_DDP;
		bool whole =
			ddp || l->whole_sums || m->cluster->software == LLM_OLD;
		double gather,
			sum = call_ns(m, parts[i].axis,
				      whole ? DIST__ALL_REDUCE
					    : DIST__REDUCE_SCATTER,
				      parts[i].parameters * l->gradient_bytes);

		if (parts[i].axis == LLM_DP)
			sum += copies_ns(m, parts[i].parameters);
		gather =
			ddp ? 0
			    : call_ns(m, parts[i].axis, DIST__ALL_GATHER,
				      parts[i].parameters * l->parameter_bytes);
		spent->exposed[parts[i].axis] +=
			llm_gradient_sums(l) *
				(l->overlap_grad
					 ? exposed_of(
						   m, sum,
						   hidden_ns(l, sum, backward))
					 : sum) +
			(l->overlap_param
				 ? exposed_of(m, gather,
					      hidden_ns(l, gather, forward))
				 : gather);
		forward = fmax(0, forward - gather / turns);
		backward = fmax(0, backward - sum / turns);
	}
}

/* Norms and matrices: queries' with keys' and values', output's, both of the
 * gate together, the second of the MLP. */
#define LAYER_TENSORS 6

/* An operator of eager PyTorch on the host (docs/roofline.md, an add). */
#define OPERATOR_NS 10e3

static double tensors_of(const struct maker *m, int index)
{
	int num[LLM_LAYER_KINDS], tensors = 0;

	for (int c = 0; c < m->layout->vpp; c++) {
		llm_stage_layers(m->work, index, c, num);
		for (int k = 0; k < LLM_LAYER_KINDS; k++)
			tensors += num[k] * (is_layer(k) ? LAYER_TENSORS : 1);
	}
	return tensors;
}

/* What the host does once a step while the GPU waits for it. Where ranks share
 * the optimizer's state, it takes the tensors one by one (Megatron-LM's
 * distrib_optimizer.py, copy_group_grads and copy_group_params), nanotron's of
 * each the piece of each rank (nanotron/distributed.py, update_output). */
static void add_once(const struct maker *m, struct spent *spent, int index)
{
	const double tensors = tensors_of(m, index);

	spent->other += m->known[LLM_STEP_NS];
	if (m->layout->shard != LLM_DDP)
		spent->other += tensors * m->known[LLM_TENSOR_NS];
	if (m->layout->piecewise && m->layout->shard == LLM_ZERO1)
		spent->other += tensors * m->groups[LLM_DP].ranks * OPERATOR_NS;
}

static void add_optimizer(const struct maker *m, struct spent *spent,
			  const struct stage *stage)
{
	const struct llm_device *device = m->cluster->device;
	const struct llm_layout *l = m->layout;
	bool whole = l->shard == LLM_DDP;
	double num =
		stage->dense / (whole ? 1 : m->groups[LLM_DP].ranks) +
		stage->expert / (whole ? 1 : m->groups[LLM_EXPERT_DP].ranks);

	if (!l->lora)
		spent->ns[LLM_OPTIMIZER] +=
			llm_optimizer_ns(device, &m->pace, num,
					 l->gradient_bytes, l->parameter_bytes);
}

static void fill_rates(struct llm_answer *answer, const struct maker *m)
{
	const struct llm_layout *l = m->layout;
	double seconds = answer->step_ns / 1e9;
	double peak = m->cluster->device->peak[l->precision];

	answer->tokens_per_s_gpu =
		(double)l->global_batch * l->seq / seconds / l->gpus;
	answer->tflops_per_gpu = m->work->flops / seconds / l->gpus / 1e12;
	answer->mfu = peak > 0 ? answer->tflops_per_gpu * 1e12 / peak : 0;
	answer->hfu =
		peak > 0 ? m->work->hardware_flops / seconds / l->gpus / peak
			 : 0;
}

static enum llm_constant spread_of(const struct maker *m)
{
	const bool experts = m->work->model.experts > 0;

	if (m->cluster->device->seen)
		return experts ? LLM_SPREAD_EXPERTS : LLM_SPREAD_DENSE;
	return experts ? LLM_SPREAD_UNSEEN_EXPERTS : LLM_SPREAD_UNSEEN_DENSE;
}

static void fill(struct llm_answer *answer, const struct maker *m,
		 const struct spent *spent, double bubble)
{
	struct llm_breakdown *parts = &answer->breakdown;
	double ns = total(spent) + bubble, spread;
	double slow =
		1 +
		m->known[LLM_JITTER] *
			log2(fmax(1, (double)m->layout->gpus /
					     m->cluster->fabric->node_ranks));

	if (m->cluster->efficiency > 0)
		slow /= m->cluster->efficiency;
	memcpy(parts->compute_ns, spent->ns, sizeof parts->compute_ns);
	memcpy(parts->exposed_ns, spent->exposed, sizeof parts->exposed_ns);
	memcpy(parts->again_ns, spent->again, sizeof parts->again_ns);
	parts->recompute_ns = spent->recompute;
	parts->offload_ns = spent->offload;
	parts->bubble_ns = bubble;
	parts->other_ns = spent->other + ns * (slow - 1);
	answer->step_ns = ns * slow;
	spread = m->known[spread_of(m)];
	if (m->cluster->device->far)
		spread = fmax(spread, m->known[LLM_SPREAD_FAR]);
	answer->low_ns = (answer->step_ns - m->known[LLM_STEP_NS]) / spread;
	answer->high_ns = (answer->step_ns + m->known[LLM_STEP_NS]) * spread;
	fill_rates(answer, m);
}

#define MOST_STAGES 1024

enum dist_error llm_step(struct llm_answer *answer, const struct llm_work *work,
			 const struct llm_cluster *cluster,
			 struct dist_message *message)
{
	struct maker m = {.work = work,
			  .layout = &work->layout,
			  .cluster = cluster,
			  .message = message};
	struct layer layers[LLM_LAYER_KINDS];
	struct stage stages[MOST_STAGES];
	struct spent spent = {.other = 0};
	int slowest = 0;
	const struct llm_constants *constants =
		cluster->constants ? cluster->constants : llm_constants_known();

	*answer = (struct llm_answer){.step_ns = 0};
	m.known = constants->value;
	m.pace = cluster->pace ? *cluster->pace
			       : llm_constants_pace(constants, cluster->device,
						    work->layout.precision,
						    cluster->software);
	if (work->layout.pp > MOST_STAGES)
		return dist__refuse(message,
				    "expected at most %d stages, got %d",
				    MOST_STAGES, work->layout.pp);
	if (work->layout.offload_layers > 0 && !(cluster->device->host_Bps > 0))
		return dist__refuse(message,
				    "offloaded layers: the rate between a %s "
				    "and its host's memory is not known",
				    cluster->device->name);
	for (int a = 0; a < LLM_AXES; a++)
		m.groups[a] = llm_axis_links(&m.fabrics[a], cluster->fabric,
					     m.layout, (enum llm_axis)a);
	for (int k = 0; k < LLM_LAYER_KINDS; k++)
		make_layer(&m, &layers[k], k);
	for (int s = 0; s < work->layout.pp; s++) {
		make_stage(&m, &stages[s], s, layers);
		if (total(&stages[s].micro) > total(&stages[slowest].micro))
			slowest = s;
	}
	add(&spent, &stages[slowest].micro, llm_micro_batches(&work->layout));
	add_data(&m, &spent, &stages[slowest]);
	spent.exposed[LLM_DP] += stages[slowest].once_ns;
	add_optimizer(&m, &spent, &stages[slowest]);
	add_once(&m, &spent, slowest);
	answer->stage = slowest;
	fill(answer, &m, &spent, bubble_ns(&m, stages, slowest));
	llm_memory_worst(&answer->memory, work, cluster->device);
	return m.error;
}

/* ---- what software reaches --------------------------------------------- */

struct llm_pace llm_pace_of(const struct llm_device *device,
			    enum llm_precision precision)
{
	return llm_constants_pace(llm_constants_known(), device, precision,
				  LLM_GRAPHED);
}
