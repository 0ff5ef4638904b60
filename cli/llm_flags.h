/* llm_flags.h - a layout as command lines: ours, torchtitan's, Megatron-LM's.
 */
#ifndef LOCKSTEP_CLI_LLM_FLAGS_H
#define LOCKSTEP_CLI_LLM_FLAGS_H

#include "cli/llm_question.h"

/* llm_flags_layout writes a layout's flags for predict, each after a space: "
 * --tp 8 --pp 4". Defaults are left out. */
void llm_flags_layout(const struct llm_layout *layout, char *text, size_t size);

/* llm_flags_predict writes the `lockstep predict` command of layout. */
void llm_flags_predict(const struct llm_question *question,
		       const struct llm_layout *layout, char *text,
		       size_t size);

/* llm_flags_torchtitan and llm_flags_megatron write the flags by which these
 * train so, each behind a space, or if they cannot " has no flag for ...", and
 * return whether they can. Held against torchtitan/config/configs.py,
 * trainer.py and distributed/ at b5bcd76c66d0 (August 2026), Megatron-LM
 * megatron/training/arguments.py and core/transformer/transformer_config.py at
 * d98e8a64ddf3 (August 2026). layers: of the model. Where only some layers are
 * recomputed, torchtitan's flags recompute all. */
bool llm_flags_torchtitan(const struct llm_layout *layout, int layers,
			  char *text, size_t size);
bool llm_flags_megatron(const struct llm_layout *layout,
			const struct llm_architecture *model, char *text,
			size_t size);

#endif
