/*
 * tutorial_data_parallel - "Multi-GPU Examples", DataParallel: rank 0 owns the
 * model and the batch; for every step it replicates the model on the devices
 * (broadcast), scatters the rows of the batch, lets all devices go forward
 * (parallel_apply) and gathers their outputs; backward goes the same way back.
 *
 * The ranks stand for the devices. DDP moves gradients only, and once.
 */
#include "scenarios/scenario.h"

#include <stdlib.h>

#include "lockstep/dist.h"
#include "scenarios/rank.h"
#include "scenarios/tutorial/toymodel.h"

#define STEPS 5
#define RATE  0.1F
#define SEED  1234

/* One rank and its rows of the batch. What only rank 0 uses comes last. */
struct device {
	struct dist_group *group;
	int rank;
	size_t rows; /* for each device */
	struct toymodel replica;
	struct toymodel_batch batch; /* rank 0: all rows; else what it gets */
	struct toymodel alone;
	struct dist_tensor *parts; /* one for each device; else NULL */
	struct toymodel whole; /* outputs of all rows, and their gradients */
};

static struct dist_tensor floats(float *data, size_t numel)
{
	return dist_tensor(data, numel, DIST_FLOAT32);
}

/* The rows of all devices, of width elements each, as a list of parts; NULL but
 * on rank 0. */
static struct dist_tensor *split(struct device *d, float *all, size_t width)
{
	size_t numel = d->rows * width;

	for (int r = 0; d->rank == 0 && r < dist_get_world_size(d->group); r++)
		d->parts[r] = floats(all + (size_t)r * numel, numel);
	return d->parts;
}

static enum dist_error forward(struct device *d)
{
	const struct rows mine = {0, d->rows};
	float *inputs = d->batch.inputs;
	enum dist_error error = dist_broadcast(
		d->group, floats(d->replica.params, TOYMODEL_NUMEL), 0, NULL);

	if (!error)
		error = dist_scatter(
			d->group, floats(inputs, d->rows * TOYMODEL_INPUTS),
			split(d, inputs, TOYMODEL_INPUTS), 0, NULL);
	if (error)
		return error;
	toymodel_forward1(&d->replica, inputs, mine);
	toymodel_forward2(&d->replica, mine);
	return dist_gather(
		d->group,
		floats(d->replica.outputs, d->rows * TOYMODEL_OUTPUTS),
		split(d, d->whole.outputs, TOYMODEL_OUTPUTS), 0, NULL);
}

static enum dist_error backward(struct device *d)
{
	const struct rows mine = {0, d->rows};
	enum dist_error error = dist_scatter(
		d->group,
		floats(d->replica.d_outputs, d->rows * TOYMODEL_OUTPUTS),
		split(d, d->whole.d_outputs, TOYMODEL_OUTPUTS), 0, NULL);

	if (error)
		return error;
	toymodel_zero_grads(&d->replica);
	toymodel_backward2(&d->replica, mine);
	toymodel_backward1(&d->replica, d->batch.inputs, mine, NULL);
	return dist_reduce(d->group, floats(d->replica.grads, TOYMODEL_NUMEL),
			   0, DIST_SUM, NULL);
}

/* One step of training; *loss is rank 0's. */
static enum dist_error train(struct device *d, double *loss)
{
	const struct rows all = {0, TOYMODEL_ROWS};
	enum dist_error error = forward(d);

	if (!error && d->rank == 0)
		*loss = toymodel_loss(&d->whole, d->batch.labels, all,
				      TOYMODEL_ROWS);
	if (!error)
		error = backward(d);
	if (!error && d->rank == 0)
		toymodel_step(&d->replica, RATE);
	return error;
}

static bool prepare(struct device *d)
{
	size_t size = (size_t)dist_get_world_size(d->group);

	d->rank = dist_get_rank(d->group);
	d->rows = TOYMODEL_ROWS / size;
	d->batch = toymodel_batch(SEED, 0);
	toymodel_init(&d->alone, 0);
	toymodel_init(&d->replica, (uint64_t)d->rank);
	if (d->rank == 0)
		d->parts = calloc(size, sizeof *d->parts);
	return d->parts || d->rank != 0;
}

int tutorial_data_parallel_rank(void *arg)
{
	const char *doing = "tutorial_data_parallel";
	struct device d = {.group = NULL};
	enum dist_error error = DIST_ERR_NO_MEMORY;
	bool agree = true;
	double loss = 0;
	int status;

	(void)arg;
	if (rank_join(&d.group))
		return 1;
	if (TOYMODEL_ROWS % dist_get_world_size(d.group) != 0) {
		doing = "20 rows cannot be dealt out evenly to so many ranks";
		error = DIST_ERR_INVALID_ARGUMENT;
	} else if (prepare(&d)) {
		error = DIST_OK;
	}
	for (int step = 0; !error && step < STEPS; step++) {
		error = train(&d, &loss);
		if (!error && d.rank == 0)
			agree = toymodel_agrees(&d.alone, &d.batch, RATE, step,
						loss) &&
				agree;
	}
	status = rank_leave(d.group, doing, error) || !agree;
	free(d.parts);
	return status;
}
