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
#include "scenarios/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/divisors.h"
#include "base/refuse.h"
#include "scenarios/fill.h"
#include "scenarios/grid.h"
#include "scenarios/llm_order.h"

/* ---- links between stages ---------------------------------------------- */

/* One direction. The last stage in it sends to none, the first receives from
 * none. */
struct stage_link {
	struct dist_group *group; /* of the stages, in their order */
	int from, to;             /* ranks of it; -1: none */
	int tag;
	struct dist_tensor received; /* the last message */
	struct dist_tensor *sent;    /* by micro-batch */
	struct pending *sends;       /* so too */
	int num;                     /* micro-batches a step */
	int64_t *sent_ns;            /* for all steps: when each was sent */
	struct wait *waits;          /* for all steps: the wait for each
					received message */
	size_t num_sent, num_received;
	double wrong; /* number of wrong elements received */
};

/* Messages of all steps. */
static size_t num_messages(const struct training *t,
			   const struct stage_link *link)
{
	return (size_t)link->num * (size_t)t->job->arguments->steps;
}

/* stage_link_init allocates the tensors, of these numels, and the records of a
 * link whose group, from, to, tag and num are set. Errors: DIST_ERR_NO_MEMORY;
 * in any case stage_link_release frees what it holds. */
static enum dist_error stage_link_init(struct training *t,
				       struct stage_link *link,
				       size_t received_numel, size_t sent_numel)
{
	size_t num = (size_t)link->num, all = num_messages(t, link);
	enum dist_error error;

	link->sent = calloc(num, sizeof *link->sent);
	link->sends = calloc(num, sizeof *link->sends);
	link->sent_ns = calloc(all, sizeof *link->sent_ns);
	link->waits = calloc(all, sizeof *link->waits);
	if (!link->sent || !link->sends || !link->sent_ns || !link->waits)
		return DIST_ERR_NO_MEMORY;
	error = training_tensor(t, link->from < 0 ? 0 : received_numel,
				&link->received);
	for (size_t i = 0; !error && link->to >= 0 && i < num; i++)
		error = training_tensor(t, sent_numel, &link->sent[i]);
	return error;
}

static void stage_link_release(struct stage_link *link)
{
	for (int i = 0; link->sends && i < link->num; i++)
		dist_work_free(link->sends[i].work);
	free(link->sent);
	free(link->sends);
	free(link->sent_ns);
	free(link->waits);
}

/* stage_link_receive waits for micro-batch index, the next one. Without a stage
 * to receive from it does nothing. Errors: those of dist_recv. */
static enum dist_error stage_link_receive(struct training *t,
					  struct stage_link *link, int index)
{
	struct wait *wait;
	enum dist_error error;

	if (link->from < 0)
		return DIST_OK;
	wait = &link->waits[link->num_received++];
	wait->from_ns = dist_now_ns(t->group);
	error = dist_recv(link->group, link->received, link->from, link->tag);
	wait->to_ns = dist_now_ns(t->group);
	if (!error && t->job->check)
		link->wrong += count_wrong_values(link->received, (size_t)index,
						  link->from, t->step);
	return error;
}

/* stage_link_send sends micro-batch index. Errors: those of dist_isend. */
static enum dist_error stage_link_send(struct training *t,
				       struct stage_link *link, int index)
{
	struct dist_tensor tensor;

	if (link->to < 0)
		return DIST_OK;
	tensor = link->sent[index];
	if (t->job->check)
		fill_gradients(tensor, (size_t)index,
			       dist_get_rank(link->group), t->step);
	link->sent_ns[link->num_sent++] = dist_now_ns(t->group);
	(void)training_begin(t, &link->sends[index], WORKLOAD_SEND, NULL,
			     tensor);
	return dist_isend(link->group, tensor, link->to, link->tag,
			  &link->sends[index].work);
}

/* stage_link_finish waits for the sends of the step. Errors: those of the
 * messages. */
static enum dist_error stage_link_finish(struct training *t,
					 struct stage_link *link)
{
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < link->num; i++)
		error = training_wait(t, &link->sends[i]);
	return error;
}

/* stage_link_idle adds to *idle_ns the time that the rank waited for messages
 * not yet sent. All stages call it. Errors: any group error. */
static enum dist_error
stage_link_idle(struct training *t, struct stage_link *link, int64_t *idle_ns)
{
	size_t i, num = num_messages(t, link);
	size_t stages = (size_t)dist_get_world_size(link->group);
	int64_t *all = calloc(stages * num, sizeof *all);
	enum dist_error error;

	if (!all)
		return DIST_ERR_NO_MEMORY;
	error = dist_all_gather_single(
		link->group, dist_tensor(all, stages * num, DIST_INT64),
		dist_tensor(link->sent_ns, num, DIST_INT64), NULL);
	for (i = 0; !error && i < link->num_received; i++)
		*idle_ns += wait_idle_ns(&link->waits[i],
					 all[(size_t)link->from * num + i]);
	free(all);
	return error;
}

/* All-reduces of activations a layer, each way: attention's and MLP's. */
#define REDUCTIONS 2

/* One layer of the stage. */
struct part {
	const struct layer *layer;
	struct dist_tensor gradients; /* this rank's */
	struct pending average;
};

struct hybrid {
	struct grid grid;
	struct grid_place place;
	struct llm_order order;
	struct llm_action *actions;
	struct part *parts; /* of the stage's layers */
	size_t num_parts;
	struct lane *tensor, *data; /* NULL: alone there */
	struct dist_tensor partial; /* activations to be summed */
	struct stage_link links[2]; /* forward, backward */
	bool piped;                 /* there are other stages */
	double wrong;
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

static const char *misfit(const struct workload_job *job, int world_size,
			  struct dist_message *message)
{
	struct grid grid = grid_of(job, world_size);
	const struct workload_arguments *a = job->arguments;
	char legal[64];

	if ((int64_t)grid.tp * grid.pp * grid.dp != world_size) {
		dist__divisors_text(legal, sizeof legal, world_size);
		return dist__refuse_option(
			message, "world-size",
			"%d ranks a tensor group and %d stages: expected "
			"their product to divide the world size, %d: %s",
			grid.tp, grid.pp, world_size, legal);
	}
	if ((size_t)grid.pp > job->layers->num)
		return dist__refuse_option(
			message, "pp",
			"%d stages: expected 1 to %zu, the layers of %s",
			grid.pp, job->layers->num, job->model->name);
	if (a->micro_batches > a->rate.batch)
		return dist__refuse_option(
			message, "micro-batches",
			"--micro-batches %d: expected at most --batch, %g",
			a->micro_batches, a->rate.batch);
	if (fmod(a->rate.batch, a->micro_batches) != 0) {
		dist__divisors_text(legal, sizeof legal,
				    (int64_t)fmin(a->rate.batch, 1e15));
		return dist__refuse_option(
			message, "micro-batches",
			"--micro-batches %d: expected a divisor of --batch, "
			"%g: %s",
			a->micro_batches, a->rate.batch, legal);
	}
	if ((grid.tp == 1 ||
	     (can_share(job, message) &&
	      can_share_heads(job, &grid, world_size, message))) &&
	    (grid.pp == 1 || can_send(job, message)))
		return NULL;
	return "model";
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
	struct dist_group *tensor, *data, *pipeline;
	enum dist_error error;

	error = grid_group(t->group, 1, h->grid.tp, "tensor", &tensor);
	if (!error)
		error = grid_group(t->group, h->grid.tp, h->grid.dp, "data",
				   &data);
	if (!error)
		error = grid_group(t->group, h->grid.tp * h->grid.dp,
				   h->grid.pp, "pipeline", &pipeline);
	if (error)
		return error;
	h->tensor = tensor ? training_lane(t, tensor) : NULL;
	h->data = data ? training_lane(t, data) : NULL;
	h->piped = pipeline != NULL;
	for (int way = 0; way < 2; way++) {
		struct stage_link *link = &h->links[way];
		int before = h->place.pp_rank - 1;
		int behind = h->place.pp_rank + 1 < h->grid.pp
				     ? h->place.pp_rank + 1
				     : -1;

		link->group = pipeline;
		link->tag = way;
		link->num = h->order.num;
		link->from = way == 0 ? before : behind;
		link->to = way == 0 ? behind : before;
	}
	return DIST_OK;
}

static enum dist_error make_links(struct training *t, struct hybrid *h)
{
	const struct layer *first = h->parts[0].layer;
	const struct layer *last = h->parts[h->num_parts - 1].layer;
	size_t leaves = of_micro_batch(t, last->activation), comes = 0;
	enum dist_error error;

	if (!h->piped)
		return DIST_OK;
	if (h->place.pp_rank > 0)
		comes = of_micro_batch(t, first[-1].activation);
	error = stage_link_init(t, &h->links[0], comes, leaves);
	return error ? error : stage_link_init(t, &h->links[1], leaves, comes);
}

static enum dist_error make_parts(struct training *t, struct hybrid *h)
{
	size_t l, first, largest = 0, tp = (size_t)h->grid.tp;
	enum dist_error error = DIST_OK;

	layers_stage(t->job->layers, h->grid.pp, h->place.pp_rank, &first,
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
		error = training_tensor(t, (part->layer->numel + tp - 1) / tp,
					&part->gradients);
	}
	return error ? error : training_tensor(t, largest, &h->partial);
}

static enum dist_error start(struct training *t)
{
	const struct workload_arguments *a = t->job->arguments;
	struct hybrid *h = t->state;
	enum dist_error error;

	h->grid = grid_of(t->job, t->world_size);
	h->place = grid_place(&h->grid, t->rank);
	h->order = (struct llm_order){
		.schedule = a->schedule && strcmp(a->schedule, "gpipe") == 0
				    ? LLM_GPIPE
				    : LLM_1F1B,
		.stages = h->grid.pp,
		.stage = h->place.pp_rank,
		.chunks = 1,
		.num = a->micro_batches,
	};
	h->actions = calloc(llm_order_size(&h->order), sizeof *h->actions);
	if (!h->actions)
		return DIST_ERR_NO_MEMORY;
	llm_order_fill(&h->order, h->actions);
	error = make_groups(t, h);
	if (!error)
		error = make_parts(t, h);
	return error ? error : make_links(t, h);
}

static void stop(struct training *t)
{
	struct hybrid *h = t->state;

	for (size_t l = 0; h->parts && l < h->num_parts; l++)
		dist_work_free(h->parts[l].average.work);
	stage_link_release(&h->links[0]);
	stage_link_release(&h->links[1]);
	free(h->parts);
	free(h->actions);
}

static void fill(struct training *t)
{
	const struct hybrid *h = t->state;

	for (size_t l = 0; l < h->num_parts; l++)
		fill_gradients(h->parts[l].gradients, l, h->place.dp_rank,
			       t->step);
}

static double count_wrong(const struct training *t)
{
	struct hybrid *h = t->state;
	double wrong = h->wrong + h->links[0].wrong + h->links[1].wrong;

	for (size_t l = 0; l < h->num_parts; l++)
		wrong += count_wrong_gradients(h->parts[l].gradients, l,
					       h->grid.dp, t->step, 0);
	h->wrong = h->links[0].wrong = h->links[1].wrong = 0;
	return wrong;
}

/* Sums a layer's activations, or their gradients, in the tensor group. */
static enum dist_error reduce_partial(struct training *t, size_t numel)
{
	struct hybrid *h = t->state;
	struct dist_tensor tensor = h->partial;
	struct pending pending;
	enum dist_error error;

	tensor.numel = numel;
	if (t->job->check)
		fill_gradients(tensor, 0, h->place.tp_rank, t->step);
	error = dist_all_reduce(training_begin(t, &pending, WORKLOAD_ALL_REDUCE,
					       h->tensor, tensor),
				tensor, DIST_SUM, &pending.work);
	if (!error)
		error = training_wait(t, &pending);
	if (!error && t->job->check)
		h->wrong += count_wrong_sums(tensor, 0, h->grid.tp, t->step);
	return error;
}

/* A layer's computing in one micro-batch; all of it takes all_ns. */
static enum dist_error work(struct training *t, const struct part *part,
			    int64_t all_ns, const char *label)
{
	const struct hybrid *h = t->state;
	int64_t part_ns = all_ns / h->order.num / h->grid.tp;
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

static enum dist_error forward(struct training *t, int index)
{
	struct hybrid *h = t->state;
	enum dist_error error;

	t->doing = "forward";
	error = stage_link_receive(t, &h->links[0], index);
	for (size_t l = 0; !error && l < h->num_parts; l++)
		error = work(
			t, &h->parts[l],
			layer_forward_ns(h->parts[l].layer, t->job->schedule),
			"forward");
	return error ? error : stage_link_send(t, &h->links[0], index);
}

static enum dist_error begin_average(struct training *t, struct part *part)
{
	struct hybrid *h = t->state;
	struct dist_group *group =
		training_begin(t, &part->average, WORKLOAD_ALL_REDUCE, h->data,
			       part->gradients);

	return dist_all_reduce(group, part->gradients, DIST_AVG,
			       &part->average.work);
}

static enum dist_error backward(struct training *t, int index)
{
	struct hybrid *h = t->state;
	bool averages = h->data && index == h->order.num - 1;
	enum dist_error error;

	t->doing = "backward";
	error = stage_link_receive(t, &h->links[1], index);
	for (size_t l = h->num_parts; !error && l-- > 0;) {
		error = work(
			t, &h->parts[l],
			layer_backward_ns(h->parts[l].layer, t->job->schedule),
			"backward");
		if (!error && averages)
			error = begin_average(t, &h->parts[l]);
	}
	return error ? error : stage_link_send(t, &h->links[1], index);
}

static enum dist_error finish(struct training *t)
{
	struct hybrid *h = t->state;
	enum dist_error error = DIST_OK;
	double numel = 0;

	t->doing = "averaging";
	for (size_t l = h->num_parts; !error && l-- > 0;) {
		error = training_wait(t, &h->parts[l].average);
		numel += (double)h->parts[l].layer->numel;
	}
	if (!error && h->piped)
		error = stage_link_finish(t, &h->links[0]);
	if (!error && h->piped)
		error = stage_link_finish(t, &h->links[1]);
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
	const struct hybrid *h = t->state;
	enum dist_error error = DIST_OK;

	for (size_t i = 0; !error && i < llm_order_size(&h->order); i++) {
		const struct llm_action *action = &h->actions[i];

		error = action->way == LLM_FORWARD
				? forward(t, action->micro_batch)
				: backward(t, action->micro_batch);
	}
	return error ? error : finish(t);
}

static enum dist_error idle(struct training *t, int64_t *idle_ns)
{
	struct hybrid *h = t->state;
	enum dist_error error;

	if (!h->piped)
		return DIST_OK;
	error = stage_link_idle(t, &h->links[0], idle_ns);
	return error ? error : stage_link_idle(t, &h->links[1], idle_ns);
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

#define HYBRID                                                                 \
	.contents = "activations and gradients", .misfit = misfit,             \
	.batches = batches, .held = held, WORKLOAD_STEPS(hybrid), .idle = idle

const struct workload workload_hybrid = {
	.name = "hybrid",
	.has_groups = true,
	.example = "--nproc-per-node 8 hybrid --model gpt_micro --tp 2 --pp 2 "
		   "--check",
	.prediction = "--model gpt2_medium --machine dgx-a100 --world-size 32 "
		      "--tp 4 --pp 2",
	HYBRID,
};

const struct workload workload_pipeline = {
	.name = "pipeline",
	.has_groups = true,
	.example = "--nproc-per-node 4 pipeline --model mnist --micro-batches "
		   "8 --check",
	.prediction = "--model resnet50 --machine dgx-a100 --world-size 4 "
		      "--micro-batches 8",
	HYBRID,
};

const struct workload workload_tensor_parallel = {
	.name = "tensor_parallel",
	.has_groups = true,
	.example =
		"--nproc-per-node 4 tensor_parallel --model gpt_micro --check",
	.prediction = "--model gpt2_medium --machine dgx-a100 --world-size 8",
	HYBRID,
};
