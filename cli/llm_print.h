/* llm_print.h - prints answers about training a language model, in every form.
 */
#ifndef LOCKSTEP_CLI_LLM_PRINT_H
#define LOCKSTEP_CLI_LLM_PRINT_H

#include "cli/explanation.h"
#include "cli/llm_reply.h"

/* llm_refuse is refuse() of cli/refuse.h that adds the name of option (NULL:
 * none) if text does not name it. */
int llm_refuse(const char *command, const char *option, const char *text);

/* llm_print writes a row for each answer, in any form but TSV. Below it stand
 * the parts of the only one and its explanation, or what several differ by
 * (llm_compare.h). Returns 0, or -1 without memory. */
int llm_print(const struct llm_replies *replies,
	      const struct explanation *explanation, enum dist__form form,
	      FILE *out);

/* llm_write_tsv writes the rows to path, whole or not at all. Errors: of the
 * file, with message. */
enum dist_error llm_write_tsv(const struct llm_replies *replies,
			      const char *path, struct dist_message *message);

#endif
