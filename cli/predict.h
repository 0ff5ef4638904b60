/* predict.h - what is asked of `lockstep predict`, by its command line or a
 * study, which read the same table of options into it. */
#ifndef LOCKSTEP_CLI_PREDICT_H
#define LOCKSTEP_CLI_PREDICT_H

#include "cli/prediction.h"
#include "cli/rewiring.h"
#include "cli/table_option.h"

/* Strings are borrowed; NULL: not given. */
struct predict_options {
	const struct workload *workload;
	struct workload_arguments arguments;
	struct rewiring_arguments rewiring;
	const char *workload_name; /* read beforehand */
	const char *platform;
	const char *machine;
	int ranks_per_node;
	int uncalibrated;
	const char *profile;
	const char *algorithm;
	const char *world_sizes;
	const char *fidelity;
	const char *engine;
	const char *trace;
	struct table_options form;
	int dry_run;
	int no_explain;
};

/* predict_options_init sets the defaults of a kind of step (NULL: ddp_step),
 * to be read into by manual_predict. Errors: INVALID_ARGUMENT (there is no such
 * kind: refusal). */
DIST_MUST_CHECK enum dist_error
predict_options_init(struct predict_options *options, const char *workload,
		     struct prediction_refusal *refusal);

/* predict_check does all that is done before anything is simulated. Errors: any
 * of a prediction that is refused; refusal says what was expected. */
DIST_MUST_CHECK enum dist_error
predict_check(const struct predict_options *options,
	      struct prediction_refusal *refusal);

/* predict_answer predicts, and writes the answer to out. Returns one of enum
 * dist_exit, after a line on stderr when it is not OK. Once per process. */
DIST_MUST_CHECK int predict_answer(const struct predict_options *options,
				   FILE *out);

#endif
