/* activation.h - what stands between layers, in place: ReLU and dropout. */
#ifndef LOCKSTEP_TUTORIAL_NN_ACTIVATION_H
#define LOCKSTEP_TUTORIAL_NN_ACTIVATION_H

#include <stddef.h>

#include "scenarios/tutorial/nn/random.h"

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

#endif
