/*
 * train.h - synchronous stochastic gradient descent of the ConvNet on digits,
 * "Writing Distributed Applications with PyTorch", Distributed Training.
 */
#ifndef LOCKSTEP_TUTORIAL_TRAIN_H
#define LOCKSTEP_TUTORIAL_TRAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "lockstep/dist.h"
#include "scenarios/tutorial/digits.h"
#include "scenarios/tutorial/nn/convnet.h"

/* What the tutorial trains with. */
#define TRAIN_RATE     0.01F
#define TRAIN_MOMENTUM 0.5F
#define TRAIN_SEED     1234

struct train {
	const struct digits *digits;
	size_t batch; /* samples of a step, over all ranks; 1 or more */
	bool dropout;
	double flops; /* FLOP/s of a device, for the clock of a simulation */
};

/*
 * train_epoch trains the network once on all digits, in the order of the
 * epoch, and stores their mean loss in *loss, the same on every rank.
 *
 * Every step's batch is dealt out to the ranks, and dropout is drawn sample by
 * sample: so any number of ranks computes the same, up to the order of
 * additions. Errors: any group error.
 */
DIST_MUST_CHECK enum dist_error train_epoch(struct dist_group *group,
					    const struct train *train,
					    struct convnet *net, int epoch,
					    double *loss);

#endif
