#include "scenarios/tutorial/nn/loss.h"

#include <math.h>

void log_softmax(float *scores, size_t num)
{
	float max = scores[0], sum = 0;

	for (size_t i = 1; i < num; i++)
		max = fmaxf(max, scores[i]);
	for (size_t i = 0; i < num; i++)
		sum += expf(scores[i] - max);
	for (size_t i = 0; i < num; i++)
		scores[i] = scores[i] - max - logf(sum);
}

double nll_loss(const float *log_probs, size_t num, size_t label, float scale,
		float *d_scores)
{
	for (size_t i = 0; i < num; i++)
		d_scores[i] = scale * (expf(log_probs[i]) - (i == label));
	return -(double)log_probs[label];
}

double mse_loss(const float *y, const float *target, size_t num, size_t total,
		float *dy)
{
	double sum = 0;

	for (size_t i = 0; i < num; i++) {
		float difference = y[i] - target[i];

		sum += (double)difference * (double)difference;
		dy[i] = 2 * difference / (float)total;
	}
	return sum / (double)total;
}
