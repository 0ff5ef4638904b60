/* mlp.c - the passes of a dense MLP, of experts with their exchange of tokens,
 * and of the norm and residual connection around them. */
#include "model/llm/passes.h"

void llm_mlp_forward(const struct llm_slice *s)
{
	const struct llm_mlp mlp =
		llm_mlp_of(s, s->tokens, 1, s->model->ffn, s->tp);
	struct llm_pass *pass = &s->layer->forward;
	struct llm_piece *piece = llm_piece_add(pass, "mlp norm");

	llm_norm(s, piece, true);
	llm_gather(s, piece,
		   llm_gathers(s, s->model->gated ? 2 : 1) *
			   (double)s->model->hidden,
		   s->operand);
	piece = llm_piece_add(pass, "mlp");
	llm_forward(s, piece, &mlp.up);
	llm_activation(s, piece, &mlp, false);
	if (s->stops)
		return;
	llm_forward(s, piece, &mlp.down);
	llm_sum(s, piece, s->model->hidden);
	piece = llm_piece_add(pass, "residual");
	llm_elementwise(s, piece, 3 * s->own * s->model->hidden * s->element,
			1);
}

/* A whole MLP is made again, with its calls. */
static void make_again(const struct llm_slice *s, const struct llm_mlp *mlp)
{
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece = llm_piece_add(pass, "mlp gathered again");

	llm_gather(s, piece, s->model->hidden, s->operand);
	piece = llm_piece_add(pass, "mlp again");
	llm_make_again(s, piece, &mlp->up);
	llm_activation(s, piece, mlp, false);
	llm_make_again(s, piece, &mlp->down);
	llm_sum(s, piece, s->model->hidden);
}

void llm_mlp_backward(const struct llm_slice *s)
{
	static const char *const labels[] = {"mlp down gradient",
					     "mlp up input", "mlp up weights"};
	const struct llm_mlp mlp =
		llm_mlp_of(s, s->tokens, 1, s->model->ffn, s->tp);
	struct llm_piece *piece;

	if (llm_again(s, LLM_MODULE_MLP))
		make_again(s, &mlp);
	piece = llm_piece_add(&s->layer->backward, "mlp output");
	llm_gather(s, piece, s->model->hidden, s->operand);
	piece = llm_mlp_middle(s, &mlp, labels);
	/* The kernel of the activation's gradient reads all that the activation
	 * is made of, and writes it, too (github.com/facebookresearch/xformers,
	 * xformers/ops/swiglu_op.py, silu_bw_fused). */
	if (llm_again(s, LLM_MODULE_DENSE_ACTIVATION))
		llm_elementwise(s, piece, s->tokens * mlp.down.in * s->element,
				0);
	if (llm_again(s, LLM_MODULE_NORM))
		llm_norm(s, piece, false);
	llm_norm_backward(s, piece);
	llm_gather(s, piece, s->model->hidden,
		   s->operand); /* output's gradient */
}

/* Of a gate's two matrices one is made again, and their product. */
static void add_gate(const struct llm_slice *s, struct llm_piece *piece,
		     const struct llm_mlp *mlp)
{
	struct llm_matrix gate = mlp->up;

	gate.out = mlp->down.in;
	if (s->model->gated)
		llm_make_again(s, piece, &gate);
	llm_activation(s, piece, mlp, false);
}

void llm_mlp_again(const struct llm_slice *s)
{
	const struct llm_mlp mlp =
		llm_mlp_of(s, s->tokens, 1, s->model->ffn, s->tp);
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece = llm_piece_add(pass, "mlp norm again");

	llm_norm(s, piece, true);
	llm_gather(s, piece, s->model->hidden, s->operand);
	add_gate(s, llm_piece_add(pass, "mlp gate again"), &mlp);
}

/* ---- experts ----------------------------------------------------------- */

/* The matrices of a layer with experts on one rank. */
struct experts {
	struct llm_matrix router;
	struct llm_mlp routed; /* of the fullest rank */
	struct llm_mlp shared;
	double sent; /* elements that a rank passes into an all-to-all */
	double all;  /* and that its experts take in */
	bool fused;  /* activation and casts with the routed products */
};

static void set_experts(const struct llm_slice *s, struct experts *e)
{
	const struct llm_architecture *m = s->model;
	const double local = (double)m->experts / s->layout->ep;

	e->router = llm_matrix(s, m->hidden, m->experts);
	e->router.rows = s->own;
	e->router.precision = llm_plain_precision(s);
	e->routed = llm_mlp_of(s, s->routed, local, m->expert_ffn, s->etp);
	/* The mean rank's, where the fullest waits for none. */
	e->routed.up.whole = e->routed.down.whole = 1 / s->layout->imbalance;
	e->fused = s->layout->fused_experts && s->etp == 1 &&
		   e->routed.up.precision == LLM_MXFP8;
	e->routed.down.fused_in = e->routed.up.fused_out = e->fused;
	e->shared = llm_mlp_of(s, s->tokens, 1, m->shared_ffn, s->tp);
	e->all = s->routed * m->hidden;
	e->sent = e->all / s->etp;
}

/* Rows are copied in the order of their experts, each read top_k times of which
 * caches serve all but one; or back, summed. */
static void permute(const struct llm_slice *s, struct llm_piece *piece,
		    const struct experts *e)
{
	llm_elementwise(s, piece,
			(s->own * s->model->hidden + e->sent) * s->element, 2);
}

/* In kernels of their own, or within the products: Transformer Engine has such
 * for MXFP8 (Megatron-LM megatron/core/transformer/moe/experts.py,
 * TEGroupedMLP._is_fused_impl_supported). */
static void activate(const struct llm_slice *s, struct llm_piece *piece,
		     const struct experts *e, bool backward)
{
	if (!e->fused)
		llm_activation(s, piece, &e->routed, backward);
}

/* What came of each rank is put together by local experts, or apart again. What
 * came once to a rank is copied in their order there, and not where it came
 * from: permute has it (github.com/deepseek-ai/DeepEP). */
static void sort(const struct llm_slice *s, struct llm_piece *piece,
		 const struct experts *e)
{
	if (s->model->experts > s->layout->ep && s->layout->plain_exchange)
		llm_elementwise(s, piece, 2 * e->all * s->element, 1);
}

/* Tokens go to the ranks of their experts, or back (Megatron's
 * transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher). */
static void exchange(const struct llm_slice *s, struct llm_piece *piece,
		     const struct experts *e)
{
	if (s->layout->ep > 1)
		llm_call(piece, DIST__ALL_TO_ALL, LLM_EP, e->sent * s->element,
			 s->layout->overlap_ep);
}

/* Where tp divides experts' matrices, all its ranks need the tokens of all. */
static void spread(const struct llm_slice *s, struct llm_pass *pass,
		   const struct experts *e)
{
	if (s->etp > 1)
		llm_call(llm_piece_add(pass, "tokens of tp"), DIST__ALL_GATHER,
			 LLM_TP, e->all * s->element, false);
}

static void sum_spread(const struct llm_slice *s, struct llm_piece *piece,
		       const struct experts *e)
{
	if (s->etp > 1)
		llm_call(piece, DIST__REDUCE_SCATTER, LLM_TP,
			 e->all * s->element, false);
}

/* Scores of experts in 32 bits, the best, and what they weigh. */
static void choose(const struct llm_slice *s, struct llm_piece *piece)
{
	llm_elementwise(s, piece, s->own * s->model->experts * 4 * 4, 6);
}

static void shared_forward(const struct llm_slice *s, const struct experts *e)
{
	struct llm_pass *pass = &s->layer->forward;
	struct llm_piece *piece;

	if (s->model->shared_ffn == 0)
		return;
	piece = llm_piece_add(pass, "shared gather");
	llm_gather(s, piece, s->model->hidden, s->operand);
	piece = llm_piece_add(pass, "shared experts");
	llm_forward(s, piece, &e->shared.up);
	llm_activation(s, piece, &e->shared, false);
	llm_forward(s, piece, &e->shared.down);
	llm_sum(s, piece, s->model->hidden);
}

void llm_experts_forward(const struct llm_slice *s)
{
	struct llm_pass *pass = &s->layer->forward;
	struct llm_piece *piece = llm_piece_add(pass, "router");
	struct experts e;

	set_experts(s, &e);
	llm_norm(s, piece, true);
	llm_forward(s, piece, &e.router);
	choose(s, piece);
	permute(s, piece, &e);
	exchange(s, piece, &e);
	spread(s, pass, &e);
	piece = llm_piece_add(pass, "experts");
	sort(s, piece, &e);
	llm_forward(s, piece, &e.routed.up);
	activate(s, piece, &e, false);
	llm_forward(s, piece, &e.routed.down);
	sum_spread(s, piece, &e);
	piece = llm_piece_add(pass, "combine");
	sort(s, piece, &e);
	exchange(s, piece, &e);
	shared_forward(s, &e);
	piece = llm_piece_add(pass, "residual");
	permute(s, piece, &e);
	llm_elementwise(s, piece, 3 * s->own * s->model->hidden * s->element,
			1);
}

/* What came of the exchange is kept; experts' matrices, which are grouped, are
 * all made again. */
void llm_experts_again(const struct llm_slice *s)
{
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece = llm_piece_add(pass, "mlp norm again");
	struct experts e;

	set_experts(s, &e);
	llm_norm(s, piece, true);
	choose(s, piece);
	if (s->model->shared_ffn > 0)
		llm_gather(s, piece, s->model->hidden, s->operand);
	piece = llm_piece_add(pass, "experts again");
	sort(s, piece, &e);
	llm_make_again(s, piece, &e.routed.up);
	llm_activation(s, piece, &e.routed, false);
	llm_make_again(s, piece, &e.routed.down);
	if (s->model->shared_ffn > 0)
		add_gate(s, piece, &e.shared);
}

static void shared_backward(const struct llm_slice *s, const struct experts *e)
{
	static const char *const labels[] = {
		"shared down gradient", "shared up input", "shared up weights"};
	struct llm_piece *piece;

	if (s->model->shared_ffn == 0)
		return;
	if (llm_again(s, LLM_MODULE_SHARED))
		make_again(s, &e->shared);
	piece = llm_piece_add(&s->layer->backward, "shared output");
	llm_gather(s, piece, s->model->hidden, s->operand);
	llm_mlp_middle(s, &e->shared, labels);
}

void llm_experts_backward(const struct llm_slice *s)
{
	struct llm_pass *pass = &s->layer->backward;
	struct llm_piece *piece = llm_piece_add(pass, "combine gradient");
	struct experts e;

	set_experts(s, &e);
	permute(s, piece, &e);
	exchange(s, piece, &e);
	spread(s, pass, &e);
	piece = llm_piece_add(pass, "experts gradient");
	sort(s, piece, &e);
	if (llm_again(s, LLM_MODULE_ACTIVATION))
		activate(s, piece, &e, false);
	llm_input_gradient(s, piece, &e.routed.down);
	activate(s, piece, &e, true);
	llm_weight_gradient(s, piece, &e.routed.down);
	llm_input_gradient(s, piece, &e.routed.up);
	llm_weight_gradient(s, piece, &e.routed.up);
	sum_spread(s, piece, &e);
	piece = llm_piece_add(pass, "dispatch gradient");
	sort(s, piece, &e);
	exchange(s, piece, &e);
	shared_backward(s, &e);
	piece = llm_piece_add(pass, "router gradient");
	permute(s, piece, &e);
	choose(s, piece);
	llm_input_gradient(s, piece, &e.router);
	llm_weight_gradient(s, piece, &e.router);
	if (llm_again(s, LLM_MODULE_NORM))
		llm_norm(s, piece, false);
	llm_norm_backward(s, piece);
	llm_gather(s, piece, s->model->hidden,
		   s->operand); /* output's gradient */
}
