/* fields.h - readers for the fields of this folder's tables. */
#ifndef LOCKSTEP_MODEL_LLM_FIELDS_H
#define LOCKSTEP_MODEL_LLM_FIELDS_H

/* llm_read_text stores a text of the table, llm_read_number a number over 0:
 * readers of a tsv_field. */
const char *llm_read_text(const char *text, void *into);
const char *llm_read_number(const char *text, void *into);

#endif
