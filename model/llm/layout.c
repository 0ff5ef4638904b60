/* layout.c - what is legal in a layout, and where its groups of ranks sit. */
#include "model/llm/layout.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/divisors.h"
#include "base/text.h"
#include "base/refuse.h"

#define MOST_RANKS  (1 << 20)
#define MOST_TOKENS (1 << 30)

void llm_layout_init(struct llm_layout *layout)
{
	*layout = (struct llm_layout){
		.gpus = 1,
		.tp = 1,
		.pp = 1,
		.cp = 1,
		.ep = 1,
		.vpp = 1,
		.dp = 1,
		.shard = LLM_ZERO1,
		.reshard = true,
		.sequence = true,
		.schedule = LLM_1F1B,
		.recompute = LLM_RECOMPUTE_NONE,
		.recompute_modules = LLM_MODULE_SCORES,
		.seq = 4096,
		.micro_batch = 1,
		.global_batch = 1,
		.precision = LLM_BF16,
		.parameter_bytes = 2,
		.gradient_bytes = 4,
		.state_bytes = 12,
		.fused_experts = true,
		.fused_kernels = true,
		.overlap_grad = true,
		.overlap_param = true,
		.overlap_p2p = true,
		.imbalance = 1,
	};
}

static const char *const shards[] = {"ddp", "zero1", "zero2", "fsdp", "hsdp"};
static const char *const schedules[] = {"gpipe", "1f1b", "zero-bubble"};
static const char *const recomputes[] = {"none", "selective", "operators",
					 "full", "auto"};
static const char *const attentions[] = {"fastest", "flash-2", "flash-1",
					 "unfused"};

static int find(const char *const *names, int num, const char *name)
{
	int i = 0;

	while (i < num && strcasecmp(names[i], name) != 0)
		i++;
	return i;
}

const char *llm_shard_name(enum llm_shard shard)
{
	return shards[shard];
}

enum llm_shard llm_shard_find(const char *name)
{
	if (strcasecmp(name, "zero3") == 0 || strcasecmp(name, "fsdp2") == 0)
		return LLM_FSDP;
	return (enum llm_shard)find(shards, LLM_SHARDS, name);
}

const char *llm_schedule_name(enum llm_schedule schedule)
{
	return schedules[schedule];
}

enum llm_schedule llm_schedule_find(const char *name)
{
	return (enum llm_schedule)find(schedules, LLM_SCHEDULES, name);
}

const char *llm_attention_library_name(enum llm_attention_library library)
{
	return attentions[library];
}

enum llm_attention_library llm_attention_library_find(const char *name)
{
	return (enum llm_attention_library)find(attentions,
						LLM_ATTENTION_LIBRARIES, name);
}

const char *llm_recompute_name(enum llm_recompute recompute)
{
	return recomputes[recompute];
}

enum llm_recompute llm_recompute_find(const char *name)
{
	return (enum llm_recompute)find(recomputes, LLM_RECOMPUTES, name);
}

/* In the order of enum llm_module's bits. */
static const char *const module_names[] = {
	"core_attn", "mla_up_proj",    "mlp",    "moe_act",
	"layernorm", "shared_experts", "mlp_act"};

int llm_modules_find(const char *names)
{
	const char *const *known = module_names;
	const int num = sizeof module_names / sizeof *module_names;
	int modules = 0;

	while (*names) {
		const size_t length = strcspn(names, "+,");
		int i = 0;

		while (i < num && (strlen(known[i]) != length ||
				   strncmp(known[i], names, length) != 0))
			i++;
		if (i == num)
			return 0;
		modules |= 1 << i;
		names += length + (names[length] != '\0');
	}
	return modules;
}

void llm_modules_name(int modules, char between, char text[80])
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof module_names / sizeof *module_names; i++)
		if (modules & (1 << i))
			used += (size_t)snprintf(text + used, 80 - used,
						 "%.*s%s", used > 0, &between,
						 module_names[i]);
}

const char *llm_axis_name(enum llm_axis axis)
{
	static const char *const names[LLM_AXES] = {
		"tp", "cp", "ep", "pp", "dp", "expert dp", "replicas"};

	return names[axis];
}

int llm_micro_batches(const struct llm_layout *layout)
{
	return layout->global_batch / (layout->micro_batch * layout->dp);
}

int llm_gradient_sums(const struct llm_layout *layout)
{
	const int num = llm_micro_batches(layout);
	const int turn = layout->vpp > 1 ? layout->pp : 1;

	return layout->shard == LLM_ZERO2 ? (num + turn - 1) / turn : 1;
}

bool llm_layout_is_fsdp(const struct llm_layout *layout)
{
	return layout->shard == LLM_FSDP || layout->shard == LLM_HSDP;
}

bool llm_fsdp_sums_late(const struct llm_layout *layout)
{
	return llm_layout_is_fsdp(layout) &&
	       (layout->pp > 1 ||
		(layout->defer_sums && llm_micro_batches(layout) > 1));
}

/* ---- legality ---------------------------------------------------------- */

/* One that looks at a layout. */
struct checker {
	const struct llm_layout *layout;
	const struct llm_architecture *model;
	struct dist__refusal *refusal;
};

/* Refuses value of option unless it divides number, which `what` describes. */
static __attribute__((format(printf, 5, 6))) enum dist_error
must_divide(const struct checker *c, const char *option, int value,
	    int64_t number, const char *what, ...)
{
	char legal[200], described[200];
	va_list args;

	if (value >= 1 && number % value == 0)
		return DIST_OK;
	va_start(args, what);
	vsnprintf(described, sizeof described, what, args);
	va_end(args);
	dist__divisors_text(legal, sizeof legal, number);
	return dist__refuse_option(c->refusal, option,
				   "expected %s to divide %s (%s), got %d",
				   option, described, legal, value);
}

/* Refuses value of option unless it is a multiple of unit. */
static enum dist_error must_be_multiple(const struct checker *c,
					const char *option, int value,
					int64_t unit, const char *what)
{
	int64_t below = value / unit * unit;

	if (value > 0 && value % unit == 0)
		return DIST_OK;
	if (below == 0)
		return dist__refuse_option(
			c->refusal, option,
			"expected a multiple of %s = %lld, got %d", what,
			(long long)unit, value);
	return dist__refuse_option(
		c->refusal, option,
		"expected a multiple of %s = %lld, as %lld or %lld, got %d",
		what, (long long)unit, (long long)below,
		(long long)(below + unit), value);
}

static enum dist_error must_lie(const struct checker *c, const char *option,
				int value, int least, int most,
				const char *what)
{
	if (value >= least && value <= most)
		return DIST_OK;
	return dist__refuse_option(c->refusal, option,
				   "expected %s from %d to %d%s, got %d",
				   option, least, most, what, value);
}

static enum dist_error check_ranges(const struct checker *c)
{
	const struct llm_layout *l = c->layout;
	const struct {
		const char *option;
		int value, least, most;
	} ranges[] = {
		{"gpus", l->gpus, 1, MOST_RANKS},
		{"tp", l->tp, 1, MOST_RANKS},
		{"pp", l->pp, 1, MOST_RANKS},
		{"cp", l->cp, 1, MOST_RANKS},
		{"ep", l->ep, 1, MOST_RANKS},
		{"etp", l->etp, 0, MOST_RANKS},
		{"vpp", l->vpp, 1, MOST_RANKS},
		{"seq", l->seq, 1, MOST_TOKENS},
		{"micro-batch", l->micro_batch, 1, MOST_RANKS},
		{"global-batch", l->global_batch, 1, MOST_TOKENS},
		{"parameter-bytes", l->parameter_bytes, 1, 4},
		{"gradient-bytes", l->gradient_bytes, 2, 4},
		{"state-bytes", l->state_bytes, 0, 16},
		{"copy-bytes", l->copy_bytes, 0, 8},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		enum dist_error error =
			must_lie(c, ranges[i].option, ranges[i].value,
				 ranges[i].least, ranges[i].most, "");

		if (error)
			return error;
	}
	return DIST_OK;
}

/* Appends "what number" to text, and narrows *number to what divides both. */
static void also_divided(int64_t *number, int by, const char *what, char *text,
			 size_t size)
{
	if (by <= 0)
		return;
	*number = dist__divisors_common(*number, by);
	(void)dist__append(text, size, "%s%d%s", *text ? ", " : "", by, what);
}

/* Megatron pads the vocabulary; its transformer_config.py refuses what else tp
 * does not divide. MLA has no key-value heads of its own. */
static enum dist_error check_tensor(const struct checker *c)
{
	const struct llm_architecture *m = c->model;
	const struct llm_layout *l = c->layout;
	int64_t number = 0;
	char what[160] = "";
	enum dist_error error;

	also_divided(&number, m->heads, " heads", what, sizeof what);
	if (m->kv_rank == 0)
		also_divided(&number, m->kv_heads, " key-value heads", what,
			     sizeof what);
	also_divided(&number, m->hidden, " of hidden", what, sizeof what);
	also_divided(&number, m->ffn, " of ffn", what, sizeof what);
	also_divided(&number, m->shared_ffn, " of shared experts", what,
		     sizeof what);
	error = must_divide(c, "tp", l->tp, number, "%s", what);
	if (error || m->experts == 0)
		return error;
	return must_divide(c, "etp", l->etp, m->expert_ffn,
			   "%d of an expert's ffn", m->expert_ffn);
}

/* Stages may be uneven (Megatron's --decoder-first-pipeline-num-layers and
 * --pipeline-model-parallel-layout), but none is empty; embedding and loss may
 * have a chunk of their own. */
static enum dist_error check_pipeline(const struct checker *c)
{
	const struct llm_layout *l = c->layout;
	const int layers = c->model->layers;
	enum dist_error error =
		must_lie(c, "pp", l->pp, 1, layers, ", one layer a stage");

	if (error)
		return error;
	if (l->pp == 1)
		return must_lie(c, "vpp", l->vpp, 1, 1,
				", as chunks need more than one stage (pp)");
	if (l->schedule != LLM_1F1B)
		return must_lie(c, "vpp", l->vpp, 1, 1,
				", as only 1f1b is interleaved");
	return must_lie(c, "vpp", l->vpp, 1, (layers + 2) / l->pp,
			", one layer, embedding or loss a chunk");
}

static enum dist_error check_sequence(const struct checker *c)
{
	const struct llm_layout *l = c->layout;
	bool sequence = l->sequence && l->tp > 1;
	int64_t unit = 1;
	enum dist_error error = DIST_OK;

	/* Each rank of cp has an early and a late piece, so that causal
	 * attention is balanced. */
	if (l->cp > 1)
		unit = 2 * (int64_t)l->cp;
	if (l->cp > 1 && l->seq % unit != 0)
		error = l->seq % 2 ? must_be_multiple(c, "seq", l->seq, unit,
						      "2 x cp")
				   : must_divide(c, "cp", l->cp, l->seq / 2,
						 "half of %d tokens", l->seq);
	if (error)
		return error;
	if (sequence && l->seq % (l->cp * (int64_t)l->tp) != 0)
		return must_be_multiple(c, "seq", l->seq,
					l->cp * (int64_t)l->tp,
					"cp x tp (sequence parallelism)");
	return DIST_OK;
}

static enum dist_error check_experts(const struct checker *c)
{
	const struct llm_architecture *m = c->model;
	const struct llm_layout *l = c->layout;
	int64_t ranks = (int64_t)l->tp * l->cp * l->dp;
	enum dist_error error;

	if (m->experts == 0)
		return must_lie(c, "ep", l->ep, 1, 1,
				", as the model has no experts");
	error = must_divide(c, "ep", l->ep, m->experts, "%d experts",
			    m->experts);
	if (error)
		return error;
	if (l->etp != 1 && l->etp != l->tp)
		return dist__refuse_option(c->refusal, "etp",
					   "expected etp 1 or tp = %d, got %d",
					   l->tp, l->etp);
	if (l->tp > 1 && !l->sequence)
		return dist__refuse_option(
			c->refusal, "no-sequence",
			"expected sequence parallelism beside "
			"tp = %d, as the model has experts",
			l->tp);
	error = must_divide(c, "ep", l->ep,
			    dist__divisors_common(ranks / l->etp, m->experts),
			    "%d experts and tp x cp x dp / etp = %lld",
			    m->experts, (long long)(ranks / l->etp));
	if (error)
		return error;
	if (isfinite(l->imbalance) && l->imbalance >= 1 &&
	    l->imbalance <= l->ep)
		return DIST_OK;
	return dist__refuse_option(
		c->refusal, "imbalance",
		"expected imbalance from 1 to ep = %d, got %g", l->ep,
		l->imbalance);
}

static enum dist_error refuse_hsdp(const struct checker *c)
{
	char legal[200];

	dist__divisors_text(legal, sizeof legal, c->layout->dp);
	return dist__refuse_option(c->refusal, "shard-ranks",
				   "expected the number of ranks that share "
				   "parameters with hsdp, such as the GPUs of "
				   "a node: one of %s",
				   legal);
}

static enum dist_error check_data(const struct checker *c)
{
	const struct llm_layout *l = c->layout;
	enum dist_error error = must_be_multiple(
		c, "global-batch", l->global_batch,
		(int64_t)l->micro_batch * l->dp, "micro-batch x dp");

	if (error)
		return error;
	if (l->vpp > 1)
		error = must_be_multiple(c, "global-batch", l->global_batch,
					 (int64_t)l->micro_batch * l->dp *
						 l->pp,
					 "micro-batch x dp x pp (interleaved)");
	if (error)
		return error;
	if (l->defer_sums && !llm_layout_is_fsdp(l))
		return dist__refuse_option(
			c->refusal, "no-sync",
			"expected with shard fsdp or hsdp, got %s",
			llm_shard_name(l->shard));
	if (l->shard == LLM_HSDP && l->shard_ranks == 0)
		return refuse_hsdp(c);
	if (l->shard_ranks > 0)
		error = must_divide(c, "shard-ranks", l->shard_ranks, l->dp,
				    "dp = %d", l->dp);
	if (error || l->shard == LLM_HSDP || l->shard_ranks == 0)
		return error;
	if (l->shard != LLM_ZERO1)
		return dist__refuse_option(
			c->refusal, "shard-ranks",
			"expected with shard hsdp or zero1, got %s",
			llm_shard_name(l->shard));
	if (c->model->experts > 0)
		return dist__refuse_option(
			c->refusal, "shard-ranks",
			"groups of zero1 with experts are not "
			"modelled: expected hsdp");
	return DIST_OK;
}

static enum dist_error check_recompute(const struct checker *c)
{
	const struct llm_layout *l = c->layout;
	int stage = (c->model->layers + l->pp - 1) / l->pp;
	enum dist_error error = must_lie(c, "offload-layers", l->offload_layers,
					 0, stage, " layers of a stage");

	if (error || l->recompute != LLM_RECOMPUTE_FULL)
		return error;
	return must_lie(c, "recompute-layers", l->recompute_layers, 0, stage,
			" layers of a stage");
}

/* Exchanges beside another micro-batch's computing: Megatron-LM has them
 * without a pipeline or with an interleaved one, and without recomputing
 * layers (core/transformer/transformer_config.py). */
static enum dist_error check_exchanges(const struct checker *c)
{
	const struct llm_layout *l = c->layout;

	if (!l->overlap_ep || l->ep == 1 ||
	    ((l->pp == 1 || l->vpp > 1) && l->recompute != LLM_RECOMPUTE_FULL))
		return DIST_OK;
	if (l->recompute == LLM_RECOMPUTE_FULL)
		return dist__refuse_option(
			c->refusal, "recompute",
			"expected another than full beside "
			"overlapped exchanges (--overlap ep)");
	return dist__refuse_option(
		c->refusal, "vpp",
		"expected vpp above 1 beside stages and overlapped "
		"exchanges (--overlap ep), got %d",
		l->vpp);
}

enum dist_error llm_layout_complete(struct llm_layout *layout,
				    const struct llm_architecture *model,
				    struct dist__refusal *refusal)
{
	const struct checker c = {layout, model, refusal};
	int64_t copy;
	enum dist_error error = check_ranges(&c);

	if (error)
		return error;
	if (layout->etp == 0)
		layout->etp = layout->tp;
	if ((error = check_tensor(&c)) || (error = check_pipeline(&c)) ||
	    (error = check_sequence(&c)))
		return error;
	copy = (int64_t)layout->tp * layout->pp * layout->cp;
	error = must_be_multiple(&c, "gpus", layout->gpus, copy,
				 "tp x pp x cp");
	if (error)
		return error;
	layout->dp = (int)(layout->gpus / copy);
	if ((error = check_experts(&c)) || (error = check_data(&c)))
		return error;
	error = check_recompute(&c);
	return error ? error : check_exchanges(&c);
}

/* ---- groups ------------------------------------------------------------ */

/* Stores how many ranks a group of axis has, and the stride between them. */
static void axis_shape(const struct llm_layout *l, enum llm_axis axis,
		       int *ranks, int *stride)
{
	const int etp = l->etp > 0 ? l->etp : l->tp;
	const int stage = l->gpus / l->pp;
	const int shard = l->shard_ranks > 0 ? l->shard_ranks : l->dp;

	switch (axis) {
	case LLM_TP:
		*ranks = l->tp;
		*stride = 1;
		return;
	case LLM_CP:
		*ranks = l->cp;
		*stride = l->tp;
		return;
	case LLM_EP:
		*ranks = l->ep;
		*stride = etp;
		return;
	case LLM_PP:
		*ranks = l->pp > 1 ? 2 : 1;
		*stride = stage;
		return;
	case LLM_DP:
		*ranks = l->cp * shard;
		*stride = l->tp;
		return;
	case LLM_EXPERT_DP:
		*ranks = stage / (etp * l->ep);
		*stride = etp * l->ep;
		return;
	default:
		*ranks = l->dp / shard;
		*stride = l->tp * l->cp * shard;
		return;
	}
}

/* A job takes as many GPUs of each of its nodes: of a domain of 72 GPUs, 64
 * where it has 256. */
static int node_of_job(int gpus, int gpus_per_node)
{
	int node = gpus_per_node < gpus ? gpus_per_node : gpus;

	while (gpus % node != 0)
		node--;
	return node;
}

struct llm_group llm_layout_group(const struct llm_layout *layout,
				  enum llm_axis axis, int gpus_per_node)
{
	const int node = node_of_job(layout->gpus, gpus_per_node);
	struct llm_group group;
	int64_t span;

	axis_shape(layout, axis, &group.ranks, &group.stride);
	if (axis == LLM_PP && group.ranks > 1) {
		/* The two that are farthest apart. */
		group.node_ranks = layout->gpus <= node ? 2 : 1;
		group.sharers = group.node_ranks == 2 ? node / 2
				: group.stride < node ? group.stride
						      : node;
		return group;
	}
	/* Where groups do not fill nodes, the one that is spread most. */
	span = dist__divisors_common(node, (int64_t)group.ranks * group.stride);
	group.node_ranks = (int)(span / group.stride);
	if (group.node_ranks < 1)
		group.node_ranks = 1;
	group.sharers = node / group.node_ranks;
	return group;
}
