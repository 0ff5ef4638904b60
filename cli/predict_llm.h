/* predict_llm.h - lockstep predict of a language model: by its closed form, or
 * with its calls simulated. */
#ifndef LOCKSTEP_CLI_PREDICT_LLM_H
#define LOCKSTEP_CLI_PREDICT_LLM_H

#include "cli/predict.h"

/* predict_llm_check and predict_llm_answer are predict_check and predict_answer
 * for options of a language model. */
DIST_MUST_CHECK enum dist_error
predict_llm_check(const struct predict_options *options,
		  struct prediction_refusal *refusal);
DIST_MUST_CHECK int predict_llm_answer(const struct predict_options *options,
				       FILE *out);

#endif
