/*
 * llm_set.h - predictions of all measured steps of language models: with the
 * constants as they are, or fitted to some of the rows; without measurements,
 * or with one row of the same model, GPU and precision; and a no-skill
 * prediction.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_LLM_SET_H
#define LOCKSTEP_MODEL_VALIDATION_LLM_SET_H

#include "model/validation/llm_case.h"

#define LLM_SET_NAME 64

struct llm_source {
	char name[LLM_SET_NAME]; /* of its table's file */
	struct llm_rows rows;
};

struct llm_set {
	struct llm_source *sources; /* owned, as all */
	size_t num_sources;
	struct llm_recipes *recipes;
	size_t num_recipes;
	struct llm_device *devices; /* devices of the cases */
	size_t num_devices;
	struct dist__profile profile; /* NCCL's */
	struct llm_case *cases;       /* cases that can be compared */
	const struct llm_device **device_of;
	size_t num;
	struct llm_case *unfit; /* cases cases that cannot, each with why */
	size_t num_unfit;
};

/*
 * llm_set_load reads the tables that come with Lockstep or, if num > 0, only
 * the named tables or files. In any case llm_set_release frees what set holds.
 * Errors: as llm_rows_load; INVALID_ARGUMENT (message: no such table).
 */
DIST_MUST_CHECK enum dist_error llm_set_load(struct llm_set *set,
					     const char *const *names,
					     size_t num,
					     struct dist_message *message);
void llm_set_release(struct llm_set *set);

/* llm_set_cluster returns the cluster of case i; it borrows both arguments. */
struct llm_cluster llm_set_cluster(const struct llm_set *set, size_t i,
				   const struct llm_constants *constants);

/*
 * llm_set_step predicts case i with these constants and `scale` times the rates
 * of all kernels. Errors: as llm_work_init and llm_step.
 */
DIST_MUST_CHECK enum dist_error
llm_set_step(const struct llm_set *set, size_t i,
	     const struct llm_constants *constants, double scale,
	     struct llm_answer *answer, struct dist_message *message);

/* llm_set_predict writes the predicted steps of all cases in ns; NAN: no
 * prediction. */
void llm_set_predict(const struct llm_set *set,
		     const struct llm_constants *constants, double *ns);

/* llm_set_given does so with the rate of kernels scaled to meet the row with
 * the fewest GPUs in the case's group; NAN for that row, and for a row alone.
 * Rows of a group have the same source, section or submitter, model, GPU and
 * precision. */
void llm_set_given(const struct llm_set *set,
		   const struct llm_constants *constants, double *ns);

/* llm_set_no_skill writes the steps at one achieved FLOP/s for each source, GPU
 * and precision: the median of its rows, which it has seen. */
void llm_set_no_skill(const struct llm_set *set, double *ns);

/* llm_set_fit fits the constants with a spread to all cases but those of which
 * without[i] (NULL: to all). Errors: NO_MEMORY. */
DIST_MUST_CHECK enum dist_error llm_set_fit(const struct llm_set *set,
					    const bool *without,
					    struct llm_constants *constants);

#endif
