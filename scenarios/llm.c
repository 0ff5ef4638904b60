/*
 * llm - training steps of a language model in any layout of model/llm/layout.h:
 * one walk through what model/llm/work.h says that its layers compute and call.
 *
 * A rank goes through its stage's actions in the order of llm_order.h. Each is
 * a pass of all layers of a chunk: a piece computes, then makes its call in the
 * group of its axis. One that goes on beside computing is waited for behind the
 * next piece; a reduction in forward begins before its own piece and is waited
 * for behind that. A ring's sends share the next piece's computing among them.
 *
 * Ranks count as Megatron-LM has them, tp first, then cp, dp, pp
 * (core/parallel_state.py: RankGenerator, "tp-cp-ep-dp-pp").
 */
#include "scenarios/llm_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/refuse.h"
#include "scenarios/grid.h"

static enum dist_error check(const struct workload_job *job, int world_size,
			     struct dist__refusal *refusal)
{
	const struct llm_layout *l = &job->llm->work->layout;

	if (l->gpus == world_size)
		return DIST_OK;
	return dist__refuse_option(
		refusal, "world-size",
		"expected %d ranks, tp %d x cp %d x dp %d x pp %d, got %d",
		l->gpus, l->tp, l->cp, l->dp, l->pp, world_size);
}

static double batches(const struct workload_job *job, int world_size)
{
	(void)world_size;
	return job->llm->work->layout.global_batch / job->arguments->rate.batch;
}

/* ---- start --------------------------------------------------------------- */

enum llm_layer_kind llm_layer_kind(const struct llm_chunk *chunk, int i)
{
	static const enum llm_layer_kind order[] = {
		LLM_EMBEDDING, LLM_DENSE,        LLM_LOCAL,
		LLM_EXPERT,    LLM_LOCAL_EXPERT, LLM_HEAD};
	size_t k = 0;

	while (i >= chunk->num[order[k]])
		i -= chunk->num[order[k++]];
	return order[k];
}

enum dist_error llm_tensor(struct training *t, double numel, int bytes,
			   struct dist_tensor *tensor)
{
	enum dist_dtype dtype = bytes > 2    ? DIST_FLOAT32
				: bytes == 2 ? DIST_BFLOAT16
					     : DIST_UINT8;

	return training_tensor_of(t, (size_t)ceil(numel), dtype, tensor);
}

enum dist_error llm_compute(struct training *t, double ns, const char *label)
{
	const struct llm *llm = t->state;

	if (!llm->computes || ns <= 0)
		return DIST_OK;
	return training_compute(t, llround(ns), label);
}

static enum dist_error make_lanes(struct training *t)
{
	struct llm *llm = t->state;
	enum dist_error error = DIST_OK;

	for (int axis = 0; !error && axis < LLM_AXES; axis++) {
		struct llm_group shape = llm_layout_group(
			llm->layout, (enum llm_axis)axis, llm->layout->gpus);
		struct dist_group *group;

		if (axis == LLM_PP || shape.ranks == 1)
			continue;
		error = grid_group(t->group, shape.stride, shape.ranks,
				   llm_axis_name((enum llm_axis)axis), &group);
		if (!error)
			llm->lanes[axis] = training_lane(t, group);
	}
	return error;
}

static enum dist_error make_chunks(struct llm *llm)
{
	int stages = llm->pipeline.order.stages,
	    stage = llm->pipeline.order.stage, at, k, c = 0;
	int layers = 0;

	llm->chunks =
		calloc((size_t)llm->pipeline.order.chunks, sizeof *llm->chunks);
	if (!llm->chunks)
		return DIST_ERR_NO_MEMORY;
	for (at = 0; at < stages * llm->pipeline.order.chunks; at++) {
		struct llm_chunk chunk = {.first = layers};

		llm_stage_layers(llm->work, at % stages, at / stages,
				 chunk.num);
		for (k = 0; k < LLM_LAYER_KINDS; k++)
			chunk.layers += chunk.num[k];
		layers += chunk.layers - chunk.num[LLM_EMBEDDING] -
			  chunk.num[LLM_HEAD];
		if (at % stages == stage)
			llm->chunks[c++] = chunk;
	}
	return DIST_OK;
}

/* Of an activation. */
static int element_bytes(const struct llm *llm)
{
	return llm->layout->parameter_bytes > 2 ? 4 : 2;
}

/* Makes a tensor of what passes between a chunk and the one behind it. */
static enum dist_error make_boundary(struct training *t, int stage, int chunk,
				     struct dist_tensor *tensor)
{
	const struct llm *llm = t->state;
	struct llm_chunk at = {.layers = 0};
	int bytes = element_bytes(llm);

	llm_stage_layers(llm->work, stage, chunk, at.num);
	for (int k = 0; k < LLM_LAYER_KINDS; k++)
		at.layers += at.num[k];
	return llm_tensor(
		t,
		ceil(llm->work->layers[llm_layer_kind(&at, at.layers - 1)]
			     .boundary_bytes /
		     bytes),
		bytes, tensor);
}

static struct pipeline pipeline_of(const struct training *t,
				   const struct llm_layout *l)
{
	bool ahead = l->overlap_p2p || l->schedule == LLM_ZERO_BUBBLE;

	return (struct pipeline){
		.order = {.schedule = l->schedule,
			  .stages = l->pp,
			  .stage = t->rank / (t->world_size / l->pp),
			  .chunks = l->vpp,
			  .num = llm_micro_batches(l)},
		.name = "pp",
		.asks_ahead = ahead,
		.sends_on = ahead,
		.make = make_boundary,
	};
}

static double largest_piece(const struct llm_work *work)
{
	double most = 0;
	int k, way;

	for (k = 0; k < LLM_LAYER_KINDS; k++)
		for (way = 0; way < 3; way++) {
			const struct llm_layer *layer = &work->layers[k];
			const struct llm_pass *pass = way == 0 ? &layer->forward
						      : way == 1
							      ? &layer->backward
							      : &layer->weights;

			for (size_t p = 0; p < pass->num; p++)
				if (pass->pieces[p].op != DIST__OP_KINDS)
					most = fmax(most,
						    pass->pieces[p].bytes);
		}
	return most;
}

/* Room for what the largest piece has, on the fullest rank of experts; parts of
 * it are rounded up. */
static enum dist_error make_scratch(struct training *t, struct llm *llm)
{
	int bytes = element_bytes(llm), ep = llm->layout->ep, i;
	double numel = largest_piece(llm->work) / bytes + llm->layout->gpus +
		       (double)ep * ep;
	enum dist_error error = DIST_OK;

	llm->parts = calloc((size_t)(2 * LLM_SCRATCH * ep), sizeof *llm->parts);
	if (!llm->parts)
		return DIST_ERR_NO_MEMORY;
	for (i = 0; !error && i < LLM_SCRATCH; i++) {
		error = llm_tensor(t, numel, bytes, &llm->in[i]);
		if (!error)
			error = llm_tensor(t, numel, bytes, &llm->out[i]);
	}
	return error;
}

static enum dist_error start(struct training *t)
{
	struct llm *llm = t->state;
	enum dist_error error;

	llm->run = t->job->llm;
	llm->work = llm->run->work;
	llm->layout = &llm->work->layout;
	llm->computes = t->job->schedule->total_ns > 0;
	llm->pipeline = pipeline_of(t, llm->layout);
	error = make_chunks(llm);
	if (!error)
		error = make_lanes(t);
	if (!error)
		error = make_scratch(t, llm);
	if (!error)
		error = llm_data_init(t);
	return error ? error : pipeline_init(t, &llm->pipeline);
}

static void stop(struct training *t)
{
	struct llm *llm = t->state;

	for (int i = 0; i < LLM_SCRATCH; i++)
		call_release(&llm->calls[i]);
	llm_data_release(llm);
	free(llm->parts);
	free(llm->chunks);
}

/* ---- pieces -------------------------------------------------------------- */

/* What of so many elements rank `to` gets where one is the fullest: it gets
 * imbalance times its share, the others alike what is left. */
static size_t share(const struct llm_layout *l, size_t numel, int fullest,
		    int to)
{
	double most = (double)numel * l->imbalance / l->ep;
	size_t other = (size_t)(((double)numel - most) / (l->ep - 1));

	return to == fullest ? numel - other * (size_t)(l->ep - 1) : other;
}

/* The parts of an all-to-all, of which bytes are those of the fullest rank:
 * tokens go to experts, and on the way back they are the other way. The fullest
 * is one rank after the other. */
static void deal(struct llm *llm, struct call *call, int rank, bool back)
{
	const struct llm_layout *l = llm->layout;
	size_t *to = llm->parts + (ptrdiff_t)llm->turn * 2 * l->ep;
	size_t *from = to + l->ep, gets = 0;
	int r, fullest = call->shift % l->ep;

	call->in.numel = (size_t)((double)call->in.numel / l->imbalance);
	for (r = 0; r < l->ep; r++) {
		to[r] = share(l, call->in.numel, fullest, r);
		from[r] = share(l, call->in.numel, fullest, rank);
		gets += from[r];
	}
	call->out.numel = gets;
	call->in_parts = to;
	call->out_parts = from;
	if (!back)
		return;
	call->out.numel = call->in.numel;
	call->in.numel = gets;
	call->in_parts = from;
	call->out_parts = to;
}

/* How many pieces of a pass in front of one of this number have its operation.
 */
static int earlier(const struct llm_pass *pass, size_t number)
{
	int num = 0;

	for (size_t p = 0; p < number; p++)
		num += pass->pieces[p].op == pass->pieces[number].op;
	return num;
}

/* The loss is made in float32 of the largest logits and two sums (Megatron-LM,
 * core/tensor_parallel/cross_entropy.py). */
static void set_loss(struct call *call, bool largest, double bytes)
{
	call->reduce = largest ? DIST_MAX : DIST_SUM;
	call->in.dtype = DIST_FLOAT32;
	call->in.numel = (size_t)ceil(bytes / sizeof(float));
}

/* Prepares a piece's call; NULL: it has none here. Number is that of the piece
 * in its pass, shift of its contents. */
static struct call *prepare(struct llm *llm, const struct llm_pass *pass,
			    size_t number, int shift, const char *label)
{
	const struct llm_piece *piece = &pass->pieces[number];
	struct lane *lane = llm->lanes[piece->axis];
	struct call *call = &llm->calls[llm->turn];
	size_t ranks;

	if (piece->op == DIST__OP_KINDS || !lane || piece->bytes <= 0)
		return NULL;
	ranks = (size_t)dist_get_world_size(lane->group);
	*call = (struct call){.op = piece->op,
			      .reduce = DIST_SUM,
			      .lane = lane,
			      .in = llm->in[llm->turn],
			      .out = llm->out[llm->turn],
			      .shift = shift,
			      .label = label};
	call->in.numel = (size_t)ceil(piece->bytes / element_bytes(llm) /
				      (double)ranks) *
			 ranks;
	call->out.numel = call->in.numel;
	switch (piece->op) {
	case DIST__ALL_REDUCE:
		if (pass == &llm->work->layers[LLM_HEAD].forward)
			set_loss(call, earlier(pass, number) == 0,
				 piece->bytes);
		call->out = call->in;
		break;
	case DIST__ALL_GATHER:
		call->in.numel /= ranks;
		break;
	case DIST__REDUCE_SCATTER:
		call->out.numel /= ranks;
		break;
	case DIST__ALL_TO_ALL:
		deal(llm, call, dist_get_rank(lane->group),
		     earlier(pass, number) % 2 == 1);
		break;
	case DIST__SEND:
		call->rounds = (int)ranks - 1;
		call->in.numel = call->in.numel / (ranks - 1);
		call->out.numel = call->in.numel;
		break;
	default:
		break;
	}
	llm->turn = (llm->turn + 1) % LLM_SCRATCH;
	return call;
}

static enum dist_error finish_open(struct training *t)
{
	struct llm *llm = t->state;
	struct call *open = llm->open;

	llm->open = NULL;
	return open ? call_finish(t, open) : DIST_OK;
}

/* Computes beside what goes on, and waits for that. Around a ring each round
 * goes on beside a part, and nothing beside the last. */
static enum dist_error compute_beside(struct training *t, double ns,
				      const char *label)
{
	struct llm *llm = t->state;
	bool ring = llm->open && llm->open->op == DIST__SEND;
	int rounds = ring ? llm->open->rounds + 1 : 0;
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < rounds; i++) {
		error = llm_compute(t, ns / (rounds + 1), label);
		if (!error)
			error = call_round(t, llm->open);
	}
	if (!error)
		error = llm_compute(t, ns / (rounds + 1), label);
	return error ? error : finish_open(t);
}

static enum dist_error run_piece(struct training *t,
				 const struct llm_piece *piece, bool forward,
				 struct call *call, const char *label)
{
	struct llm *llm = t->state;
	bool beside = call && piece->overlapped;
	bool before = beside && forward &&
		      (piece->op == DIST__REDUCE_SCATTER ||
		       piece->op == DIST__ALL_REDUCE);
	enum dist_error error = before ? call_begin(t, call) : DIST_OK;
	double ns = 0;

	for (int k = 0; k < LLM_KINDS; k++)
		ns += piece->ns[k];
	if (!error)
		error = compute_beside(t, ns, label);
	if (!error && call && !before)
		error = call_begin(t, call);
	if (beside && !before)
		llm->open = call;
	else if (!error && call)
		error = call_finish(t, call);
	return error;
}

static enum dist_error run_pass(struct training *t, const struct llm_pass *pass,
				bool forward, int shift, const char *label)
{
	struct llm *llm = t->state;
	enum dist_error error = DIST_OK;

	for (size_t p = 0; !error && p < pass->num; p++)
		error = run_piece(t, &pass->pieces[p], forward,
				  prepare(llm, pass, p, shift + (int)p, label),
				  label);
	return error;
}

/* ---- passes -------------------------------------------------------------- */

/* Whether layer i of a chunk is computed again before its backward: the first
 * ones of the stage are. */
static bool recomputes(const struct llm *llm, const struct llm_action *action,
		       int i)
{
	const struct llm_chunk *chunk = &llm->chunks[action->chunk];
	enum llm_layer_kind kind = llm_layer_kind(chunk, i);
	int c, before = i - chunk->num[LLM_EMBEDDING];

	if (action->way != LLM_BACKWARD || kind == LLM_EMBEDDING ||
	    kind == LLM_HEAD)
		return false;
	for (c = 0; c < action->chunk; c++)
		before += llm->chunks[c].layers -
			  llm->chunks[c].num[LLM_EMBEDDING] -
			  llm->chunks[c].num[LLM_HEAD];
	return before <
	       llm_recomputed_layers(llm->work, llm->pipeline.order.stage);
}

static enum dist_error run_layer(struct training *t,
				 const struct llm_action *action, int i)
{
	const struct llm *llm = t->state;
	const struct llm_chunk *chunk = &llm->chunks[action->chunk];
	enum llm_layer_kind kind = llm_layer_kind(chunk, i);
	const struct llm_layer *layer = &llm->work->layers[kind];
	int number = chunk->first + i - chunk->num[LLM_EMBEDDING];
	int shift = number + 3 * action->micro_batch + 5 * t->step + 2;
	enum dist_error error = llm_data_before(t, action, i);

	if (!error && recomputes(llm, action, i))
		error = run_pass(t, &layer->again, true, shift,
				 llm_label(llm->run, LLM_LABEL_RECOMPUTED, kind,
					   number, action->micro_batch));
	if (!error)
		error = run_pass(
			t,
			action->way == LLM_FORWARD    ? &layer->forward
			: action->way == LLM_BACKWARD ? &layer->backward
						      : &layer->weights,
			action->way == LLM_FORWARD, shift,
			llm_label(llm->run, (enum llm_label_kind)action->way,
				  kind, number, action->micro_batch));
	if (!error)
		error = finish_open(t);
	return error ? error : llm_data_after(t, action, i);
}

static enum dist_error run_action(struct training *t, size_t number)
{
	static const char *const doing[] = {"forward", "backward",
					    "backward of weights"};
	const struct llm *llm = t->state;
	const struct llm_action *action = &llm->pipeline.actions[number];
	int layers = llm->chunks[action->chunk].layers, i;
	enum dist_error error;

	t->doing = doing[action->way];
	error = pipeline_before(t, number);
	for (i = 0; !error && i < layers; i++)
		error = run_layer(t, action,
				  action->way == LLM_FORWARD ? i
							     : layers - 1 - i);
	return error ? error : pipeline_after(t, number);
}

static enum dist_error step(struct training *t)
{
	const struct llm *llm = t->state;
	enum dist_error error = DIST_OK;

	for (size_t i = 0; !error && i < llm->pipeline.num_actions; i++)
		error = run_action(t, i);
	t->doing = "reducing gradients";
	if (!error)
		error = llm_data_finish(t);
	if (!error)
		error = pipeline_finish(t);
	t->doing = "optimizer";
	return error ? error : llm_data_update(t);
}

const struct workload workload_llm = {
	.name = "llm",
	.has_groups = true,
	.example = "--nproc-per-node 8 --backend sim --platform star-8 llm "
		   "--model gpt2 --tp 2 --pp 2",
	.prediction = "--model llama3-8b --machine hgx-h100-400g "
		      "--world-size 64 --tp 2",
	.contents = "activations, parameters and gradients",
	.check = check,
	.batches = batches,
	WORKLOAD_STEPS(llm),
};
