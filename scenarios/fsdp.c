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
#include <stdlib.h>

#include "scenarios/call.h"

/* One layer's parameters and gradients: whole, and this rank's part of them. */
struct sharded {
	struct call gather, scatter;
};

struct fsdp {
	struct sharded *layers;
	size_t num;
};

static enum dist_error make_layer(struct training *t, size_t l)
{
	size_t ranks = (size_t)t->world_size;
	size_t part = (t->job->layers->list[l].numel + ranks - 1) / ranks;
	struct fsdp *f = t->state;
	struct sharded *s = &f->layers[l];
	enum dist_error error;

	s->gather = (struct call){.op = DIST__ALL_GATHER,
				  .lane = &t->lanes[0],
				  .label = "parameters of a layer",
				  .number = l + 1};
	s->scatter = (struct call){.op = DIST__REDUCE_SCATTER,
				   .reduce = DIST_AVG,
				   .lane = &t->lanes[0],
				   .label = "gradients of a layer",
				   .number = l + 1};
	error = training_tensor(t, part * ranks, &s->gather.out);
	if (!error)
		error = training_tensor(t, part, &s->gather.in);
	if (!error)
		error = training_tensor(t, part * ranks, &s->scatter.in);
	if (!error)
		error = training_tensor(t, part, &s->scatter.out);
	if (!error)
		error = call_keep(t, &s->gather);
	return error ? error : call_keep(t, &s->scatter);
}

static enum dist_error start(struct training *t)
{
	size_t num = t->job->layers->num;
	struct fsdp *f = t->state;
	enum dist_error error = DIST_OK;

	f->layers = calloc(num, sizeof *f->layers);
	if (!f->layers)
		return DIST_ERR_NO_MEMORY;
	for (; !error && f->num < num; f->num++)
		error = make_layer(t, f->num);
	return error;
}

static void stop(struct training *t)
{
	struct fsdp *f = t->state;

	free(f->layers);
}

/* Makes sure of layer l's parameters, and asks for those of the one that is
 * next (num: none is). */
static enum dist_error gather_ahead(struct training *t, size_t l, size_t next)
{
	struct fsdp *f = t->state;
	bool ahead = !t->job->arguments->no_prefetch;
	enum dist_error error = DIST_OK;

	if (!call_in_flight(&f->layers[l].gather))
		error = call_begin(t, &f->layers[l].gather);
	if (!error && ahead && next < f->num)
		error = call_begin(t, &f->layers[next].gather);
	return error ? error : call_finish(t, &f->layers[l].gather);
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
	struct fsdp *f = t->state;
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
			error = call_begin(t, &f->layers[l].scatter);
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
		error = call_begin(t, &f->layers[l].scatter);
	for (size_t l = f->num; !error && l-- > 0;)
		error = call_finish(t, &f->layers[l].scatter);
	return error;
}

static enum dist_error gather_all(struct training *t)
{
	struct fsdp *f = t->state;
	enum dist_error error = DIST_OK;

	t->doing = "gathering parameters";
	for (size_t l = 0; !error && l < f->num; l++)
		error = call_begin(t, &f->layers[l].gather);
	for (size_t l = 0; !error && l < f->num; l++)
		error = call_finish(t, &f->layers[l].gather);
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
