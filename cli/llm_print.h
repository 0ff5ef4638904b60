/* llm_print.h - prints answers about training a language model, in every form.
 */
#ifndef LOCKSTEP_CLI_LLM_PRINT_H
#define LOCKSTEP_CLI_LLM_PRINT_H

#include <jansson.h>

#include "base/rows.h"
#include "cli/explanation.h"
#include "cli/llm_question.h"

/* llm_refuse is refuse() of cli/refuse.h that adds the name of option (NULL:
 * none) if text does not name it. */
int llm_refuse(const char *command, const char *option, const char *text);

/* A part of a step's time. */
struct llm_part {
	char name[32]; /* "exposed tp" */
	double ns;
};

#define LLM_PARTS (LLM_KINDS + LLM_AXES + 3)

/* llm_parts stores the parts of a breakdown, which add up to the step. */
void llm_parts(const struct llm_breakdown *breakdown,
	       struct llm_part parts[LLM_PARTS]);

/* llm_conditions returns the conditions of an answer; NULL: no memory. */
json_t *llm_conditions(const struct llm_question *question,
		       const struct llm_outcome *outcome);

/* llm_print_conditions writes conditions and releases them. */
void llm_print_conditions(json_t *conditions, enum dist__form form, FILE *out);

/* llm_print writes the answers, the parts of the last one and its explanation,
 * in any form but TSV. Returns 0, or -1 without memory. */
int llm_print(const struct llm_question *question,
	      const struct llm_outcome *outcomes, size_t num,
	      const struct explanation *explanation, enum dist__form form,
	      FILE *out);

/* llm_write_tsv writes the rows to path, whole or not at all. Errors: of the
 * file, with message. */
enum dist_error llm_write_tsv(const struct llm_question *question,
			      const struct llm_outcome *outcomes, size_t num,
			      const char *path, struct dist_message *message);

#endif
