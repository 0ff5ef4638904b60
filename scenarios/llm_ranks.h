/*
 * llm_ranks.h - one rank of the workload of llm.h, as its files share it:
 * llm.c walks through the passes of its layers, llm_call.c makes their calls,
 * llm_data.c those of data parallelism, llm_stage.c sends to other stages.
 */
#ifndef LOCKSTEP_SCENARIOS_LLM_RANKS_H
#define LOCKSTEP_SCENARIOS_LLM_RANKS_H

#include "scenarios/llm.h"
#include "scenarios/llm_order.h"
#include "scenarios/training.h"

/* ---- one collective of some axis --------------------------------------- */

/*
 * Of an all-reduce in is out; of an all-gather out is the whole and in this
 * rank's part, of a reduce-scatter the other way; of an all-to-all both have a
 * part for each rank; of a send in goes to the next rank of the group and out
 * comes from the one before, rounds times.
 */
struct llm_call {
	enum dist__op_kind op;
	enum dist_reduce_op reduce;
	struct lane *lane;
	struct dist_tensor in, out;
	const size_t *in_parts, *out_parts; /* of an all-to-all; borrowed */
	int shift;         /* of its contents: another in another call */
	const char *label; /* what for; borrowed */
	int rounds;        /* of a send: how many are left, around a ring */
	struct pending pending, received; /* the latter of a send */
};

/* llm_call_begin makes the call; llm_call_finish waits for it, if it was made,
 * and counts what is wrong of it in *wrong. Errors: those of the operation. */
DIST_MUST_CHECK enum dist_error llm_call_begin(struct training *t,
					       struct llm_call *call);
DIST_MUST_CHECK enum dist_error
llm_call_finish(struct training *t, struct llm_call *call, double *wrong);

/* llm_call_round waits for one round of a ring and begins the next, if one is
 * left. Errors: those of the messages. */
DIST_MUST_CHECK enum dist_error
llm_call_round(struct training *t, struct llm_call *call, double *wrong);

/* llm_call_in_flight returns whether it was made and not waited for. */
bool llm_call_in_flight(const struct llm_call *call);

/* llm_call_release frees what is in flight after an error. */
void llm_call_release(struct llm_call *call);

/* llm_part returns part r of so many of tensor. */
struct dist_tensor llm_part(struct dist_tensor tensor, int r, int parts);

/* ---- what data-parallel ranks share ------------------------------------ */

/* Parameters that are gathered together and whose gradients are reduced
 * together. */
struct llm_unit {
	int first, last; /* layers of the chunk */
	double parameters;
	struct lane *lane, *copies; /* NULL: alone there */
	struct llm_call gather, reduce, sum;
	bool here; /* the parameters are gathered */
	bool due;  /* the gradients are whole, and not reduced yet */
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

/* A message of one way, chunk and micro-batch, as one of its ends knows it. */
struct llm_message {
	struct dist_tensor tensor;
	int step; /* 1 more than that in which it was asked for last */
	struct pending pending;
};

struct llm_stages {
	struct dist_group *group; /* NULL: there is one stage */
	int stage, num, chunks, micro_batches;
	bool ahead;               /* receives are posted before they are
				   * needed, and sends not waited for */
	struct llm_message *sent; /* by way, chunk, micro-batch */
	struct llm_message *received;
	int64_t *sent_ns; /* so too, of all steps */
	struct wait *waits;
	size_t num_waits;
	size_t *awaited; /* by wait: which message */
};

/* ---- the rank ----------------------------------------------------------- */

#define LLM_SCRATCH 2

struct llm {
	const struct llm_run *run;
	const struct llm_work *work;
	const struct llm_layout *layout;
	bool computes;                /* else communication alone */
	struct lane *lanes[LLM_AXES]; /* NULL: alone there; none of PP */
	struct llm_order order;
	struct llm_action *actions;
	size_t num_actions;
	struct llm_chunk *chunks;
	struct llm_stages stages;
	struct llm_call calls[LLM_SCRATCH]; /* of pieces, in turns */
	struct dist_tensor in[LLM_SCRATCH], out[LLM_SCRATCH];
	int turn;
	struct llm_call *open; /* goes on beside the next piece; NULL: none */
	size_t *parts; /* of all-to-alls: LLM_SCRATCH times to and from */
	struct llm_unit *reducing; /* fsdp: the last one */
	struct llm_call norms;     /* gradients that all of tp have */
	struct llm_call tied;      /* and the first and the last stage */
	double wrong;
};

/* llm_layer_kind returns what layer i of a chunk is: embedding, dense layers,
 * local ones, those with experts, head. */
enum llm_layer_kind llm_layer_kind(const struct llm_chunk *chunk, int i);

/* llm_tensor makes a tensor as training_tensor does, of so many bytes an
 * element: uint8, bfloat16 or float32. */
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

/* llm_data_before makes sure of the parameters of layer i of a chunk before an
 * action of it, llm_data_after hands on its gradients and lets go of its
 * parameters. llm_data_finish reduces what is left, llm_data_update steps the
 * optimizer. Errors: those of the calls. */
DIST_MUST_CHECK enum dist_error
llm_data_before(struct training *t, const struct llm_action *action, int i);
DIST_MUST_CHECK enum dist_error
llm_data_after(struct training *t, const struct llm_action *action, int i);
DIST_MUST_CHECK enum dist_error llm_data_finish(struct training *t);
DIST_MUST_CHECK enum dist_error llm_data_update(struct training *t);

/* llm_stages_init makes the group of a pipeline; llm_stages_release frees what
 * it holds. */
DIST_MUST_CHECK enum dist_error llm_stages_init(struct training *t);
void llm_stages_release(struct llm_stages *stages);

/* llm_stages_before waits for what action i needs, llm_stages_after sends what
 * it gives out, llm_stages_finish waits for what was sent. llm_stages_idle: as
 * a workload's idle. Errors: those of the messages. */
DIST_MUST_CHECK enum dist_error llm_stages_before(struct training *t, size_t i);
DIST_MUST_CHECK enum dist_error llm_stages_after(struct training *t, size_t i);
DIST_MUST_CHECK enum dist_error llm_stages_finish(struct training *t);
DIST_MUST_CHECK enum dist_error llm_stages_idle(struct training *t,
						int64_t *idle_ns);

#endif
