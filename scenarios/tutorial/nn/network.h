/*
 * network.h - the parameters of a network: layers of a weight and a bias each,
 * laid out one behind the other, with a gradient and a velocity for every
 * element.
 */
#ifndef LOCKSTEP_TUTORIAL_NN_NETWORK_H
#define LOCKSTEP_TUTORIAL_NN_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETWORK_MAX_LAYERS 4

/* What a layer maps to what: of a convolution, the pixels under the kernel in
 * all input channels, and the output channels. */
struct layer_shape {
	size_t inputs;
	size_t outputs;
};

/* One layer: views into the arrays of its network. */
struct layer {
	size_t inputs;
	size_t outputs;
	float *weight; /* outputs rows of inputs */
	float *bias;   /* outputs */
	float *weight_grad;
	float *bias_grad;
};

/* A network; the arrays are its own, of numel elements each. */
struct network {
	struct layer layers[NETWORK_MAX_LAYERS];
	size_t num_layers;
	size_t numel;
	float *params;
	float *grads;
	float *velocity;
};

/*
 * network_init makes a network of num layers, at most NETWORK_MAX_LAYERS, and
 * fills its parameters as torch does: uniform between plus and minus
 * 1 / sqrt(inputs), drawn from seed. The gradients and velocities are zero.
 * Returns false when out of memory; network_release() is right then, too.
 */
bool network_init(struct network *network, const struct layer_shape *shapes,
		  size_t num, uint64_t seed);

void network_release(struct network *network);

/* network_zero_grads makes ready for the next backward, which adds. */
void network_zero_grads(struct network *network);

/*
 * network_step is one step of stochastic gradient descent as torch.optim.SGD
 * takes it: velocity = momentum * velocity + gradient, and the parameter moves
 * by -rate * velocity.
 */
void network_step(struct network *network, float rate, float momentum);

#endif
