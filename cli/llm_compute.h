/* llm_compute.h - the rates of one's own GPU, from a profile of the kernels of
 * a step. */
#ifndef LOCKSTEP_CLI_LLM_COMPUTE_H
#define LOCKSTEP_CLI_LLM_COMPUTE_H

#include "cli/llm_question.h"

/*
 * llm_compute_open reads request->compute and sets question->own: by class, the
 * pace at which the step of request->compute_layout takes the measured time.
 * The question's model, machine and device are already known. Errors:
 * INVALID_ARGUMENT (message: why the file cannot be used, "file: what was
 * expected"), IO, NO_MEMORY; *option names the option.
 */
DIST_MUST_CHECK enum dist_error llm_compute_open(struct llm_question *question,
						 const char **option,
						 struct dist_message *message);

#endif
