/*
 * passes.h - one layer's forward and backward passes on one rank, and what they
 * keep between them: what work.c makes a model's work of.
 */
#ifndef LOCKSTEP_MODEL_LLM_PASSES_H
#define LOCKSTEP_MODEL_LLM_PASSES_H

#include "model/llm/work.h"

/* A layer of one micro-batch on one rank. Borrows all that it points to. */
struct llm_slice {
	const struct llm_architecture *model;
	const struct llm_layout *layout;
	const struct llm_device *device;
	const struct llm_pace *pace;
	struct llm_layer *layer; /* under construction */
	bool local;              /* its attention has the window */
	bool experts;
	double tokens;   /* of a micro-batch on a rank of cp */
	double own;      /* of these where tp divides the sequence, else all */
	double routed;   /* rows that the fullest rank's experts compute: tokens
			  * of its part of the matrices, top_k times */
	double document; /* tokens that attend to each other */
	double keys;     /* that a token attends to on average */
	double tp, etp;
	double element; /* bytes of an activation */
	double operand; /* bytes of what a matrix is multiplied with */
};

/* llm_again returns whether selective recomputation makes module again. */
bool llm_again(const struct llm_slice *slice, enum llm_module module);

/* llm_slice_init describes a layer of that kind. */
void llm_slice_init(struct llm_slice *slice, enum llm_layer_kind kind);

/* Passes of attention (with its norm), of MLP or experts (with theirs), of
 * embedding and of head. Backward begins with the last. `again` is what
 * RECOMPUTE_OPERATORS adds before it: torchtitan's policy saves what attention,
 * reduce-scatters, exchanges and every second matrix of a layer gave
 * (distributed/activation_checkpoint.py). */
void llm_attention_forward(const struct llm_slice *slice);
void llm_attention_backward(const struct llm_slice *slice);
void llm_attention_again(const struct llm_slice *slice);
void llm_mlp_forward(const struct llm_slice *slice);
void llm_mlp_backward(const struct llm_slice *slice);
void llm_mlp_again(const struct llm_slice *slice);
void llm_experts_forward(const struct llm_slice *slice);
void llm_experts_backward(const struct llm_slice *slice);
void llm_experts_again(const struct llm_slice *slice);
void llm_embedding_passes(const struct llm_slice *slice);
void llm_head_passes(const struct llm_slice *slice);

/* llm_slice_keep stores bytes kept, input's, working and boundary bytes. */
void llm_slice_keep(const struct llm_slice *slice, enum llm_layer_kind kind);

/* ---- what passes are built of ------------------------------------------ */

/* rows x in by in x out, `batch` of them. */
struct llm_matrix {
	double rows, in, out, batch;
	double whole; /* of its FLOP, what is not another rank's too */
	bool adapted; /* LoRA adds a product of low rank */
	bool fused_in, fused_out; /* what makes its input, or the gradient of
				   * its output, casts it */
	enum llm_precision precision;
};

struct llm_matrix llm_matrix(const struct llm_slice *slice, double in,
			     double out);

/* llm_plain_precision returns that of scores, router and head: 16 bits where
 * other matrices have fewer. */
enum llm_precision llm_plain_precision(const struct llm_slice *slice);

/* llm_piece_add returns a new piece of pass, which is empty. */
struct llm_piece *llm_piece_add(struct llm_pass *pass, const char *label);

/* These add a product to a piece: forward, once more (which is not model FLOP),
 * the gradient of the input, and of weights (to the weights' pass where a zero
 * bubble schedule parts them). */
void llm_forward(const struct llm_slice *slice, struct llm_piece *piece,
		 const struct llm_matrix *matrix);
void llm_make_again(const struct llm_slice *slice, struct llm_piece *piece,
		    const struct llm_matrix *matrix);
void llm_input_gradient(const struct llm_slice *slice, struct llm_piece *piece,
			const struct llm_matrix *matrix);
void llm_weight_gradient(const struct llm_slice *slice, struct llm_piece *piece,
			 const struct llm_matrix *matrix);

/* llm_elementwise adds kernels that read and write so many bytes. */
void llm_elementwise(const struct llm_slice *slice, struct llm_piece *piece,
		     double bytes, int kernels);

/* A norm of so many bytes a token of the parts of the sequence, and its
 * backward pass, with the residual connection's sums. */
void llm_norm(const struct llm_slice *slice, struct llm_piece *piece,
	      bool residual);
void llm_norm_backward(const struct llm_slice *slice, struct llm_piece *piece);

/* The MLP of that width: its matrices, and between them the activation. */
struct llm_mlp {
	struct llm_matrix up, down;
};

struct llm_mlp llm_mlp_of(const struct llm_slice *slice, double rows,
			  double batch, double width, double tp);
void llm_activation(const struct llm_slice *slice, struct llm_piece *piece,
		    const struct llm_mlp *mlp, bool backward);

/* llm_call sets the call of a piece. */
void llm_call(struct llm_piece *piece, enum dist__op_kind op,
	      enum llm_axis axis, double bytes, bool overlapped);

/*
 * What surrounds matrices that tp divides, of `width` a token: under sequence
 * parallelism tokens are gathered before the first and reduce-scattered behind
 * the second, else an all-reduce sums behind the second (M. Shoeybi et al.,
 * "Megatron-LM", 2019; V. Korthikanti et al., "Reducing Activation
 * Recomputation", 2022). Backward the other way round: tokens are gathered
 * before the second, gather_input beside the gradient of the first's input, for
 * that of its weights, and sum_gradient beside the latter (Megatron's
 * core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsync...).
 * `bytes` is of an element: of an operand where Transformer Engine casts before
 * it gathers (module/layernorm_linear.py, base.py grad_output_preprocess).
 */
void llm_gather(const struct llm_slice *slice, struct llm_piece *piece,
		double width, double bytes);
void llm_sum(const struct llm_slice *slice, struct llm_piece *piece,
	     double width);
void llm_gather_input(const struct llm_slice *slice, struct llm_piece *piece,
		      double width, double bytes);
void llm_sum_gradient(const struct llm_slice *slice, struct llm_piece *piece,
		      double width);

/* llm_mlp_middle adds the backward pass of an MLP's two matrices, from the
 * gradient of its output to that of its input, and returns the last piece. */
struct llm_piece *llm_mlp_middle(const struct llm_slice *slice,
				 const struct llm_mlp *mlp,
				 const char *const labels[3]);

#endif
