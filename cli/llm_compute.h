/* llm_compute.h - the rates of one's own GPU, from a profile of the kernels of
 * a step. */
#ifndef LOCKSTEP_CLI_LLM_COMPUTE_H
#define LOCKSTEP_CLI_LLM_COMPUTE_H

#include "cli/llm_question.h"

/*
 * llm_compute_open is llm_question_open that also reads request->compute, if
 * given, and sets question->own: by class, the pace at which the step of
 * request->compute_layout takes the measured time. Errors: those of
 * llm_question_open; INVALID_ARGUMENT (message: why the file cannot be used,
 * "file: what was expected"), IO, NO_MEMORY; *option names the option.
 */
DIST_MUST_CHECK enum dist_error
llm_compute_open(struct llm_question *question,
		 const struct llm_request *request, const char **option,
		 struct dist_message *message);

#endif
