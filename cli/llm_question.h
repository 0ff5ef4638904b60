/*
 * llm_question.h - what is asked about training a language model: the options
 * that predict, plan and sweep share, and what they name, looked up.
 */
#ifndef LOCKSTEP_CLI_LLM_QUESTION_H
#define LOCKSTEP_CLI_LLM_QUESTION_H

#include "cli/machine_platform.h"
#include "cli/rewiring.h"
#include "core/fidelity.h"
#include "model/llm/step.h"
#include "scenarios/llm.h"

/* As given. NULL, 0: not. */
struct llm_request {
	const char *model;
	const char *machine;
	const char *gpu;
	int ranks_per_node;
	int uncalibrated;
	const char *topology; /* of the switches, where calls are simulated */
	const char *profile;
	const char *software;
	const char *exchange;
	double mfu;                 /* fraction */
	double step_ms;             /* that a GPU computes in a step */
	const char *compute;        /* profile of a step on such a GPU */
	const char *compute_layout; /* flags of that step */
	double price;               /* of a GPU for an hour */
	const char *tokens;
	struct llm_arguments layout;
	struct rewiring_arguments rewiring;
};

/* Model and machine; what a device is known to reach; what is to be known. A
 * field of a struct llm_request each. The layout's are in scenarios/llm.h. */
extern const struct option llm_place_options[], llm_rate_options[],
	llm_step_options[], llm_answer_options[];

/* Rates that request->compute was measured to have. */
struct llm_own {
	bool is_known;
	enum llm_precision precision; /* that they hold of */
	struct llm_pace pace;
	char text[320]; /* what they are, in words */
};

/* What they name. */
struct llm_question {
	const struct llm_request *request; /* borrowed */
	struct llm_architecture model;
	struct machine_platform room;
	struct llm_device device;
	struct dist__profile profile;
	char profile_name[64]; /* "": built in */
	enum llm_software software;
	double tokens; /* to train on; 0: not asked */
	struct llm_own own;
};

/* One answer, of so many GPUs. */
struct llm_outcome {
	struct llm_layout layout;
	struct llm_work work;
	struct fabric fabric;
	struct llm_pace pace; /* at which work was made */
	struct llm_answer answer;
	char impossible[160]; /* "": it is not */

	/* Where the calls were simulated; else it stays so. */
	enum dist__fidelity fidelity;     /* FORMULA */
	struct workload_result simulated; /* zero */
};

/* llm_is_language_model returns whether `name` is a config.json, or in the
 * catalogue of language models and no network of a CSV file. */
bool llm_is_language_model(const char *name);

/*
 * llm_question_open looks up what request names, and measures by its compute;
 * either way llm_question_close frees what *question holds. Errors:
 * INVALID_ARGUMENT (message: what was expected of *option; NULL: of none
 * alone), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_question_open(struct llm_question *question,
		  const struct llm_request *request, const char **option,
		  struct dist_message *message);
void llm_question_close(struct llm_question *question);

/* llm_question_cluster returns where a step runs: fabric, which is borrowed as
 * question is; llm_question_pace what its software reaches. */
struct llm_cluster llm_question_cluster(const struct llm_question *question,
					const struct fabric *fabric);
struct llm_pace llm_question_pace(const struct llm_question *question,
				  enum llm_precision precision);

/* llm_question_can refuses a precision that the device lacks, or whose rates
 * request->compute does not have. Errors: INVALID_ARGUMENT. */
DIST_MUST_CHECK enum dist_error
llm_question_can(const struct llm_question *question,
		 enum llm_precision precision, struct dist_message *message);

/* llm_question_fabric stores what joins so many GPUs. Errors: INVALID_ARGUMENT
 * (message: the machine has no network for as many, or of no known rate). */
DIST_MUST_CHECK enum dist_error
llm_question_fabric(const struct llm_question *question, int gpus,
		    struct fabric *fabric, const char **option,
		    struct dist_message *message);

/* llm_question_layout stores the layout of so many GPUs that was asked for,
 * with what nobody asked for chosen: sequences, a step's sequences. Errors:
 * those of llm_arguments_layout. */
DIST_MUST_CHECK enum dist_error
llm_question_layout(const struct llm_question *question, int gpus,
		    struct llm_layout *layout, const char **option,
		    struct dist_message *message);

/* llm_question_answer answers for outcome->layout, which is complete: recompute
 * chosen, rates as given. Errors: those of llm_step; *option as above. */
DIST_MUST_CHECK enum dist_error
llm_question_answer(const struct llm_question *question,
		    struct llm_outcome *outcome, const char **option,
		    struct dist_message *message);

/* llm_question_ask does all three for so many GPUs. */
DIST_MUST_CHECK enum dist_error
llm_question_ask(const struct llm_question *question, int gpus,
		 struct llm_outcome *outcome, const char **option,
		 struct dist_message *message);

#endif
