/*
 * architecture.c - what a language model holds and computes, counted from the
 * shapes of its matrices, and whether its numbers go together.
 */
#include "model/llm/architecture.h"

#include "base/refuse.h"

int llm_expert_layers(const struct llm_architecture *model)
{
	if (!model->experts)
		return 0;
	return model->dense_every ? model->layers / model->dense_every
				  : model->layers - model->dense_layers;
}

bool llm_has_experts(const struct llm_architecture *model, int layer)
{
	if (!model->experts)
		return false;
	return model->dense_every ? (layer + 1) % model->dense_every == 0
				  : layer >= model->dense_layers;
}

int llm_local_layers(const struct llm_architecture *model)
{
	if (!model->window)
		return 0;
	return model->layers -
	       (model->local_of ? model->layers / model->local_of : 0);
}

/* Of a query and key, and of a value. */
static double qk_dim(const struct llm_architecture *m)
{
	return m->head_dim + (m->kv_rank ? m->rope_dim : 0);
}

static double v_dim(const struct llm_architecture *m)
{
	return m->kv_rank ? m->value_dim : m->head_dim;
}

/* Elements of the matrices of one layer's attention. */
static double attention_matrices(const struct llm_architecture *m)
{
	double hidden = m->hidden, queries = m->heads * qk_dim(m);
	double output = m->heads * v_dim(m) * hidden;

	if (!m->kv_rank)
		return hidden * queries +
		       2 * hidden * m->kv_heads * m->head_dim + output;
	/* A. Liu et al., "DeepSeek-V2", 2024, section 2.1 and appendix C. */
	return (m->q_rank ? (hidden + queries) * m->q_rank : hidden * queries) +
	       hidden * (m->kv_rank + m->rope_dim) +
	       (double)m->kv_rank * m->heads * (m->head_dim + m->value_dim) +
	       output;
}

static double attention_biases(const struct llm_architecture *m)
{
	double biases = 0;

	if (m->biases || m->qkv_biases)
		biases += (double)(m->heads + 2 * m->kv_heads) * m->head_dim;
	if (m->biases)
		biases += m->hidden;
	return biases;
}

/* Of a norm over size: layer norms, of models of two matrices, have a bias. */
static double norm_weights(const struct llm_architecture *m, double size)
{
	return m->biases && !m->gated ? 2 * size : size;
}

static double mlp_matrices(const struct llm_architecture *m, double ffn)
{
	return (m->gated ? 3.0 : 2.0) * m->hidden * ffn;
}

static double mlp_biases(const struct llm_architecture *m, double ffn)
{
	return m->biases ? (m->gated ? 2 : 1) * ffn + m->hidden : 0;
}

static double router_matrices(const struct llm_architecture *m)
{
	return (double)m->hidden * m->experts + mlp_matrices(m, m->shared_ffn);
}

void llm_count_parameters(const struct llm_architecture *model,
			  struct llm_parameters *p)
{
	double with = llm_expert_layers(model), dense = model->layers - with;
	double expert = 0;

	*p = (struct llm_parameters){0};
	p->embedding =
		(double)(model->vocab + model->positions) * model->hidden;
	p->head = model->tied ? 0 : (double)model->vocab * model->hidden;
	p->norm = norm_weights(model, model->hidden);
	p->attention = attention_matrices(model) + attention_biases(model) +
		       2 * norm_weights(model, model->hidden);
	if (model->kv_rank)
		p->attention += norm_weights(model, model->q_rank) +
				norm_weights(model, model->kv_rank);
	if (dense > 0)
		p->mlp = mlp_matrices(model, model->ffn) +
			 mlp_biases(model, model->ffn);
	if (with > 0) {
		expert = mlp_matrices(model, model->expert_ffn) +
			 mlp_biases(model, model->expert_ffn);
		p->experts = model->experts * expert;
		p->router = router_matrices(model) +
			    (model->biases ? model->experts : 0);
	}
	p->total = p->embedding + p->head + p->norm +
		   model->layers * p->attention + dense * p->mlp +
		   with * (p->experts + p->router);
	p->active = p->total - with * (model->experts - model->top_k) * expert;
}

static double local_window(const struct llm_architecture *m, double seq)
{
	return m->window && m->window < seq ? m->window : seq;
}

/* Of a causal window w those before the w-th see fewer: w - w^2 / (2 seq). */
double llm_mean_keys(const struct llm_architecture *m, double seq, bool local)
{
	double window = local ? local_window(m, seq) : seq;

	return m->chunked ? window / 2 : window - window * window / (2 * seq);
}

void llm_forward_flops(const struct llm_architecture *model, int seq,
		       bool causal, struct llm_flops *flops)
{
	double with = llm_expert_layers(model), dense = model->layers - with;
	double local = llm_local_layers(model);
	double key = 2 * model->heads * (qk_dim(model) + v_dim(model));

	*flops = (struct llm_flops){0};
	flops->projections = 2 * attention_matrices(model);
	flops->scores = key * (causal ? llm_mean_keys(model, seq, false) : seq);
	flops->local = key * (causal ? llm_mean_keys(model, seq, true)
				     : local_window(model, seq));
	if (dense > 0)
		flops->mlp = 2 * mlp_matrices(model, model->ffn);
	if (with > 0)
		flops->experts =
			2 *
			(router_matrices(model) +
			 model->top_k * mlp_matrices(model, model->expert_ffn));
	flops->head = 2.0 * model->vocab * model->hidden;
	flops->total = model->layers * flops->projections +
		       (model->layers - local) * flops->scores +
		       local * flops->local + dense * flops->mlp +
		       with * flops->experts + flops->head;
}

double llm_model_flops(const struct llm_architecture *model, int seq,
		       bool causal)
{
	struct llm_flops forward;

	llm_forward_flops(model, seq, causal, &forward);
	return 3 * forward.total;
}

/* ---- check ------------------------------------------------------------ */

/* The most that any width or count is; products of two are exact. */
#define MOST (1 << 26)

static enum dist_error check_range(const char *name, int value, int least,
				   int most, struct dist_message *message)
{
	if (value >= least && value <= most)
		return DIST_OK;
	return dist__refuse(message, "%s: expected %d to %d, got %d", name,
			    least, most, value);
}

static enum dist_error check_attention(const struct llm_architecture *m,
				       struct dist_message *message)
{
	if (m->heads % m->kv_heads)
		return dist__refuse(message,
				    "kv_heads: expected a divisor of the %d "
				    "heads, got %d",
				    m->heads, m->kv_heads);
	if (!m->kv_rank && (m->q_rank || m->rope_dim || m->value_dim))
		return dist__refuse(message,
				    "kv_rank: expected 1 or more where q_rank, "
				    "rope_dim or value_dim are, got 0");
	if (m->kv_rank && !m->value_dim)
		return dist__refuse(message,
				    "value_dim: expected 1 or more beside "
				    "kv_rank, got 0");
	if (m->local_of && !m->window)
		return dist__refuse(message, "window: expected 1 or more "
					     "beside local_of, got 0");
	return DIST_OK;
}

static enum dist_error check_experts(const struct llm_architecture *m,
				     struct dist_message *message)
{
	enum dist_error error;

	if (!m->experts) {
		if (m->top_k || m->expert_ffn || m->shared_ffn ||
		    m->dense_layers || m->dense_every)
			return dist__refuse(
				message,
				"experts: expected 2 or more where top_k, "
				"expert_ffn, shared_ffn, dense_layers or "
				"dense_every are, got 0");
		return check_range("ffn", m->ffn, 1, MOST, message);
	}
	error = check_range("experts", m->experts, 2, MOST, message);
	if (!error)
		error = check_range("top_k", m->top_k, 1, m->experts, message);
	if (!error)
		error = check_range("expert_ffn", m->expert_ffn, 1, MOST,
				    message);
	if (!error)
		error = check_range("dense_layers", m->dense_layers, 0,
				    m->layers - 1, message);
	if (!error)
		error = check_range("dense_every", m->dense_every, 0, m->layers,
				    message);
	if (!error && m->dense_layers && m->dense_every)
		return dist__refuse(message,
				    "dense_every: expected 0 beside the "
				    "%d dense_layers, got %d",
				    m->dense_layers, m->dense_every);
	if (!error && llm_expert_layers(m) < m->layers)
		error = check_range("ffn", m->ffn, 1, MOST, message);
	return error;
}

enum dist_error llm_architecture_check(const struct llm_architecture *model,
				       struct dist_message *message)
{
	const struct {
		const char *name;
		int value, least, most;
	} ranges[] = {
		{"layers", model->layers, 1, 10000},
		{"hidden", model->hidden, 1, MOST},
		{"heads", model->heads, 1, MOST},
		{"kv_heads", model->kv_heads, 1, MOST},
		{"head_dim", model->head_dim, 1, MOST},
		{"ffn", model->ffn, 0, MOST},
		{"vocab", model->vocab, 1, MOST},
		{"positions", model->positions, 0, MOST},
		{"window", model->window, 0, MOST},
		{"local_of", model->local_of, 0, 10000},
		{"shared_ffn", model->shared_ffn, 0, MOST},
		{"q_rank", model->q_rank, 0, MOST},
		{"kv_rank", model->kv_rank, 0, MOST},
		{"rope_dim", model->rope_dim, 0, MOST},
		{"value_dim", model->value_dim, 0, MOST},
	};
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges && !error; i++)
		error = check_range(ranges[i].name, ranges[i].value,
				    ranges[i].least, ranges[i].most, message);
	if (!error)
		error = check_attention(model, message);
	if (!error)
		error = check_experts(model, message);
	return error;
}
