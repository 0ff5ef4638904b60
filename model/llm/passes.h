/*
 * passes.h - one layer's forward and backward passes on one rank, and the
 * memory kept between them. work.c builds a model's work from them.
 */
#ifndef LOCKSTEP_MODEL_LLM_PASSES_H
#define LOCKSTEP_MODEL_LLM_PASSES_H

#include "model/llm/work.h"

/* A layer of one micro-batch on one rank. Its pointers are borrowed. */
struct llm_slice {
	const struct llm_architecture *model;
	const struct llm_layout *layout;
	const struct llm_device *device;
	const struct llm_pace *pace;
	struct llm_layer *layer; /* under construction */
	bool local;              /* its attention is limited to the window */
	bool experts;
	bool stops;      /* forward ends before the last matrix */
	double tokens;   /* of a micro-batch on a rank of cp */
	double own;      /* tokens where tp divides the sequence, else all
			    tokens */
	double routed;   /* rows that the experts of the fullest rank compute:
			    its tokens, top_k times */
	double document; /* tokens that attend to each other */
	double keys;     /* mean number that a token attends to */
	double tp, etp;
	double element; /* bytes of an activation */
	double operand; /* bytes of an element that is multiplied with a matrix
			 */
};

/* llm_again returns whether selective recomputation recomputes module. */
bool llm_again(const struct llm_slice *slice, enum llm_module module);

/* Passes of attention (with its norm), of MLP or experts (with theirs), of
 * embedding and of head. Backward begins with the last. _again is what
 * RECOMPUTE_OPERATORS adds before backward: torchtitan's policy saves the
 * outputs of attention, reduce-scatters, exchanges and every second matrix of a
 * layer (distributed/activation_checkpoint.py). */
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

/* llm_has_whole_head returns whether tp does not divide the head, llm_logits
 * how many logits of a token a rank has for its loss. */
bool llm_has_whole_head(const struct llm_slice *slice);
double llm_logits(const struct llm_slice *slice);

/* llm_gathers returns how often the input of so many matrices is gathered,
 * llm_sums how often the gradient of that input is summed: once, or each by
 * itself; a compiler finds the gathers that are alike
 * (torch/_functorch/compile_utils.py, fx_graph_cse). */
int llm_gathers(const struct llm_slice *slice, int matrices);
int llm_sums(const struct llm_slice *slice, int matrices);

/* llm_slice_keep stores the activation, input, working and boundary bytes. */
void llm_slice_keep(const struct llm_slice *slice, enum llm_layer_kind kind);

/* ---- parts of passes --------------------------------------------------- */

/* rows x in by in x out, `batch` of them. */
struct llm_matrix {
	double rows, in, out, batch;
	double whole; /* share of its FLOP that no other rank also computes */
	bool adapted; /* has a LoRA adapter */
	bool fused_in, fused_out; /* the kernel that makes its input, or the
				     gradient of its output, also casts it */
	enum llm_precision precision;
};

struct llm_matrix llm_matrix(const struct llm_slice *slice, double in,
			     double out);

/* llm_plain_precision returns the precision of scores, router and head: 16 bits
 * if other matrices have fewer. */
enum llm_precision llm_plain_precision(const struct llm_slice *slice);

/* llm_piece_add appends an empty piece to pass and returns it. */
struct llm_piece *llm_piece_add(struct llm_pass *pass, const char *label);

/* These add a GEMM to a piece: forward; forward recomputed (which is not model
 * FLOP); the gradient of the input; the gradient of weights (added to the
 * weights' pass if a zero-bubble schedule separates them). */
void llm_forward(const struct llm_slice *slice, struct llm_piece *piece,
		 const struct llm_matrix *matrix);
void llm_make_again(const struct llm_slice *slice, struct llm_piece *piece,
		    const struct llm_matrix *matrix);
void llm_input_gradient(const struct llm_slice *slice, struct llm_piece *piece,
			const struct llm_matrix *matrix);
void llm_weight_gradient(const struct llm_slice *slice, struct llm_piece *piece,
			 const struct llm_matrix *matrix);

/* llm_elementwise adds kernels that read and write `bytes` in all. */
void llm_elementwise(const struct llm_slice *slice, struct llm_piece *piece,
		     double bytes, int kernels);

/* A norm of the rank's tokens and its backward pass, with the additions of the
 * residual connection. */
void llm_norm(const struct llm_slice *slice, struct llm_piece *piece,
	      bool residual);
void llm_norm_backward(const struct llm_slice *slice, struct llm_piece *piece);

/* The MLP of that width: its matrices, with the activation between them. */
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
