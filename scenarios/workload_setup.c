/* From checked arguments to a job. */
#include "scenarios/workload.h"

#include <string.h>

#include "scenarios/gpu.h"

/* Up to there a double holds every whole number. */
#define MOST_ELEMENTS 0x1p53

/* Chooses the rate, and says what it stands on. */
static enum dist_error choose_rate(struct workload_setup *setup,
				   const struct workload_arguments *a,
				   struct schedule_rate *rate,
				   struct dist_message *message)
{
	struct gpu_rate gpu = {.words = ""};
	enum dist_error err = DIST_OK;

	*rate = a->rate;
	if (a->precision && !a->gpu) {
		snprintf(message->text, sizeof(message->text),
			 "--precision: expected --gpu too");
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (a->gpu)
		err = gpu_find(a->gpu, a->precision, setup->model.name, &gpu,
			       message);
	if (err)
		return err;
	if (a->gpu)
		rate->flops = gpu.flops;
	if (rate->step_ms > 0)
		snprintf(setup->compute, sizeof(setup->compute),
			 "%g ms a step on one device, as measured",
			 rate->step_ms);
	else
		snprintf(setup->compute, sizeof(setup->compute),
			 "batch %g a rank at %g TFLOP/s achieved%s%s",
			 rate->batch, rate->flops / 1e12, a->gpu ? " by " : "",
			 gpu.words);
	return DIST_OK;
}

/* Whether what leaves a layer can be counted, also where each token goes to
 * several experts. */
static enum dist_error check_activations(const struct workload_setup *setup,
					 const struct workload_arguments *a,
					 struct dist_message *message)
{
	size_t l;

	for (l = 0; l < setup->layers.num; l++) {
		double elements = (double)setup->layers.list[l].activation *
				  a->rate.batch * a->top_k;

		if (elements <= MOST_ELEMENTS)
			continue;
		snprintf(message->text, sizeof(message->text),
			 "--batch %g: expected less: more than 2^53 elements "
			 "would leave a layer of %s",
			 a->rate.batch, setup->model.name);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	return DIST_OK;
}

static enum dist_error choose_pace(struct workload_setup *setup,
				   const struct workload_arguments *a,
				   struct dist_message *message)
{
	size_t used = strlen(setup->compute);

	setup->pace.jitter = a->jitter_percent / 100;
	setup->pace.seed = (uint64_t)a->seed;
	if (a->jitter_percent > 0)
		used += (size_t)snprintf(
			setup->compute + used, sizeof(setup->compute) - used,
			", jitter %g %% (seed %d)", a->jitter_percent, a->seed);
	if (a->stragglers && used < sizeof(setup->compute))
		snprintf(setup->compute + used, sizeof(setup->compute) - used,
			 ", stragglers %.60s", a->stragglers);
	return pace_read(&setup->pace, a->stragglers, message);
}

bool workload_fits(const struct workload_job *job, int world_size,
		   struct dist_message *message)
{
	const struct pace *pace = job->pace;
	size_t i;

	for (i = 0; i < pace->num_stragglers; i++) {
		if (pace->stragglers[i].rank < world_size)
			continue;
		snprintf(
			message->text, sizeof(message->text),
			"--straggler: no rank %d: expected 0 to %d, of a world "
			"of %d",
			pace->stragglers[i].rank, world_size - 1, world_size);
		return false;
	}
	return !job->workload->fits ||
	       job->workload->fits(job, world_size, message);
}

static enum dist_error make_schedules(struct workload_setup *setup,
				      struct schedule_rate *rate,
				      struct dist_message *message)
{
	enum dist_error err =
		schedule_init(&setup->schedule, &setup->model, rate);

	rate->no_compute = true;
	if (!err)
		err = schedule_init(&setup->no_computing, &setup->model, rate);
	if (err)
		snprintf(message->text, sizeof(message->text), "%s",
			 err == DIST_ERR_NO_MEMORY
				 ? dist_error_string(err)
				 : "a step of this batch and rate cannot be "
				   "timed");
	return err;
}

enum dist_error workload_setup_init(struct workload_setup *setup,
				    const struct workload *workload,
				    const struct workload_arguments *a,
				    struct dist_message *message)
{
	struct schedule_rate rate;
	enum dist_error err;

	memset(setup, 0, sizeof(*setup));
	message->text[0] = '\0';
	err = model_load(&setup->model, a->model ? a->model : "resnet50",
			 message);
	if (!err)
		err = layers_init(&setup->layers, &setup->model);
	if (!err)
		err = check_activations(setup, a, message);
	if (!err)
		err = choose_rate(setup, a, &rate, message);
	if (!err)
		err = choose_pace(setup, a, message);
	if (!err)
		err = make_schedules(setup, &rate, message);
	setup->job = (struct workload_job){
		.workload = workload,
		.arguments = a,
		.model = &setup->model,
		.layers = &setup->layers,
		.schedule = &setup->schedule,
		.pace = &setup->pace,
	};
	if (err && !*message->text)
		snprintf(message->text, sizeof(message->text), "%s",
			 dist_error_string(err));
	return err;
}

void workload_setup_release(struct workload_setup *setup)
{
	schedule_release(&setup->no_computing);
	schedule_release(&setup->schedule);
	layers_release(&setup->layers);
	model_release(&setup->model);
}
