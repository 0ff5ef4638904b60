#include "model/training/step.h"

#include <math.h>
#include <stdlib.h>

#include "lockstep/ddp.h"
#include "model/training/schedule.h"

#define MIB (1024.0 * 1024)

/* Fills gradients with those of the model, as backward comes by them at factor
 * times its pace, each adding tensor_ns; returns when it ends. */
static double compute(const struct model *model,
		      const struct schedule *schedule, double factor,
		      double tensor_ns, struct stream_gradient *gradients)
{
	double now_ns = factor * (double)schedule->forward_ns;
	size_t num = 0;

	for (size_t i = model->num_rows; i-- > 0;) {
		now_ns += factor * (double)schedule->backward_ns[i];
		if (model->rows[i].numel == 0)
			continue;
		now_ns += factor * tensor_ns;
		gradients[num++] = (struct stream_gradient){
			now_ns, model->rows[i].numel * sizeof(float)};
	}
	return now_ns;
}

/* The last micro-batch, from its forward to the end of the optimizer. */
static double last_ns(const struct step *step, const struct schedule *schedule,
		      struct stream_gradient *gradients)
{
	double factor = schedule_job_factor(&step->job, step->gpus);
	double cap_mb = step->bucket_cap_mb, tensor_ns = 0, backward_ns;
	const struct stream stream = {
		.gradients = gradients,
		.num = step->model->num_parameters,
		.cost_ns = step->cost_ns,
		.cost_arg = step->cost_arg,
		.first_bytes = DIST_DDP_FIRST_BUCKET_MB * MIB,
		.rest_bytes =
			(cap_mb > 0 ? cap_mb : DIST_DDP_BUCKET_CAP_MB) * MIB,
	};

	compute(step->model, schedule, factor, 0, gradients);
	if (step->schedule == STREAM_BUCKETED)
		tensor_ns = schedule_job_tensor_ns(&step->job, stream.num,
						   stream_num_buckets(&stream));
	backward_ns =
		compute(step->model, schedule, factor, tensor_ns, gradients);
	return fmax(backward_ns, stream_end_ns(&stream, step->schedule)) +
	       factor * (double)schedule->optimizer_ns;
}

enum dist_error step_predict(const struct step *step, double *ms)
{
	const double each_ms = step->alone_ms / step->accumulation;
	const struct schedule_rate rate = {
		.batch = 1, .flops = 1, .step_ms = each_ms};
	struct stream_gradient *gradients =
		calloc(step->model->num_parameters, sizeof *gradients);
	struct schedule schedule = {0};
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (gradients && each_ms > 0)
		error = schedule_init(&schedule, step->model, &rate);
	else if (gradients)
		error = DIST_ERR_INVALID_ARGUMENT;
	if (!error)
		*ms = schedule_job_factor(&step->job, step->gpus) *
			      (step->alone_ms - each_ms) +
		      last_ns(step, &schedule, gradients) / 1e6;
	schedule_release(&schedule);
	free(gradients);
	return error;
}
