/*
 * llm_question.h - questions about training a language model: the options that
 * predict, plan and sweep share, and the data that they name.
 */
#ifndef LOCKSTEP_CLI_LLM_QUESTION_H
#define LOCKSTEP_CLI_LLM_QUESTION_H

#include "cli/machine_platform.h"
#include "cli/rewiring.h"
#include "core/fidelity.h"
#include "model/llm/step.h"
#include "scenarios/llm.h"

/* Options as given. NULL, 0: not given. */
struct llm_request {
	const char *model;
	const char *machine;
	const char *gpu;
	int ranks_per_node;
	int uncalibrated;
	const char *topology; /* of the switches, for simulated calls */
	const char *profile;
	const char *software;
	const char *exchange;
	double mfu;                 /* fraction */
	double step_ms;             /* computing time of a GPU in a step */
	const char *compute;        /* file: file: profile of a step on such a
				       GPU */
	const char *compute_layout; /* flags of that step */
	double price;               /* of a GPU for an hour */
	const char *tokens;
	struct llm_arguments layout;
	struct rewiring_arguments rewiring;
};

/* Options for model and machine, for rates of the device, and for what is
 * asked. Each is a field of struct llm_request. Those of the layout are in
 * scenarios/llm.h. */
extern const struct option llm_place_options[], llm_rate_options[],
	llm_step_options[], llm_answer_options[];

/* Rates measured in the profile request->compute, by llm_compute_open. */
struct llm_own {
	bool is_known;
	enum llm_precision precision; /* for which they hold */
	struct llm_pace pace;
	char text[320]; /* a description of them */
};

/* The data that a request names. */
struct llm_question {
	const struct llm_request *request; /* borrowed */
	struct llm_architecture model;
	struct machine_platform room;
	struct llm_device device;
	bool other_gpu; /* than the machine's: with links of its own */
	struct dist__profile profile;
	char profile_name[64]; /* "": built in */
	enum llm_software software;
	double tokens; /* to train on; 0: not given */
	struct llm_own own;
};

/* An answer for one number of GPUs. */
struct llm_outcome {
	struct llm_layout layout;
	struct llm_work work;
	struct fabric fabric;
	struct llm_pace pace; /* with which work was computed */
	struct llm_answer answer;
	char impossible[160]; /* why it is not possible; "": it is */

	/* If the calls were simulated; else as noted. */
	enum dist__fidelity fidelity;     /* FORMULA */
	struct workload_result simulated; /* zero */
};

/* llm_is_language_model returns whether `name` is a config.json, or a language
 * model of the catalogue and not a network in a CSV file. */
bool llm_is_language_model(const char *name);

/*
 * llm_question_open loads what request names, except the rates from its compute
 * (llm_compute_open). In any case llm_question_close frees what *question
 * holds. Errors: INVALID_ARGUMENT, IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_question_open(struct llm_question *question,
		  const struct llm_request *request,
		  struct dist__refusal *refusal);
void llm_question_close(struct llm_question *question);

/* llm_question_cluster returns the cluster of a step; it borrows fabric and
 * question. llm_question_pace returns the pace that its software reaches. */
struct llm_cluster llm_question_cluster(const struct llm_question *question,
					const struct fabric *fabric);
struct llm_pace llm_question_pace(const struct llm_question *question,
				  enum llm_precision precision);

/* llm_question_can refuses a precision that the device lacks, or whose rates
 * request->compute does not have. Errors: INVALID_ARGUMENT. */
DIST_MUST_CHECK enum dist_error
llm_question_can(const struct llm_question *question,
		 enum llm_precision precision, struct dist__refusal *refusal);

/* llm_question_fabric stores the network of so many GPUs. Errors:
 * INVALID_ARGUMENT (the machine has no network for so many, or its rate is
 * unknown). */
DIST_MUST_CHECK enum dist_error
llm_question_fabric(const struct llm_question *question, int gpus,
		    struct fabric *fabric, struct dist__refusal *refusal);

/* llm_question_layout stores the requested layout of so many GPUs; the sequence
 * length and the batch are chosen if they were not given. Errors: those of
 * llm_arguments_layout. */
DIST_MUST_CHECK enum dist_error
llm_question_layout(const struct llm_question *question, int gpus,
		    struct llm_layout *layout, struct dist__refusal *refusal);

/* llm_question_answer answers for outcome->layout, which is complete, and
 * chooses recomputation. Errors: those of llm_step. */
DIST_MUST_CHECK enum dist_error
llm_question_answer(const struct llm_question *question,
		    struct llm_outcome *outcome, struct dist__refusal *refusal);

/* llm_question_ask does these three for so many GPUs. */
DIST_MUST_CHECK enum dist_error
llm_question_ask(const struct llm_question *question, int gpus,
		 struct llm_outcome *outcome, struct dist__refusal *refusal);

#endif
