/* loss.h - how wrong a network is, and the gradient of that. */
#ifndef LOCKSTEP_TUTORIAL_NN_LOSS_H
#define LOCKSTEP_TUTORIAL_NN_LOSS_H

#include <stddef.h>

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
