/*
 * llm_ranks.h - one rank of the workload of llm.h, shared by its files: llm.c
 * runs the passes of its layers, llm_call.c their calls, llm_data.c the calls
 * of data parallelism, llm_stage.c messages between stages.
 */
#ifndef LOCKSTEP_SCENARIOS_LLM_RANKS_H
#define LOCKSTEP_SCENARIOS_LLM_RANKS_H

#include "scenarios/llm.h"
#include "scenarios/llm_order.h"
#include "scenarios/training.h"

/* ---- one collective along an axis -------------------------------------- */

/*
 * All-reduce: in is out. All-gather: out is the whole, in this rank's part;
 * reduce-scatter the reverse. All-to-all: both have a part for each rank. Send:
 * in goes to the next rank of the group, out comes from the previous one,
 * rounds times.
 */
struct llm_call {
	enum dist__op_kind op;
	enum dist_reduce_op reduce;
	struct lane *lane;
	struct dist_tensor in, out;
	const size_t *in_parts, *out_parts; /* of an all-to-all; borrowed */
	int shift;         /* of its contents, which differs between calls */
	const char *label; /* its purpose; borrowed */
	int rounds;        /* of a send: rounds left of a ring */
	struct pending pending, received; /* received: of a send */
};

/* llm_call_begin makes the call; llm_call_finish waits for it, if it was made,
 * and adds the number of wrong elements to *wrong. Errors: those of the
 * operation. */
DIST_MUST_CHECK enum dist_error llm_call_begin(struct training *t,
					       struct llm_call *call);
DIST_MUST_CHECK enum dist_error
llm_call_finish(struct training *t, struct llm_call *call, double *wrong);

/* llm_call_round waits for one round of a ring and begins the next, if there is
 * one. Errors: those of the messages. */
DIST_MUST_CHECK enum dist_error
llm_call_round(struct training *t, struct llm_call *call, double *wrong);

/* llm_call_in_flight returns whether the call was made and not waited for. */
bool llm_call_in_flight(const struct llm_call *call);

/* llm_call_release frees what is in flight after an error. */
void llm_call_release(struct llm_call *call);

/* llm_part returns part r of tensor, of `parts`. */
struct dist_tensor llm_part(struct dist_tensor tensor, int r, int parts);

/* ---- calls of data parallelism ----------------------------------------- */

/* Parameters that are gathered together, with gradients that are reduced
 * together. */
struct llm_unit {
	int first, last; /* layers of the chunk */
	double parameters;
	struct lane *lane, *copies; /* NULL: a group of one rank */
	struct llm_call gather, reduce, sum;
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

/* ---- messages between stages ------------------------------------------- */

/* One end of a message, by direction, chunk and micro-batch. */
struct llm_message {
	struct dist_tensor tensor;
	int step; /* the last step in which it was posted, plus 1 */
	struct pending pending;
};

struct llm_stages {
	struct dist_group *group; /* NULL: there is one stage */
	int stage, num, chunks, micro_batches;
	bool ahead;               /* receives are posted one ahead, and sends
				     are not waited for */
	struct llm_message *sent; /* by direction, chunk, micro-batch */
	struct llm_message *received;
	int64_t *sent_ns; /* the same, for all steps */
	struct wait *waits;
	size_t num_waits;
	size_t *awaited; /* by wait: the index of the message */
};

/* ---- the rank ----------------------------------------------------------- */

#define LLM_SCRATCH 2

struct llm {
	const struct llm_run *run;
	const struct llm_work *work;
	const struct llm_layout *layout;
	bool computes;                /* else only communication */
	struct lane *lanes[LLM_AXES]; /* NULL: one rank; PP has none */
	struct llm_order order;
	struct llm_action *actions;
	size_t num_actions;
	struct llm_chunk *chunks;
	struct llm_stages stages;
	struct llm_call calls[LLM_SCRATCH]; /* of pieces, alternating */
	struct dist_tensor in[LLM_SCRATCH], out[LLM_SCRATCH];
	int turn;
	struct llm_call *open; /* overlaps with the next piece; NULL: none */
	size_t *parts; /* of all-to-alls: sent and received, LLM_SCRATCH times
			*/
	struct llm_unit *reducing; /* fsdp: the last one */
	struct llm_call norms;     /* gradients that every tp rank has */
	struct llm_call tied;      /* gradients of first and last stage */
	double wrong;
};

/* llm_layer_kind returns the kind of layer i of a chunk, in the order
 * embedding, dense, local, experts, head. */
enum llm_layer_kind llm_layer_kind(const struct llm_chunk *chunk, int i);

/* llm_tensor makes a tensor like training_tensor, with elements of `bytes`
 * bytes: uint8, bfloat16 or float32. */
DIST_MUST_CHECK enum dist_error llm_tensor(struct training *t, double numel,
					   int bytes,
					   struct dist_tensor *tensor);

/* llm_element returns the bytes of an activation's element. */
int llm_element(const struct llm *llm);

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

/* llm_stages_init makes the group of a pipeline; llm_stages_release frees what
 * stages holds. */
DIST_MUST_CHECK enum dist_error llm_stages_init(struct training *t);
void llm_stages_release(struct llm_stages *stages);

/* llm_stages_before waits for the input of action i, llm_stages_after sends its
 * output, llm_stages_finish waits for sends. llm_stages_idle is idle() of a
 * workload. Errors: those of the messages. */
DIST_MUST_CHECK enum dist_error llm_stages_before(struct training *t, size_t i);
DIST_MUST_CHECK enum dist_error llm_stages_after(struct training *t, size_t i);
DIST_MUST_CHECK enum dist_error llm_stages_finish(struct training *t);
DIST_MUST_CHECK enum dist_error llm_stages_idle(struct training *t,
						int64_t *idle_ns);

#endif
