/*
 * step.h - what a data-parallel step of a model takes: its computing, as one
 * GPU takes it alone, and what of its communication does not hide behind that.
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
	struct schedule_job job; /* of each of them, beside alone_ms; what is
				    DDP's of BUCKETED alone */

	/* What an all-reduce of so many bytes of float32 takes. */
	double (*cost_ns)(const void *arg, size_t bytes);
	const void *cost_arg;
};

/* step_predict stores the time of a step in *ms. Errors: INVALID_ARGUMENT (a
 * time of 0 or above a year), NO_MEMORY. */
DIST_MUST_CHECK enum dist_error step_predict(const struct step *step,
					     double *ms);

#endif
