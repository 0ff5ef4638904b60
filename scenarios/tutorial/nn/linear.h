/* linear.h - the fully connected layer: every output is a weighted sum of all
 * inputs, and a bias. */
#ifndef LOCKSTEP_TUTORIAL_NN_LINEAR_H
#define LOCKSTEP_TUTORIAL_NN_LINEAR_H

#include "scenarios/tutorial/nn/network.h"

/* linear_forward maps rows of layer->inputs at x to rows of layer->outputs at
 * y: y = x weight^T + bias. */
void linear_forward(const struct layer *layer, const float *x, size_t rows,
		    float *y);

/* linear_backward adds what the gradient dy of the outputs says about the
 * layer's parameters to their gradients, given the forward's x, and writes the
 * gradient of x to dx, unless that is NULL. */
void linear_backward(const struct layer *layer, const float *x, const float *dy,
		     size_t rows, float *dx);

#endif
