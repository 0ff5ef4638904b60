#include "scenarios/tutorial/nn/convnet.h"

#include <stdlib.h>

#include "scenarios/tutorial/nn/layers.h"

/* The layers, and how many elements come out of what. */
enum { CONV1, CONV2, FC1, FC2, LAYERS };
enum {
	CHANNELS1 = 10,
	SIDE1 = 24,
	MAPS1 = CHANNELS1 * SIDE1 * SIDE1,
	POOLED1 = MAPS1 / 4,
	CHANNELS2 = 20,
	SIDE2 = 8,
	MAPS2 = CHANNELS2 * SIDE2 * SIDE2,
	POOLED2 = MAPS2 / 4,
	HIDDEN = 50,
	KERNEL = 5,
	UNDER1 = KERNEL * KERNEL,
	UNDER2 = KERNEL * KERNEL * CHANNELS1
};

static const struct layer_shape shapes[LAYERS] = {
	[CONV1] = {UNDER1, CHANNELS1},
	[CONV2] = {UNDER2, CHANNELS2},
	[FC1] = {POOLED2, HIDDEN},
	[FC2] = {HIDDEN, CONVNET_CLASSES},
};
static const struct conv_shape conv1 = {1, 28, KERNEL};
static const struct conv_shape conv2 = {CHANNELS1, SIDE1 / 2, KERNEL};

struct convnet_image {
	float columns1[UNDER1 * SIDE1 * SIDE1];
	float columns2[UNDER2 * SIDE2 * SIDE2];
	/* What comes out of each stage, written over by its gradient once that
	 * is known, but for pooled and hidden, which ReLU asks for. */
	float maps1[MAPS1];
	float pooled1[POOLED1];
	float maps2[MAPS2];
	float pooled2[POOLED2];
	float hidden[HIDDEN];
	float scores[CONVNET_CLASSES];
	float d_pooled1[POOLED1];
	float d_pooled2[POOLED2];
	float d_hidden[HIDDEN];
	float d_scores[CONVNET_CLASSES];
	size_t from1[POOLED1];
	size_t from2[POOLED2];
	float keep_channel[CHANNELS2];
	float keep_hidden[HIDDEN];
};

bool convnet_init(struct convnet *net, uint64_t seed)
{
	net->image = calloc(1, sizeof *net->image);
	return network_init(&net->network, shapes, LAYERS, seed) && net->image;
}

void convnet_release(struct convnet *net)
{
	network_release(&net->network);
	free(net->image);
	net->image = NULL;
}

const float *convnet_forward(struct convnet *net, const float *pixels,
			     struct random_stream *dropout)
{
	const struct layer *layers = net->network.layers;
	struct convnet_image *i = net->image;

	dropout_draw(dropout, i->keep_channel, CHANNELS2);
	dropout_draw(dropout, i->keep_hidden, HIDDEN);

	conv_forward(&layers[CONV1], &conv1, pixels, i->columns1, i->maps1);
	pool_forward(i->maps1, CHANNELS1, SIDE1, i->pooled1, i->from1);
	relu_forward(i->pooled1, POOLED1);

	conv_forward(&layers[CONV2], &conv2, i->pooled1, i->columns2, i->maps2);
	dropout_apply(i->keep_channel, CHANNELS2, SIDE2 * SIDE2, i->maps2);
	pool_forward(i->maps2, CHANNELS2, SIDE2, i->pooled2, i->from2);
	relu_forward(i->pooled2, POOLED2);

	linear_forward(&layers[FC1], i->pooled2, 1, i->hidden);
	relu_forward(i->hidden, HIDDEN);
	dropout_apply(i->keep_hidden, HIDDEN, 1, i->hidden);

	linear_forward(&layers[FC2], i->hidden, 1, i->scores);
	log_softmax(i->scores, CONVNET_CLASSES);
	return i->scores;
}

double convnet_backward(struct convnet *net, size_t label, float scale)
{
	const struct layer *layers = net->network.layers;
	struct convnet_image *i = net->image;
	double loss =
		nll_loss(i->scores, CONVNET_CLASSES, label, scale, i->d_scores);

	linear_backward(&layers[FC2], i->hidden, i->d_scores, 1, i->d_hidden);
	dropout_apply(i->keep_hidden, HIDDEN, 1, i->d_hidden);
	relu_backward(i->hidden, i->d_hidden, HIDDEN);
	linear_backward(&layers[FC1], i->pooled2, i->d_hidden, 1, i->d_pooled2);

	relu_backward(i->pooled2, i->d_pooled2, POOLED2);
	pool_backward(i->d_pooled2, i->from2, POOLED2, i->maps2, MAPS2);
	dropout_apply(i->keep_channel, CHANNELS2, SIDE2 * SIDE2, i->maps2);
	conv_backward(&layers[CONV2], &conv2, i->maps2, i->columns2,
		      i->d_pooled1);

	relu_backward(i->pooled1, i->d_pooled1, POOLED1);
	pool_backward(i->d_pooled1, i->from1, POOLED1, i->maps1, MAPS1);
	conv_backward(&layers[CONV1], &conv1, i->maps1, i->columns1, NULL);
	return loss;
}
