/* config.h - a model's config.json, in the format of Hugging Face's
 * transformers. */
#ifndef LOCKSTEP_MODEL_LLM_CONFIG_H
#define LOCKSTEP_MODEL_LLM_CONFIG_H

#include "model/llm/architecture.h"

/*
 * llm_config_read reads the file at path, or config.json in that folder.
 * Defaults of transformers' classes are used where they follow from other
 * fields; other missing fields are errors. Layers that predict more than the
 * next token (num_nextn_predict_layers) are not counted. Errors: as
 * llm_architecture_find.
 */
DIST_MUST_CHECK enum dist_error llm_config_read(struct llm_architecture *model,
						const char *path,
						struct dist_message *message);

/* llm_config_parse reads text; messages name path. Errors: INVALID_ARGUMENT. */
DIST_MUST_CHECK enum dist_error llm_config_parse(struct llm_architecture *model,
						 const char *path,
						 const char *text,
						 struct dist_message *message);

/* llm_catalogue_difference returns the first field of the catalogue in which
 * two models differ; NULL: none. Texts and what their authors state do not
 * count. */
const char *llm_catalogue_difference(const struct llm_architecture *a,
				     const struct llm_architecture *b);

/* llm_config_write writes model to path (NULL: standard output);
 * llm_config_read reads the same model from it. Errors: INVALID_ARGUMENT (no
 * family has this combination of parts: message), IO, NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
llm_config_write(const struct llm_architecture *model, const char *path,
		 struct dist_message *message);

#endif
