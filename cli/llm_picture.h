/* llm_picture.h - the pipeline of a language model's step as a picture. */
#ifndef LOCKSTEP_CLI_LLM_PICTURE_H
#define LOCKSTEP_CLI_LLM_PICTURE_H

#include "cli/llm_question.h"

/* The most micro-batches times chunks times stages of a readable picture. */
#define LLM_PICTURE_MOST 20000

/*
 * llm_picture_write draws to path (SVG) a row for each stage over the time of a
 * step: forward, backward and weights of each micro-batch, and idle time. Calls
 * within a stage count as its work. Errors: INVALID_ARGUMENT (message: more
 * pieces than LLM_PICTURE_MOST), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
llm_picture_write(const struct llm_outcome *outcome, const char *path,
		  struct dist_message *message);

#endif
