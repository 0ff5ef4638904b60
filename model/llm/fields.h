/* fields.h - readers for fields of this folder's tables. */
#ifndef LOCKSTEP_MODEL_LLM_FIELDS_H
#define LOCKSTEP_MODEL_LLM_FIELDS_H

/* llm_read_text stores a text, llm_read_number a number above 0: readers for
 * struct tsv_field. */
const char *llm_read_text(const char *text, void *into);
const char *llm_read_number(const char *text, void *into);

#endif
