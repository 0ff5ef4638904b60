/*
 * moe - training steps of a mixture of experts: each layer's MLP becomes
 * experts of its size, dealt out to the ranks, and every token goes to some of
 * them and back by all-to-all (D. Lepikhin et al., "GShard", ICLR 2021).
 *
 * Which rows are the MLP's, and what it takes in and gives out, the model says;
 * the rest of a layer is dense, and so is a layer without. Each rank has its
 * own samples; gradients of the dense part are averaged over all ranks while
 * backward goes on, those of an expert stay where it is. How popular an expert
 * of a layer is, is random, log-normal, and the same for all tokens. What
 * chooses the experts is not counted.
 */
#include <math.h>
#include <stdlib.h>

#include "base/refuse.h"
#include "lockstep/measure.h"
#include "scenarios/call.h"

/* One layer's tokens, as they leave this rank and as they come together. */
struct mixture {
	const struct layer *layer;
	double share;     /* of its computing that is an expert's */
	double load;      /* tokens that come here, by those that it has */
	size_t *out, *in; /* elements to and from each rank; owned */
	struct dist_tensor own, gathered;
	struct call average; /* of gradients of the dense part */
};

struct moe {
	struct mixture *layers;
	size_t num;
	struct lane *data;
};

static int num_experts(const struct workload_job *job, int world_size)
{
	int experts = job->arguments->experts;

	return experts == WORKLOAD_WHOLE_WORLD ? world_size : experts;
}

/* Whether the model says what becomes experts, and what tokens are. */
static bool has_experts(const struct workload_job *job,
			struct dist_message *message)
{
	size_t l, numel = 0;

	for (l = 0; l < job->layers->num; l++) {
		const struct layer *layer = &job->layers->list[l];

		numel += layer->mlp_numel;
		if (layer->mlp_numel && !layer->tokens)
			return layer_refuse(
				layer, job->model,
				"width and positions in a row of mlp: tokens "
				"go to experts (columns of docs/models.md)",
				message);
	}
	if (numel == 0)
		snprintf(message->text, sizeof message->text,
			 "%s: expected rows of mlp, which become experts "
			 "(columns of docs/models.md)",
			 job->model->path);
	return numel > 0;
}

static enum dist_error check(const struct workload_job *job, int world_size,
			     struct dist__refusal *refusal)
{
	int experts = num_experts(job, world_size);

	if (experts % world_size != 0)
		return dist__refuse_option(
			refusal, "experts",
			"--experts %d: expected a multiple of the world size, "
			"%d",
			experts, world_size);
	if (job->arguments->top_k > experts)
		return dist__refuse_option(
			refusal, "top-k",
			"--top-k %d: expected 1 to %d, the experts",
			job->arguments->top_k, experts);
	refusal->option = "model";
	return has_experts(job, &refusal->message) ? DIST_OK
						   : DIST_ERR_INVALID_ARGUMENT;
}

/* Deals tokens out to the ranks in proportion to what their experts are worth:
 * counts are differences of rounded sums, so that none is lost. */
static enum dist_error route(const struct training *t, size_t l, size_t tokens,
			     size_t *counts)
{
	const struct workload_arguments *a = t->job->arguments;
	size_t ranks = (size_t)t->world_size, r, sent = 0;
	size_t e, each = (size_t)num_experts(t->job, t->world_size) / ranks;
	double *until = calloc(ranks, sizeof *until), sum = 0;

	if (!until)
		return DIST_ERR_NO_MEMORY;
	for (r = 0; r < ranks; r++) {
		for (e = 0; e < each; e++)
			sum += pace_draw(a->imbalance_percent / 100,
					 t->job->pace->seed, l, r * each + e);
		until[r] = sum;
	}
	for (r = 0; r < ranks; r++) {
		size_t upto = (size_t)llround((double)tokens * until[r] / sum);

		counts[r] = upto - sent;
		sent = upto;
	}
	free(until);
	return DIST_OK;
}

/* The tokens that leave a rank. */
static size_t num_sent(const struct workload_job *job,
		       const struct layer *layer)
{
	const struct workload_arguments *a = job->arguments;

	return (size_t)ceil((double)layer->tokens * a->rate.batch) *
	       (size_t)a->top_k;
}

/* Whether experts get more or fewer tokens than others. */
static bool differs(const struct workload_job *job, int world_size)
{
	bool differ = job->arguments->imbalance_percent > 0;

	for (size_t l = 0; l < job->layers->num; l++) {
		const struct layer *layer = &job->layers->list[l];

		differ |= layer->mlp_numel &&
			  num_sent(job, layer) % (size_t)world_size != 0;
	}
	return differ;
}

static enum dist_error make_tokens(struct training *t, struct mixture *m,
				   size_t l)
{
	size_t r, here, ranks = (size_t)t->world_size;
	size_t sent = num_sent(t->job, m->layer);
	size_t own = sent / (size_t)t->job->arguments->top_k;
	enum dist_error error;

	m->out = calloc(ranks, sizeof *m->out);
	m->in = calloc(ranks, sizeof *m->in);
	if (!m->out || !m->in)
		return DIST_ERR_NO_MEMORY;
	error = route(t, l, sent, m->out);
	if (error)
		return error;
	/* All ranks send alike. */
	here = m->out[t->rank];
	m->load = (double)(here * ranks) / (double)own;
	for (r = 0; r < ranks; r++) {
		m->in[r] = here * m->layer->width;
		m->out[r] *= m->layer->width;
	}
	error = training_tensor(t, sent * m->layer->width, &m->own);
	return error ? error
		     : training_tensor(t, here * ranks * m->layer->width,
				       &m->gathered);
}

static enum dist_error start(struct training *t)
{
	const struct layers *layers = t->job->layers;
	const struct dist_group_options options = {.name = "data"};
	struct moe *moe = t->state;
	struct dist_group *data;
	enum dist_error error;

	moe->layers = calloc(layers->num, sizeof *moe->layers);
	if (!moe->layers)
		return DIST_ERR_NO_MEMORY;
	moe->num = layers->num;
	error = dist_new_group(dist_untimed(t->group), NULL, 0, &options,
			       &data);
	if (!error)
		moe->data = training_lane(t, data);
	for (size_t l = 0; !error && l < moe->num; l++) {
		struct mixture *m = &moe->layers[l];

		m->layer = &layers->list[l];
		if (m->layer->forward_flops > 0)
			m->share =
				m->layer->mlp_flops / m->layer->forward_flops;
		if (m->layer->mlp_numel)
			error = make_tokens(t, m, l);
		m->average = (struct call){.op = DIST__ALL_REDUCE,
					   .reduce = DIST_AVG,
					   .lane = moe->data};
		if (!error)
			error = training_tensor(
				t, m->layer->numel - m->layer->mlp_numel,
				&m->average.in);
		m->average.out = m->average.in;
		if (!error)
			error = call_keep(t, &m->average);
	}
	return error;
}

static void stop(struct training *t)
{
	struct moe *moe = t->state;

	for (size_t l = 0; l < moe->num; l++) {
		free(moe->layers[l].out);
		free(moe->layers[l].in);
	}
	free(moe->layers);
}

static enum dist_error exchange(struct training *t, struct dist_tensor to,
				const size_t *to_parts, struct dist_tensor from,
				const size_t *from_parts)
{
	struct call call = {.op = DIST__ALL_TO_ALL,
			    .lane = &t->lanes[0],
			    .in = from,
			    .in_parts = from_parts,
			    .out = to,
			    .out_parts = to_parts,
			    .shift = t->step};

	return call_make(t, &call);
}

/* Sends the tokens to their experts, lets those compute, and gets the tokens
 * back; in backward so do their gradients. */
static enum dist_error visit_experts(struct training *t, struct mixture *m,
				     int64_t layer_ns, const char *label)
{
	enum dist_error error;

	if (!m->layer->mlp_numel)
		return DIST_OK;
	error = exchange(t, m->gathered, m->in, m->own, m->out);
	if (!error)
		error = training_compute(
			t, llround(m->share * m->load * (double)layer_ns),
			label);
	return error ? error : exchange(t, m->own, m->out, m->gathered, m->in);
}

static enum dist_error forward(struct training *t)
{
	struct moe *moe = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "forward";
	for (size_t l = 0; !error && l < moe->num; l++) {
		struct mixture *m = &moe->layers[l];
		int64_t ns = layer_forward_ns(m->layer, t->job->schedule);

		error = training_compute(
			t, llround((1 - m->share) * (double)ns), "forward");
		if (!error)
			error = visit_experts(t, m, ns, "forward of experts");
	}
	return error;
}

static enum dist_error backward(struct training *t)
{
	struct moe *moe = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "backward";
	for (size_t l = moe->num; !error && l-- > 0;) {
		struct mixture *m = &moe->layers[l];
		int64_t ns = layer_backward_ns(m->layer, t->job->schedule);

		error = visit_experts(t, m, ns, "backward of experts");
		if (!error)
			error = training_compute(
				t, llround((1 - m->share) * (double)ns),
				"backward");
		if (!error)
			error = call_begin(t, &m->average);
	}
	return error;
}

static enum dist_error step(struct training *t)
{
	struct moe *moe = t->state;
	enum dist_error error = forward(t);
	int kept; /* experts on a rank */
	double numel = 0;

	if (!error)
		error = backward(t);
	t->doing = "averaging";
	kept = num_experts(t->job, t->world_size) / t->world_size;
	for (size_t l = moe->num; !error && l-- > 0;) {
		const struct layer *layer = moe->layers[l].layer;

		error = call_finish(t, &moe->layers[l].average);
		numel += (double)layer->numel +
			 (kept - 1.0) * (double)layer->mlp_numel;
	}
	t->doing = "optimizer";
	return error ? error
		     : training_compute(
			       t,
			       llround((double)t->job->schedule->optimizer_ns *
				       numel / (double)t->job->model->numel),
			       "optimizer");
}

/* The dense part, and the rank's own experts. */
static struct workload_held held(const struct workload_job *job, int world_size)
{
	double kept = (double)num_experts(job, world_size) / world_size;
	double all = (double)job->model->numel;

	for (size_t l = 0; l < job->layers->num; l++)
		all += (kept - 1) * (double)job->layers->list[l].mlp_numel;
	return (struct workload_held){all, all, all};
}

const struct workload workload_moe = {
	.name = "moe",
	.has_lanes = true,
	.differs = differs,
	.example = "--nproc-per-node 4 moe --model gpt_micro --batch 1 --check",
	.prediction = "--model gpt2_medium --batch 4 --machine dgx-a100 "
		      "--world-size 16 --experts 16",
	.contents = "tokens and gradients",
	.check = check,
	.held = held,
	WORKLOAD_STEPS(moe),
};
