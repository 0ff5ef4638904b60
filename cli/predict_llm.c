/* predict_llm.c - lockstep predict of a language model: its answer by closed
 * form, or with its calls simulated. */
#include "cli/llm.h"

#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "cli/refuse.h"
#include "cli/study_point.h"

/* The most answers that are compared. */
#define ANSWERS 64

/* Prints text, after the name of option (NULL: none) unless it has that;
 * returns USAGE. */
static int refuse_option(const char *option, const char *text)
{
	char flag[64];

	snprintf(flag, sizeof flag, "--%s", option ? option : "");
	if (!option || strstr(text, flag))
		return refuse("predict", "%s", text);
	return refuse("predict", "%s: %s", flag, text);
}

/* Whether the calls are simulated. */
static bool is_simulated(const struct predict_options *line)
{
	const char *fidelity = line->fidelity;

	if (!fidelity || strcmp(fidelity, "auto") == 0)
		return line->llm.topology || line->trace;
	return strcmp(fidelity, "formula") != 0;
}

/* ---- one answer --------------------------------------------------------- */

/* Looks up what reply->options ask for. */
static enum dist_error open_reply(struct llm_reply *reply,
				  struct dist__refusal *refusal)
{
	const struct predict_options *line = &reply->options;
	const bool engine = line->engine && strcmp(line->engine, "auto") != 0;
	enum dist_error error =
		llm_compute_open(&reply->question, &line->llm, refusal);

	if (error)
		return error;
	refusal->option = line->trace          ? "trace"
			  : line->llm.topology ? "topology"
			  : engine             ? "engine"
					       : NULL;
	if (!is_simulated(line) && refusal->option)
		return dist__refuse(&refusal->message,
				    "--%s: expected --fidelity flow: a closed "
				    "form has no calls",
				    refusal->option);
	if (!line->world_sizes)
		return dist__refuse_option(
			refusal, "world-size",
			"--world-size is needed: a machine has as "
			"many nodes as are asked for");
	return DIST_OK;
}

/* Answers for each of the sizes; the last answer stays. */
static enum dist_error ask(struct llm_reply *reply,
			   struct dist__refusal *refusal)
{
	int sizes[PREDICTION_SIZES];
	size_t num = 0;
	enum dist_error error = open_reply(reply, refusal);

	if (!error)
		error = predict_read_sizes(reply->options.world_sizes, sizes,
					   &num, refusal);
	for (size_t i = 0; i < num && !error; i++) {
		refusal->number = i;
		error = llm_question_ask(&reply->question, sizes[i],
					 &reply->outcome, refusal);
		if (error && refusal->option &&
		    strcmp(refusal->option, "gpus") == 0)
			refusal->option = "world-size"; /* as it is here */
	}
	return error;
}

enum dist_error predict_llm_check(const struct predict_options *line,
				  struct dist__refusal *refusal)
{
	struct llm_reply *reply = calloc(1, sizeof *reply);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	*refusal = (struct dist__refusal){.message = {"out of memory"}};
	if (!reply)
		return error;
	reply->options = *line;
	error = ask(reply, refusal);
	llm_question_close(&reply->question);
	free(reply);
	return error;
}

/* ---- all of them -------------------------------------------------------- */

/* Asks for the points of the study, one where it is NULL. */
static enum dist_error ask_all(struct llm_replies *replies,
			       const struct predict_options *line,
			       struct dist__refusal *refusal)
{
	const struct study *study = replies->study;
	enum dist_error error = DIST_OK;

	if (replies->num > ANSWERS)
		return dist__refuse(&refusal->message,
				    "expected at most %d combinations, got "
				    "%zu; lockstep sweep takes more",
				    ANSWERS, replies->num);
	if (replies->num > 1 && (line->trace || line->picture))
		return dist__refuse(&refusal->message,
				    "--%s: expected one value of each option",
				    line->trace ? "trace" : "picture");
	replies->of = calloc(replies->num, sizeof *replies->of);
	if (!replies->of)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < replies->num && !error; i++) {
		struct llm_reply *reply = &replies->of[i];

		reply->options = *line;
		if (study)
			error = study_point_set(&reply->options, study, i,
						refusal);
		if (!error)
			error = ask(reply, refusal);
	}
	return error;
}

static int show(const struct llm_replies *replies,
		const struct explanation *explanation,
		const struct predict_options *line, FILE *out)
{
	struct dist_message message = {""};

	if (line->form.tsv && llm_write_tsv(replies, line->form.tsv, &message))
		return refuse("predict", "%s", message.text);
	if (line->picture &&
	    llm_picture_write(&replies->of[0].outcome, line->picture, &message))
		return refuse("predict", "%s", message.text);
	if (llm_print(replies, explanation, table_options_form(&line->form),
		      out))
		return out_of_memory("predict");
	return DIST_EXIT_OK;
}

/* Simulates the calls of all, where that is asked for, and shows them. */
static int make(struct llm_replies *replies, const struct predict_options *line,
		FILE *out)
{
	struct explanation explanation = {.ranks = 0};
	int status = DIST_EXIT_OK;

	for (size_t i = 0; i < replies->num && !status; i++) {
		struct llm_reply *reply = &replies->of[i];

		if (is_simulated(&reply->options))
			status = llm_flow_make(&reply->question,
					       &reply->outcome, &reply->options,
					       replies->num == 1 ? &explanation
								 : NULL);
	}
	if (!status)
		status = show(replies, &explanation, line, out);
	explanation_release(&explanation);
	return status;
}

int predict_llm_answer(const struct predict_options *line,
		       const struct study *study, FILE *out)
{
	struct dist__refusal refusal = {.message = {"out of memory"}};
	struct llm_replies replies = {
		.study = study, .num = study ? study_num_points(study) : 1};
	enum dist_error error = ask_all(&replies, line, &refusal);
	int status = DIST_EXIT_OK;

	if (error)
		status = refuse_option(refusal.option, refusal.message.text);
	else if (!line->dry_run && replies.of)
		status = make(&replies, line, out);
	for (size_t i = 0; replies.of && i < replies.num; i++)
		if (replies.of[i].question.request)
			llm_question_close(&replies.of[i].question);
	free(replies.of);
	return status;
}
