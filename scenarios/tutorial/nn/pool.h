/* pool.h - max pooling over squares of two by two pixels. */
#ifndef LOCKSTEP_TUTORIAL_NN_POOL_H
#define LOCKSTEP_TUTORIAL_NN_POOL_H

#include <stddef.h>

/* pool_forward writes the largest of each square of the channels at x, of an
 * even side, to y, and where it stood to from. */
void pool_forward(const float *x, size_t channels, size_t side, float *y,
		  size_t *from);

/* pool_backward gives each of num_out gradients at dy to the pixel that it came
 * from; the other ones of num_in at dx get none. */
void pool_backward(const float *dy, const size_t *from, size_t num_out,
		   float *dx, size_t num_in);

#endif
