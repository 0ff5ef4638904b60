/*
 * work.h - the computing and the calls of a model's layers on one rank of a
 * layout, for one micro-batch. The closed form (step.h) adds this description
 * up; rank programs (scenarios/llm.c) run it.
 *
 * Times are ns. Bytes of a call: the output of an all-gather, the input of a
 * reduce-scatter, the tensor of an all-reduce, the input of a rank in an
 * all-to-all with its own share. A send along CP represents a ring: ranks - 1
 * sends to the next rank, of bytes in all.
 *
 * Calls of a layer are those along TP, CP and EP. Calls of the data-parallel
 * axes follow from the parameters of a layer: once a step with DDP and ZeRO,
 * for the gradients of each micro-batch with ZERO2, and with FSDP also a gather
 * before each pass. Between stages a micro-batch sends boundary_bytes each way.
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

/* Computing, then a call. */
struct llm_piece {
	const char *label;     /* static: "qkv" */
	double ns[LLM_KINDS];  /* computed before the call */
	double flops;          /* of these; model FLOP, without recomputation */
	enum dist__op_kind op; /* DIST__OP_KINDS: no call */
	enum llm_axis axis;
	double bytes;
	bool overlapped; /* the call overlaps with the next piece; in forward an
			    all-reduce or reduce-scatter with its own piece;
			    along EP with another micro-batch's passes */
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
	LLM_LOCAL,        /* dense, attends to the window */
	LLM_LOCAL_EXPERT, /* with experts, attends to the window */
	LLM_HEAD,         /* last norm, output projection, loss */
	LLM_LAYER_KINDS
};

struct llm_layer {
	struct llm_pass forward;
	struct llm_pass backward; /* of inputs, then of weights; with selective
				     recomputation, not with full: that is
				     another forward */
	struct llm_pass again;    /* forward, as full recomputation makes it */
	struct llm_pass weights;  /* ZERO_BUBBLE: the weights' part of backward;
				     else empty */
	double again_flops;       /* FLOP in backward of selective recomputation
				   */
	double dense_parameters;  /* of a rank: divided by tp, not by ep. A tied
				     head has none, or with stages a copy of the
				     embedding */
	double expert_parameters; /* divided by ep, too */
	double activation_bytes;  /* of one micro-batch, kept from forward to
				     backward, unless the layer is fully
				     recomputed */
	double input_bytes;       /* kept if the layer is fully recomputed */
	double working_bytes;     /* peak of temporary memory while it runs */
	double boundary_bytes;    /* sent to the next stage */
};

/* The work of a step. */
struct llm_work {
	struct llm_architecture model;
	struct llm_layout layout;
	struct llm_layer layers[LLM_LAYER_KINDS]; /* by kind */
	double flops;          /* of a step of all ranks, model FLOP (MFU) */
	double hardware_flops; /* with recomputation (HFU) */
};

/*
 * llm_work_init computes the work of model in a complete layout on device.
 * Errors: INVALID_ARGUMENT (message: the device lacks the precision).
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
 * --account-for-embedding-in-pipeline-split). With even_matrices a stage takes
 * layers until it has more than its part of all weights of matrices (nanotron's
 * models/base.py and llama.py).
 */
void llm_stage_layers(const struct llm_work *work, int stage, int chunk,
		      int num[LLM_LAYER_KINDS]);

/* llm_recomputed_layers returns the number of fully recomputed layers of a
 * stage, the first ones (Megatron's --recompute-method block). */
int llm_recomputed_layers(const struct llm_work *work, int stage);

/* llm_pass_ns returns the computing time of a pass, without its calls,
 * llm_pass_flops its FLOP. */
double llm_pass_ns(const struct llm_pass *pass);
double llm_pass_flops(const struct llm_pass *pass);

#endif
