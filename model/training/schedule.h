/* schedule.h - how long one training step computes, layer by layer. */
#ifndef LOCKSTEP_MODEL_TRAINING_SCHEDULE_H
#define LOCKSTEP_MODEL_TRAINING_SCHEDULE_H

#include <stdint.h>

#include "model/training/model.h"

/*
 * What a backward pass costs, in forward passes: one product for the gradient
 * of the weights and one for that of the inputs (J. Hoffmann et al., "Training
 * Compute-Optimal Large Language Models", 2022, appendix F).
 */
#define SCHEDULE_BACKWARD_FACTOR 2.0

/* SGD with momentum: two multiply-adds for every element. In truth bound by
 * memory, but small beside the rest. */
#define SCHEDULE_OPTIMIZER_FLOPS 4.0

/* How fast the device computes; the measured time wins where it is set. */
struct schedule_rate {
	double batch;    /* samples a step and rank, above 0 */
	double flops;    /* achieved FLOP/s, above 0 unless there is: */
	double step_ms;  /* measured one-device step; 0: not known */
	bool no_compute; /* all durations 0: communication alone */
};

/* Durations of one step. */
struct schedule {
	int64_t forward_ns;
	int64_t *backward_ns; /* by row of the model; owned */
	int64_t optimizer_ns;
	int64_t total_ns; /* sum of all */
};

/*
 * schedule_init spreads the step's time over forward, the rows' backward and
 * the optimizer in proportion to their FLOP; with step_ms so that all of it
 * takes that long. Errors: DIST_ERR_INVALID_ARGUMENT (a rate outside its range,
 * or a step above a year), DIST_ERR_NO_MEMORY; then *schedule is empty.
 */
DIST_MUST_CHECK enum dist_error schedule_init(struct schedule *schedule,
					      const struct model *model,
					      const struct schedule_rate *rate);

/* schedule_release frees what schedule holds. */
void schedule_release(struct schedule *schedule);

#endif
