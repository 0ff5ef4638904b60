/*
 * hybrid - training steps of a model cut three ways: layers within by tensor
 * parallelism, between by a pipeline, and the rest of the ranks as replicas.
 *
 * A rank has the layers of its stage, of each the tp-th part. In forward and in
 * backward a layer's two parts, attention and MLP, end with an all-reduce of
 * what they give out among the tensor group, which shares the attention's heads
 * (M. Shoeybi et al., "Megatron-LM", 2019, section 3). Stages hand each other
 * activations and their gradients, by micro-batch. With the last micro-batch
 * the replicas average each layer's gradients while backward goes on.
 *
 * pipeline and tensor_parallel are the same with one of them alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/divisors.h"
#include "base/refuse.h"
#include "scenarios/call.h"
#include "scenarios/grid.h"
#include "scenarios/pipeline.h"

/* All-reduces of activations a layer, each way: attention's and MLP's. */
#define REDUCTIONS 2

/* One layer of the stage. */
struct part {
	const struct layer *layer;
	struct call average; /* of this rank's gradients */
};

/* The sizes of the grid of grid.h. */
struct grid {
	int tp, dp, pp;
};

struct hybrid {
	struct grid grid;
	int stage;
	struct pipeline pipeline;
	struct part *parts; /* of the stage's layers */
	size_t num_parts;
	struct lane *tensor, *data; /* NULL: alone there */
	struct dist_tensor partial; /* activations to be summed */
};

static struct grid grid_of(const struct workload_job *job, int world_size)
{
	const struct workload_arguments *a = job->arguments;
	struct grid grid = {
		.tp = a->tp == WORKLOAD_WHOLE_WORLD ? world_size : a->tp,
		.pp = a->pp == WORKLOAD_WHOLE_WORLD ? world_size : a->pp,
	};

	grid.dp = world_size / grid.tp / grid.pp;
	return grid;
}

/* Whether the model says what ranks share of each layer, and sum. */
static bool can_share(const struct workload_job *job,
		      struct dist_message *message)
{
	for (size_t l = 0; l < job->layers->num; l++) {
		const struct layer *layer = &job->layers->list[l];

		if (layer->attentions != 1 || !layer->tokens)
			return layer_refuse(
				layer, job->model,
				"one row with heads, and rows of mlp with "
				"width and positions: tensor groups share them "
				"(columns of docs/models.md)",
				message);
	}
	return true;
}

/* Whether tp ranks can share the heads of each layer. */
static bool can_share_heads(const struct workload_job *job,
			    const struct grid *grid, int world_size,
			    struct dist_message *message)
{
	const struct layer *odd = NULL;
	int64_t common = world_size / grid->pp;
	char what[256], legal[64];

	for (size_t l = 0; l < job->layers->num; l++) {
		const struct layer *layer = &job->layers->list[l];

		common = dist__divisors_common(common, layer->heads);
		if (!odd && layer->heads % grid->tp != 0)
			odd = layer;
	}
	if (!odd)
		return true;
	dist__divisors_text(legal, sizeof legal, common);
	snprintf(what, sizeof what,
		 "its heads, %d, to be a multiple of the ranks of a tensor "
		 "group, %d; legal of %d ranks in %d stage%s: %s",
		 odd->heads, grid->tp, world_size, grid->pp,
		 grid->pp == 1 ? "" : "s", legal);
	return layer_refuse(odd, job->model, what, message);
}

/* Whether it says what stages send each other. */
static bool can_send(const struct workload_job *job,
		     struct dist_message *message)
{
	for (size_t l = 0; l + 1 < job->layers->num; l++)
		if (!job->layers->list[l].activation)
			return layer_refuse(&job->layers->list[l], job->model,
					    "a row with width and positions: "
					    "stages send what leaves a layer "
					    "(columns of docs/models.md)",
					    message);
	return true;
}

static enum dist_error check(const struct workload_job *job, int world_size,
			     struct dist__refusal *refusal)
{
	struct grid grid = grid_of(job, world_size);
	const struct workload_arguments *a = job->arguments;
	char legal[64];

	if ((int64_t)grid.tp * grid.pp * grid.dp != world_size) {
		dist__divisors_text(legal, sizeof legal, world_size);
		return dist__refuse_option(
			refusal, "world-size",
			"%d ranks a tensor group and %d stages: expected "
			"their product to divide the world size, %d: %s",
			grid.tp, grid.pp, world_size, legal);
	}
	if ((size_t)grid.pp > job->layers->num)
		return dist__refuse_option(
			refusal, "pp",
			"%d stages: expected 1 to %zu, the layers of %s",
			grid.pp, job->layers->num, job->model->name);
	if (a->micro_batches > a->rate.batch)
		return dist__refuse_option(
			refusal, "micro-batches",
			"--micro-batches %d: expected at most --batch, %g",
			a->micro_batches, a->rate.batch);
	if (fmod(a->rate.batch, a->micro_batches) != 0) {
		dist__divisors_text(legal, sizeof legal,
				    (int64_t)fmin(a->rate.batch, 1e15));
		return dist__refuse_option(
			refusal, "micro-batches",
			"--micro-batches %d: expected a divisor of --batch, "
			"%g: %s",
			a->micro_batches, a->rate.batch, legal);
	}
	refusal->option = "model";
	if ((grid.tp == 1 ||
	     (can_share(job, &refusal->message) &&
	      can_share_heads(job, &grid, world_size, &refusal->message))) &&
	    (grid.pp == 1 || can_send(job, &refusal->message)))
		return DIST_OK;
	return DIST_ERR_INVALID_ARGUMENT;
}

/* Elements of a micro-batch, of so many a sample. */
static size_t of_micro_batch(const struct training *t, size_t numel)
{
	const struct workload_arguments *a = t->job->arguments;

	return (size_t)ceil((double)numel * a->rate.batch / a->micro_batches);
}

/* What the attention (0) or the MLP (1) of a layer gives out. */
static size_t partial(const struct training *t, const struct layer *layer,
		      int part)
{
	return of_micro_batch(t, part == 0 ? layer->attention
					   : layer->width * layer->tokens);
}

static enum dist_error make_groups(struct training *t, struct hybrid *h)
{
	struct dist_group *tensor, *data;
	enum dist_error error;

	error = grid_group(t->group, 1, h->grid.tp, "tensor", &tensor);
	if (!error)
		error = grid_group(t->group, h->grid.tp, h->grid.dp, "data",
				   &data);
	if (error)
		return error;
	h->tensor = tensor ? training_lane(t, tensor) : NULL;
	h->data = data ? training_lane(t, data) : NULL;
	return DIST_OK;
}

/* Makes a tensor of what leaves a stage's last layer in a micro-batch. */
static enum dist_error make_activation(struct training *t, int stage, int chunk,
				       struct dist_tensor *tensor)
{
	const struct layers *layers = t->job->layers;
	const struct hybrid *h = t->state;
	size_t first, num;

	(void)chunk;
	layers_stage(layers, h->grid.pp, stage, &first, &num);
	return training_tensor(
		t, of_micro_batch(t, layers->list[first + num - 1].activation),
		tensor);
}

static enum dist_error make_parts(struct training *t, struct hybrid *h)
{
	size_t l, first, largest = 0, tp = (size_t)h->grid.tp;
	enum dist_error error = DIST_OK;

	layers_stage(t->job->layers, h->grid.pp, h->stage, &first,
		     &h->num_parts);
	h->parts = calloc(h->num_parts, sizeof *h->parts);
	if (!h->parts)
		return DIST_ERR_NO_MEMORY;
	for (l = 0; !error && l < h->num_parts; l++) {
		struct part *part = &h->parts[l];
		int i;

		part->layer = &t->job->layers->list[first + l];
		for (i = 0; i < REDUCTIONS; i++) {
			size_t numel = partial(t, part->layer, i);

			largest = numel > largest ? numel : largest;
		}
		part->average = (struct call){.op = DIST__ALL_REDUCE,
					      .reduce = DIST_AVG,
					      .lane = h->data};
		error = training_tensor(t, (part->layer->numel + tp - 1) / tp,
					&part->average.in);
		part->average.out = part->average.in;
		if (!error)
			error = call_keep(t, &part->average);
	}
	return error ? error : training_tensor(t, largest, &h->partial);
}

static enum dist_error start(struct training *t)
{
	const struct workload_arguments *a = t->job->arguments;
	struct hybrid *h = t->state;
	enum dist_error error;

	h->grid = grid_of(t->job, t->world_size);
	h->stage = t->rank / h->grid.tp / h->grid.dp;
	h->pipeline = (struct pipeline){
		.order = {.schedule = a->schedule && strcmp(a->schedule,
							    "gpipe") == 0
					      ? LLM_GPIPE
					      : LLM_1F1B,
			  .stages = h->grid.pp,
			  .stage = h->stage,
			  .chunks = 1,
			  .num = a->micro_batches},
		.name = "pipeline",
		.sends_on = true,
		.make = make_activation,
	};
	error = make_groups(t, h);
	if (!error)
		error = make_parts(t, h);
	return error ? error : pipeline_init(t, &h->pipeline);
}

static void stop(struct training *t)
{
	struct hybrid *h = t->state;

	free(h->parts);
}

/* Sums a layer's activations, or their gradients, in the tensor group. */
static enum dist_error reduce_partial(struct training *t, size_t numel)
{
	const struct hybrid *h = t->state;
	struct call call = {.op = DIST__ALL_REDUCE,
			    .reduce = DIST_SUM,
			    .lane = h->tensor,
			    .in = h->partial,
			    .shift = t->step};

	call.in.numel = numel;
	call.out = call.in;
	return call_make(t, &call);
}

/* A layer's computing in one micro-batch; all of it takes all_ns. */
static enum dist_error work(struct training *t, const struct part *part,
			    int64_t all_ns, const char *label)
{
	const struct hybrid *h = t->state;
	int64_t part_ns = all_ns / h->pipeline.order.num / h->grid.tp;
	enum dist_error error = DIST_OK;

	if (!h->tensor)
		return training_compute(t, part_ns, label);
	for (int i = 0; !error && i < REDUCTIONS; i++) {
		error = training_compute(t, part_ns / REDUCTIONS, label);
		if (!error)
			error = reduce_partial(t, partial(t, part->layer, i));
	}
	return error;
}

static enum dist_error forward(struct training *t)
{
	struct hybrid *h = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "forward";
	for (size_t l = 0; !error && l < h->num_parts; l++)
		error = work(
			t, &h->parts[l],
			layer_forward_ns(h->parts[l].layer, t->job->schedule),
			"forward");
	return error;
}

static enum dist_error backward(struct training *t, bool is_last)
{
	struct hybrid *h = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "backward";
	for (size_t l = h->num_parts; !error && l-- > 0;) {
		error = work(
			t, &h->parts[l],
			layer_backward_ns(h->parts[l].layer, t->job->schedule),
			"backward");
		if (!error && is_last)
			error = call_begin(t, &h->parts[l].average);
	}
	return error;
}

static enum dist_error finish(struct training *t)
{
	struct hybrid *h = t->state;
	enum dist_error error = DIST_OK;
	double numel = 0;

	t->doing = "averaging";
	for (size_t l = h->num_parts; !error && l-- > 0;) {
		error = call_finish(t, &h->parts[l].average);
		numel += (double)h->parts[l].layer->numel;
	}
	if (!error)
		error = pipeline_finish(t);
	t->doing = "optimizer";
	return error ? error
		     : training_compute(
			       t,
			       llround((double)t->job->schedule->optimizer_ns *
				       numel / (double)t->job->model->numel /
				       h->grid.tp),
			       "optimizer");
}

static enum dist_error step(struct training *t)
{
	const struct pipeline *p = t->pipeline;
	enum dist_error error = DIST_OK;

	for (size_t i = 0; !error && i < p->num_actions; i++) {
		const struct llm_action *action = &p->actions[i];

		error = pipeline_before(t, i);
		if (!error)
			error = action->way == LLM_FORWARD
					? forward(t)
					: backward(t, action->micro_batch + 1 ==
							      p->order.num);
		if (!error)
			error = pipeline_after(t, i);
	}
	return error ? error : finish(t);
}

static double batches(const struct workload_job *job, int world_size)
{
	return grid_of(job, world_size).dp;
}

static struct workload_held held(const struct workload_job *job, int world_size)
{
	struct grid grid = grid_of(job, world_size);
	double most = 0;

	for (int stage = 0; stage < grid.pp; stage++) {
		size_t l, first, count;
		double numel = 0;

		layers_stage(job->layers, grid.pp, stage, &first, &count);
		for (l = first; l < first + count; l++)
			numel += (double)job->layers->list[l].numel;
		most = fmax(most, numel / grid.tp);
	}
	return (struct workload_held){most, most, most};
}

static bool differs(const struct workload_job *job, int world_size)
{
	return grid_of(job, world_size).pp > 1;
}

#define HYBRID                                                                 \
	.has_groups = true, .differs = differs,                                \
	.contents = "activations and gradients", .check = check,               \
	.batches = batches, .held = held, WORKLOAD_STEPS(hybrid)

const struct workload workload_hybrid = {
	.name = "hybrid",
	.example = "--nproc-per-node 8 hybrid --model gpt_micro --tp 2 --pp 2 "
		   "--check",
	.prediction = "--model gpt2_medium --machine dgx-a100 --world-size 32 "
		      "--tp 4 --pp 2",
	HYBRID,
};

const struct workload workload_pipeline = {
	.name = "pipeline",
	.example = "--nproc-per-node 4 pipeline --model mnist --micro-batches "
		   "8 --check",
	.prediction = "--model resnet50 --machine dgx-a100 --world-size 4 "
		      "--micro-batches 8",
	HYBRID,
};

const struct workload workload_tensor_parallel = {
	.name = "tensor_parallel",
	.example =
		"--nproc-per-node 4 tensor_parallel --model gpt_micro --check",
	.prediction = "--model gpt2_medium --machine dgx-a100 --world-size 8",
	HYBRID,
};
