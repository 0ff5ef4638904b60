/*
 * tutorial_model_parallel - "Model Parallel Best Practices": the ToyModel on
 * two devices, net1 on one and net2 on the other, and Speed Up by Pipelining
 * Inputs: the batch goes through in splits, so that one device works on the
 * next split while the other has this one.
 *
 * Ranks 0 and 1 stand for the devices. What x.to('cuda:1') copies is a message
 * here, and so is the gradient that autograd would carry back.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"
#include "scenarios/tutorial/device.h"
#include "scenarios/tutorial/toymodel.h"

#define STEPS 5
#define RATE  0.1F
#define SEED  1234

/* What a simulated device needs for a row through a layer, forward; backward it
 * is twice that. */
#define LAYER_NS 10e3

struct options {
	int splits;
	int time;
};

/* One rank. Both draw the whole model, and each uses its half. */
struct device {
	struct dist_group *group;
	int splits;
	size_t rows; /* of a split */
	struct toymodel model;
	struct toymodel alone;
	struct toymodel_batch batch;
	struct dist_work *sent[TOYMODEL_ROWS]; /* one a split, or NULL */
};

static struct rows rows_of(const struct device *d, int split)
{
	return (struct rows){(size_t)split * d->rows, d->rows};
}

/* What passes between the devices of these rows, or the gradient of that. */
static struct dist_tensor passed(float *hidden, struct rows rows)
{
	return dist_tensor(hidden + rows.first * TOYMODEL_HIDDEN,
			   rows.num * TOYMODEL_HIDDEN, DIST_FLOAT32);
}

/* net1 and ReLU; the result is on its way when this returns. */
static enum dist_error forward_net1(struct device *d, int split)
{
	struct rows rows = rows_of(d, split);
	enum dist_error error;

	toymodel_forward1(&d->model, d->batch.inputs, rows);
	error = device_spend(d->group, LAYER_NS * (double)d->rows, "net1");
	return error ? error
		     : dist_isend(d->group, passed(d->model.hidden, rows), 1, 0,
				  &d->sent[split]);
}

static enum dist_error backward_net1(struct device *d, int split)
{
	struct rows rows = rows_of(d, split);
	enum dist_error error =
		dist_recv(d->group, passed(d->model.d_hidden, rows), 1, 0);

	if (error)
		return error;
	toymodel_backward1(&d->model, d->batch.inputs, rows, NULL);
	return device_spend(d->group, 2 * LAYER_NS * (double)d->rows,
			    "net1 backward");
}

/* net2, the loss, and back; adds what the split gives to the loss. */
static enum dist_error train_net2(struct device *d, int split, double *loss)
{
	struct rows rows = rows_of(d, split);
	enum dist_error error =
		dist_recv(d->group, passed(d->model.hidden, rows), 0, 0);

	if (error)
		return error;
	toymodel_forward2(&d->model, rows);
	*loss += toymodel_loss(&d->model, d->batch.labels, rows, TOYMODEL_ROWS);
	toymodel_backward2(&d->model, rows);
	error = device_spend(d->group, 3 * LAYER_NS * (double)d->rows, "net2");
	return error ? error
		     : dist_isend(d->group, passed(d->model.d_hidden, rows), 0,
				  0, &d->sent[split]);
}

static enum dist_error finish_sends(struct device *d)
{
	enum dist_error error = DIST_OK;

	for (int i = 0; i < d->splits; i++) {
		if (!error && d->sent[i])
			error = dist_work_wait(d->sent[i],
					       DIST_TIMEOUT_OF_GROUP);
		dist_work_free(d->sent[i]);
		d->sent[i] = NULL;
	}
	return error;
}

/* One step of this device; *loss is rank 1's. */
static enum dist_error train(struct device *d, double *loss)
{
	int rank = dist_get_rank(d->group);
	enum dist_error end, error = DIST_OK;

	*loss = 0;
	toymodel_zero_grads(&d->model);
	for (int i = 0; rank == 0 && !error && i < d->splits; i++)
		error = forward_net1(d, i);
	for (int i = 0; rank == 0 && !error && i < d->splits; i++)
		error = backward_net1(d, i);
	for (int i = 0; rank == 1 && !error && i < d->splits; i++)
		error = train_net2(d, i, loss);
	end = finish_sends(d);
	toymodel_step(&d->model, RATE);
	return error ? error : end;
}

static enum dist_error run(struct device *d, bool print_time, bool *agree)
{
	int rank = dist_get_rank(d->group);
	int64_t start_ns = dist_now_ns(d->group);
	enum dist_error error = DIST_OK;
	double loss;

	d->batch = toymodel_batch(SEED, 0);
	d->rows = (size_t)(TOYMODEL_ROWS / d->splits);
	for (int step = 0; !error && step < STEPS; step++) {
		error = train(d, &loss);
		if (!error && rank == 1)
			*agree = toymodel_agrees(&d->alone, &d->batch, RATE,
						 step, loss) &&
				 *agree;
	}
	if (!error && rank == 0 && print_time)
		printf("%d splits: %.3f ms a step\n", d->splits,
		       (double)(dist_now_ns(d->group) - start_ns) / 1e6 /
			       STEPS);
	return error;
}

static int rank_main(void *arg)
{
	const struct options *options = arg;
	struct device d = {.splits = options->splits};
	enum dist_error error;
	bool agree = true;

	if (rank_join(&d.group))
		return 1;
	toymodel_init(&d.model, SEED);
	toymodel_init(&d.alone, SEED);
	error = run(&d, options->time, &agree);
	return rank_leave(d.group, "tutorial_model_parallel", error) || !agree;
}

static const struct option options_table[] = {
	{"splits", OPTION_COUNT, offsetof(struct options, splits), "N",
	 .help = "parts of the batch of 20 rows", .usual = "4", .min = 1},
	{"time", OPTION_SWITCH, offsetof(struct options, time), NULL,
	 .help = "print how long a step takes"},
	{.name = NULL}};
static const struct manual manual = {
	.examples = {"lockstep run --nproc-per-node 2 tutorial_model_parallel"},
	.groups = GROUPS({.options = options_table})};

int tutorial_model_parallel_main(int argc, char **argv)
{
	struct options options = {.splits = 4};
	int status;

	if (!arguments_parse(&manual, &argc, (const char **)argv, &options,
			     &status))
		return status;
	if (TOYMODEL_ROWS % options.splits != 0) {
		fprintf(stderr,
			"%s: --splits %d: expected a divisor of the %d rows\n",
			argv[0], options.splits, TOYMODEL_ROWS);
		return DIST_EXIT_USAGE;
	}
	return dist_launch(NULL, rank_main, &options);
}
