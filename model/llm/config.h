/* config.h - a model's config.json, as Hugging Face's transformers has it. */
#ifndef LOCKSTEP_MODEL_LLM_CONFIG_H
#define LOCKSTEP_MODEL_LLM_CONFIG_H

#include "model/llm/architecture.h"

/*
 * llm_config_read reads the file at path, or config.json in that folder. What
 * transformers takes from its classes where a file says nothing is taken so
 * here where it follows from the rest, else expected of the file. Layers that
 * predict more than the next token (num_nextn_predict_layers) are not counted.
 * Errors: as llm_architecture_find.
 */
DIST_MUST_CHECK enum dist_error llm_config_read(struct llm_architecture *model,
						const char *path,
						struct dist_message *message);

/* llm_config_parse reads a text, which messages call by path. Errors:
 * INVALID_ARGUMENT. */
DIST_MUST_CHECK enum dist_error llm_config_parse(struct llm_architecture *model,
						 const char *path,
						 const char *text,
						 struct dist_message *message);

/* llm_config_write writes model to path (NULL: standard output) so that
 * llm_config_read gives it again. Errors: INVALID_ARGUMENT (no family has its
 * parts together; message says which), IO, NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
llm_config_write(const struct llm_architecture *model, const char *path,
		 struct dist_message *message);

#endif
