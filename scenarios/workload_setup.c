/* From checked arguments to a job. */
#include "base/refuse.h"
#include "base/text.h"
#include "scenarios/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to there a double holds every whole number. */
#define MOST_ELEMENTS 0x1p53

/* ResNet-50 in mixed precision trains at 60.6e12 FLOP/s on an A100 (NVIDIA
 * DeepLearningExamples: 2470 images/s at batch 256, times three forward
 * passes). */
#define NOMINAL_FLOPS 60e12

/* Chooses the rate where no step was measured; words say what it stands on. */
static enum dist_error choose_flops(const struct workload_setup *setup,
				    const struct workload_arguments *a,
				    bool nominal, struct gpu_rate *rate,
				    struct dist_message *message)
{
	if (a->rate.flops > 0) {
		*rate = (struct gpu_rate){a->rate.flops, " achieved"};
		return DIST_OK;
	}
	if (setup->gpu.name[0])
		return gpu_choose(&setup->gpu, a->precision, rate, message);
	*rate = (struct gpu_rate){NOMINAL_FLOPS, ", assumed: none was given"};
	if (nominal)
		return DIST_OK;
	return dist__refuse(
		message,
		"expected --gpu, --flops or --step-ms: nothing says how fast a "
		"device computes");
}

/* What DDP on a GPU takes beside its computing, of which the words say too. */
static void choose_job(struct workload_setup *setup,
		       const struct workload *workload,
		       struct schedule_rate *rate)
{
	if (workload != &workload_ddp_step || !setup->gpu.name[0])
		return;
	rate->job = schedule_job_gpu;
	(void)dist__append(
		setup->compute, sizeof setup->compute,
		"; in DDP %g us more a tensor, %g us a bucket, %g %% each "
		"doubling of ranks",
		rate->job.tensor_ns / 1e3, rate->job.bucket_ns / 1e3,
		100 * rate->job.doubling);
}

/* Chooses the device and its rate, and says what that stands on. */
static enum dist_error choose_rate(struct workload_setup *setup,
				   const struct workload_arguments *a,
				   const char *gpu, struct schedule_rate *rate,
				   struct dist__refusal *refusal)
{
	const char *name = a->gpu ? a->gpu : gpu;
	enum dist_error error = DIST_OK;
	struct gpu_rate chosen;

	*rate = a->rate;
	if (a->precision && !(name && *name))
		return dist__refuse_option(refusal, "precision",
					   "--precision: expected --gpu too");
	refusal->option = a->precision ? "precision" : "gpu";
	if (name && *name)
		error = gpu_find(&setup->gpu, name, setup->model.name,
				 &refusal->message);
	if (error)
		return error;
	if (rate->step_ms > 0) {
		/* FLOP/s of a whole step of the model that takes so long. */
		setup->flops = setup->model.forward_flops * rate->batch *
			       (1 + SCHEDULE_BACKWARD_FACTOR) / rate->step_ms *
			       1e3;
		snprintf(setup->compute, sizeof setup->compute,
			 "%g ms a step on one device, as measured",
			 rate->step_ms);
		return DIST_OK;
	}
	error = choose_flops(setup, a, !gpu, &chosen, &refusal->message);
	if (error)
		return error;
	setup->flops = rate->flops = chosen.flops;
	snprintf(setup->compute, sizeof setup->compute,
		 "batch %g a rank at %g TFLOP/s%s", rate->batch,
		 rate->flops / 1e12, chosen.text);
	return DIST_OK;
}

/* Whether what leaves a layer can be counted, also where each token goes to
 * several experts. */
static enum dist_error check_activations(struct workload_setup *setup,
					 const struct workload_arguments *a,
					 struct dist__refusal *refusal)
{
	if (fmod(a->rate.batch, 1) != 0)
		return dist__refuse_option(
			refusal, "batch",
			"--batch %g: expected a whole number of samples",
			a->rate.batch);
	for (size_t l = 0; l < setup->layers.num; l++) {
		const struct layer *layer = &setup->layers.list[l];
		double elements = (double)layer->activation;

		elements = fmax(elements, (double)layer->attention);
		elements = fmax(elements,
				(double)layer->width * (double)layer->tokens);
		elements *= a->rate.batch * a->top_k;

		if (elements <= MOST_ELEMENTS)
			continue;
		return dist__refuse_option(
			refusal, "batch",
			"--batch %g: expected less: more than 2^53 "
			"elements would leave a layer of %s",
			a->rate.batch, setup->model.name);
	}
	return DIST_OK;
}

enum dist_error workload_choose_pace(struct workload_setup *setup,
				     const struct workload_arguments *a,
				     struct dist__refusal *refusal)
{
	int seed = a->seed < 0 ? 1 : a->seed;

	if (a->seed >= 0 && a->jitter_percent <= 0 && a->imbalance_percent <= 0)
		return dist__refuse_option(
			refusal, "seed",
			"--seed: nothing is random: expected "
			"--jitter, or --imbalance of moe");
	refusal->option = "straggler";
	setup->pace.jitter = a->jitter_percent / 100;
	setup->pace.seed = (uint64_t)seed;
	if (a->jitter_percent > 0)
		(void)dist__append(setup->compute, sizeof setup->compute,
				   ", jitter %g %% (seed %d)",
				   a->jitter_percent, seed);
	if (a->stragglers)
		(void)dist__append(setup->compute, sizeof setup->compute,
				   ", stragglers %.60s", a->stragglers);
	return pace_read(&setup->pace, a->stragglers, &refusal->message);
}

enum dist_error workload_check(const struct workload_job *job, int world_size,
			       struct dist__refusal *refusal)
{
	const struct pace *pace = job->pace;

	for (size_t i = 0; i < pace->num_stragglers; i++) {
		if (pace->stragglers[i].rank < world_size)
			continue;
		return dist__refuse_option(
			refusal, "straggler",
			"--straggler: no rank %d: expected 0 to %d, of a "
			"world of %d",
			pace->stragglers[i].rank, world_size - 1, world_size);
	}
	return job->workload->check
		       ? job->workload->check(job, world_size, refusal)
		       : DIST_OK;
}

double workload_samples(const struct workload_job *job, int world_size)
{
	double batches = job->workload->batches
				 ? job->workload->batches(job, world_size)
				 : world_size;

	return batches * job->arguments->rate.batch;
}

struct workload_held workload_held(const struct workload_job *job,
				   int world_size)
{
	double all = (double)job->model->numel;

	return job->workload->held ? job->workload->held(job, world_size)
				   : (struct workload_held){all, all, all};
}

static enum dist_error make_schedules(struct workload_setup *setup,
				      struct schedule_rate *rate,
				      struct dist__refusal *refusal)
{
	enum dist_error error =
		schedule_init(&setup->schedule, &setup->model, rate);

	refusal->option = "batch";
	rate->no_compute = true;
	if (!error)
		error = schedule_init(&setup->no_computing, &setup->model,
				      rate);
	if (error)
		(void)dist__refuse_as(
			&refusal->message, error, "%s",
			error == DIST_ERR_NO_MEMORY
				? dist_error_string(error)
				: "--batch: expected less, or a higher rate "
				  "(--flops, --step-ms): no clock counts so "
				  "long a step");
	return error;
}

/* Refuses options that others leave without effect. */
static enum dist_error check_effects(const struct workload_arguments *a,
				     struct dist__refusal *refusal)
{
	const bool flops = a->rate.flops > 0, step = a->rate.step_ms > 0;
	const struct {
		const char *option;
		bool is_idle;
		const char *expected;
	} rows[] = {
		{"flops", flops && step, "without --step-ms"},
		{"precision", a->precision && step, "without --step-ms"},
		{"precision", a->precision && flops, "without --flops"},
		{"bucket-cap-mb", a->bucket_cap_mb > 0 && a->per_tensor,
		 "without --per-tensor"},
		{"first-bucket-mb", a->first_bucket_mb > 0 && a->per_tensor,
		 "without --per-tensor"},
		{"find-unused-parameters",
		 a->find_unused_parameters && a->static_graph,
		 "without --static-graph"},
		{"no-prefetch", a->no_prefetch && a->zero < 3, "with --zero 3"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].is_idle)
			return dist__refuse_option(
				refusal, rows[i].option, "--%s: expected %s",
				rows[i].option, rows[i].expected);
	return DIST_OK;
}

enum dist_error workload_setup_init(struct workload_setup *setup,
				    const struct workload *workload,
				    const struct workload_arguments *a,
				    const char *gpu,
				    struct dist__refusal *refusal)
{
	struct schedule_rate rate;
	enum dist_error error;

	memset(setup, 0, sizeof *setup);
	*refusal = (struct dist__refusal){.option = "model"};
	error = check_effects(a, refusal);
	if (!error)
		error = model_load(&setup->model,
				   a->model ? a->model : "resnet50",
				   &refusal->message);
	if (!error)
		error = layers_init(&setup->layers, &setup->model);
	if (!error)
		error = check_activations(setup, a, refusal);
	if (!error)
		error = choose_rate(setup, a, gpu, &rate, refusal);
	if (!error)
		choose_job(setup, workload, &rate);
	if (!error)
		error = workload_choose_pace(setup, a, refusal);
	if (!error)
		error = make_schedules(setup, &rate, refusal);
	setup->job = (struct workload_job){
		.workload = workload,
		.arguments = a,
		.model = &setup->model,
		.layers = &setup->layers,
		.schedule = &setup->schedule,
		.pace = &setup->pace,
		.compute = setup->compute,
	};
	if (error && !*refusal->message.text)
		(void)dist__refuse_as(&refusal->message, error, "%s",
				      dist_error_string(error));
	return error;
}

void workload_setup_release(struct workload_setup *setup)
{
	free(setup->llm);
	schedule_release(&setup->no_computing);
	schedule_release(&setup->schedule);
	layers_release(&setup->layers);
	model_release(&setup->model);
}
