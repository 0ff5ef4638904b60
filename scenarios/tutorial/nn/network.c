#include "scenarios/tutorial/nn/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/tutorial/nn/random.h"

static void fill(float *values, size_t num, float bound,
		 struct random_stream *stream)
{
	for (size_t i = 0; i < num; i++)
		values[i] = random_uniform(stream, -bound, bound);
}

/* Places a layer at element first of the arrays and draws its parameters;
 * returns where the next one starts. */
static size_t place(struct network *network, struct layer *layer,
		    const struct layer_shape *shape, size_t first,
		    struct random_stream *stream)
{
	size_t weights = shape->inputs * shape->outputs;
	float bound = 1 / sqrtf((float)shape->inputs);

	layer->inputs = shape->inputs;
	layer->outputs = shape->outputs;
	layer->weight = network->params + first;
	layer->weight_grad = network->grads + first;
	layer->bias = layer->weight + weights;
	layer->bias_grad = layer->weight_grad + weights;
	fill(layer->weight, weights, bound, stream);
	fill(layer->bias, shape->outputs, bound, stream);
	return first + weights + shape->outputs;
}

bool network_init(struct network *network, const struct layer_shape *shapes,
		  size_t num, uint64_t seed)
{
	struct random_stream stream = random_stream(seed, 0);
	size_t i, first = 0;

	memset(network, 0, sizeof *network);
	network->num_layers = num;
	for (i = 0; i < num; i++)
		network->numel += (shapes[i].inputs + 1) * shapes[i].outputs;
	network->params = calloc(network->numel, sizeof(float));
	network->grads = calloc(network->numel, sizeof(float));
	network->velocity = calloc(network->numel, sizeof(float));
	if (!network->params || !network->grads || !network->velocity)
		return false;
	for (i = 0; i < num; i++)
		first = place(network, &network->layers[i], &shapes[i], first,
			      &stream);
	return true;
}

void network_release(struct network *network)
{
	free(network->params);
	free(network->grads);
	free(network->velocity);
	memset(network, 0, sizeof *network);
}

void network_zero_grads(struct network *network)
{
	memset(network->grads, 0, network->numel * sizeof(float));
}

void network_step(struct network *network, float rate, float momentum)
{
	for (size_t i = 0; i < network->numel; i++) {
		network->velocity[i] =
			momentum * network->velocity[i] + network->grads[i];
		network->params[i] -= rate * network->velocity[i];
	}
}
