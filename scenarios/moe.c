/*
 * moe - training steps of a mixture of experts: each layer's MLP becomes
 * experts of its size, dealt out to the ranks, and every token goes to some of
 * them and back by all-to-all (D. Lepikhin et al., "GShard", ICLR 2021).
 *
 * Of a layer a third is dense, the attention's 4 of the 12 squares of the width
 * that a transformer's block has, and two thirds are an expert's (J. Kaplan et
 * al., "Scaling Laws for Neural Language Models", 2020, table 1). Each rank has
 * its own samples; gradients of the dense part are averaged over all ranks
 * while backward goes on, those of an expert stay where it is. How popular an
 * expert of a layer is, is drawn by lot, log-normal, and the same for all
 * tokens.
 */
#include "scenarios/training.h"

#include <math.h>
#include <stdlib.h>

#include "scenarios/fill.h"

#define DENSE_SHARE  (1.0 / 3)
#define EXPERT_SHARE (2.0 / 3)

/* One layer's tokens, as they leave this rank and as they come together. */
struct mixture {
	const struct layer *layer;
	size_t width;     /* elements of a token */
	double load;      /* tokens that come here, by those that it has */
	size_t *out, *in; /* elements to and from each rank; owned */
	struct dist_tensor own, gathered;
	struct dist_tensor gradients; /* of the dense part */
	struct pending average;
};

struct moe {
	struct mixture *layers;
	size_t num;
	struct lane *data;
	double wrong;
};

static int num_experts(const struct workload_job *job, int world_size)
{
	int experts = job->arguments->experts;

	return experts == WORKLOAD_WHOLE_WORLD ? world_size : experts;
}

static bool fits(const struct workload_job *job, int world_size,
		 struct dist_message *message)
{
	int experts = num_experts(job, world_size);

	if (experts % world_size != 0) {
		snprintf(message->text, sizeof(message->text),
			 "--experts %d: expected a multiple of the world size, "
			 "%d",
			 experts, world_size);
		return false;
	}
	if (job->arguments->top_k > experts) {
		snprintf(message->text, sizeof(message->text),
			 "--top-k %d: expected 1 to %d, the experts",
			 job->arguments->top_k, experts);
		return false;
	}
	return true;
}

/* Deals tokens out to the ranks in proportion to what their experts are worth:
 * counts are differences of rounded sums, so that none is lost. */
static enum dist_error route(const struct training *t, size_t l, size_t tokens,
			     size_t *counts)
{
	const struct workload_arguments *a = t->job->arguments;
	size_t ranks = (size_t)t->world_size, r, sent = 0;
	size_t e, each = (size_t)num_experts(t->job, t->world_size) / ranks;
	double *until = calloc(ranks, sizeof(*until)), sum = 0;

	if (!until)
		return DIST_ERR_NO_MEMORY;
	for (r = 0; r < ranks; r++) {
		for (e = 0; e < each; e++)
			sum += pace_draw(a->imbalance_percent / 100,
					 (uint64_t)a->seed, l, r * each + e);
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

static enum dist_error make_tokens(struct training *t, struct mixture *m,
				   size_t l)
{
	const struct workload_arguments *a = t->job->arguments;
	size_t r, ranks = (size_t)t->world_size;
	size_t own = (size_t)ceil(m->layer->positions * a->rate.batch);
	size_t here, sent = own * (size_t)a->top_k;
	enum dist_error err;

	m->out = calloc(ranks, sizeof(*m->out));
	m->in = calloc(ranks, sizeof(*m->in));
	if (!m->out || !m->in)
		return DIST_ERR_NO_MEMORY;
	m->width = (size_t)((double)m->layer->activation / m->layer->positions);
	err = route(t, l, sent, m->out);
	if (err)
		return err;
	/* All ranks send alike. */
	here = m->out[t->rank];
	m->load = (double)(here * ranks) / (double)own;
	for (r = 0; r < ranks; r++) {
		m->in[r] = here * m->width;
		m->out[r] *= m->width;
	}
	err = training_tensor(t, sent * m->width, &m->own);
	return err ? err
		   : training_tensor(t, here * ranks * m->width, &m->gathered);
}

static enum dist_error start(struct training *t)
{
	const struct layers *layers = t->job->layers;
	const struct dist_group_options options = {.name = "data"};
	struct moe *moe = calloc(1, sizeof(*moe));
	struct dist_group *data;
	enum dist_error err;
	size_t l;

	t->state = moe;
	if (!moe)
		return DIST_ERR_NO_MEMORY;
	moe->layers = calloc(layers->num, sizeof(*moe->layers));
	if (!moe->layers)
		return DIST_ERR_NO_MEMORY;
	moe->num = layers->num;
	err = dist_new_group(t->group, NULL, 0, &options, &data);
	if (!err)
		moe->data = training_lane(t, data);
	for (l = 0; !err && l < moe->num; l++) {
		struct mixture *m = &moe->layers[l];

		m->layer = &layers->list[l];
		err = make_tokens(t, m, l);
		if (!err)
			err = training_tensor(
				t,
				(size_t)(DENSE_SHARE * (double)m->layer->numel),
				&m->gradients);
	}
	return err;
}

static void stop(struct training *t)
{
	struct moe *moe = t->state;
	size_t l;

	if (!moe)
		return;
	for (l = 0; l < moe->num; l++) {
		dist_work_free(moe->layers[l].average.work);
		free(moe->layers[l].out);
		free(moe->layers[l].in);
	}
	free(moe->layers);
	free(moe);
}

static void fill(struct training *t)
{
	const struct moe *moe = t->state;
	size_t l;

	for (l = 0; l < moe->num; l++)
		fill_gradients(moe->layers[l].gradients.data,
			       moe->layers[l].gradients.numel, l, t->rank,
			       t->step);
}

static double count_wrong(const struct training *t)
{
	struct moe *moe = t->state;
	double wrong = moe->wrong;
	size_t l;

	for (l = 0; l < moe->num; l++)
		wrong += count_wrong_gradients(moe->layers[l].gradients.data,
					       moe->layers[l].gradients.numel,
					       l, t->world_size, t->step, 0);
	moe->wrong = 0;
	return wrong;
}

/* Part r of tensor is what one rank has for another; its values begin with the
 * number of who gets it. */
static void fill_parts(const struct training *t, struct dist_tensor tensor,
		       const size_t *splits)
{
	float *at = tensor.data;
	int r;

	for (r = 0; r < t->world_size; at += splits[r], r++)
		fill_gradients(at, splits[r], (size_t)r, t->rank, t->step);
}

static double count_wrong_parts(const struct training *t,
				struct dist_tensor tensor, const size_t *splits)
{
	const float *at = tensor.data;
	double wrong = 0;
	int r;

	for (r = 0; r < t->world_size; at += splits[r], r++)
		wrong += count_wrong_values(at, splits[r], (size_t)t->rank, r,
					    t->step);
	return wrong;
}

static enum dist_error exchange(struct training *t, struct dist_tensor to,
				const size_t *to_splits,
				struct dist_tensor from,
				const size_t *from_splits)
{
	struct moe *moe = t->state;
	struct pending pending;
	struct dist_group *group = training_begin(
		t, &pending, WORKLOAD_ALL_TO_ALL, &t->lanes[0], from.numel);
	enum dist_error err;

	if (t->job->check)
		fill_parts(t, from, from_splits);
	err = dist_all_to_all_single(group, to, from, to_splits, from_splits,
				     &pending.work);
	if (!err)
		err = training_wait(t, &pending);
	if (!err && t->job->check)
		moe->wrong += count_wrong_parts(t, to, to_splits);
	return err;
}

/* Sends the tokens to their experts, lets those compute, and gets the tokens
 * back; in backward so do their gradients. */
static enum dist_error visit_experts(struct training *t, struct mixture *m,
				     int64_t layer_ns, const char *label)
{
	enum dist_error err = exchange(t, m->gathered, m->in, m->own, m->out);

	if (!err)
		err = training_compute(
			t, llround(EXPERT_SHARE * m->load * (double)layer_ns),
			label);
	return err ? err : exchange(t, m->own, m->out, m->gathered, m->in);
}

static enum dist_error forward(struct training *t)
{
	struct moe *moe = t->state;
	enum dist_error err = DIST_OK;
	size_t l;

	t->doing = "forward";
	for (l = 0; !err && l < moe->num; l++) {
		struct mixture *m = &moe->layers[l];
		int64_t ns = layer_forward_ns(m->layer, t->job->schedule);

		err = training_compute(t, llround(DENSE_SHARE * (double)ns),
				       "forward");
		if (!err)
			err = visit_experts(t, m, ns, "forward of experts");
	}
	return err;
}

static enum dist_error backward(struct training *t)
{
	struct moe *moe = t->state;
	enum dist_error err = DIST_OK;
	size_t l;

	t->doing = "backward";
	for (l = moe->num; !err && l-- > 0;) {
		struct mixture *m = &moe->layers[l];
		int64_t ns = layer_backward_ns(m->layer, t->job->schedule);

		err = visit_experts(t, m, ns, "backward of experts");
		if (!err)
			err = training_compute(
				t, llround(DENSE_SHARE * (double)ns),
				"backward");
		if (!err)
			err = dist_all_reduce(
				training_begin(t, &m->average,
					       WORKLOAD_ALL_REDUCE, moe->data,
					       m->gradients.numel),
				m->gradients, DIST_AVG, &m->average.work);
	}
	return err;
}

static enum dist_error step(struct training *t)
{
	struct moe *moe = t->state;
	enum dist_error err = forward(t);
	int kept; /* experts on a rank */
	size_t l;

	if (!err)
		err = backward(t);
	t->doing = "averaging";
	for (l = moe->num; !err && l-- > 0;)
		err = training_wait(t, &moe->layers[l].average);
	t->doing = "optimizer";
	kept = num_experts(t->job, t->world_size) / t->world_size;
	return err ? err
		   : training_compute(
			     t,
			     llround((DENSE_SHARE + EXPERT_SHARE * kept) *
				     (double)t->job->schedule->optimizer_ns),
			     "optimizer");
}

const struct workload workload_moe = {
	.name = "moe",
	.example = "--nproc-per-node 4 moe --model mnist --batch 1 --check",
	.contents = "tokens and gradients",
	.fits = fits,
	.start = start,
	.stop = stop,
	.fill = fill,
	.step = step,
	.count_wrong = count_wrong,
};
