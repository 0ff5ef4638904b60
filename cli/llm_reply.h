/* llm_reply.h - answers about training a language model: what each is based on,
 * and the parts of its step. */
#ifndef LOCKSTEP_CLI_LLM_REPLY_H
#define LOCKSTEP_CLI_LLM_REPLY_H

#include <jansson.h>

#include "base/rows.h"
#include "cli/predict_options.h"
#include "cli/sweep/study.h"

/* A part of a step's time. */
struct llm_part {
	char name[32]; /* "exposed tp" */
	double ns;
};

#define LLM_PARTS (LLM_KINDS + LLM_AXES + 4)

/* llm_parts stores the parts of a breakdown, which add up to the step. */
void llm_parts(const struct llm_breakdown *breakdown,
	       struct llm_part parts[LLM_PARTS]);

/* llm_conditions returns the conditions of an answer; NULL: no memory. */
json_t *llm_conditions(const struct llm_question *question,
		       const struct llm_outcome *outcome);

/* llm_print_conditions writes conditions and releases them. */
void llm_print_conditions(json_t *conditions, enum dist__form form, FILE *out);

/* A question and its answer. */
struct llm_reply {
	struct predict_options options;
	struct llm_question question; /* request is options.llm */
	struct llm_outcome outcome;
};

/* Those of one command line: one, or a point of the study each. */
struct llm_replies {
	const struct study *study; /* borrowed; NULL: one */
	struct llm_reply *of;
	size_t num;
};

/* llm_parts_of stores the parts of an answer, simulated or not, and returns how
 * many there are; some are 0. */
size_t llm_parts_of(const struct llm_outcome *outcome,
		    struct llm_part parts[LLM_PARTS]);

#endif
