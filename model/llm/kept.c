/*
 * kept.c - the bytes that a layer keeps from its forward to its backward pass,
 * tensor by tensor as Megatron-LM and Transformer Engine save them: the input
 * of each norm, matrix and activation, queries, keys, values and what
 * attention gave (V. Korthikanti et al., "Reducing Activation Recomputation in
 * Large Transformer Models", 2022, section 4, which the unit tests hold this
 * to).
 */
#include "model/llm/passes.h"

#define FLOAT_BYTES 4

/* What scores keep of a token, on a rank of tp: FlashAttention the logarithm of
 * a sum; else the softmax, and with dropout what passed it and the mask.
 * Selective recomputation keeps neither. */
static double scores_kept(const struct llm_slice *s)
{
	const struct llm_layout *l = s->layout;
	const double heads = s->model->heads / s->tp;

	if (llm_again(s, LLM_MODULE_SCORES))
		return 0;
	if (l->attention != LLM_UNFUSED)
		return heads * FLOAT_BYTES;
	return heads * l->seq / l->cp *
	       (s->element + (l->dropout ? s->element + 1 : 0));
}

/* Heads of a token, and what made them. */
static double heads_kept(const struct llm_slice *s)
{
	const struct llm_architecture *m = s->model;
	const double heads_of_keys =
		s->layout->copied_heads ? m->heads : m->kv_heads;
	double heads = m->heads / s->tp;
	const double shared = s->own / s->tokens; /* latents of the sequence */

	if (m->kv_rank == 0)
		return s->element * (heads + 2 * heads_of_keys / s->tp) *
		       m->head_dim;
	if (llm_again(s, LLM_MODULE_HEADS))
		heads = 0;
	/* Latents before and behind their norms; keys and values are put
	 * together anew. */
	return s->element *
	       (2 * shared * (m->q_rank + m->kv_rank + m->rope_dim) +
		heads * (2 * (m->head_dim + m->rope_dim) + m->value_dim));
}

/* A norm's input, its cast, what it gives a matrix, and dropout's mask behind
 * that. */
static double norm_kept(const struct llm_slice *s, double operand)
{
	if (s->layout->cast_norms)
		operand += FLOAT_BYTES;
	if (llm_again(s, LLM_MODULE_NORM))
		operand = 0;
	return s->own * s->model->hidden *
	       (s->element + operand + (s->layout->dropout ? 1 : 0));
}

static double attention_kept(const struct llm_slice *s)
{
	const struct llm_architecture *m = s->model;
	const double value = m->kv_rank ? m->value_dim : m->head_dim;
	double output = s->element;

	if (s->operand < s->element) /* a copy of eight bits */
		output += s->operand;
	return norm_kept(s, s->operand) +
	       s->tokens * (heads_kept(s) + scores_kept(s) +
			    m->heads / s->tp * value * output);
}

/* Bytes kept of an element that a matrix is multiplied with, for the gradient
 * of its weights: none where these are frozen. */
static double operand_kept(const struct llm_slice *s)
{
	return s->layout->lora ? 0 : s->operand;
}

/* Of an MLP: what the activation takes, and what it gives; without one kernel
 * for a gate's product, its factor too. */
static double middle_kept(const struct llm_slice *s, double width)
{
	int tensors = !s->model->gated ? 1 : s->layout->fused_kernels ? 2 : 3;

	double size = s->layout->small_activation ? 1 : s->element;

	return width * (tensors * size + operand_kept(s));
}

static double experts_kept(const struct llm_slice *s)
{
	const struct llm_architecture *m = s->model;
	const double width = m->expert_ffn / s->etp;
	double row = m->hidden * operand_kept(s) + middle_kept(s, width);
	double shared = middle_kept(s, m->shared_ffn / s->tp);

	if (llm_again(s, LLM_MODULE_ACTIVATION))
		row -= width * operand_kept(s);
	if (llm_again(s, LLM_MODULE_SHARED))
		shared = 0;
	return s->own * m->experts * 2 * FLOAT_BYTES + s->routed * row +
	       s->tokens * shared;
}

static double mlp_kept(const struct llm_slice *s)
{
	const double norm = norm_kept(s, operand_kept(s));
	const double width = s->model->ffn / s->tp;
	double row = middle_kept(s, width);

	if (s->experts)
		return norm + experts_kept(s);
	if (llm_again(s, LLM_MODULE_MLP))
		return norm;
	if (llm_again(s, LLM_MODULE_DENSE_ACTIVATION))
		row -= width * operand_kept(s);
	return norm + s->tokens * row;
}

/* The layer's input, queries, values, what attention gave; of an MLP what its
 * first and last matrix gave, of experts the tokens that came and went; and
 * what was reduce-scattered behind attention. Backward does not read what the
 * last matrix gave: a compiler does not keep it. */
static double operators_kept(const struct llm_slice *s)
{
	const struct llm_architecture *m = s->model;
	const double value = m->kv_rank ? m->value_dim : m->head_dim;
	const double qk = m->head_dim + (m->kv_rank ? m->rope_dim : 0);
	const int last = s->layout->fused_kernels ? 0 : 1;
	double stream = s->own * m->hidden * (1 + (s->tp > 1) + last);
	double heads = m->heads * (qk + value) + m->kv_heads * value;
	double tokens = heads / s->tp;

	if (m->kv_rank) /* latents, not heads */
		tokens = m->heads * value / s->tp + m->q_rank + m->kv_rank +
			 m->rope_dim;
	if (s->experts)
		return s->element *
		       (stream + 2 * s->routed * m->hidden +
			s->tokens * (tokens + m->shared_ffn / s->tp));
	return s->element * (stream + s->tokens * (tokens + m->ffn / s->tp)) +
	       s->tokens * m->heads / s->tp * FLOAT_BYTES;
}

/* Gathered tokens and gradients of the widest part, at work in backward. */
static double mlp_working(const struct llm_slice *s)
{
	const struct llm_architecture *m = s->model;
	const int branches = m->gated ? 2 : 1;
	double stream = 2 * s->tokens * m->hidden;

	if (!s->experts)
		return s->element *
		       (stream + s->tokens * (branches + 1) * m->ffn / s->tp);
	return s->element *
	       (stream + s->routed * (2.0 * m->hidden +
				      (branches + 1) * m->expert_ffn / s->etp));
}

static double layer_kept(const struct llm_slice *s)
{
	if (s->layout->recompute == LLM_RECOMPUTE_OPERATORS)
		return operators_kept(s);
	return attention_kept(s) + mlp_kept(s);
}

/*
 * PyTorch's cross_entropy, operator by operator: log-softmax is kept; beside it
 * are its gradient and that of what it is of, which is a copy of the logits, or
 * they themselves, which the program still holds (torchtitan train.py of
 * December 2024, where only the blocks are compiled: `.float()`, `del pred`;
 * KempnerForge scripts/train.py). Divided by tp, exponentials and the sum of
 * two gradients are tensors of their own
 * (torch/distributed/tensor/parallel/loss.py,
 * _nll_loss_and_log_softmax_backward).
 */
static void eager_head_keeps(const struct llm_slice *s, double logits)
{
	const int bytes = s->layout->eager_loss;
	const bool parallel = s->tp > 1 && !s->layout->whole_logits;

	s->layer->activation_bytes += logits * bytes;
	s->layer->working_bytes =
		logits * ((parallel ? 3 : 2) * bytes +
			  (bytes == FLOAT_BYTES ? 0 : s->element));
}

/* Exponentials in 32 bits are kept, or the logits; logits and their gradient,
 * in 16, are there at once, and once in 32 where one kernel does not make both.
 * Of a loss in chunks only one chunk's are there, and nothing is kept. */
static void head_keeps(const struct llm_slice *s)
{
	const double logits = s->tokens * llm_logits(s);
	const bool fused = s->layout->fused_loss;
	const int chunks = s->layout->loss_chunks;
	struct llm_layer *layer = s->layer;

	layer->activation_bytes = layer->input_bytes =
		2 * s->own * s->model->hidden * s->element;
	if (chunks > 0) {
		layer->working_bytes = logits / chunks * s->element;
		return;
	}
	if (s->layout->eager_loss > 0) {
		eager_head_keeps(s, logits);
	} else {
		layer->activation_bytes +=
			logits * (fused ? s->element : FLOAT_BYTES);
		layer->working_bytes =
			logits *
			((fused ? 1 : 2) * s->element +
			 (fused || s->layout->fused_kernels ? 0 : FLOAT_BYTES));
	}
	layer->input_bytes = layer->activation_bytes;
}

void llm_slice_keep(const struct llm_slice *s, enum llm_layer_kind kind)
{
	const double stream = s->own * s->model->hidden;
	struct llm_layer *layer = s->layer;

	layer->boundary_bytes = stream * s->element;
	if (kind == LLM_HEAD) {
		head_keeps(s);
	} else if (kind == LLM_EMBEDDING) {
		layer->activation_bytes = layer->input_bytes =
			s->layout->dropout ? stream : 0;
		layer->working_bytes =
			2 * s->tokens * s->model->hidden * s->element;
	} else {
		struct llm_layout all = *s->layout;
		struct llm_slice whole = *s;

		/* What is not kept of the layer at work is there once more. */
		all.recompute = LLM_RECOMPUTE_NONE;
		whole.layout = &all;
		s->layer->activation_bytes = layer_kept(s);
		s->layer->input_bytes = s->own * s->model->hidden * s->element;
		s->layer->working_bytes = mlp_working(s) + layer_kept(&whole) -
					  s->layer->activation_bytes;
	}
}
