/*
 * What data-parallel ranks of the workload llm share, in units.
 *
 * ddp, zero1, zero2: a unit is a bucket of gradients, in the order of backward:
 * Megatron-LM's of max(40e6, 1e6 x ranks) elements, one a chunk where nothing
 * overlaps, on later stages and of later chunks (core/distributed/
 * distributed_data_parallel.py); torch's of 25 MiB where only data is divided
 * (nn/parallel/distributed.py). A layer is not divided between units. ddp sums
 * them with the last micro-batch, zero1 scatters them then, zero2 with each
 * (DeepSpeed's stage 2), where chunks take turns with the last of each turn.
 * zero1 and zero2 gather the updated parameters: bucket by bucket before the
 * next forward, the next one meanwhile, or behind the optimizer.
 *
 * fsdp, hsdp: a unit is a layer (torch/distributed/fsdp/_fully_shard/
 * _fsdp_param_group.py): gathered before its forward, where it is let go of
 * behind that before its backward too, the next one meanwhile; scattered behind
 * its backward, one unit at a time; and with hsdp then summed over the copies.
 * Without a pipeline so in each micro-batch, with one as
 * torch/distributed/pipelining/stage.py does: the last micro-batch scatters,
 * and until then backward lets go of nothing.
 *
 * Of frozen weights nothing but fsdp's gathers is left: adapters are small.
 *
 * The experts' parameters have units of their own among the ranks that have the
 * same. Behind all, gradients of what ranks of tp that divide the sequence have
 * alike are summed, norms and routers, and with stages those of a tied
 * embedding (Megatron-LM, core/distributed/finalize_model_grads.py).
 */
#include "scenarios/llm_ranks.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "scenarios/grid.h"

/* Megatron's buckets, elements; torch's, bytes. */
#define BUCKET       40e6
#define BUCKET_RANK  1e6
#define TORCH_BUCKET (25 * 1048576.0)

/* What Megatron pads a bucket to a multiple of, with the ranks
 * (core/optimizer/param_layout.py). */
#define PADDING 128

static bool is_fsdp(const struct llm *llm)
{
	return llm_layout_is_fsdp(llm->layout);
}

static bool is_sharded(const struct llm *llm)
{
	return llm->layout->shard != LLM_DDP;
}

static double layer_parameters(const struct llm *llm,
			       const struct llm_chunk *chunk, int i,
			       enum llm_axis axis)
{
	const struct llm_layer *layer =
		&llm->work->layers[llm_layer_kind(chunk, i)];

	return axis == LLM_DP ? layer->dense_parameters
			      : layer->expert_parameters;
}

/* Whether data-parallel ranks have nothing to tell each other. */
static bool is_frozen(const struct llm *llm)
{
	return llm->layout->lora && !is_fsdp(llm);
}

/* ---- units --------------------------------------------------------------- */

static int ranks_of(const struct lane *lane)
{
	return lane ? dist_get_world_size(lane->group) : 1;
}

/* Elements at which a bucket of chunk number c closes. */
static double bucket_size(const struct llm *llm, int c, enum llm_axis axis)
{
	const struct llm_layout *l = llm->layout;

	if (!l->overlap_grad)
		return DBL_MAX;
	if (l->shard == LLM_DDP && l->gpus == l->dp && l->ep == 1)
		return TORCH_BUCKET / l->gradient_bytes;
	if (c > 0 || llm->pipeline.order.stage > 0)
		return DBL_MAX;
	return fmax(BUCKET, BUCKET_RANK * ranks_of(llm->lanes[axis]));
}

static size_t common(size_t a, size_t b)
{
	return b ? common(b, a % b) : a;
}

/* Elements of a unit with what is added so that its ranks share it. */
static double padded(const struct llm *llm, const struct llm_unit *unit)
{
	size_t unit_of = (size_t)ranks_of(unit->lane);

	if (!is_sharded(llm))
		return ceil(unit->parameters);
	if (!is_fsdp(llm))
		unit_of *= PADDING / common(unit_of, PADDING);
	return ceil(unit->parameters / (double)unit_of) * (double)unit_of;
}

/* The calls of a unit; tensors are shared in place. */
static enum dist_error make_calls(struct training *t, struct llm_unit *unit)
{
	const struct llm *llm = t->state;
	const struct llm_layout *l = llm->layout;
	int rank = unit->lane ? dist_get_rank(unit->lane->group) : 0;
	int ranks = ranks_of(unit->lane);
	struct dist_tensor parameters, gradients;
	enum dist_error error;

	if (!unit->lane && !unit->copies)
		return DIST_OK;
	error = llm_tensor(t, padded(llm, unit), l->gradient_bytes, &gradients);
	if (!error && is_sharded(llm))
		error = llm_tensor(t, padded(llm, unit), l->parameter_bytes,
				   &parameters);
	if (error)
		return error;
	unit->reduce = (struct call){
		.op = is_sharded(llm) ? DIST__REDUCE_SCATTER : DIST__ALL_REDUCE,
		.reduce = is_fsdp(llm) ? DIST_AVG : DIST_SUM,
		.lane = unit->lane,
		.in = gradients,
		.out = gradients,
		.shift = unit->first,
		.label = "gradients of layers"};
	if (!is_sharded(llm))
		return DIST_OK;
	unit->reduce.out = call_part(gradients, rank, ranks);
	unit->gather = (struct call){.op = DIST__ALL_GATHER,
				     .lane = unit->lane,
				     .in = call_part(parameters, rank, ranks),
				     .out = parameters,
				     .shift = unit->first,
				     .label = "parameters of layers"};
	unit->sum = (struct call){.op = DIST__ALL_REDUCE,
				  .reduce = is_fsdp(llm) ? DIST_AVG : DIST_SUM,
				  .lane = unit->copies,
				  .in = unit->reduce.out,
				  .out = unit->reduce.out,
				  .shift = unit->first,
				  .label = "gradients of copies"};
	return DIST_OK;
}

/* Makes the units of one axis in a chunk: of layers from the last on, until
 * there are enough. */
static enum dist_error make_units(struct training *t, int c, enum llm_axis axis)
{
	struct llm *llm = t->state;
	struct llm_chunk *chunk = &llm->chunks[c];
	double size = is_fsdp(llm) ? 1 : bucket_size(llm, c, axis);
	struct llm_unit *unit = NULL;
	enum dist_error error = DIST_OK;

	for (int i = chunk->layers - 1; !error && i >= 0; i--) {
		double parameters = layer_parameters(llm, chunk, i, axis);

		if (!unit && parameters > 0) {
			unit = &chunk->units[chunk->num_units++];
			unit->last = i;
			unit->lane = llm->lanes[axis];
			if (axis == LLM_DP)
				unit->copies = llm->lanes[LLM_REPLICAS];
		}
		if (!unit)
			continue;
		unit->first = i;
		unit->parameters += parameters;
		if (unit->parameters < size && i > 0)
			continue;
		error = make_calls(t, unit);
		unit = NULL;
	}
	return error;
}

/* Elements of the norms and routers of a chunk. */
static double undivided(const struct llm *llm, const struct llm_chunk *chunk)
{
	const struct llm_architecture *model = &llm->work->model;
	struct llm_parameters parameters;
	double numel = 0;

	llm_count_parameters(model, &parameters);
	for (int i = 0; i < chunk->layers; i++) {
		enum llm_layer_kind kind = llm_layer_kind(chunk, i);

		if (kind == LLM_EMBEDDING)
			continue;
		numel += (kind == LLM_HEAD ? 1 : 2) * parameters.norm;
		if (kind == LLM_EXPERT || kind == LLM_LOCAL_EXPERT)
			numel += (double)model->hidden * model->experts;
	}
	return numel;
}

static enum dist_error make_sum(struct training *t, struct lane *lane,
				double numel, const char *label,
				struct call *call)
{
	const struct llm *llm = t->state;

	*call = (struct call){.op = DIST__ALL_REDUCE,
			      .reduce = DIST_SUM,
			      .lane = numel > 0 ? lane : NULL,
			      .label = label};
	if (!call->lane)
		return DIST_OK;
	call->shift = (int)numel % 13;
	return llm_tensor(t, numel, llm->layout->gradient_bytes, &call->in);
}

/* Prepares the sums behind all. */
static enum dist_error make_sums(struct training *t)
{
	struct llm *llm = t->state;
	const struct llm_architecture *model = &llm->work->model;
	const struct llm_layout *l = llm->layout;
	struct dist_group *ends = NULL;
	double numel = 0;
	enum dist_error error;

	for (int c = 0; l->sequence && c < llm->pipeline.order.chunks; c++)
		numel += undivided(llm, &llm->chunks[c]);
	error = make_sum(t, llm->lanes[LLM_TP], numel, "gradients of norms",
			 &llm->norms);
	llm->norms.out = llm->norms.in;
	if (error || !model->tied || l->pp == 1 || is_fsdp(llm))
		return error;
	error = grid_ends(t->group, l->gpus / l->pp, l->pp, "embedding", &ends);
	if (error || !ends)
		return error;
	error = make_sum(t, training_lane(t, ends),
			 ceil((double)model->vocab / l->tp) * model->hidden,
			 "gradients of the embedding", &llm->tied);
	llm->tied.out = llm->tied.in;
	return error;
}

enum dist_error llm_data_init(struct training *t)
{
	struct llm *llm = t->state;
	enum dist_error error = DIST_OK;

	for (int c = 0; !error && c < llm->pipeline.order.chunks; c++) {
		struct llm_chunk *chunk = &llm->chunks[c];

		chunk->units = calloc(2 * (size_t)chunk->layers + 1,
				      sizeof *chunk->units);
		if (!chunk->units)
			return DIST_ERR_NO_MEMORY;
		if (!is_frozen(llm))
			error = make_units(t, c, LLM_DP);
		if (!error && !is_frozen(llm))
			error = make_units(t, c, LLM_EXPERT_DP);
	}
	return error || llm->layout->lora ? error : make_sums(t);
}

void llm_data_release(struct llm *llm)
{
	size_t u;

	call_release(&llm->norms);
	call_release(&llm->tied);
	for (int c = 0; llm->chunks && c < llm->pipeline.order.chunks; c++) {
		for (u = 0; u < llm->chunks[c].num_units; u++) {
			call_release(&llm->chunks[c].units[u].gather);
			call_release(&llm->chunks[c].units[u].reduce);
			call_release(&llm->chunks[c].units[u].sum);
		}
		free(llm->chunks[c].units);
	}
}

/* ---- parameters ---------------------------------------------------------- */

/* Asks for a unit's parameters, unless they are here or on their way. */
static enum dist_error ask(struct training *t, struct llm_unit *unit)
{
	if (unit->here || call_in_flight(&unit->gather))
		return DIST_OK;
	return call_begin(t, &unit->gather);
}

static enum dist_error get(struct training *t, struct llm_unit *unit)
{
	enum dist_error error = ask(t, unit);

	if (!error)
		error = call_finish(t, &unit->gather);
	unit->here = true;
	return error;
}

static bool covers(const struct llm_unit *unit, int i)
{
	return unit->first <= i && i <= unit->last;
}

/* Which layer of a chunk comes behind i of an action, whose parameters are
 * asked for meanwhile; a bucket has several. */
static int next_layer(const struct llm_action *action,
		      const struct llm_unit *unit, int i)
{
	if (action->way != LLM_FORWARD)
		return i - 1;
	return unit->last > i ? unit->last + 1 : i + 1;
}

enum dist_error llm_data_before(struct training *t,
				const struct llm_action *action, int i)
{
	struct llm *llm = t->state;
	struct llm_chunk *chunk = &llm->chunks[action->chunk];
	bool buckets = !is_fsdp(llm);
	enum dist_error error = DIST_OK;
	size_t u, v;

	if (!is_sharded(llm) || action->way == LLM_WEIGHTS ||
	    (buckets &&
	     (!llm->layout->overlap_param || action->way != LLM_FORWARD)))
		return DIST_OK;
	for (u = 0; !error && u < chunk->num_units; u++) {
		struct llm_unit *unit = &chunk->units[u];

		if (!covers(unit, i))
			continue;
		error = ask(t, unit);
		for (v = 0; !error && llm->layout->overlap_param &&
			    v < chunk->num_units;
		     v++)
			if (covers(&chunk->units[v],
				   next_layer(action, unit, i)))
				error = ask(t, &chunk->units[v]);
		if (!error)
			error = get(t, unit);
	}
	return error;
}

/* Lets go of a unit's parameters as FSDP does. The head's are wanted again at
 * once. */
static void let_go(const struct llm *llm, const struct llm_action *action,
		   struct llm_unit *unit)
{
	const struct llm_chunk *chunk = &llm->chunks[action->chunk];
	bool is_last = action->micro_batch + 1 == llm->pipeline.order.num;

	if (action->way == LLM_FORWARD)
		unit->here = !llm->layout->reshard ||
			     llm_layer_kind(chunk, unit->first) == LLM_HEAD;
	else if (action->way == LLM_BACKWARD)
		unit->here = llm->pipeline.order.stages > 1 && !is_last;
}

/* ---- gradients ----------------------------------------------------------- */

/* Waits for a unit's gradients, of hsdp then for their sums over the copies. */
static enum dist_error finish_reduce(struct training *t, struct llm_unit *unit)
{
	bool reduced = call_in_flight(&unit->reduce);
	enum dist_error error = call_finish(t, &unit->reduce);

	if (!error && unit->copies && (reduced || (!unit->lane && unit->due)))
		error = call_begin(t, &unit->sum);
	unit->due = false;
	return error;
}

static enum dist_error finish_sum(struct training *t, struct llm_unit *unit)
{
	return call_finish(t, &unit->sum);
}

static enum dist_error begin_reduce(struct training *t, struct llm_unit *unit)
{
	struct llm *llm = t->state;
	enum dist_error error = finish_reduce(t, unit);

	if (!error)
		error = finish_sum(t, unit);
	if (!error && is_fsdp(llm) && llm->reducing)
		error = finish_reduce(t, llm->reducing);
	llm->reducing = unit;
	if (!error)
		error = call_begin(t, &unit->reduce);
	unit->due = true;
	return error;
}

static enum dist_error reduce_now(struct training *t, struct llm_unit *unit)
{
	enum dist_error error = begin_reduce(t, unit);

	if (!error)
		error = finish_reduce(t, unit);
	return error ? error : finish_sum(t, unit);
}

/* Whether an action's gradients are reduced at all. */
static bool reduces(const struct llm *llm, const struct llm_action *action)
{
	const struct llm_order *order = &llm->pipeline.order;
	const int turn = llm->layout->vpp > 1 ? order->stages : 1;
	bool is_last = action->micro_batch + 1 == order->num;
	bool each = (llm->layout->shard == LLM_ZERO2 &&
		     (action->micro_batch + 1) % turn == 0) ||
		    (is_fsdp(llm) && !llm_fsdp_sums_late(llm->layout));

	if (llm->layout->lora ||
	    action->way != (llm->layout->schedule == LLM_ZERO_BUBBLE
				    ? LLM_WEIGHTS
				    : LLM_BACKWARD))
		return false;
	return each || is_last;
}

enum dist_error llm_data_after(struct training *t,
			       const struct llm_action *action, int i)
{
	struct llm *llm = t->state;
	struct llm_chunk *chunk = &llm->chunks[action->chunk];
	bool now = llm->layout->overlap_grad ||
		   (reduces(llm, action) &&
		    action->micro_batch + 1 < llm->pipeline.order.num);
	enum dist_error error = DIST_OK;

	for (size_t u = 0; !error && u < chunk->num_units; u++) {
		struct llm_unit *unit = &chunk->units[u];

		if (!covers(unit, i))
			continue;
		if (is_fsdp(llm))
			let_go(llm, action, unit);
		if (unit->first != i || !reduces(llm, action))
			continue;
		if (now)
			error = llm->layout->overlap_grad
					? begin_reduce(t, unit)
					: reduce_now(t, unit);
	}
	return error;
}

/* Does something with every unit, in the order of backward. */
static enum dist_error for_all(struct training *t,
			       enum dist_error (*act)(struct training *t,
						      struct llm_unit *unit))
{
	struct llm *llm = t->state;
	enum dist_error error = DIST_OK;
	int c;

	for (c = llm->pipeline.order.chunks; !error && c-- > 0;)
		for (size_t u = 0; !error && u < llm->chunks[c].num_units; u++)
			error = act(t, &llm->chunks[c].units[u]);
	return error;
}

enum dist_error llm_data_finish(struct training *t)
{
	struct llm *llm = t->state;
	enum dist_error error = DIST_OK;

	if (!llm->layout->overlap_grad && !llm->layout->lora)
		error = for_all(t, reduce_now);
	if (!error)
		error = for_all(t, finish_reduce);
	if (!error)
		error = for_all(t, finish_sum);
	llm->reducing = NULL;
	if (!error)
		error = call_make(t, &llm->norms);
	return error ? error : call_make(t, &llm->tied);
}

/* ---- the optimizer ------------------------------------------------------- */

/* Parameters that this rank updates. */
static double updated(const struct llm *llm)
{
	double all = 0;
	int c;

	for (c = 0; !llm->layout->lora && c < llm->pipeline.order.chunks; c++)
		for (size_t u = 0; u < llm->chunks[c].num_units; u++) {
			const struct llm_unit *unit = &llm->chunks[c].units[u];

			all += unit->parameters /
			       (is_sharded(llm) ? ranks_of(unit->lane) : 1);
		}
	return all;
}

static enum dist_error forget(struct training *t, struct llm_unit *unit)
{
	(void)t;
	unit->here = false;
	return DIST_OK;
}

enum dist_error llm_data_update(struct training *t)
{
	const struct llm *llm = t->state;
	const struct llm_layout *l = llm->layout;
	double parameters = updated(llm);
	enum dist_error error = DIST_OK;

	if (parameters > 0)
		error = llm_compute(t,
				    llm_optimizer_ns(llm->run->device,
						     llm->run->pace, parameters,
						     l->gradient_bytes,
						     l->parameter_bytes),
				    "optimizer");
	if (!error)
		error = for_all(t, forget);
	if (!error && is_sharded(llm) && !is_fsdp(llm) && !l->overlap_param)
		error = for_all(t, get);
	return error;
}
