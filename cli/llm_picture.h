/* llm_picture.h - the pipeline of a language model's step as a picture. */
#ifndef LOCKSTEP_CLI_LLM_PICTURE_H
#define LOCKSTEP_CLI_LLM_PICTURE_H

#include "cli/llm_question.h"

/* Micro-batches times chunks times stages of a picture that can be read. */
#define LLM_PICTURE_MOST 20000

/*
 * llm_picture_write draws to path (SVG) a row a stage, with what each works on
 * over the time of a step: forward, backward, weights, by micro-batch; idle
 * where it waits for its neighbours. Calls within a stage count as its work.
 * Errors: INVALID_ARGUMENT (message: more pieces than LLM_PICTURE_MOST), IO,
 * NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_picture_write(const struct llm_outcome *outcome, const char *path,
		  struct dist_message *message);

#endif
