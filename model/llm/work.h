/*
 * work.h - what the layers of a model compute and call on one rank of a layout,
 * for one micro-batch: the one description that the closed form (step.h) adds
 * up and that rank programs (scenarios/llm.c) run.
 *
 * Times are ns, bytes those of the whole tensor of a call: of an all-gather
 * what comes out, of a reduce-scatter what goes in, of an all-reduce what is
 * summed, of an all-to-all what a rank passes in, its own share too. A send
 * along CP stands for a ring: ranks - 1 sends to the next rank, of bytes in
 * all.
 *
 * Calls of a layer are those along TP, CP and EP. What the data-parallel axes
 * call follows from the parameters of a layer: under DDP and ZeRO once a step,
 * under ZERO2 each micro-batch's gradients, under FSDP a gather before each
 * pass, too. Between stages a micro-batch sends boundary_bytes each way.
 */
#ifndef LOCKSTEP_MODEL_LLM_WORK_H
#define LOCKSTEP_MODEL_LLM_WORK_H

#include "core/op.h"
#include "model/llm/layout.h"

enum llm_kind {
	LLM_GEMM,
	LLM_ATTENTION,
	LLM_ELEMENTWISE,
	LLM_OPTIMIZER,
	LLM_KINDS
};

/* A stretch of computing, then a call. */
struct llm_piece {
	const char *label;     /* static: "qkv" */
	double ns[LLM_KINDS];  /* computed before the call */
	double flops;          /* of these; model FLOP, without recompute */
	enum dist__op_kind op; /* DIST__OP_KINDS: no call */
	enum llm_axis axis;
	double bytes;
	bool overlapped; /* beside computing: of the next piece; an all-reduce
			  * or reduce-scatter of forward beside that of its
			  * own; along EP beside another micro-batch's passes */
};

#define LLM_PIECES 20

struct llm_pass {
	struct llm_piece pieces[LLM_PIECES];
	size_t num;
};

enum llm_layer_kind {
	LLM_EMBEDDING,
	LLM_DENSE,
	LLM_EXPERT,
	LLM_LOCAL,        /* dense, of a window */
	LLM_LOCAL_EXPERT, /* with experts, of a window */
	LLM_HEAD,         /* last norm, output projection, loss */
	LLM_LAYER_KINDS
};

struct llm_layer {
	struct llm_pass forward;
	struct llm_pass backward; /* of inputs, then of weights; what selective
				   * recomputation adds is in it, what full
				   * adds is not: that is forward once more */
	struct llm_pass weights;  /* ZERO_BUBBLE: that part of backward; else
				   * empty */
	double again_flops;       /* of backward, what selective
				   * recomputation makes again */
	double dense_parameters;  /* of a rank: divided by tp, not by ep. Of a
				   * tied head none, but with stages a copy of
				   * the embedding */
	double expert_parameters; /* divided by ep, too */
	double activation_bytes;  /* kept from forward to backward, of one
				   * micro-batch, where the layer is not
				   * recomputed whole */
	double input_bytes;       /* kept where it is */
	double working_bytes;     /* most at once while it runs, beside these */
	double boundary_bytes;    /* sent to the next stage */
};

/* All that one step is made of. */
struct llm_work {
	struct llm_architecture model;
	struct llm_layout layout;
	struct llm_layer layers[LLM_LAYER_KINDS]; /* those that model has */
	double flops;          /* of a step of all ranks, model FLOP (MFU) */
	double hardware_flops; /* and recomputation (HFU) */
};

/*
 * llm_work_init describes model in a layout that is complete, on device.
 * Errors: INVALID_ARGUMENT (message: precision that device lacks).
 */
DIST_MUST_CHECK enum dist_error
llm_work_init(struct llm_work *work, const struct llm_architecture *model,
	      const struct llm_layout *layout, const struct llm_device *device,
	      const struct llm_pace *pace, struct dist_message *message);

/*
 * llm_stage_layers stores how many layers of each kind chunk `chunk` (0 to vpp
 * - 1) of stage `stage` has: the embedding on the first, the head on the last.
 * Where chunks do not divide the layers, embedding and head count as a layer
 * each, and the first chunks have one more (torchtitan's
 * distributed/pipeline_parallel.py; Megatron's
 * --account-for-embedding-in-pipeline-split).
 */
void llm_stage_layers(const struct llm_work *work, int stage, int chunk,
		      int num[LLM_LAYER_KINDS]);

/* llm_recomputed_layers returns how many layers of a stage are recomputed
 * whole, the first ones (Megatron's --recompute-method block). */
int llm_recomputed_layers(const struct llm_work *work, int stage);

/* llm_pass_ns returns what a pass computes, without its calls. */
double llm_pass_ns(const struct llm_pass *pass);

#endif
