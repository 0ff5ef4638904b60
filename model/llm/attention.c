/*
 * attention.c - the passes of attention and of the norm before it, with tensor
 * and context parallelism, with latent attention too.
 */
#include "model/llm/passes.h"

/* The matrices of one layer's attention. */
struct attention {
	bool latent;
	double qk, value; /* widths of a head */
	double latents;   /* of a token that are made before heads are */
	struct llm_matrix qkv;
	struct llm_matrix down_q, down_kv; /* to latents; q if it has them */
	struct llm_matrix up_q, up_kv;
	struct llm_matrix output;
};

/* Megatron's multi_latent_attention.py: each rank of tp makes the latents of
 * its part of the sequence by matrices of its own, then they are gathered. */
static void set_latent(const struct llm_slice *s, struct attention *a)
{
	const struct llm_architecture *m = s->model;
	const double heads = m->heads / s->tp;

	a->value = m->value_dim;
	a->qk = m->head_dim + m->rope_dim;
	a->latents = m->q_rank + m->kv_rank + m->rope_dim;
	a->down_q = llm_matrix(s, m->hidden, m->q_rank);
	a->down_kv = llm_matrix(s, m->hidden, m->kv_rank + m->rope_dim);
	a->down_q.rows = a->down_kv.rows = s->own;
	a->down_q.whole = a->down_kv.whole = s->own < s->tokens ? 1 : 1 / s->tp;
	a->up_q =
		llm_matrix(s, m->q_rank ? m->q_rank : m->hidden, heads * a->qk);
	a->up_kv =
		llm_matrix(s, m->kv_rank, heads * (m->head_dim + m->value_dim));
}

static void set_attention(const struct llm_slice *s, struct attention *a)
{
	const struct llm_architecture *m = s->model;

	*a = (struct attention){.latent = m->kv_rank > 0,
				.qk = m->head_dim,
				.value = m->head_dim};
	a->qkv = llm_matrix(s, m->hidden,
			    (m->heads + 2.0 * m->kv_heads) * m->head_dim /
				    s->tp);
	if (a->latent)
		set_latent(s, a);
	a->output = llm_matrix(s, m->heads * a->value / s->tp, m->hidden);
	a->qkv.adapted = a->up_q.adapted = a->up_kv.adapted = s->layout->lora;
	a->output.adapted =
		s->layout->lora && s->layout->adapters != LLM_ADAPT_QKV;
}

/* Heads of keys and values that attention is given. */
static int key_heads(const struct llm_slice *s, const struct attention *a)
{
	return a->latent || s->layout->copied_heads ? s->model->heads
						    : s->model->kv_heads;
}

/* Elements of the keys and values of a token on a rank of tp. */
static double keys_and_values(const struct llm_slice *s,
			      const struct attention *a)
{
	return key_heads(s, a) / s->tp * (a->qk + a->value);
}

/* Adds the time of a pass over so many queries and keys of a sequence. */
static void add_block(const struct llm_slice *s, const struct attention *a,
		      struct llm_piece *piece, struct llm_attention block,
		      double times, bool backward)
{
	const struct llm_layout *l = s->layout;

	block.batch = l->micro_batch * l->seq / s->document;
	block.heads = s->model->heads / s->tp;
	block.kv_heads = key_heads(s, a) / s->tp;
	block.qk_dim = a->qk;
	block.v_dim = a->value;
	block.library = l->attention;
	piece->ns[LLM_ATTENTION] +=
		times * llm_attention_ns(s->device, llm_plain_precision(s),
					 s->pace, &block, backward);
}

/* Each rank of cp has an early and a late piece of the sequence, so that all
 * have the same scores to make. Around a ring it meets its own keys under a
 * mask, then of each other rank either the early keys with all queries or all
 * keys with the late queries (Megatron's context_parallel documentation;
 * Transformer Engine's AttnFuncWithCPAndKVP2P and ...KVAllGather). */
static void add_scores(const struct llm_slice *s, const struct attention *a,
		       struct llm_piece *piece, bool backward)
{
	const struct llm_layout *l = s->layout;
	const bool ring = l->cp > 1 && !l->gather_cp && !s->local;
	const double own = s->document / l->cp, others = (l->cp - 1) / 2.0;

	add_block(s, a, piece,
		  (struct llm_attention){.seq = own,
					 .keys = ring       ? own
						 : s->local ? s->keys
							    : s->document,
					 .causal = !s->local},
		  1, backward);
	if (!ring)
		return;
	add_block(s, a, piece,
		  (struct llm_attention){.seq = own, .keys = own / 2}, others,
		  backward);
	add_block(s, a, piece,
		  (struct llm_attention){.seq = own / 2, .keys = own}, others,
		  backward);
}

static double score_flops(const struct llm_slice *s, const struct attention *a)
{
	return 2 * s->tokens * s->model->heads / s->tp * (a->qk + a->value) *
	       s->keys;
}

#define FLOAT_BYTES 4

/* Queries and keys are read and written. As complex numbers (torchtitan,
 * torchtitan/models/llama/model.py, apply_rotary_emb) they are first cast and
 * at last cast back, which no compiler fuses with the product between; backward
 * the same. Keys and values that several heads share are copied for each
 * (repeat_kv), and backward their gradients summed. */
static void add_rope(const struct llm_slice *s, const struct attention *a,
		     struct llm_piece *piece)
{
	const struct llm_architecture *m = s->model;
	double width = a->latent ? m->heads * (a->qk + a->qk)
				 : (m->heads + m->kv_heads) * a->qk;
	double bytes = 2 * s->element;

	if (s->layout->copied_heads)
		bytes += 4 * FLOAT_BYTES;
	if (m->positions == 0)
		llm_elementwise(s, piece, s->tokens * width / s->tp * bytes, 2);
	if (s->layout->copied_heads && m->kv_heads < m->heads)
		llm_elementwise(s, piece,
				s->tokens * 2 * (m->kv_heads + m->heads) *
					a->qk / s->tp * s->element,
				2);
}

/* Keys and values of all of the sequence, or around the ring. PyTorch's ring
 * of 2024 gathers all before its first block. */
static void exchange_keys(const struct llm_slice *s, const struct attention *a,
			  struct llm_piece *piece, bool backward)
{
	const int cp = s->layout->cp;
	double bytes = s->tokens * keys_and_values(s, a) * s->element;

	if (cp == 1)
		return;
	if (s->layout->gather_cp || s->layout->copied_heads)
		llm_call(piece, DIST__ALL_GATHER, LLM_CP, bytes * cp, false);
	else /* backward passes on their gradients, too */
		llm_call(piece, DIST__SEND, LLM_CP,
			 bytes * (cp - 1) * (backward ? 2 : 1), true);
}

/*
 * What PyTorch's ring passes and computes beside attention, compiled
 * (torch/distributed/tensor/experimental/_attention.py,
 * _templated_ring_attention and ..._backward): keys and values are laid end to
 * end, the output of a block is added to that before, in 32 bits. Backward, the
 * gradients of queries, keys and values are added up in 32 bits, and those of
 * keys and values go all the way around. A compiled call is waited for where
 * it stands (_functional_collectives.py, _maybe_wrap_tensor).
 */
static void add_ring(const struct llm_slice *s, const struct attention *a,
		     struct llm_piece *piece, bool backward)
{
	const int cp = s->layout->cp;
	const double sum = 2 * FLOAT_BYTES + s->element;
	const double heads = s->model->heads / s->tp;
	const double pair = keys_and_values(s, a);
	double bytes = 4 * s->element * pair;

	if (cp == 1 || !s->layout->copied_heads || s->layout->gather_cp)
		return;
	if (backward) {
		bytes += cp * sum * (heads * a->qk + pair);
		llm_call(piece, DIST__SEND, LLM_CP,
			 s->tokens * cp * FLOAT_BYTES * pair, false);
	} else {
		bytes += (cp - 1) * sum * heads * a->value;
	}
	llm_elementwise(s, piece, s->tokens * bytes, 3 * cp);
}

static void norm_width(const struct llm_slice *s, struct llm_piece *piece,
		       double width)
{
	llm_elementwise(s, piece, 2 * s->own * width * s->element, 1);
}

static void make_heads(const struct llm_slice *s, const struct attention *a)
{
	struct llm_pass *pass = &s->layer->forward;
	struct llm_piece *piece = llm_piece_add(pass, "norm");

	llm_norm(s, piece, false);
	if (!a->latent) {
		llm_gather(s, piece,
			   llm_gathers(s, 3) * (double)s->model->hidden,
			   s->operand);
		piece = llm_piece_add(pass, "qkv");
		llm_forward(s, piece, &a->qkv);
	} else {
		if (s->model->q_rank)
			llm_forward(s, piece, &a->down_q);
		llm_forward(s, piece, &a->down_kv);
		norm_width(s, piece, a->latents);
		llm_gather(s, piece,
			   a->latents +
				   (s->model->q_rank ? 0 : s->model->hidden),
			   s->element);
		piece = llm_piece_add(pass, "qkv");
		llm_forward(s, piece, &a->up_q);
		llm_forward(s, piece, &a->up_kv);
	}
	add_rope(s, a, piece);
	exchange_keys(s, a, piece, false);
}

void llm_attention_forward(const struct llm_slice *s)
{
	struct llm_piece *piece;
	struct attention a;

	set_attention(s, &a);
	make_heads(s, &a);
	piece = llm_piece_add(&s->layer->forward, "attention");
	add_scores(s, &a, piece, false);
	add_ring(s, &a, piece, false);
	piece->flops += score_flops(s, &a);
	piece = llm_piece_add(&s->layer->forward, "output");
	llm_forward(s, piece, &a.output);
	llm_sum(s, piece, s->model->hidden);
}

/* Of query, key, value and output the second and fourth; of latents' those
 * that make heads of them. */
void llm_attention_again(const struct llm_slice *s)
{
	const double hidden = s->model->hidden;
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece = llm_piece_add(pass, "norm again");
	struct attention a;

	set_attention(s, &a);
	llm_norm(s, piece, false);
	llm_gather(s, piece, a.latent ? a.latents : hidden,
		   a.latent ? s->element : s->operand);
	piece = llm_piece_add(pass, "heads again");
	if (a.latent) {
		llm_make_again(s, piece, &a.up_q);
		llm_make_again(s, piece, &a.up_kv);
	} else {
		a.qkv.out = s->model->kv_heads * a.qk / s->tp;
		llm_make_again(s, piece, &a.qkv);
		llm_make_again(s, piece, &a.output);
	}
	add_rope(s, &a, piece);
}

/* Of the matrices that make queries, keys and values. */
static void unmake_heads(const struct llm_slice *s, const struct attention *a)
{
	const double hidden = s->model->hidden;
	const bool q = s->model->q_rank > 0;
	const double width = a->latent ? a->latents + (q ? 0 : hidden) : hidden;
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece = llm_piece_add(pass, "rope gradient");

	add_rope(s, a, piece);
	if (llm_again(s, LLM_MODULE_NORM))
		llm_norm(s, piece, false);
	llm_gather_input(s, piece, width, a->latent ? s->element : s->operand);
	piece = llm_piece_add(pass, "qkv input");
	if (a->latent) {
		llm_input_gradient(s, piece, &a->up_kv);
		llm_input_gradient(s, piece, &a->up_q);
	} else {
		llm_input_gradient(s, piece, &a->qkv);
	}
	llm_sum_gradient(s, piece, llm_sums(s, 3) * width);
	piece = llm_piece_add(pass, "qkv weights");
	if (!a->latent) {
		llm_weight_gradient(s, piece, &a->qkv);
	} else {
		llm_weight_gradient(s, piece, &a->up_kv);
		llm_weight_gradient(s, piece, &a->up_q);
		piece = llm_piece_add(pass, "latents");
		norm_width(s, piece, 1.5 * a->latents);
		llm_input_gradient(s, piece, &a->down_kv);
		llm_weight_gradient(s, piece, &a->down_kv);
		if (q) {
			llm_input_gradient(s, piece, &a->down_q);
			llm_weight_gradient(s, piece, &a->down_q);
		}
	}
	llm_norm_backward(s, piece);
}

void llm_attention_backward(const struct llm_slice *s)
{
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece = llm_piece_add(pass, "output gradient");
	struct attention a;

	set_attention(s, &a);
	llm_input_gradient(s, piece, &a.output);
	llm_weight_gradient(s, piece, &a.output);
	exchange_keys(s, &a, piece, true);
	piece = llm_piece_add(pass, "attention gradient");
	if (a.latent && llm_again(s, LLM_MODULE_HEADS)) {
		llm_make_again(s, piece, &a.up_q);
		llm_make_again(s, piece, &a.up_kv);
		add_rope(s, &a, piece);
	}
	if (llm_again(s, LLM_MODULE_SCORES)) {
		add_scores(s, &a, piece, false);
		s->layer->again_flops += score_flops(s, &a);
	}
	add_scores(s, &a, piece, true);
	piece->flops += 2 * score_flops(s, &a);
	add_ring(s, &a, piece, true);
	if (s->layout->cp > 1 && s->layout->gather_cp)
		llm_call(piece, DIST__REDUCE_SCATTER, LLM_CP,
			 s->tokens * s->layout->cp * s->element *
				 keys_and_values(s, &a),
			 false);
	unmake_heads(s, &a);
}
