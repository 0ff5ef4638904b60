/* ends.c - the passes of what stands before and behind the layers: the
 * embedding, and the output projection with its loss, both divided by tp along
 * the vocabulary. */
#include "model/llm/passes.h"

#define FLOAT_BYTES 4

/* Rows are read and written; backward adds them to gradients in 32 bits
 * (Megatron's VocabParallelEmbedding: reduced behind the look-up). */
void llm_embedding_passes(const struct llm_slice *s)
{
	const double size = s->tokens * s->model->hidden;
	const int times = s->model->positions > 0 ? 3 : 2;
	struct llm_piece *piece =
		llm_piece_add(&s->layer->forward, "embedding");

	llm_elementwise(s, piece, times * size * s->element, times - 1);
	if (!s->layout->whole_logits)
		llm_sum(s, piece, s->model->hidden);
	if (s->layout->lora)
		return;
	piece = llm_piece_add(&s->layer->backward, "embedding output");
	llm_gather(s, piece, s->model->hidden, s->element);
	piece = llm_piece_add(&s->layer->backward, "embedding weights");
	llm_elementwise(s, piece, size * (s->element + 2 * FLOAT_BYTES), 2);
}

bool llm_has_whole_head(const struct llm_slice *s)
{
	return s->layout->whole_logits && s->layout->pp > 1;
}

double llm_logits(const struct llm_slice *s)
{
	return s->model->vocab / (s->layout->whole_logits ? 1 : s->tp);
}

static bool is_parallel(const struct llm_slice *s)
{
	return s->tp > 1 && !s->layout->whole_logits;
}

/* Over all logits of a rank: so many bytes each. */
static void over_logits(const struct llm_slice *s, struct llm_piece *piece,
			double bytes, int kernels)
{
	llm_elementwise(s, piece, s->tokens * llm_logits(s) * bytes, kernels);
}

static void sum_of_tokens(const struct llm_slice *s, struct llm_piece *piece)
{
	if (is_parallel(s))
		llm_call(piece, DIST__ALL_REDUCE, LLM_TP,
			 s->tokens * FLOAT_BYTES, false);
}

/*
 * Bytes a logit of PyTorch's cross_entropy: each operator reads and writes
 * tensors of the loss's size (eager_head_keeps). Forward a cast of 16 bits to
 * 32, log-softmax, which reads twice; backward zeros for the target's gradient,
 * those of log-softmax, and the cast. Divided by tp, the largest, differences,
 * exponentials, their sum and what log-softmax is are passes of their own,
 * backward zeros, exponentials, a sum and a product.
 */
static double eager_forward(const struct llm_slice *s)
{
	const int bytes = s->layout->eager_loss;
	const double cast = bytes == FLOAT_BYTES ? s->element + bytes : 0;

	return cast + (is_parallel(s) ? 8 : 3) * bytes;
}

static double eager_backward(const struct llm_slice *s)
{
	const int bytes = s->layout->eager_loss;
	const double cast = bytes == FLOAT_BYTES ? s->element + bytes : 0;

	return cast + (is_parallel(s) ? 8 : 4) * bytes;
}

/* The largest logit, the target's, and the sum of exponentials of each token
 * are summed along tp (Megatron's tensor_parallel/cross_entropy.py); logits are
 * read for the largest, and for the exponentials, which are kept in 32 bits. */
static void loss_forward(const struct llm_slice *s, struct llm_piece *piece)
{
	struct llm_pass *pass = &s->layer->forward;

	over_logits(s, piece, s->element, 1);
	sum_of_tokens(s, piece);
	if (s->layout->fused_loss)
		return;
	piece = llm_piece_add(pass, "target logit");
	over_logits(s, piece, s->element + FLOAT_BYTES, 1);
	sum_of_tokens(s, piece);
	piece = llm_piece_add(pass, "loss");
	over_logits(s, piece, FLOAT_BYTES, 1);
	sum_of_tokens(s, piece);
}

static void head_forward(const struct llm_slice *s,
			 const struct llm_matrix *logits)
{
	struct llm_pass *pass = &s->layer->forward;
	struct llm_piece *piece = llm_piece_add(pass, "last norm");

	llm_norm(s, piece, false);
	llm_gather(s, piece, s->model->hidden, s->element);
	piece = llm_piece_add(pass, "logits");
	llm_forward(s, piece, logits);
	if (s->layout->whole_logits && !llm_has_whole_head(s))
		llm_gather(s, piece, s->model->vocab, s->element);
	if (s->layout->eager_loss == 0) {
		loss_forward(s, piece);
		return;
	}
	piece = llm_piece_add(pass, "loss");
	over_logits(s, piece, eager_forward(s), 4);
	sum_of_tokens(s, piece);
}

void llm_head_passes(const struct llm_slice *s)
{
	const bool whole = llm_has_whole_head(s);
	struct llm_matrix logits = llm_matrix(
		s, s->model->hidden, s->model->vocab / (whole ? 1 : s->tp));
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece;

	logits.precision = llm_plain_precision(s);
	if (whole)
		logits.whole = 1 / s->tp;
	head_forward(s, &logits);
	piece = llm_piece_add(pass, "loss gradient");
	if (s->layout->eager_loss > 0)
		over_logits(s, piece, eager_backward(s), 4);
	else
		over_logits(s, piece,
			    s->element + (s->layout->fused_loss ? s->element
								: FLOAT_BYTES),
			    1);
	llm_gather_input(s, piece, s->model->hidden, s->element);
	piece = llm_piece_add(pass, "logits input");
	llm_input_gradient(s, piece, &logits);
	if (!whole)
		llm_sum_gradient(s, piece, s->model->hidden);
	piece = llm_piece_add(pass, "logits weights");
	llm_weight_gradient(s, piece, &logits);
	llm_norm_backward(s, piece);
}
