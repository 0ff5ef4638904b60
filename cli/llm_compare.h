/* llm_compare.h - several answers about training a language model, compared. */
#ifndef LOCKSTEP_CLI_LLM_COMPARE_H
#define LOCKSTEP_CLI_LLM_COMPARE_H

#include "cli/llm_reply.h"

/* llm_common_conditions returns the conditions of all answers; those that
 * differ have a text for each, "layout of shard fsdp". NULL: no memory. */
json_t *llm_common_conditions(const struct llm_replies *replies);

/* llm_compare_print writes the parts of several answers side by side, which has
 * most tokens a second and GPU, what the others lose, and what bounds it.
 * Returns 0, or -1 without memory. */
int llm_compare_print(const struct llm_replies *replies, enum dist__form form,
		      FILE *out);

/* llm_describe_loss writes what the second loses against the first in as long a
 * step of as many tokens: the parts that differ most, "55.2 ms a step, 6.4 %:
 * exposed tp +55.2 ms, bubble -14.1 ms". */
void llm_describe_loss(const struct llm_part *first,
		       const struct llm_part *second, size_t num, char *text,
		       size_t size);

#endif
