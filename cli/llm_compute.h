/* llm_compute.h - what kernels of a step took on a GPU of one's own: read from
 * a profile of the step, and turned into what that GPU reaches. */
#ifndef LOCKSTEP_CLI_LLM_COMPUTE_H
#define LOCKSTEP_CLI_LLM_COMPUTE_H

#include "cli/llm_question.h"

/*
 * llm_compute_open reads request->compute for question, whose model, machine
 * and device are known, and sets question->own: the pace at which the step of
 * request->compute_layout takes as long as was measured, by class. Errors:
 * INVALID_ARGUMENT (message: the file cannot be used, and why: "file: what was
 * expected"), IO, NO_MEMORY; *option names the option.
 */
DIST_MUST_CHECK enum dist_error llm_compute_open(struct llm_question *question,
						 const char **option,
						 struct dist_message *message);

#endif
