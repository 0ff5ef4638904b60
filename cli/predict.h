/* predict.h - the answer of `lockstep predict` to a request. */
#ifndef LOCKSTEP_CLI_PREDICT_H
#define LOCKSTEP_CLI_PREDICT_H

#include "cli/predict_options.h"

/* predict_check does all checks that come before a simulation. Errors: any of a
 * refused prediction; refusal says what was expected. */
DIST_MUST_CHECK enum dist_error
predict_check(const struct predict_options *options,
	      struct prediction_refusal *refusal);

/* predict_answer predicts, and writes the answer to out. Returns one of enum
 * dist_exit, after a line on stderr when it is not OK. Once per process. */
DIST_MUST_CHECK int predict_answer(const struct predict_options *options,
				   FILE *out);

#endif
