/* predict.h - what is asked of `lockstep predict`, by its command line or a
 * study, which read the same tables of options into it: one of networks that
 * workloads train, one of language models. */
#ifndef LOCKSTEP_CLI_PREDICT_H
#define LOCKSTEP_CLI_PREDICT_H

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
	bool language; /* llm counts, not what it has of its own */
	struct llm_request llm;
	const char *picture; /* of the last world size's pipeline */
	struct table_options form;
	int dry_run;
	int no_explain;
};

/* predict_options_init sets the defaults of a kind of step (NULL: ddp_step, or
 * that of a language model where model, which may be NULL, is one), to be read
 * into by predict_manual's. Errors: INVALID_ARGUMENT (there is no such kind:
 * refusal). */
DIST_MUST_CHECK enum dist_error
predict_options_init(struct predict_options *options, const char *workload,
		     const char *model, struct prediction_refusal *refusal);

/* predict_manual returns the manual of such options, with its taker. */
struct manual predict_manual(const struct predict_options *options);

/* predict_read_sizes reads "8" or "8,16,32", PREDICTION_SIZES at most. Errors:
 * INVALID_ARGUMENT (refusal). */
DIST_MUST_CHECK enum dist_error
predict_read_sizes(const char *text, int sizes[PREDICTION_SIZES], size_t *num,
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
