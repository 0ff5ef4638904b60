#include "scenarios/tutorial/train.h"

#include <stdlib.h>

#include "scenarios/tutorial/device.h"
#include "scenarios/tutorial/partition.h"

/* Adds the gradients of this rank's samples, of the batch's mean loss times
 * the world size; returns the sum of their losses. */
static double train_samples(const struct train *train, struct convnet *net,
			    int epoch, struct partition part, float scale)
{
	float pixels[DIGITS_PIXELS];
	double loss = 0;

	for (size_t i = 0; i < part.num; i++) {
		size_t sample = part.index[i];
		struct random_stream dropout = random_stream(
			TRAIN_SEED + 1,
			(uint64_t)epoch * train->digits->num + sample);

		digits_normalize(train->digits, sample, pixels);
		convnet_forward(net, pixels, train->dropout ? &dropout : NULL);
		loss += convnet_backward(net, train->digits->labels[sample],
					 scale);
	}
	return loss;
}

static enum dist_error average(struct dist_group *group, float *gradient,
			       size_t numel)
{
	float size = (float)dist_get_world_size(group);
	enum dist_error error = dist_all_reduce(
		group, dist_tensor(gradient, numel, DIST_FLOAT32), DIST_SUM,
		NULL);

	for (size_t i = 0; i < numel; i++)
		gradient[i] /= size;
	return error;
}

/* Parameter by parameter, as the tutorial does it; ddp.h packs them. */
static enum dist_error average_gradients(struct dist_group *group,
					 const struct network *network)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; !error && i < network->num_layers; i++) {
		const struct layer *layer = &network->layers[i];

		error = average(group, layer->weight_grad,
				layer->inputs * layer->outputs);
		if (!error)
			error = average(group, layer->bias_grad,
					layer->outputs);
	}
	return error;
}

/* One step on a batch; adds the losses of this rank's samples to *loss. */
static enum dist_error train_batch(struct dist_group *group,
				   const struct train *train,
				   struct convnet *net, int epoch,
				   struct partition batch, double *loss)
{
	int rank = dist_get_rank(group), size = dist_get_world_size(group);
	struct partition part =
		partition_use(batch.index, batch.num, (double)rank / size,
			      (double)(rank + 1) / size);
	enum dist_error error;

	network_zero_grads(&net->network);
	*loss += train_samples(train, net, epoch, part,
			       (float)size / (float)batch.num);
	error = device_spend(
		group, (double)part.num * CONVNET_FLOPS / train->flops * 1e9,
		"forward and backward");
	if (!error)
		error = average_gradients(group, &net->network);
	if (!error)
		network_step(&net->network, TRAIN_RATE, TRAIN_MOMENTUM);
	return error;
}

enum dist_error train_epoch(struct dist_group *group, const struct train *train,
			    struct convnet *net, int epoch, double *loss)
{
	size_t first, num = train->digits->num;
	size_t *shuffled = calloc(num, sizeof *shuffled);
	enum dist_error error = DIST_OK;
	double sum = 0;

	if (!shuffled)
		return DIST_ERR_NO_MEMORY;
	partition_shuffle(shuffled, num, TRAIN_SEED, (uint64_t)epoch);
	for (first = 0; !error && first < num; first += train->batch) {
		size_t left = num - first;
		struct partition batch = {shuffled + first,
					  left < train->batch ? left
							      : train->batch};

		error = train_batch(group, train, net, epoch, batch, &sum);
	}
	free(shuffled);
	if (!error)
		error = dist_all_reduce(group,
					dist_tensor(&sum, 1, DIST_FLOAT64),
					DIST_SUM, NULL);
	*loss = sum / (double)num;
	return error;
}
