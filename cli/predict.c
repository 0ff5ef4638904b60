/* predict.c - lockstep predict: what would a training step take there? */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "cli/check_writable.h"
#include "cli/llm.h"
#include "cli/refuse.h"
#include "cli/study_point.h"

/* ---- the request ------------------------------------------------------ */

static enum dist_error read_request(const struct predict_options *line,
				    struct prediction_request *request,
				    struct dist__refusal *refusal)
{
	const char *of_machine = line->ranks_per_node ? "ranks-per-node"
				 : line->uncalibrated ? "uncalibrated"
				 : line->llm.topology ? "topology"
						      : NULL;
	enum dist_error error;

	request->platform = line->platform;
	request->machine = line->machine;
	request->ranks_per_node = line->ranks_per_node;
	request->topology = line->llm.topology;
	request->uncalibrated = line->uncalibrated;
	request->profile = line->profile;
	request->algorithm = line->algorithm;
	request->engine = line->engine;
	request->trace = line->trace;
	if (!line->platform == !line->machine)
		return dist__refuse(
			&refusal->message,
			"expected one of --platform and --machine; see "
			"lockstep list platforms, lockstep list machines");
	if (!line->machine && of_machine)
		return dist__refuse_option(refusal, of_machine,
					   "--%s: expected with --machine",
					   of_machine);
	if (!dist__fidelity_parse(&request->fidelity, line->fidelity))
		return dist__refuse_option(
			refusal, "fidelity",
			"--fidelity: expected " DIST__FIDELITIES);
	error = rewiring_read(&line->rewiring, &request->overrides,
			      request->links, refusal);
	if (!error && line->world_sizes)
		error = predict_read_sizes(line->world_sizes,
					   request->world_sizes,
					   &request->num_world_sizes, refusal);
	if (!error && line->trace && request->num_world_sizes > 1)
		error = dist__refuse_option(
			refusal, "trace", "--trace: one world size at a time");
	return error;
}

/* What is asked, with all that is known before anything is simulated. */
struct inquiry {
	struct prediction_request request;
	struct workload_setup setup;
	struct prediction prediction;
};

static void inquiry_free(struct inquiry *inquiry)
{
	if (!inquiry)
		return;
	prediction_release(&inquiry->prediction);
	workload_setup_release(&inquiry->setup);
	free(inquiry);
}

static enum dist_error inquiry_new(const struct predict_options *line,
				   struct inquiry **result,
				   struct dist__refusal *refusal)
{
	struct inquiry *inquiry = *result = calloc(1, sizeof *inquiry);
	enum dist_error error;

	*refusal = (struct dist__refusal){.message = {"out of memory"}};
	if (!inquiry)
		return DIST_ERR_NO_MEMORY;
	inquiry->request.setup = &inquiry->setup;
	error = read_request(line, &inquiry->request, refusal);
	inquiry->request.gpu = line->arguments.gpu;
	if (!error)
		error = prediction_open(&inquiry->prediction, &inquiry->request,
					refusal);
	if (error)
		return error;
	error = workload_setup_init(&inquiry->setup, line->workload,
				    &line->arguments, inquiry->prediction.gpu,
				    refusal);
	return error ? error : prediction_check(&inquiry->prediction, refusal);
}

enum dist_error predict_check(const struct predict_options *line,
			      struct dist__refusal *refusal)
{
	struct inquiry *inquiry;
	enum dist_error error;

	if (line->language)
		return predict_llm_check(line, refusal);
	error = inquiry_new(line, &inquiry, refusal);
	inquiry_free(inquiry);
	return error;
}

/* ---- the answer ------------------------------------------------------- */

static int show(const struct prediction *prediction,
		const struct explanation *explanation,
		const struct predict_options *line, FILE *out)
{
	struct dist_message message = {""};

	if (line->form.tsv &&
	    prediction_write_tsv(prediction, line->form.tsv, &message))
		return refuse("predict", "%s", message.text);
	if (prediction_print(prediction, explanation,
			     table_options_form(&line->form), out))
		return out_of_memory("predict");
	return DIST_EXIT_OK;
}

/* Whether the last row is explained: not where its trace would be too long. One
 * rank that stands for all has a short one. */
static bool is_explained(const struct prediction *prediction,
			 const struct predict_options *line)
{
	const struct prediction_request *request = prediction->request;
	size_t last = request->num_world_sizes - 1;
	bool alone = request->machine &&
		     prediction_is_alike(request, request->world_sizes[last]) &&
		     prediction->rows[last].fidelity == DIST__FIDELITY_FORMULA;

	return !line->no_explain &&
	       (alone || request->world_sizes[last] <= EXPLANATION_RANKS);
}

static int make(struct prediction *prediction,
		const struct predict_options *line, FILE *out)
{
	const struct prediction_row *last =
		&prediction->rows[prediction->request->num_world_sizes - 1];
	bool explained = is_explained(prediction, line);
	struct explanation explanation = {.ranks = 0};
	int status = prediction_make(prediction,
				     explained ? &explanation.trace : NULL);

	if (!status && explained &&
	    explanation_make(&explanation, last->step.world_size,
			     last->step.step_ns))
		status = out_of_memory("predict");
	if (!status)
		status = show(prediction, &explanation, line, out);
	explanation_release(&explanation);
	return status;
}

/* A change of links that none of the sizes has: a platform refuses it when it
 * is opened, a machine has as many nodes as a size needs. */
static enum dist_error check_links(const struct prediction *p,
				   struct dist__refusal *refusal)
{
	const struct prediction_request *request = p->request;
	bool inter = false, intra = false;

	for (size_t i = 0; i < request->num_world_sizes; i++) {
		int ranks = request->world_sizes[i];
		int node = machine_platform_node_ranks(&p->room, ranks);

		inter |= node < ranks;
		intra |= node > 1;
	}
	return rewiring_check(&request->overrides, inter, intra, refusal);
}

int predict_answer(const struct predict_options *line, FILE *out)
{
	struct dist__refusal refusal;
	struct inquiry *inquiry;
	enum dist_error error;
	int status = DIST_EXIT_OK;

	if (line->language)
		return predict_llm_answer(line, NULL, out);
	error = inquiry_new(line, &inquiry, &refusal);
	if (!error && inquiry->request.machine)
		error = check_links(&inquiry->prediction, &refusal);
	if (error)
		status = refuse("predict", "%s", refusal.message.text);
	else if (!line->dry_run)
		status = make(&inquiry->prediction, line, out);
	inquiry_free(inquiry);
	return status;
}

/* ---- the command line ------------------------------------------------- */

/* A language model's options, of which each may have several values. */
static int predict_language(int argc, const char **argv, const char *model)
{
	struct dist__refusal refusal;
	struct dist_message message = {"out of memory"};
	struct predict_options line;
	struct study study;
	int status;

	if (study_of_line(&study, &manual_predict_llm, &argc, argv, &message))
		status = refuse("predict", "%s", message.text);
	else if (predict_options_init(&line, NULL, model, &refusal))
		status = refuse("predict", "%s", refusal.message.text);
	else if (arguments_parse(&manual_predict_llm, &argc, argv, &line,
				 &status))
		status = check_writable("predict",
					(const char *[]){line.form.tsv,
							 line.trace,
							 line.picture},
					3)
				 ? predict_llm_answer(&line, &study, stdout)
				 : DIST_EXIT_USAGE;
	study_release(&study);
	return status;
}

/* The first of several values. */
static const char *first_of(const char *text, char *first, size_t size)
{
	snprintf(first, size, "%.*s", text ? (int)strcspn(text, ",") : 0,
		 text ? text : "");
	return text ? first : NULL;
}

int command_predict(int argc, const char **argv)
{
	const char *workload = option_peek(argc, argv, "workload");
	const char *model = option_peek(argc, argv, "model");
	struct manual manual;
	struct dist__refusal refusal;
	struct predict_options line;
	char example[256], first[4096];
	int status;

	if (workload && strcmp(workload, "llm") == 0)
		return predict_language(argc, argv, NULL);
	if (model &&
	    llm_is_language_model(first_of(model, first, sizeof first)))
		return workload ? refuse("predict",
					 "--workload: expected llm or none; "
					 "language models such as %.64s take "
					 "--shard, --tp, --pp, --ep instead",
					 first)
				: predict_language(argc, argv, first);
	/* The kind of step decides about the other options. */
	if (predict_options_init(&line, workload, model, &refusal))
		return refuse("predict", "%s", refusal.message.text);
	manual = predict_manual(&line);
	if (line.workload != &workload_ddp_step) {
		snprintf(example, sizeof example,
			 "lockstep predict --workload %s %s",
			 line.workload->name, line.workload->prediction);
		manual.examples[0] = example;
	}
	if (!arguments_parse(&manual, &argc, argv, &line, &status))
		return status;
	if (!check_writable("predict",
			    (const char *[]){line.form.tsv, line.trace}, 2))
		return DIST_EXIT_USAGE;
	return predict_answer(&line, stdout);
}
