/*
 * llm_ranks.h - one rank of the workload of llm.h, shared by its files: llm.c
 * runs the passes of its layers, llm_data.c has the calls of data parallelism.
 */
#ifndef LOCKSTEP_SCENARIOS_LLM_RANKS_H
#define LOCKSTEP_SCENARIOS_LLM_RANKS_H

#include "scenarios/call.h"
#include "scenarios/llm.h"
#include "scenarios/pipeline.h"

/* ---- calls of data parallelism ----------------------------------------- */

/* Parameters that are gathered together, with gradients that are reduced
 * together. */
struct llm_unit {
	int first, last; /* layers of the chunk */
	double parameters;
	struct lane *lane, *copies; /* NULL: a group of one rank */
	struct call gather, reduce, sum;
	bool here; /* the parameters are gathered */
	bool due;  /* the gradients are complete, but not yet reduced */
};

/* One model chunk of a stage. */
struct llm_chunk {
	int first; /* layer of the model */
	int num[LLM_LAYER_KINDS];
	int layers; /* of all kinds */
	struct llm_unit *units;
	size_t num_units;
};

/* ---- the rank ----------------------------------------------------------- */

#define LLM_SCRATCH 2

struct llm {
	const struct llm_run *run;
	const struct llm_work *work;
	const struct llm_layout *layout;
	bool computes;                /* else only communication */
	struct lane *lanes[LLM_AXES]; /* NULL: one rank; PP has none */
	struct pipeline pipeline;
	struct llm_chunk *chunks;
	struct call calls[LLM_SCRATCH]; /* of pieces, alternating */
	struct dist_tensor in[LLM_SCRATCH], out[LLM_SCRATCH];
	int turn;
	struct call *open; /* overlaps with the next piece; NULL: none */
	size_t *parts; /* of all-to-alls: sent and received, LLM_SCRATCH times
			*/
	struct llm_unit *reducing; /* fsdp: the last one */
	struct call norms;         /* gradients that every tp rank has */
	struct call tied;          /* gradients of first and last stage */
};

/* llm_layer_kind returns the kind of layer i of a chunk, in the order
 * embedding, dense, local, experts, head. */
enum llm_layer_kind llm_layer_kind(const struct llm_chunk *chunk, int i);

/* llm_tensor makes a tensor like training_tensor, with elements of `bytes`
 * bytes: uint8, bfloat16 or float32. */
DIST_MUST_CHECK enum dist_error llm_tensor(struct training *t, double numel,
					   int bytes,
					   struct dist_tensor *tensor);

/* llm_compute lets ns pass under label. */
DIST_MUST_CHECK enum dist_error llm_compute(struct training *t, double ns,
					    const char *label);

/* llm_data_init makes the units of all chunks; llm_data_release frees them. */
DIST_MUST_CHECK enum dist_error llm_data_init(struct training *t);
void llm_data_release(struct llm *llm);

/* llm_data_before gathers the parameters of layer i of a chunk before an action
 * on it; llm_data_after reduces its gradients and frees its parameters.
 * llm_data_finish reduces the remaining gradients, llm_data_update runs the
 * optimizer. Errors: those of the calls. */
DIST_MUST_CHECK enum dist_error
llm_data_before(struct training *t, const struct llm_action *action, int i);
DIST_MUST_CHECK enum dist_error
llm_data_after(struct training *t, const struct llm_action *action, int i);
DIST_MUST_CHECK enum dist_error llm_data_finish(struct training *t);
DIST_MUST_CHECK enum dist_error llm_data_update(struct training *t);

#endif
