/*
 * step.h - the time of a data-parallel step of a model: its computing time on
 * one GPU, and its communication that does not overlap with it.
 */
#ifndef LOCKSTEP_MODEL_TRAINING_STEP_H
#define LOCKSTEP_MODEL_TRAINING_STEP_H

#include "lockstep/dist.h"
#include "model/training/schedule.h"
#include "model/training/stream.h"

struct step {
	const struct model *model;
	double alone_ms;  /* on one GPU, all its micro-batches */
	int accumulation; /* micro-batches, 1 or more; gradients are averaged
			     during the last one */
	enum stream_schedule schedule;
	double bucket_cap_mb; /* BUCKETED; 0: the default of DDP */
	int gpus;
	struct schedule_job job; /* overhead of each GPU; the part of DDP only
				    for BUCKETED */

	/* Returns the time of an all-reduce of float32. */
	double (*cost_ns)(const void *arg, size_t bytes);
	const void *cost_arg;
};

/* step_predict stores the time of a step in *ms. Errors: INVALID_ARGUMENT (a
 * time of 0 or above a year), NO_MEMORY. */
DIST_MUST_CHECK enum dist_error step_predict(const struct step *step,
					     double *ms);

#endif
