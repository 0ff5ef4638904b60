/*
 * fsdp - training steps with what a model needs sharded over the ranks: ZeRO
 * (S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion
 * Parameter Models", SC 2020, section 7) by layers, at its third stage as
 * PyTorch's FullyShardedDataParallel does it (Y. Zhao et al., Proc. VLDB
 * Endowment 16(12), 2023).
 *
 * stage 3	a layer's parameters are gathered before its forward and again
 *		before its backward, the next layer's meanwhile; its gradients
 *		are scattered as they come
 * stage 2	gradients are scattered as they come; each rank updates its
 *		part of the parameters, which are gathered then
 * stage 1	the same, with all gradients scattered after backward
 *
 * Of n parameters a rank sends 3 n (p-1)/p elements at stage 3, else
 * 2 n (p-1)/p. A layer is padded to a multiple of the ranks.
 */
#include "scenarios/training.h"

#include <stdlib.h>

#include "scenarios/fill.h"

/* One layer's tensors: whole, and this rank's part of them. */
struct sharded {
	size_t first; /* element of the model, padded */
	struct dist_tensor parameters, parameters_part;
	struct dist_tensor gradients, gradients_part;
	struct pending gather, scatter;
};

struct fsdp {
	struct sharded *layers;
	size_t num;
};

static enum dist_error start(struct training *t)
{
	const struct layers *layers = t->job->layers;
	size_t l, first = 0, ranks = (size_t)t->world_size;
	struct fsdp *f = t->state;
	enum dist_error error = DIST_OK;

	f->layers = calloc(layers->num, sizeof *f->layers);
	if (!f->layers)
		return DIST_ERR_NO_MEMORY;
	f->num = layers->num;
	for (l = 0; !error && l < f->num; l++) {
		struct sharded *s = &f->layers[l];
		size_t part = (layers->list[l].numel + ranks - 1) / ranks;

		s->first = first;
		first += part * ranks;
		error = training_tensor(t, part * ranks, &s->parameters);
		if (!error)
			error = training_tensor(t, part, &s->parameters_part);
		if (!error)
			error = training_tensor(t, part * ranks, &s->gradients);
		if (!error)
			error = training_tensor(t, part, &s->gradients_part);
	}
	return error;
}

static void stop(struct training *t)
{
	struct fsdp *f = t->state;

	for (size_t l = 0; l < f->num; l++) {
		dist_work_free(f->layers[l].gather.work);
		dist_work_free(f->layers[l].scatter.work);
	}
	free(f->layers);
}

/* Where this rank's part of a layer begins. */
static size_t part_first(const struct training *t, const struct sharded *s)
{
	return s->first + (size_t)t->rank * s->parameters_part.numel;
}

/* Parameters are those that one rank would have as gradients. */
static void fill(struct training *t)
{
	const struct fsdp *f = t->state;

	for (size_t l = 0; l < f->num; l++) {
		const struct sharded *s = &f->layers[l];

		fill_gradients(s->parameters_part, part_first(t, s), 0,
			       t->step);
		fill_gradients(s->gradients, s->first, t->rank, t->step);
	}
}

static double count_wrong(const struct training *t)
{
	const struct fsdp *f = t->state;
	double wrong = 0;

	for (size_t l = 0; l < f->num; l++) {
		const struct sharded *s = &f->layers[l];

		wrong +=
			count_wrong_values(s->parameters, s->first, 0, t->step);
		wrong += count_wrong_gradients(s->gradients_part,
					       part_first(t, s), t->world_size,
					       t->step, 0);
	}
	return wrong;
}

static enum dist_error gather(struct training *t, size_t l)
{
	struct fsdp *f = t->state;
	struct sharded *s = &f->layers[l];
	struct dist_group *group =
		training_begin(t, &s->gather, WORKLOAD_ALL_GATHER, &t->lanes[0],
			       s->parameters);

	return dist_all_gather_single(
		dist_label(group, "parameters of a layer", l + 1),
		s->parameters, s->parameters_part, &s->gather.work);
}

static enum dist_error scatter(struct training *t, size_t l)
{
	struct fsdp *f = t->state;
	struct sharded *s = &f->layers[l];
	struct dist_group *group =
		training_begin(t, &s->scatter, WORKLOAD_REDUCE_SCATTER,
			       &t->lanes[0], s->gradients);

	return dist_reduce_scatter_single(
		dist_label(group, "gradients of a layer", l + 1),
		s->gradients_part, s->gradients, DIST_AVG, &s->scatter.work);
}

/* Makes sure of layer l's parameters, and asks for those of the one that is
 * next (num: none is). */
static enum dist_error gather_ahead(struct training *t, size_t l, size_t next)
{
	struct fsdp *f = t->state;
	bool ahead = !t->job->arguments->no_prefetch;
	enum dist_error error = DIST_OK;

	if (!f->layers[l].gather.work)
		error = gather(t, l);
	if (!error && ahead && next < f->num)
		error = gather(t, next);
	return error ? error : training_wait(t, &f->layers[l].gather);
}

static enum dist_error forward(struct training *t, bool gathers)
{
	const struct fsdp *f = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "forward";
	for (size_t l = 0; !error && l < f->num; l++) {
		if (gathers)
			error = gather_ahead(t, l, l + 1);
		if (!error)
			error = training_compute(
				t,
				layer_forward_ns(&t->job->layers->list[l],
						 t->job->schedule),
				"forward");
	}
	return error;
}

static enum dist_error backward(struct training *t, bool gathers, bool scatters)
{
	const struct fsdp *f = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "backward";
	for (size_t l = f->num; !error && l-- > 0;) {
		if (gathers)
			error = gather_ahead(t, l, l > 0 ? l - 1 : f->num);
		if (!error)
			error = training_compute(
				t,
				layer_backward_ns(&t->job->layers->list[l],
						  t->job->schedule),
				"backward");
		if (!error && scatters)
			error = scatter(t, l);
	}
	return error;
}

/* Of all layers in the order of backward. */
static enum dist_error wait_scatters(struct training *t, bool begin)
{
	struct fsdp *f = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "scattering gradients";
	for (size_t l = f->num; !error && begin && l-- > 0;)
		error = scatter(t, l);
	for (size_t l = f->num; !error && l-- > 0;)
		error = training_wait(t, &f->layers[l].scatter);
	return error;
}

static enum dist_error gather_all(struct training *t)
{
	struct fsdp *f = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "gathering parameters";
	for (size_t l = 0; !error && l < f->num; l++)
		error = gather(t, l);
	for (size_t l = 0; !error && l < f->num; l++)
		error = training_wait(t, &f->layers[l].gather);
	return error;
}

static enum dist_error step(struct training *t)
{
	int stage = t->job->arguments->zero;
	enum dist_error error = forward(t, stage == 3);

	if (!error)
		error = backward(t, stage == 3, stage > 1);
	if (!error)
		error = wait_scatters(t, stage == 1);
	t->doing = "optimizer";
	if (!error)
		error = training_compute(
			t, t->job->schedule->optimizer_ns / t->world_size,
			"optimizer");
	return error || stage == 3 ? error : gather_all(t);
}

/* What is gathered of a layer for the time of its computing is not counted. */
static struct workload_held held(const struct workload_job *job, int world_size)
{
	double all = (double)job->model->numel, part = all / world_size;
	int stage = job->arguments->zero;

	return (struct workload_held){.parameters = stage == 3 ? part : all,
				      .gradients = stage > 1 ? part : all,
				      .states = part};
}

const struct workload workload_fsdp = {
	.name = "fsdp",
	.example = "--nproc-per-node 4 fsdp --model mnist --zero 3 --check",
	.prediction = "--model gpt2_medium --machine dgx-a100 --world-size 16 "
		      "--zero 3",
	.contents = "parameters and gradients",
	.held = held,
	WORKLOAD_STEPS(fsdp),
};
