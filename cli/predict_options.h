/* predict_options.h - a request to `lockstep predict`, from its command line or
 * a study. Both read it by the same tables of options: one for networks that
 * workloads train, one for language models. */
#ifndef LOCKSTEP_CLI_PREDICT_OPTIONS_H
#define LOCKSTEP_CLI_PREDICT_OPTIONS_H

#include "cli/llm_question.h"
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
	bool language; /* llm is used, not the fields before */
	struct llm_request llm;
	const char *picture; /* of the last world size's pipeline */
	struct table_options form;
	int dry_run;
	int no_explain;
};

/* predict_options_init sets the defaults of a workload (NULL: ddp_step, or that
 * of a language model if model, which may be NULL, is one). Then options are
 * read by predict_manual. Errors: INVALID_ARGUMENT (no such workload: refusal).
 */
DIST_MUST_CHECK enum dist_error
predict_options_init(struct predict_options *options, const char *workload,
		     const char *model, struct dist__refusal *refusal);

/* predict_manual returns the manual of these options. */
struct manual predict_manual(const struct predict_options *options);

/* predict_read_sizes reads "8" or "8,16,32", at most PREDICTION_SIZES numbers.
 * Errors: INVALID_ARGUMENT (refusal). */
DIST_MUST_CHECK enum dist_error
predict_read_sizes(const char *text, int sizes[PREDICTION_SIZES], size_t *num,
		   struct dist__refusal *refusal);

/* ---- predict.c: the answer ---------------------------------------------- */

/* predict_check does all checks that come before a simulation. Errors: any of a
 * refused prediction; refusal says what was expected. */
DIST_MUST_CHECK enum dist_error
predict_check(const struct predict_options *options,
	      struct dist__refusal *refusal);

/* predict_answer predicts, and writes the answer to out. Returns one of enum
 * dist_exit, after a line on stderr when it is not OK. Once per process. */
DIST_MUST_CHECK int predict_answer(const struct predict_options *options,
				   FILE *out);

#endif
