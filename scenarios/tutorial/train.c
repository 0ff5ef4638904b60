#include "scenarios/tutorial/train.h"

#include <stdlib.h>
#include <string.h>

#include "scenarios/tutorial/device.h"
#include "scenarios/tutorial/partition.h"

#define RATE 0.05F
#define SEED 1234

void samples_draw(struct samples *samples)
{
	const struct rows all = {0, TOYMODEL_ROWS};
	struct toymodel teacher;

	toymodel_init(&teacher, SEED + 1);
	for (size_t row = 0; row < TRAIN_SAMPLES; row += TOYMODEL_ROWS) {
		struct toymodel_batch batch = toymodel_batch(SEED, row);

		toymodel_forward1(&teacher, batch.inputs, all);
		toymodel_forward2(&teacher, all);
		memcpy(samples->inputs + row * TOYMODEL_INPUTS, batch.inputs,
		       sizeof batch.inputs);
		memcpy(samples->labels + row * TOYMODEL_OUTPUTS,
		       teacher.outputs, sizeof teacher.outputs);
	}
}

/* Adds the gradients of this rank's samples, of the mean loss of num_rows;
 * returns the sum of their losses. */
static double train_samples(const struct train *train, struct toymodel *model,
			    struct partition part, double num_rows)
{
	const struct rows one = {0, 1};
	double loss = 0;

	for (size_t i = 0; i < part.num; i++) {
		size_t sample = part.index[i];
		const float *inputs =
			train->samples->inputs + sample * TOYMODEL_INPUTS;

		toymodel_forward1(model, inputs, one);
		toymodel_forward2(model, one);
		loss += toymodel_loss(model,
				      train->samples->labels +
					      sample * TOYMODEL_OUTPUTS,
				      one, num_rows) *
			num_rows;
		toymodel_backward2(model, one);
		toymodel_backward1(model, inputs, one, NULL);
	}
	return loss;
}

static enum dist_error average(struct dist_group *group, float *gradient,
			       size_t numel)
{
	return dist_all_reduce(group,
			       dist_tensor(gradient, numel, DIST_FLOAT32),
			       DIST_AVG, NULL);
}

/* Parameter by parameter, as the tutorial does it; ddp.h packs them. */
static enum dist_error average_gradients(struct dist_group *group,
					 struct toymodel *model)
{
	enum dist_error error = DIST_OK;

	for (int i = 0; !error && i < TOYMODEL_LAYERS; i++) {
		struct layer layer = toymodel_layer(model, i);

		error = average(group, layer.weight_grad,
				layer.inputs * layer.outputs);
		if (!error)
			error = average(group, layer.bias_grad, layer.outputs);
	}
	return error;
}

/* One step on a batch; adds the losses of this rank's samples to *loss. */
static enum dist_error train_batch(struct dist_group *group,
				   const struct train *train,
				   struct toymodel *model,
				   struct partition batch, double *loss)
{
	int rank = dist_get_rank(group), size = dist_get_world_size(group);
	struct partition part =
		partition_use(batch.index, batch.num, (double)rank / size,
			      (double)(rank + 1) / size);
	enum dist_error error;

	toymodel_zero_grads(model);
	/* The average over the ranks is that of the batch. */
	*loss += train_samples(train, model, part, (double)batch.num / size);
	error = device_spend(
		group, (double)part.num * TOYMODEL_FLOPS / train->flops * 1e9,
		"forward and backward");
	if (!error)
		error = average_gradients(group, model);
	if (!error)
		toymodel_step(model, RATE);
	return error;
}

enum dist_error train_epoch(struct dist_group *group, const struct train *train,
			    struct toymodel *model, int epoch, double *loss)
{
	size_t shuffled[TRAIN_SAMPLES], num = train->num;
	enum dist_error error = DIST_OK;
	double sum = 0;

	partition_shuffle(shuffled, num, SEED, (uint64_t)epoch);
	for (size_t first = 0; !error && first < num; first += train->batch) {
		size_t left = num - first;
		struct partition batch = {shuffled + first,
					  left < train->batch ? left
							      : train->batch};

		error = train_batch(group, train, model, batch, &sum);
	}
	if (!error)
		error = dist_all_reduce(group,
					dist_tensor(&sum, 1, DIST_FLOAT64),
					DIST_SUM, NULL);
	*loss = sum / (double)num;
	return error;
}
