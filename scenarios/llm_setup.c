/* From a language model's work to a job of the workload llm. */
#include "base/refuse.h"
#include "scenarios/llm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels -------------------------------------------------------------- */

#define LABEL 64

/* Micro-batches that have labels of their own; spans of later ones do without
 * the number. */
#define MOST_LABELLED 256

struct llm_labels {
	int layers;        /* the embedding first, the head last */
	int micro_batches; /* behind them one without */
	char text[][LABEL];
};

static size_t label_at(const struct llm_labels *labels, int what, int layer,
		       int micro_batch)
{
	if (micro_batch > labels->micro_batches)
		micro_batch = labels->micro_batches;
	return ((size_t)what * (size_t)labels->layers + (size_t)layer) *
		       (size_t)(labels->micro_batches + 1) +
	       (size_t)micro_batch;
}

static void print_label(const struct llm_labels *labels, int what, int layer,
			int micro_batch, char text[LABEL])
{
	static const char *const names[LLM_LABEL_KINDS] = {
		"forward", "backward", "weights", "recompute"};
	char place[24] = "embedding", number[20] = "";

	if (layer + 1 == labels->layers)
		snprintf(place, sizeof place, "head");
	else if (layer > 0)
		snprintf(place, sizeof place, "layer %d", layer - 1);
	if (micro_batch < labels->micro_batches)
		snprintf(number, sizeof number, " mb %d", micro_batch);
	snprintf(text, LABEL, "%s %s%s", names[what], place, number);
}

/* Makes the run, with its labels behind it in the same memory. */
static struct llm_run *make_run(const struct llm_run *from)
{
	const struct llm_work *work = from->work;
	int num = llm_micro_batches(&work->layout), what, layer, m;
	struct llm_labels shape = {
		.layers = work->model.layers + 2,
		.micro_batches = num < MOST_LABELLED ? num : MOST_LABELLED};
	struct llm_labels *labels;
	struct llm_run *run =
		malloc(sizeof *run + sizeof *labels +
		       label_at(&shape, LLM_LABEL_KINDS, 0, 0) * LABEL);

	if (!run)
		return NULL;
	*run = *from;
	labels = (struct llm_labels *)(run + 1);
	run->labels = labels;
	*labels = shape;
	for (what = 0; what < LLM_LABEL_KINDS; what++)
		for (layer = 0; layer < shape.layers; layer++)
			for (m = 0; m <= shape.micro_batches; m++)
				print_label(labels, what, layer, m,
					    labels->text[label_at(labels, what,
								  layer, m)]);
	return run;
}

const char *llm_label(const struct llm_run *run, enum llm_label_kind what,
		      enum llm_layer_kind kind, int layer, int micro_batch)
{
	const struct llm_labels *labels = run->labels;
	int place = kind == LLM_EMBEDDING ? 0
		    : kind == LLM_HEAD    ? labels->layers - 1
					  : layer + 1;

	return labels->text[label_at(labels, (int)what, place, micro_batch)];
}

/* ---- the setup ----------------------------------------------------------- */

/* What stage 0 computes in a step without its optimizer. */
static double computing_ns(const struct llm_work *work)
{
	double ns = 0;
	int c, k, num[LLM_LAYER_KINDS];

	for (c = 0; c < work->layout.vpp; c++) {
		llm_stage_layers(work, 0, c, num);
		for (k = 0; k < LLM_LAYER_KINDS; k++)
			if (num[k])
				ns += num[k] *
				      (llm_pass_ns(&work->layers[k].forward) +
				       llm_pass_ns(&work->layers[k].backward) +
				       llm_pass_ns(&work->layers[k].weights));
	}
	return ns * llm_micro_batches(&work->layout);
}

enum dist_error llm_setup_init(struct workload_setup *setup,
			       const struct llm_run *run,
			       const struct workload_arguments *arguments,
			       struct dist__refusal *refusal)
{
	const struct llm_work *work = run->work;
	struct llm_parameters parameters;
	enum dist_error error;

	memset(setup, 0, sizeof *setup);
	*refusal = (struct dist__refusal){.option = NULL};
	error = workload_choose_pace(setup, arguments, refusal);
	if (error)
		return error;
	if (work->layout.offload_layers > 0)
		return dist__refuse_option(
			refusal, "offload-layers",
			"--offload-layers: copies to the host's "
			"memory are not simulated; lockstep "
			"predict --fidelity formula has them");
	refusal->option = "model";
	setup->llm = make_run(run);
	snprintf(setup->model.name, sizeof setup->model.name, "%s",
		 work->model.name);
	if (!setup->llm)
		return dist__refuse_as(&refusal->message, DIST_ERR_NO_MEMORY,
				       "%s",
				       dist_error_string(DIST_ERR_NO_MEMORY));
	llm_count_parameters(&work->model, &parameters);
	setup->model.numel = (size_t)parameters.total;
	setup->model.forward_flops = work->flops / work->layout.global_batch /
				     (1 + SCHEDULE_BACKWARD_FACTOR);
	setup->schedule.total_ns = llround(computing_ns(work));
	snprintf(setup->compute, sizeof setup->compute,
		 "%s on %s, %d sequences of %d tokens a micro-batch",
		 llm_precision_name(work->layout.precision), run->device->name,
		 work->layout.micro_batch, work->layout.seq);
	setup->job = (struct workload_job){
		.workload = &workload_llm,
		.arguments = arguments,
		.model = &setup->model,
		.layers = &setup->layers,
		.schedule = &setup->schedule,
		.pace = &setup->pace,
		.compute = setup->compute,
		.llm = setup->llm,
	};
	return DIST_OK;
}
