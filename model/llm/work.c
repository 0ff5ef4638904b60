/* work.c - all that one step of a model in a layout is made of: its kinds of
 * layers, and which stage has which. */
#include <math.h>

#include "model/llm/work.h"

#include "model/llm/passes.h"

/* Describes a layer of that kind. */
static void slice_init(struct llm_slice *s, enum llm_layer_kind kind)
{
	const struct llm_layout *l = s->layout;

	s->local = kind == LLM_LOCAL || kind == LLM_LOCAL_EXPERT;
	s->experts = kind == LLM_EXPERT || kind == LLM_LOCAL_EXPERT;
	s->tp = l->tp;
	s->etp = l->etp;
	s->tokens = (double)l->seq * l->micro_batch / l->cp;
	s->own = l->sequence ? s->tokens / l->tp : s->tokens;
	s->routed = (l->etp > 1 ? s->tokens : s->own) * s->model->top_k *
		    l->imbalance;
	s->document =
		l->document > 0 && l->document < l->seq ? l->document : l->seq;
	s->keys = llm_mean_keys(s->model, s->document, s->local);
	s->element =
		l->precision == LLM_FP32 || l->precision == LLM_TF32 ? 4 : 2;
	s->operand = l->precision == LLM_FP8 || l->precision == LLM_MXFP8 ? 1
		     : l->precision == LLM_FP4                            ? 0.5
					       : s->element;
}

static void set_again(const struct llm_slice *s)
{
	struct llm_layer layer = {0};
	struct llm_slice slice = *s;

	slice.layer = &layer;
	slice.stops = true;
	llm_attention_forward(&slice);
	llm_mlp_forward(&slice);
	s->layer->again = layer.forward;
}

static void set_passes(const struct llm_slice *s, enum llm_layer_kind kind)
{
	if (kind == LLM_EMBEDDING) {
		llm_embedding_passes(s);
	} else if (kind == LLM_HEAD) {
		llm_head_passes(s);
	} else {
		const bool again =
			s->layout->recompute == LLM_RECOMPUTE_OPERATORS;

		llm_attention_forward(s);
		if (again)
			llm_attention_again(s);
		if (s->experts) {
			llm_experts_forward(s);
			if (again)
				llm_experts_again(s);
			llm_experts_backward(s);
		} else {
			llm_mlp_forward(s);
			if (again)
				llm_mlp_again(s);
			llm_mlp_backward(s);
		}
		llm_attention_backward(s);
		s->layer->again = s->layer->forward;
		if (s->layout->early_stop && !s->experts)
			set_again(s);
	}
}

/* Norms and the router are whole on each rank of tp; latents' matrices, too,
 * but few: counted as divided, as biases are. */
static void set_parameters(const struct llm_slice *s, enum llm_layer_kind kind)
{
	const struct llm_architecture *m = s->model;
	const struct llm_layout *l = s->layout;
	const double router = (double)m->hidden * m->experts;
	struct llm_layer *layer = s->layer;
	struct llm_parameters p;

	llm_count_parameters(m, &p);
	if (kind == LLM_EMBEDDING) {
		layer->dense_parameters =
			p.embedding / (l->whole_logits ? 1 : s->tp);
	} else if (kind == LLM_HEAD) {
		layer->dense_parameters =
			p.head / (llm_has_whole_head(s) ? 1 : s->tp) + p.norm +
			(m->tied && l->pp > 1
				 ? (double)m->vocab * m->hidden / s->tp
				 : 0);
	} else if (s->experts) {
		layer->dense_parameters =
			(p.attention + p.router - router) / s->tp + router;
		layer->expert_parameters = p.experts / (l->ep * s->etp);
	} else {
		layer->dense_parameters = (p.attention + p.mlp) / s->tp;
	}
}

static bool is_local(const struct llm_architecture *m, int layer)
{
	return m->window > 0 &&
	       !(m->local_of > 0 && (layer + 1) % m->local_of == 0);
}

static enum llm_layer_kind kind_of(const struct llm_architecture *m, int layer)
{
	if (llm_has_experts(m, layer))
		return is_local(m, layer) ? LLM_LOCAL_EXPERT : LLM_EXPERT;
	return is_local(m, layer) ? LLM_LOCAL : LLM_DENSE;
}

static void count_kinds(const struct llm_architecture *m, int first, int end,
			int num[LLM_LAYER_KINDS])
{
	for (int layer = first; layer < end; layer++)
		num[kind_of(m, layer)]++;
}

/* Layers of the stages before this one, with even_matrices. */
static int layers_before(const struct llm_work *work, int stage)
{
	const struct llm_architecture *m = &work->model;
	const double hidden = m->hidden;
	const double layer =
		4.0 * m->heads * m->head_dim * hidden + 3.0 * m->ffn * hidden;
	const double all = m->layers * layer + m->vocab * hidden;
	const double whole = floor(all * stage / (work->layout.pp * layer)) + 1;

	return stage == 0 ? 0 : (int)fmin(m->layers, whole);
}

void llm_stage_layers(const struct llm_work *work, int stage, int chunk,
		      int num[LLM_LAYER_KINDS])
{
	const struct llm_layout *l = &work->layout;
	const int layers = work->model.layers, chunks = l->pp * l->vpp;
	const int place = chunk * l->pp + stage;
	const bool even = layers % chunks == 0;
	const int units = even ? layers : layers + 2; /* both ends */
	const int each = units / chunks, more = units % chunks;
	int first = place * each + (place < more ? place : more);
	int end = first + each + (place < more ? 1 : 0);

	for (int kind = 0; kind < LLM_LAYER_KINDS; kind++)
		num[kind] = 0;
	num[LLM_EMBEDDING] = place == 0;
	num[LLM_HEAD] = place == chunks - 1;
	if (!even) {
		first = first > 0 ? first - 1 : 0;
		end = end - 1 < layers ? end - 1 : layers;
	}
	if (l->even_matrices) {
		first = layers_before(work, stage);
		end = stage + 1 < l->pp ? layers_before(work, stage + 1)
					: layers;
	}
	count_kinds(&work->model, first, end, num);
}

int llm_recomputed_layers(const struct llm_work *work, int stage)
{
	const struct llm_layout *l = &work->layout;
	int layers = 0, num[LLM_LAYER_KINDS];

	if (l->recompute != LLM_RECOMPUTE_FULL)
		return 0;
	for (int chunk = 0; chunk < l->vpp; chunk++) {
		llm_stage_layers(work, stage, chunk, num);
		for (int kind = LLM_DENSE; kind < LLM_HEAD; kind++)
			layers += num[kind];
	}
	return l->recompute_layers > 0 && l->recompute_layers < layers
		       ? l->recompute_layers
		       : layers;
}

double llm_pass_ns(const struct llm_pass *pass)
{
	double ns = 0;

	for (size_t i = 0; i < pass->num; i++)
		for (int kind = 0; kind < LLM_KINDS; kind++)
			ns += pass->pieces[i].ns[kind];
	return ns;
}

double llm_pass_flops(const struct llm_pass *pass)
{
	double flops = 0;

	for (size_t i = 0; i < pass->num; i++)
		flops += pass->pieces[i].flops;
	return flops;
}

/* Adds a stage's FLOP of one micro-batch. */
static void add_stage(const struct llm_work *work, int stage, double *flops,
		      double *again)
{
	int recomputed = llm_recomputed_layers(work, stage);
	int num[LLM_LAYER_KINDS];

	for (int chunk = 0; chunk < work->layout.vpp; chunk++) {
		llm_stage_layers(work, stage, chunk, num);
		for (int kind = 0; kind < LLM_LAYER_KINDS; kind++) {
			const struct llm_layer *layer = &work->layers[kind];
			const double forward = llm_pass_flops(&layer->forward);
			const int full =
				kind == LLM_EMBEDDING || kind == LLM_HEAD ? 0
				: recomputed < num[kind] ? recomputed
							 : num[kind];

			recomputed -= full;
			*flops += num[kind] *
				  (forward + llm_pass_flops(&layer->backward) +
				   llm_pass_flops(&layer->weights));
			*again += full * llm_pass_flops(&layer->again);
			*again += num[kind] * layer->again_flops;
		}
	}
}

static void add_flops(struct llm_work *work)
{
	const struct llm_layout *l = &work->layout;
	const double times = (double)l->gpus / l->pp * llm_micro_batches(l);
	double flops = 0, again = 0;

	for (int stage = 0; stage < l->pp; stage++)
		add_stage(work, stage, &flops, &again);
	work->flops = times * flops;
	work->hardware_flops = times * (flops + again);
}

enum dist_error
llm_work_init(struct llm_work *work, const struct llm_architecture *model,
	      const struct llm_layout *layout, const struct llm_device *device,
	      const struct llm_pace *pace, struct dist_message *message)
{
	enum dist_error error =
		llm_device_can(device, layout->precision, message);
	struct llm_slice slice = {.device = device, .pace = pace};
	int used[LLM_LAYER_KINDS] = {0};

	if (error)
		return error;
	*work = (struct llm_work){.model = *model, .layout = *layout};
	count_kinds(model, 0, model->layers, used);
	used[LLM_EMBEDDING] = used[LLM_HEAD] = 1;
	slice.model = &work->model;
	slice.layout = &work->layout;
	for (int kind = 0; kind < LLM_LAYER_KINDS; kind++) {
		if (used[kind] == 0)
			continue;
		slice.layer = &work->layers[kind];
		slice_init(&slice, kind);
		set_passes(&slice, kind);
		llm_slice_keep(&slice, kind);
		set_parameters(&slice, kind);
	}
	add_flops(work);
	return DIST_OK;
}
