/*
 * convnet.h - the network of the MNIST tutorials, 21,840 parameters:
 *
 *	image 28 x 28
 *	conv1 to 10 channels of 24 x 24, max pool to 12 x 12, ReLU
 *	conv2 to 20 channels of 8 x 8, dropout of channels, max pool to 4 x 4,
 *	ReLU
 *	fc1 from 320 to 50, ReLU, dropout
 *	fc2 to 10 scores, log softmax
 *
 * Images pass one by one, and backward adds to the gradients: a batch is a
 * loop.
 */
#ifndef LOCKSTEP_TUTORIAL_NN_CONVNET_H
#define LOCKSTEP_TUTORIAL_NN_CONVNET_H

#include "scenarios/tutorial/nn/network.h"
#include "scenarios/tutorial/nn/random.h"

#define CONVNET_NUMEL   21840
#define CONVNET_PIXELS  784
#define CONVNET_CLASSES 10

/*
 * Operations that training on one image takes: a multiplication and an addition
 * for each weight at each place, once forward and, for the gradients of inputs
 * and weights, twice backward.
 */
#define CONVNET_FLOPS                                                          \
	(3 * 2.0 * (250 * 24 * 24 + 5000 * 8 * 8 + 320 * 50 + 50 * 10))

/* The activations of the image at hand. */
struct convnet_image;

struct convnet {
	struct network network;
	struct convnet_image *image; /* owned */
};

/* convnet_init makes a network with parameters drawn from seed. Returns false
 * when out of memory; convnet_release() is right then, too. */
bool convnet_init(struct convnet *net, uint64_t seed);

void convnet_release(struct convnet *net);

/*
 * convnet_forward returns the logarithms of the probabilities of the classes,
 * valid until the next image. pixels stays the caller's and is read again by
 * backward. What is dropped is drawn from dropout; NULL: nothing.
 */
const float *convnet_forward(struct convnet *net, const float *pixels,
			     struct random_stream *dropout);

/* convnet_backward returns the loss of the image that went forward last and
 * adds its gradients, times scale, to the network's. */
double convnet_backward(struct convnet *net, size_t label, float scale);

#endif
