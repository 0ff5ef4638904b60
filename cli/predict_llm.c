/* predict_llm.c - lockstep predict of a language model: its options, and its
 * answer by closed form. */
#include "cli/predict_llm.h"

#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "cli/command.h"
#include "cli/llm_flow.h"
#include "cli/llm_picture.h"
#include "cli/llm_print.h"
#include "cli/option_rows.h"
#include "cli/refuse.h"

#define AT(field) offsetof(struct predict_options, field)

static const struct option options[] = {
	{"world-size", OPTION_TEXT, AT(world_sizes), "N[,N...]",
	 .help = "numbers of GPUs", .also = "gpus|nproc|num-gpus"},
	{"fidelity", OPTION_CHOICE, AT(fidelity), "auto|flow|message|formula",
	 .help = "formula adds calls up by a closed form; flow and "
		 "message simulate them",
	 .usual = "formula"},
	{ENGINE_ROW(OPTION_TEXT, AT(engine), "")},
	{"trace", OPTION_TEXT, AT(trace), "FILE",
	 .help = "write a trace of the simulated step"},
	{"picture", OPTION_TEXT, AT(picture), "FILE.svg",
	 .help = "draw the pipeline, with a row for each stage"},
	{DRY_RUN_ROW(AT(dry_run))},
	{"no-explain", OPTION_SWITCH, AT(no_explain), NULL,
	 .help = "do not print the critical path of simulated calls"},
	{.name = NULL}};

#define IN_REQUEST(field)                                                      \
	(offsetof(struct predict_options, llm) +                               \
	 offsetof(struct llm_request, field))

const struct manual manual_predict_llm = {
	.usage = "--model MODEL --machine NAME --world-size N [OPTION...]",
	.about = "Predicts a training step of a language model in a layout: "
		 "tokens a second, MFU, where the time goes, what a GPU holds, "
		 "what it costs.\n\nA layout that is not legal is refused with "
		 "the legal values. What does not fit into the GPUs' memory is "
		 "marked as impossible. lockstep plan searches for the "
		 "fastest layout.",
	.examples = {"lockstep predict --model llama3-8b --machine "
		     "hgx-h100-400g --world-size 256 --shard fsdp",
		     "lockstep predict --model llama3-70b --machine "
		     "hgx-h100-400g --world-size 512 --tp 8 --pp 4 "
		     "--inter-bandwidth 800G"},
	.groups = GROUPS({.options = llm_place_options, .offset = AT(llm)},
			 {"Prediction", options, 0},
			 {"Layout", llm_options, IN_REQUEST(layout)},
			 {"Computing", llm_rate_options, AT(llm)},
			 {"Measured", llm_step_options, AT(llm)},
			 {"Cost", llm_answer_options, AT(llm)},
			 {"Links", rewiring_options, IN_REQUEST(rewiring)},
			 {"Tables", form_options, AT(form)})};

/* Whether the calls are simulated. */
static bool is_simulated(const struct predict_options *line)
{
	const char *fidelity = line->fidelity;

	if (!fidelity || strcmp(fidelity, "auto") == 0)
		return line->llm.topology || line->trace;
	return strcmp(fidelity, "formula") != 0;
}

/* Rates between nodes in one table. */
#define RATES 8

/* What is asked, looked up. */
struct inquiry {
	struct llm_question question;
	struct llm_request request; /* the line's, with one rate of links */
	char rates[256];            /* between nodes, those asked for */
	const char *rate[RATES];    /* in there; NULL: the machine's */
	size_t num_rates;
	int sizes[PREDICTION_SIZES];
	size_t num_sizes;
	size_t num; /* answers: sizes x rates */
};

/* Parts "400G,800G" at its commas. */
static enum dist_error read_rates(struct inquiry *inquiry,
				  struct prediction_refusal *refusal)
{
	const char *text = inquiry->request.rewiring.text[0];

	inquiry->num_rates = 1;
	inquiry->rate[0] = NULL;
	if (!text)
		return DIST_OK;
	refusal->option = "inter-bandwidth";
	snprintf(inquiry->rates, sizeof inquiry->rates, "%s", text);
	inquiry->rate[0] = inquiry->rates;
	for (char *next = inquiry->rates; (next = strchr(next, ','));) {
		*next++ = '\0';
		if (inquiry->num_rates == RATES)
			return dist__refuse(&refusal->message,
					    "--inter-bandwidth: expected at "
					    "most %d rates",
					    RATES);
		inquiry->rate[inquiry->num_rates++] = next;
	}
	return DIST_OK;
}

static enum dist_error inquiry_open(struct inquiry *inquiry,
				    const struct predict_options *line,
				    struct prediction_refusal *refusal)
{
	enum dist_error error;

	*inquiry = (struct inquiry){.request = line->llm};
	error = llm_question_open(&inquiry->question, &inquiry->request,
				  &refusal->option, &refusal->message);
	if (!error)
		error = read_rates(inquiry, refusal);
	if (error)
		return error;
	if (!is_simulated(line) && (line->llm.topology || line->trace)) {
		refusal->option = line->trace ? "trace" : "topology";
		return dist__refuse(&refusal->message,
				    "--%s: expected --fidelity flow: a closed "
				    "form has no calls",
				    refusal->option);
	}
	refusal->option = "world-size";
	if (!line->world_sizes)
		return dist__refuse(&refusal->message,
				    "--world-size is needed: a machine has as "
				    "many nodes as are asked for");
	error = predict_read_sizes(line->world_sizes, inquiry->sizes,
				   &inquiry->num_sizes, refusal);
	inquiry->num = inquiry->num_sizes * inquiry->num_rates;
	if (!error && inquiry->num > 1 && line->trace) {
		refusal->option = "trace";
		return dist__refuse(&refusal->message,
				    "--trace: one answer at a time");
	}
	return error;
}

/* Makes the question that of answer i. */
static int choose(struct inquiry *inquiry, size_t i)
{
	inquiry->request.rewiring.text[0] =
		inquiry->rate[i % inquiry->num_rates];
	return inquiry->sizes[i / inquiry->num_rates];
}

/* Answers for all sizes; outcomes has room for them. */
static enum dist_error ask(struct inquiry *inquiry,
			   struct llm_outcome *outcomes,
			   struct prediction_refusal *refusal)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < inquiry->num && !error; i++) {
		int gpus = choose(inquiry, i);

		refusal->number = i / inquiry->num_rates;
		error = llm_question_ask(&inquiry->question, gpus, &outcomes[i],
					 &refusal->option, &refusal->message);
		if (error && refusal->option &&
		    strcmp(refusal->option, "gpus") == 0)
			refusal->option = "world-size"; /* as it is here */
	}
	return error;
}

static int show(const struct inquiry *inquiry,
		const struct llm_outcome *outcomes,
		const struct explanation *explanation,
		const struct predict_options *line, FILE *out)
{
	struct dist_message message = {""};

	if (line->form.tsv &&
	    llm_write_tsv(&inquiry->question, outcomes, inquiry->num,
			  line->form.tsv, &message))
		return refuse("predict", "%s", message.text);
	if (line->picture && llm_picture_write(&outcomes[inquiry->num - 1],
					       line->picture, &message))
		return refuse("predict", "%s", message.text);
	if (llm_print(&inquiry->question, outcomes, inquiry->num, explanation,
		      table_options_form(&line->form), out))
		return out_of_memory("predict");
	return DIST_EXIT_OK;
}

/* Simulates the calls of all, where that is asked for, and shows them. */
static int make(struct inquiry *inquiry, struct llm_outcome *outcomes,
		const struct predict_options *line, FILE *out)
{
	struct explanation explanation = {.ranks = 0};
	int status = DIST_EXIT_OK;

	for (size_t i = 0; is_simulated(line) && i < inquiry->num && !status;
	     i++) {
		(void)choose(inquiry, i);
		status = llm_flow_make(&inquiry->question, &outcomes[i], line,
				       i + 1 == inquiry->num ? &explanation
							     : NULL);
	}
	if (!status)
		status = show(inquiry, outcomes, &explanation, line, out);
	explanation_release(&explanation);
	return status;
}

/* Asks all; where out is NULL nothing is shown. */
static enum dist_error answer(const struct predict_options *line, FILE *out,
			      struct prediction_refusal *refusal, int *status)
{
	struct inquiry inquiry;
	struct llm_outcome *outcomes = NULL;
	enum dist_error error;

	*refusal = (struct prediction_refusal){.message = {"out of memory"}};
	error = inquiry_open(&inquiry, line, refusal);
	if (!error) {
		outcomes = calloc(inquiry.num, sizeof *outcomes);
		error = outcomes ? ask(&inquiry, outcomes, refusal)
				 : DIST_ERR_NO_MEMORY;
	}
	if (!error && out)
		*status = make(&inquiry, outcomes, line, out);
	free(outcomes);
	llm_question_close(&inquiry.question);
	return error;
}

enum dist_error predict_llm_check(const struct predict_options *line,
				  struct prediction_refusal *refusal)
{
	int status;

	return answer(line, NULL, refusal, &status);
}

int predict_llm_answer(const struct predict_options *line, FILE *out)
{
	struct prediction_refusal refusal;
	int status = DIST_EXIT_OK;

	if (answer(line, line->dry_run ? NULL : out, &refusal, &status))
		return llm_refuse("predict", refusal.option,
				  refusal.message.text);
	return status;
}
