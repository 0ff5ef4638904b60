/* layers.h - the layers of the tutorials' networks, what stands between them,
 * and how wrong a network is. */
#ifndef LOCKSTEP_TUTORIAL_NN_LAYERS_H
#define LOCKSTEP_TUTORIAL_NN_LAYERS_H

#include "scenarios/tutorial/nn/network.h"
#include "scenarios/tutorial/nn/random.h"

/* The fully connected layer: every output is a weighted sum of all inputs, and
 * a bias. */

/* linear_forward maps rows of layer->inputs at x to rows of layer->outputs at
 * y: y = x weight^T + bias. */
void linear_forward(const struct layer *layer, const float *x, size_t rows,
		    float *y);

/* linear_backward adds what the gradient dy of the outputs says about the
 * layer's parameters to their gradients, given the forward's x, and writes the
 * gradient of x to dx, unless that is NULL. */
void linear_backward(const struct layer *layer, const float *x, const float *dy,
		     size_t rows, float *dx);

/*
 * The convolution of one image as a matrix product: what lies under the kernel
 * at each place becomes a column (im2col), and the weights times all columns
 * are the output.
 */

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

/* ---- max pooling over squares of two by two pixels --------------------- */

/* pool_forward writes the largest of each square of the channels at x, of an
 * even side, to y, and where it stood to from. */
void pool_forward(const float *x, size_t channels, size_t side, float *y,
		  size_t *from);

/* pool_backward gives each of num_out gradients at dy to the pixel that it came
 * from; the other ones of num_in at dx get none. */
void pool_backward(const float *dy, const size_t *from, size_t num_out,
		   float *dx, size_t num_in);

/* ---- between layers, in place: ReLU and dropout ------------------------ */

/* relu_forward replaces what is negative by 0. */
void relu_forward(float *x, size_t num);

/* relu_backward removes the gradients of what is 0 in y, forward's result. */
void relu_backward(const float *y, float *dy, size_t num);

/* dropout_draw fills num factors: 0 or 2, each with probability one half, or 1
 * when stream is NULL (no dropout). */
void dropout_draw(struct random_stream *stream, float *factors, size_t num);

/* dropout_apply multiplies num groups of size elements by their factors: values
 * forward, gradients backward. A group of one is dropout; of a channel,
 * dropout2d. */
void dropout_apply(const float *factors, size_t num, size_t size, float *x);

/* ---- how wrong a network is, and the gradient of that ------------------- */

/* log_softmax replaces num scores by the logarithms of their probabilities. */
void log_softmax(float *scores, size_t num);

/* nll_loss returns the negative logarithm of the probability of class label,
 * and writes its gradient by the scores, times scale, to d_scores. */
double nll_loss(const float *log_probs, size_t num, size_t label, float scale,
		float *d_scores);

/* mse_loss returns what num of the elements of a batch, of which there are
 * total, add to its mean squared difference from target, and writes the
 * gradient of that by y to dy. */
double mse_loss(const float *y, const float *target, size_t num, size_t total,
		float *dy);

#endif
