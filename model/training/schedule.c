#include "model/training/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct schedule_job schedule_job_gpu = {
	.tensor_ns = 15e3, .bucket_ns = 27e3, .doubling = 0.011};

double schedule_job_factor(const struct schedule_job *job, int gpus)
{
	return 1 + job->doubling * log2(gpus);
}

double schedule_job_tensor_ns(const struct schedule_job *job, size_t tensors,
			      size_t buckets)
{
	return job->tensor_ns +
	       job->bucket_ns * (double)buckets / (double)tensors;
}

/* A bound that keeps every duration far from the end of int64_t. */
#define YEAR_NS 3.2e16

/* Nanoseconds a FLOP takes; negative when rate cannot be used. */
static double ns_per_flop(const struct model *model,
			  const struct schedule_rate *rate)
{
	double flops = model->forward_flops * rate->batch *
			       (1 + SCHEDULE_BACKWARD_FACTOR) +
		       (double)model->numel * SCHEDULE_OPTIMIZER_FLOPS;
	double ns;

	if (!(rate->batch > 0) || !(rate->step_ms >= 0) ||
	    !(rate->flops > 0 || rate->step_ms > 0))
		return -1;
	ns = rate->step_ms > 0 ? rate->step_ms * 1e6 / flops
			       : 1e9 / rate->flops;
	if (!(ns * flops <= YEAR_NS))
		return -1;
	return rate->no_compute ? 0 : ns;
}

enum dist_error schedule_init(struct schedule *schedule,
			      const struct model *model,
			      const struct schedule_rate *rate)
{
	double ns = ns_per_flop(model, rate);

	memset(schedule, 0, sizeof *schedule);
	if (ns < 0)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!rate->no_compute)
		schedule->job = rate->job;
	schedule->backward_ns =
		calloc(model->num_rows, sizeof *schedule->backward_ns);
	if (!schedule->backward_ns)
		return DIST_ERR_NO_MEMORY;
	schedule->forward_ns = llround(model->forward_flops * rate->batch * ns);
	schedule->optimizer_ns =
		llround((double)model->numel * SCHEDULE_OPTIMIZER_FLOPS * ns);
	schedule->total_ns = schedule->forward_ns + schedule->optimizer_ns;
	for (size_t i = 0; i < model->num_rows; i++) {
		schedule->backward_ns[i] =
			llround(model->rows[i].forward_flops * rate->batch *
				SCHEDULE_BACKWARD_FACTOR * ns);
		schedule->total_ns += schedule->backward_ns[i];
	}
	return DIST_OK;
}

void schedule_release(struct schedule *schedule)
{
	free(schedule->backward_ns);
	memset(schedule, 0, sizeof *schedule);
}
