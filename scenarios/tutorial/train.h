/*
 * train.h - synchronous stochastic gradient descent of the ToyModel on samples,
 * "Writing Distributed Applications with PyTorch", Distributed Training.
 */
#ifndef LOCKSTEP_TUTORIAL_TRAIN_H
#define LOCKSTEP_TUTORIAL_TRAIN_H

#include <stddef.h>

#include "lockstep/dist.h"
#include "scenarios/tutorial/toymodel.h"

#define TRAIN_SAMPLES 640

/* What there is to learn: random rows, and what another ToyModel makes of
 * them. */
struct samples {
	float inputs[TRAIN_SAMPLES * TOYMODEL_INPUTS];
	float labels[TRAIN_SAMPLES * TOYMODEL_OUTPUTS];
};

void samples_draw(struct samples *samples);

struct train {
	const struct samples *samples;
	size_t num;   /* of the samples, 1 or more */
	size_t batch; /* samples of a step, over all ranks; 1 or more */
	double flops; /* FLOP/s of a device, for the clock of a simulation */
};

/*
 * train_epoch trains the model once on all samples, in the order of the epoch,
 * and stores their mean loss in *loss, the same on every rank.
 *
 * Every step's batch is dealt out to the ranks: so any number of them computes
 * the same, up to the order of additions. Errors: any group error.
 */
DIST_MUST_CHECK enum dist_error train_epoch(struct dist_group *group,
					    const struct train *train,
					    struct toymodel *model, int epoch,
					    double *loss);

#endif
