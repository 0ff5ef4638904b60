/*
 * llm_set.h - all measured steps of language models, predicted: by constants as
 * they stand or as fitted to some of them; with nothing else known, or with one
 * measured row of the same model, GPU and precision; and by no skill at all.
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
	struct llm_device *devices; /* those of the cases */
	size_t num_devices;
	struct dist__profile profile; /* NCCL's */
	struct llm_case *cases;       /* that can be judged */
	const struct llm_device **device_of;
	size_t num;
	struct llm_case *unfit; /* that cannot, each with why */
	size_t num_unfit;
};

/*
 * llm_set_load reads the tables that come with Lockstep; those of num names
 * alone where num > 0, of which each is such a table's or a file's. Either way
 * llm_set_release frees what set holds. Errors: as llm_rows_load;
 * INVALID_ARGUMENT (message: no such table).
 */
DIST_MUST_CHECK enum dist_error llm_set_load(struct llm_set *set,
					     const char *const *names,
					     size_t num,
					     struct dist_message *message);
void llm_set_release(struct llm_set *set);

/* llm_set_cluster returns where case i ran; it borrows both. */
struct llm_cluster llm_set_cluster(const struct llm_set *set, size_t i,
				   const struct llm_constants *constants);

/*
 * llm_set_step answers for case i by these constants, with `scale` times the
 * rates of all kernels. Errors: as llm_work_init and llm_step.
 */
DIST_MUST_CHECK enum dist_error
llm_set_step(const struct llm_set *set, size_t i,
	     const struct llm_constants *constants, double scale,
	     struct llm_answer *answer, struct dist_message *message);

/* llm_set_predict writes the steps of all cases, ns; NAN where there is none.
 */
void llm_set_predict(const struct llm_set *set,
		     const struct llm_constants *constants, double *ns);

/* llm_set_given does so with the rate of kernels scaled so that the group's row
 * of fewest GPUs is met; NAN for that row, and where it is alone. A group has
 * one source, and section or submitter of it, model, GPU and precision. */
void llm_set_given(const struct llm_set *set,
		   const struct llm_constants *constants, double *ns);

/* llm_set_no_skill writes the steps by one achieved FLOP/s for each source, GPU
 * and precision: the middle of its rows, which it has seen. */
void llm_set_no_skill(const struct llm_set *set, double *ns);

/* llm_set_fit fits the constants that have a spread to all cases but those of
 * source without (NULL: all). Errors: NO_MEMORY. */
DIST_MUST_CHECK enum dist_error llm_set_fit(const struct llm_set *set,
					    const char *without,
					    struct llm_constants *constants);

#endif
