/*
 * conv.h - the convolution of one image as a matrix product: what lies under
 * the kernel at each place becomes a column (im2col), and the weights times all
 * columns are the output.
 */
#ifndef LOCKSTEP_TUTORIAL_NN_CONV_H
#define LOCKSTEP_TUTORIAL_NN_CONV_H

#include "scenarios/tutorial/nn/network.h"

/* A square image of several channels, and the kernel that passes over it one
 * pixel at a time, without a margin. */
struct conv_shape {
	size_t channels;
	size_t side;
	size_t kernel;
};

/* conv_forward maps the channels at x to layer->outputs channels of side -
 * kernel + 1 at y. The columns, layer->inputs rows of an output channel's
 * pixels, are left for backward. */
void conv_forward(const struct layer *layer, const struct conv_shape *shape,
		  const float *x, float *columns, float *y);

/* conv_backward adds what the gradient dy of the outputs says about the layer's
 * parameters to their gradients, given the forward's columns, which it uses up,
 * and writes the gradient of x to dx, unless that is NULL. */
void conv_backward(const struct layer *layer, const struct conv_shape *shape,
		   const float *dy, float *columns, float *dx);

#endif
