/* schedule.h - the computing time of a training step, by layer. */
#ifndef LOCKSTEP_MODEL_TRAINING_SCHEDULE_H
#define LOCKSTEP_MODEL_TRAINING_SCHEDULE_H

#include <stdint.h>

#include "model/training/model.h"

/*
 * The time of a backward pass in forward passes: one product for the gradient
 * of the weights and one for that of the inputs (J. Hoffmann et al., "Training
 * Compute-Optimal Large Language Models", 2022, appendix F).
 */
#define SCHEDULE_BACKWARD_FACTOR 2.0

/* SGD with momentum: two multiply-adds for every element. It is really bound by
 * memory, but small compared with the rest. */
#define SCHEDULE_OPTIMIZER_FLOPS 4.0

/*
 * The overhead of a data-parallel step on each GPU, compared with a step on one
 * GPU. All 0: none, or not known for the device.
 */
struct schedule_job {
	double tensor_ns; /* of DDP for each gradient: its hook, and copying it
			     into its bucket and back */
	double bucket_ns; /* of DDP for each bucket: launches */
	double doubling;  /* share of computing for each doubling of the GPUs: a
			     step waits for the slowest GPU, and kernels of the
			     library take SMs and memory bandwidth from those of
			     backward */
};

/*
 * The overhead of PyTorch's DDP with NCCL on NVIDIA's GPUs. tensor_ns and
 * bucket_ns are the difference on one V100 with DDP and without: ResNet-50 97,
 * 100 and 101 ms, ResNeXt-50 145, 147 and 149 ms, without and in buckets of 25
 * and of 1 MiB, 161 tensors each
 * (scenarios/measured/steps/pytorch-ddp-benchmark.tsv). doubling is what
 * step_outcome_doubling() finds in all tables of steps.
 */
extern const struct schedule_job schedule_job_gpu;
#define SCHEDULE_JOB_TABLE "pytorch-ddp-benchmark"

/* schedule_job_factor returns the computing time on each of so many GPUs
 * divided by the time on one GPU. */
double schedule_job_factor(const struct schedule_job *job, int gpus);

/* schedule_job_tensor_ns returns the time that each of so many gradients adds
 * to backward, with its share of the buckets. */
double schedule_job_tensor_ns(const struct schedule_job *job, size_t tensors,
			      size_t buckets);

/* The speed of the device; a measured time has precedence. */
struct schedule_rate {
	double batch;            /* samples a step and rank, above 0 */
	double flops;            /* achieved FLOP/s, above 0 unless step_ms is
				    set */
	double step_ms;          /* measured one-device step; 0: not known */
	bool no_compute;         /* all durations are 0: only communication */
	struct schedule_job job; /* not counted in step_ms */
};

/* Durations of one step. */
struct schedule {
	int64_t forward_ns;
	int64_t *backward_ns; /* by row of the model; owned */
	int64_t optimizer_ns;
	int64_t total_ns;        /* sum of all */
	struct schedule_job job; /* overheads, not included above */
};

/*
 * schedule_init divides the step's time among forward, the rows' backward and
 * the optimizer in proportion to their FLOP; with step_ms they add up to it.
 * Errors: DIST_ERR_INVALID_ARGUMENT (a rate outside its range, or a step above
 * a year), DIST_ERR_NO_MEMORY; then *schedule is empty.
 */
DIST_MUST_CHECK enum dist_error schedule_init(struct schedule *schedule,
					      const struct model *model,
					      const struct schedule_rate *rate);

/* schedule_release frees what schedule holds. */
void schedule_release(struct schedule *schedule);

#endif
