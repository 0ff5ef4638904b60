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

/*
 * What a GPU takes for its part of a data-parallel step beside what the step
 * takes alone. All 0: nothing, as of a device that nobody knows.
 */
struct schedule_job {
	double tensor_ns; /* of DDP for each gradient: its hook, the copies into
			     its bucket and out of it */
	double bucket_ns; /* and for each bucket: the launches */
	double doubling;  /* share of its computing, for each doubling of the
			     GPUs: a step waits for the slowest of them, and
			     kernels of the library take processors and memory
			     from those of backward */
};

/*
 * That of PyTorch's DDP with NCCL on NVIDIA's GPUs. tensor_ns and bucket_ns are
 * the difference on one V100 with DDP and without: ResNet-50 97, 100 and 101
 * ms, ResNeXt-50 145, 147 and 149 ms, without and in buckets of 25 and of 1
 * MiB, 161 tensors each (scenarios/measured/steps/pytorch-ddp-benchmark.tsv).
 * doubling is what step_outcome_doubling() finds in all tables of steps.
 */
extern const struct schedule_job schedule_job_gpu;
#define SCHEDULE_JOB_TABLE "pytorch-ddp-benchmark"

/* schedule_job_factor returns what computing takes on one of so many GPUs, as a
 * multiple of what it takes alone. */
double schedule_job_factor(const struct schedule_job *job, int gpus);

/* schedule_job_tensor_ns returns what each of so many gradients adds to
 * backward, its share of the buckets' included. */
double schedule_job_tensor_ns(const struct schedule_job *job, size_t tensors,
			      size_t buckets);

/* How fast the device computes; the measured time wins where it is set. */
struct schedule_rate {
	double batch;            /* samples a step and rank, above 0 */
	double flops;            /* achieved FLOP/s, above 0 unless there is: */
	double step_ms;          /* measured one-device step; 0: not known */
	bool no_compute;         /* all durations 0: communication alone */
	struct schedule_job job; /* not counted in step_ms */
};

/* Durations of one step. */
struct schedule {
	int64_t forward_ns;
	int64_t *backward_ns; /* by row of the model; owned */
	int64_t optimizer_ns;
	int64_t total_ns;        /* sum of all */
	struct schedule_job job; /* what is not among them */
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
