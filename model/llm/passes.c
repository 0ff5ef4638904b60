/* passes.c - what the passes of a layer are built of: products, kernels of one
 * pass over memory, and the calls of tensor parallelism. */
#include "model/llm/passes.h"

#include <assert.h>

bool llm_again(const struct llm_slice *s, enum llm_module module)
{
	return s->layout->recompute == LLM_RECOMPUTE_SELECTIVE &&
	       s->layout->recompute_modules & (int)module;
}

struct llm_piece *llm_piece_add(struct llm_pass *pass, const char *label)
{
	struct llm_piece *piece = &pass->pieces[pass->num];

	assert(pass->num < LLM_PIECES);
	pass->num++;
	*piece = (struct llm_piece){.label = label, .op = DIST__OP_KINDS};
	return piece;
}

struct llm_matrix llm_matrix(const struct llm_slice *slice, double in,
			     double out)
{
	return (struct llm_matrix){.rows = slice->tokens,
				   .in = in,
				   .out = out,
				   .batch = 1,
				   .whole = 1,
				   .precision = slice->layout->precision};
}

static bool is_eight_bit(enum llm_precision precision)
{
	return precision == LLM_FP8 || precision == LLM_MXFP8 ||
	       precision == LLM_FP4;
}

enum llm_precision llm_plain_precision(const struct llm_slice *s)
{
	return is_eight_bit(s->layout->precision) ? LLM_BF16
						  : s->layout->precision;
}

static void add_product(const struct llm_slice *s, struct llm_piece *piece,
			const struct llm_matrix *matrix, struct llm_gemm gemm)
{
	gemm.batch = matrix->batch;
	piece->ns[LLM_GEMM] +=
		llm_gemm_ns(s->device, matrix->precision, s->pace, &gemm);
	piece->flops +=
		2 * gemm.m * gemm.n * gemm.k * gemm.batch * matrix->whole;
}

/* Operands of eight bits are cast: read whole, written twice, transposed for
 * the gradient of weights (Transformer Engine). */
static void cast(const struct llm_slice *s, struct llm_piece *piece,
		 const struct llm_matrix *matrix, double width)
{
	if (is_eight_bit(matrix->precision))
		llm_elementwise(s, piece,
				matrix->rows * matrix->batch * width *
					(s->element + 2 * s->operand),
				1);
}

/*
 * LoRA's two products of low rank take what they read and write. Forward: the
 * input is read, a second output written, and added to the first. Backward: the
 * output's gradient is read for both products' gradients, the input for that of
 * the first; the input's gradient is written, and added to the other (NeMo's
 * ParallelLinearAdapter; E. Hu et al., "LoRA", 2021).
 */
static void adapt(const struct llm_slice *s, struct llm_piece *piece,
		  const struct llm_matrix *matrix, double inputs,
		  double outputs, int kernels)
{
	if (matrix->adapted)
		llm_elementwise(
			s, piece,
			matrix->rows * matrix->batch * s->element *
				(inputs * matrix->in + outputs * matrix->out),
			kernels);
}

void llm_forward(const struct llm_slice *s, struct llm_piece *piece,
		 const struct llm_matrix *matrix)
{
	if (!matrix->fused_in)
		cast(s, piece, matrix, matrix->in);
	adapt(s, piece, matrix, 1, 4, 3);
	add_product(s, piece, matrix,
		    (struct llm_gemm){.m = matrix->rows,
				      .n = matrix->out,
				      .k = matrix->in});
}

void llm_make_again(const struct llm_slice *s, struct llm_piece *piece,
		    const struct llm_matrix *matrix)
{
	const double flops = piece->flops;

	llm_forward(s, piece, matrix);
	s->layer->again_flops += piece->flops - flops;
	piece->flops = flops;
}

void llm_input_gradient(const struct llm_slice *s, struct llm_piece *piece,
			const struct llm_matrix *matrix)
{
	if (!matrix->fused_out)
		cast(s, piece, matrix, matrix->out);
	adapt(s, piece, matrix, 5, 2, 5);
	add_product(s, piece, matrix,
		    (struct llm_gemm){.m = matrix->rows,
				      .n = matrix->in,
				      .k = matrix->out});
}

void llm_weight_gradient(const struct llm_slice *s, struct llm_piece *piece,
			 const struct llm_matrix *matrix)
{
	if (s->layout->lora)
		return;
	if (s->layout->schedule == LLM_ZERO_BUBBLE)
		piece = llm_piece_add(&s->layer->weights, piece->label);
	add_product(s, piece, matrix,
		    (struct llm_gemm){.m = matrix->out,
				      .n = matrix->in,
				      .k = matrix->rows});
}

void llm_elementwise(const struct llm_slice *s, struct llm_piece *piece,
		     double bytes, int kernels)
{
	piece->ns[LLM_ELEMENTWISE] +=
		llm_memory_ns(s->device, s->pace, bytes, kernels);
}

#define FLOAT_BYTES 4

/* Bytes an element that operators read and write which make a norm of 16 bits
 * in 32 one by one: a cast, a square, a mean, two products, a cast back; of
 * backward twice the products, the square's and the sum of two gradients. */
#define NORM_FORWARD  40.0
#define NORM_BACKWARD 104.0

/* Fused kernels: read, write; the residual sum reads two and writes one, its
 * dropout writes a mask. A cast before it writes 4 bytes that it reads. */
void llm_norm(const struct llm_slice *s, struct llm_piece *piece, bool residual)
{
	double size = s->own * s->model->hidden;
	double bytes = s->layout->eager_norms ? NORM_FORWARD : 2 * s->element;

	if (residual)
		bytes += 3 * s->element + (s->layout->dropout ? 1 : 0);
	if (s->layout->cast_norms)
		bytes += 2 * FLOAT_BYTES;
	llm_elementwise(s, piece, size * bytes, residual ? 2 : 1);
}

/* Reads gradient and input, writes the input's gradient, and adds to it what
 * came along the residual connection. Where the input was cast, it is read and
 * its gradient written in 32 bits, and that is read and cast back. */
void llm_norm_backward(const struct llm_slice *s, struct llm_piece *piece)
{
	double size = s->own * s->model->hidden;
	double bytes = 6 * s->element + (s->layout->dropout ? 1 : 0);

	if (s->layout->eager_norms)
		bytes += NORM_BACKWARD - 3 * s->element;
	if (s->layout->cast_norms)
		bytes += 3 * FLOAT_BYTES - s->element;
	llm_elementwise(s, piece, size * bytes, 2);
}

struct llm_mlp llm_mlp_of(const struct llm_slice *s, double rows, double batch,
			  double width, double tp)
{
	const double hidden = s->model->hidden;
	struct llm_mlp mlp = {
		llm_matrix(s, hidden, (s->model->gated ? 2 : 1) * width / tp),
		llm_matrix(s, width / tp, hidden)};

	mlp.up.adapted = mlp.down.adapted =
		s->layout->lora && s->layout->adapters == LLM_ADAPT_ALL;
	mlp.up.rows = mlp.down.rows = rows / batch;
	mlp.up.batch = mlp.down.batch = batch;
	return mlp;
}

/* Reads what the first matrix gave (both halves of a gate), writes what the
 * second takes; backward reads the gradient of the latter, too, and writes that
 * of the former. */
void llm_activation(const struct llm_slice *s, struct llm_piece *piece,
		    const struct llm_mlp *mlp, bool backward)
{
	double widths = mlp->up.out + mlp->down.in;

	if (backward)
		widths += mlp->up.out;
	if (s->model->gated && !s->layout->fused_kernels)
		widths += 2 * mlp->down.in;
	llm_elementwise(s, piece,
			mlp->up.rows * mlp->up.batch * widths * s->element, 1);
}

void llm_call(struct llm_piece *piece, enum dist__op_kind op,
	      enum llm_axis axis, double bytes, bool overlapped)
{
	piece->op = op;
	piece->axis = axis;
	piece->bytes = bytes;
	piece->overlapped = overlapped;
}

int llm_sums(const struct llm_slice *s, int matrices)
{
	return s->layout->lone_inputs ? matrices : 1;
}

int llm_gathers(const struct llm_slice *s, int matrices)
{
	return s->layout->fused_kernels ? 1 : llm_sums(s, matrices);
}

/* What is gathered, or is to be reduced and scattered, along its second
 * dimension is put together in the order of the first
 * (torch/distributed/_functional_collectives.py, all_gather_tensor and
 * reduce_scatter_tensor); kernels that overlap with products need no copy. */
static void copy(const struct llm_slice *s, struct llm_piece *piece,
		 double bytes)
{
	llm_elementwise(s, piece, 2 * bytes, 1);
}

static bool copies(const struct llm_slice *s)
{
	return s->layout->dtensors && !s->layout->overlap_tp &&
	       s->own < s->tokens;
}

void llm_gather(const struct llm_slice *s, struct llm_piece *piece,
		double width, double bytes)
{
	if (copies(s))
		copy(s, piece, s->tokens * width * bytes);
	if (s->own < s->tokens)
		llm_call(piece, DIST__ALL_GATHER, LLM_TP,
			 s->tokens * width * bytes, s->layout->overlap_tp);
}

void llm_sum(const struct llm_slice *s, struct llm_piece *piece, double width)
{
	if (copies(s))
		copy(s, piece, s->tokens * width * s->element);
	if (s->tp > 1)
		llm_call(piece,
			 s->own < s->tokens ? DIST__REDUCE_SCATTER
					    : DIST__ALL_REDUCE,
			 LLM_TP, s->tokens * width * s->element,
			 s->layout->overlap_tp);
}

void llm_gather_input(const struct llm_slice *s, struct llm_piece *piece,
		      double width, double bytes)
{
	if (s->own < s->tokens && !s->layout->lora && !s->layout->dtensors)
		llm_call(piece, DIST__ALL_GATHER, LLM_TP,
			 s->tokens * width * bytes, true);
}

void llm_sum_gradient(const struct llm_slice *s, struct llm_piece *piece,
		      double width)
{
	bool beside_weights = !s->layout->lora && !s->layout->dtensors &&
			      s->layout->schedule != LLM_ZERO_BUBBLE;

	llm_sum(s, piece, width);
	if (s->layout->dtensors && s->layout->overlap_tp && s->own < s->tokens)
		copy(s, piece, s->tokens * width * s->element);
	piece->overlapped = s->tp > 1 && beside_weights;
}

struct llm_piece *llm_mlp_middle(const struct llm_slice *s,
				 const struct llm_mlp *mlp,
				 const char *const labels[3])
{
	const double hidden = s->model->hidden;
	const int up = s->model->gated ? 2 : 1;
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece = llm_piece_add(pass, labels[0]);

	llm_input_gradient(s, piece, &mlp->down);
	llm_activation(s, piece, mlp, true);
	llm_weight_gradient(s, piece, &mlp->down);
	llm_gather_input(s, piece, hidden, s->operand);
	piece = llm_piece_add(pass, labels[1]);
	llm_input_gradient(s, piece, &mlp->up);
	llm_sum_gradient(s, piece, llm_sums(s, up) * hidden);
	piece = llm_piece_add(pass, labels[2]);
	llm_weight_gradient(s, piece, &mlp->up);
	return piece;
}
