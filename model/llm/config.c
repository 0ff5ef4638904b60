/*
 * config.c - reads a config.json: a table of families, by the file's
 * model_type, and what each calls its numbers in Hugging Face's transformers
 * (src/transformers/models/<family>/configuration_<family>.py).
 */
#include "model/llm/config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/input.h"
#include "base/printable.h"
#include "base/refuse.h"
#include "base/text.h"

#define MOST (1 << 26)

/* What is read, and whether it went well so far: after the first error the
 * readers below do nothing. */
struct config {
	const char *path;
	const char *text;
	const json_t *object;
	bool inside; /* of a model that sees, too, the part with its text */
	enum dist_error error;
	struct dist_message *message;
};

/* ---- values ----------------------------------------------------------- */

/* Of the first key of that name in the file; 0: it has none. */
static int line_of(const struct config *c, const char *key)
{
	char quoted[80];
	const char *found;
	int line = 1;

	snprintf(quoted, sizeof quoted, "\"%s\"", key);
	found = strstr(c->text, quoted);
	for (const char *at = c->text; found && at < found; at++)
		line += *at == '\n';
	return found ? line : 0;
}

/* Says what was expected of a key that the file has. */
__attribute__((format(printf, 3, 4))) static void
refuse(struct config *c, const char *key, const char *format, ...)
{
	char what[256];
	va_list args;

	if (c->error)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	c->error = dist__refuse(c->message, "%.200s:%d: expected %s", c->path,
				line_of(c, key), what);
}

/* Returns the value of the first of keys ("a|b") that the file has, stores its
 * name in key; NULL: none is there, or it is null. */
static const json_t *find(const struct config *c, const char *keys,
			  char key[64])
{
	while (*keys) {
		size_t len = strcspn(keys, "|");
		const json_t *value;

		snprintf(key, 64, "%.*s", (int)len, keys);
		value = json_object_get(c->object, key);
		if (value && !json_is_null(value))
			return value;
		keys += len + (keys[len] == '|');
	}
	return NULL;
}

static const char *value_text(const json_t *value, char text[64])
{
	char *dump =
		json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));

	snprintf(text, 64, "%.40s", dump ? dump : "?");
	free(dump);
	return text;
}

#define REQUIRED (-1)

/* Returns a whole number from least on; where there is none, fallback. */
static int whole(struct config *c, const char *keys, int least, int fallback)
{
	char key[64], got[64];
	const json_t *value = find(c, keys, key);

	if (c->error)
		return 0;
	if (!value) {
		if (fallback == REQUIRED)
			c->error = dist__refuse(
				c->message,
				"%.200s: expected %.*s, a whole number from %d "
				"on; there is none",
				c->path, (int)strcspn(keys, "|"), keys, least);
		return fallback;
	}
	if (!json_is_integer(value) || json_integer_value(value) < least ||
	    json_integer_value(value) > MOST) {
		refuse(c, key, "%s to be a whole number from %d to %d, got %s",
		       key, least, MOST, value_text(value, got));
		return 0;
	}
	return (int)json_integer_value(value);
}

static bool flag(struct config *c, const char *key, bool fallback)
{
	const json_t *value = json_object_get(c->object, key);
	char got[64];

	if (!value || json_is_null(value))
		return fallback;
	if (!json_is_boolean(value))
		refuse(c, key, "%s to be true or false, got %s", key,
		       value_text(value, got));
	return json_is_true(value);
}

/* Returns an array; NULL: there is none. */
static const json_t *array(struct config *c, const char *key)
{
	const json_t *value = json_object_get(c->object, key);
	char got[64];

	if (!value || json_is_null(value))
		return NULL;
	if (json_is_array(value))
		return value;
	refuse(c, key, "%s to be an array, got %s", key,
	       value_text(value, got));
	return NULL;
}

/* Returns the object under key; with no object where it is none. */
static struct config part(struct config *c, const char *key)
{
	const json_t *value = json_object_get(c->object, key);
	struct config inside = *c;
	char got[64];

	if (!c->error && !value)
		c->error = dist__refuse(
			c->message,
			"%.200s: expected %s, an object; there is none",
			c->path, key);
	if (!json_is_object(value))
		refuse(c, key, "%s to be an object, got %s", key,
		       value_text(value, got));
	inside.object = json_is_object(value) ? value : NULL;
	inside.error = c->error;
	return inside;
}

/* ---- parts that families share ---------------------------------------- */

static void read_head_dim(struct config *c, struct llm_architecture *m)
{
	m->head_dim = whole(c, "head_dim|kv_channels", 1, m->head_dim);
	if (c->error || m->head_dim || m->heads == 0)
		return;
	if (m->hidden % m->heads)
		c->error = dist__refuse(c->message,
					"%.200s: expected head_dim: %d heads "
					"do not divide the hidden size %d",
					c->path, m->heads, m->hidden);
	m->head_dim = m->hidden / m->heads;
}

/* The layers that layer_types says to attend to a window: all, or all but every
 * so many-th. */
static void read_layer_types(struct config *c, struct llm_architecture *m)
{
	const json_t *types = array(c, "layer_types"), *type;
	int full = 0, first = 0;
	size_t i;

	if (!types)
		return;
	json_array_foreach(types, i, type) if (json_is_string(type) &&
					       strcmp(json_string_value(type),
						      "full_attention") == 0 &&
					       full++ == 0) first = (int)i + 1;
	if ((int)json_array_size(types) == m->layers && full == m->layers) {
		m->window = m->local_of = 0;
		return;
	}
	m->local_of = first;
	json_array_foreach(types, i, type)
	{
		bool is_full = first && ((int)i + 1) % first == 0;

		if (!json_is_string(type) ||
		    strcmp(json_string_value(type),
			   is_full      ? "full_attention"
			   : m->chunked ? "chunked_attention"
					: "sliding_attention"))
			break;
	}
	if (i < json_array_size(types) || (int)i != m->layers)
		refuse(c, "layer_types",
		       "layer_types to have \"full_attention\" for every so "
		       "many-th of the %d layers, \"%s_attention\" for the "
		       "others: no other order is modelled",
		       m->layers, m->chunked ? "chunked" : "sliding");
}

static void read_window(struct config *c, struct llm_architecture *m,
			int local_of)
{
	m->window = whole(c, "sliding_window", 1, 0);
	m->local_of = m->window ? local_of : 0;
	read_layer_types(c, m);
}

/* Of Qwen, whose window is that of the upper layers. */
static void refuse_window(struct config *c, struct llm_architecture *m)
{
	if (flag(c, "use_sliding_window", false))
		refuse(c, "use_sliding_window",
		       "use_sliding_window to be false: a window of the layers "
		       "from max_window_layers on is not modelled");
	read_layer_types(c, m);
}

/* Dense layers among those with experts. */
static void read_sparse_step(struct config *c, struct llm_architecture *m)
{
	const json_t *only = array(c, "mlp_only_layers"), *layer;
	int step = whole(c, "decoder_sparse_step", 1, 1);
	size_t i;

	m->dense_every = step > 1 ? step : 0;
	json_array_foreach(only, i, layer) if (!json_is_integer(layer) ||
					       json_integer_value(layer) !=
						       (json_int_t)i ||
					       m->dense_every)
		refuse(c, "mlp_only_layers",
		       "mlp_only_layers to be the first layers, and none "
		       "beside decoder_sparse_step above 1: no other order is "
		       "modelled");
	m->dense_layers = only ? (int)json_array_size(only) : 0;
}

/* ---- families --------------------------------------------------------- */

static void read_llama(struct config *c, struct llm_architecture *m)
{
	m->kv_heads = whole(c, "num_key_value_heads", 1, m->kv_heads);
	m->ffn = whole(c, "intermediate_size", 1, REQUIRED);
	m->qkv_biases = flag(c, "attention_bias", m->qkv_biases);
	m->biases = m->qkv_biases && flag(c, "mlp_bias", false);
	read_layer_types(c, m);
}

static void read_mistral(struct config *c, struct llm_architecture *m)
{
	read_llama(c, m);
	read_window(c, m, 0);
}

/* All layers have experts, as wide as intermediate_size says. */
static void set_experts(struct config *c, struct llm_architecture *m,
			const char *experts)
{
	m->expert_ffn = m->ffn;
	m->ffn = 0;
	m->experts = whole(c, experts, 1, REQUIRED);
	m->top_k = whole(c, "num_experts_per_tok", 1, REQUIRED);
}

static void read_mixtral(struct config *c, struct llm_architecture *m)
{
	read_mistral(c, m);
	set_experts(c, m, "num_local_experts");
}

static void read_granite_moe(struct config *c, struct llm_architecture *m)
{
	read_llama(c, m);
	set_experts(c, m, "num_local_experts");
	m->shared_ffn = whole(c, "shared_intermediate_size", 0, 0);
}

static void read_olmoe(struct config *c, struct llm_architecture *m)
{
	read_llama(c, m);
	set_experts(c, m, "num_experts");
}

/* MiniMax-M2: attention_type_list is all 1 where all layers attend. */
static void read_minimax(struct config *c, struct llm_architecture *m)
{
	const json_t *types = array(c, "attn_type_list"), *type;
	size_t i;

	read_granite_moe(c, m);
	json_array_foreach(types, i, type) if (json_integer_value(type) != 1)
		refuse(c, "attn_type_list",
		       "attn_type_list to be all 1: linear attention is not "
		       "modelled");
}

static void read_gpt_oss(struct config *c, struct llm_architecture *m)
{
	read_mixtral(c, m);
	m->biases = m->qkv_biases = true;
	(void)whole(c, "sliding_window", 1, REQUIRED);
	read_window(c, m, 2);
}

static void read_qwen(struct config *c, struct llm_architecture *m)
{
	read_llama(c, m);
	refuse_window(c, m);
}

static void read_qwen_moe(struct config *c, struct llm_architecture *m)
{
	m->kv_heads = whole(c, "num_key_value_heads", 1, m->heads);
	m->ffn = whole(c, "intermediate_size", 1, 0);
	m->experts = whole(c, "num_experts", 1, REQUIRED);
	m->top_k = whole(c, "num_experts_per_tok", 1, REQUIRED);
	m->expert_ffn = whole(c, "moe_intermediate_size", 1, REQUIRED);
	m->shared_ffn = whole(c, "shared_expert_intermediate_size", 0, 0);
	m->qkv_biases =
		flag(c, "attention_bias", flag(c, "qkv_bias", m->qkv_biases));
	read_sparse_step(c, m);
	refuse_window(c, m);
}

/* Shared experts are as wide as routed ones. */
static void set_shared(struct config *c, struct llm_architecture *m,
		       const char *key)
{
	int shared = whole(c, key, 0, 0);

	if (!c->error && (int64_t)shared * m->expert_ffn > MOST)
		refuse(c, key, "%s to be up to %d, got %d", key,
		       MOST / m->expert_ffn, shared);
	if (!c->error)
		m->shared_ffn = shared * m->expert_ffn;
}

/* The names of DeepSeek's experts. */
static void read_routed(struct config *c, struct llm_architecture *m)
{
	m->top_k = whole(c, "num_experts_per_tok", 1, REQUIRED);
	m->expert_ffn = whole(c, "moe_intermediate_size", 1, REQUIRED);
	m->dense_layers = whole(c, "first_k_dense_replace", 0, REQUIRED);
	set_shared(c, m, "n_shared_experts");
}

static void read_glm_moe(struct config *c, struct llm_architecture *m)
{
	read_llama(c, m);
	m->experts = whole(c, "n_routed_experts", 1, REQUIRED);
	read_routed(c, m);
}

static void read_ernie_moe(struct config *c, struct llm_architecture *m)
{
	read_llama(c, m);
	m->experts = whole(c, "moe_num_experts", 1, REQUIRED);
	m->top_k = whole(c, "moe_k", 1, REQUIRED);
	m->expert_ffn = whole(c, "moe_intermediate_size", 1, REQUIRED);
	m->dense_layers = whole(c, "moe_layer_start_index", 0, REQUIRED);
	if (whole(c, "moe_layer_interval", 1, 1) != 1)
		refuse(c, "moe_layer_interval",
		       "moe_layer_interval to be 1: no other is modelled");
	set_shared(c, m, "moe_num_shared_experts");
}

/* Layers that turn positions attend within blocks of tokens, every fourth,
 * without positions, to all. */
#define LLAMA4_FULL 4

static void read_llama4(struct config *c, struct llm_architecture *m)
{
	const json_t *rope = array(c, "no_rope_layers"), *turns;
	const json_t *layers = array(c, "moe_layers");
	int step = whole(c, "interleave_moe_layer_step", 1, 1);
	size_t i;

	read_llama(c, m);
	set_experts(c, m, "num_local_experts");
	m->shared_ffn = m->expert_ffn;
	m->dense_every = step > 1 ? step : 0;
	if (m->dense_every)
		m->ffn = whole(c, "intermediate_size_mlp", 1, REQUIRED);
	if (layers && (int)json_array_size(layers) != llm_expert_layers(m))
		refuse(c, "moe_layers",
		       "moe_layers to be every so many-th, as "
		       "interleave_moe_layer_step says: no other is modelled");
	m->chunked = true;
	m->window = whole(c, "attention_chunk_size", 1, 0);
	m->local_of = m->window ? LLAMA4_FULL : 0;
	json_array_foreach(rope, i,
			   turns) if ((json_integer_value(turns) == 0) !=
				      ((i + 1) % LLAMA4_FULL == 0))
		refuse(c, "no_rope_layers",
		       "no_rope_layers to be 0 for every %d-th layer: no other "
		       "order is modelled",
		       LLAMA4_FULL);
	read_layer_types(c, m);
	m->chunked = m->window > 0;
}

static void read_deepseek(struct config *c, struct llm_architecture *m)
{
	m->ffn = whole(c, "intermediate_size", 1, REQUIRED);
	m->q_rank = whole(c, "q_lora_rank", 1, 0);
	m->kv_rank = whole(c, "kv_lora_rank", 1, REQUIRED);
	m->head_dim = whole(c, "qk_nope_head_dim", 1, REQUIRED);
	m->rope_dim = whole(c, "qk_rope_head_dim", 1, REQUIRED);
	m->value_dim = whole(c, "v_head_dim", 1, REQUIRED);
	m->experts = whole(c, "n_routed_experts", 1, 0);
	if (whole(c, "moe_layer_freq", 1, 1) != 1)
		refuse(c, "moe_layer_freq",
		       "moe_layer_freq to be 1: no other is modelled");
	if (m->experts)
		read_routed(c, m);
}

static void read_gpt2(struct config *c, struct llm_architecture *m)
{
	m->ffn = whole(c, "n_inner", 1, 4 * m->hidden);
	m->positions = whole(c, "n_positions", 1, REQUIRED);
}

static void read_gpt_bigcode(struct config *c, struct llm_architecture *m)
{
	read_gpt2(c, m);
	m->kv_heads = flag(c, "multi_query", true) ? 1 : m->heads;
}

static void read_opt(struct config *c, struct llm_architecture *m)
{
	m->ffn = whole(c, "ffn_dim", 1, REQUIRED);
	m->positions = whole(c, "max_position_embeddings", 1, REQUIRED);
	if (whole(c, "word_embed_proj_dim", 1, m->hidden) != m->hidden)
		refuse(c, "word_embed_proj_dim",
		       "word_embed_proj_dim to be the hidden size %d: another "
		       "is not modelled",
		       m->hidden);
}

static void read_mpt(struct config *c, struct llm_architecture *m)
{
	struct config attention = part(c, "attn_config");

	m->kv_heads = whole(&attention, "kv_n_heads", 1, m->heads);
	m->ffn = whole(c, "expansion_ratio", 1, 4) * m->hidden;
	m->biases = m->qkv_biases = !flag(c, "no_bias", true);
	if (!flag(&attention, "alibi", true) &&
	    !flag(&attention, "rope", false))
		m->positions = whole(c, "max_seq_len", 1, REQUIRED);
	c->error = c->error ? c->error : attention.error;
}

static void read_dbrx(struct config *c, struct llm_architecture *m)
{
	struct config attention = part(c, "attn_config"), ffn;

	m->kv_heads = whole(&attention, "kv_n_heads", 1, REQUIRED);
	c->error = attention.error;
	ffn = part(c, "ffn_config");
	m->expert_ffn = whole(&ffn, "ffn_hidden_size", 1, REQUIRED);
	m->experts = whole(&ffn, "moe_num_experts", 1, REQUIRED);
	m->top_k = whole(&ffn, "moe_top_k", 1, REQUIRED);
	c->error = ffn.error;
}

static void read_starcoder2(struct config *c, struct llm_architecture *m)
{
	read_mistral(c, m);
	m->biases = m->qkv_biases = flag(c, "use_bias", true);
}

static void read_stablelm(struct config *c, struct llm_architecture *m)
{
	read_llama(c, m);
	m->qkv_biases = flag(c, "use_qkv_bias", false);
}

static void read_gpt_neox(struct config *c, struct llm_architecture *m)
{
	m->ffn = whole(c, "intermediate_size", 1, REQUIRED);
	m->biases = flag(c, "attention_bias", true);
}

static void read_bloom(struct config *c, struct llm_architecture *m)
{
	m->ffn = whole(c, "n_inner", 1, 4 * m->hidden);
}

static void read_falcon(struct config *c, struct llm_architecture *m)
{
	m->ffn = whole(c, "ffn_hidden_size", 1, 4 * m->hidden);
	m->biases = flag(c, "bias", false);
	if (flag(c, "new_decoder_architecture", false))
		m->kv_heads = whole(c, "num_kv_heads", 1, m->heads);
	else
		m->kv_heads = flag(c, "multi_query", true) ? 1 : m->heads;
}

static void read_gemma2(struct config *c, struct llm_architecture *m)
{
	read_llama(c, m);
	(void)whole(c, "sliding_window", 1, REQUIRED);
	read_window(c, m, 2);
}

static void read_pattern(struct config *c, struct llm_architecture *m,
			 int usual)
{
	int pattern = whole(c, "sliding_window_pattern", 1, usual);

	read_llama(c, m);
	(void)whole(c, "sliding_window", 1, REQUIRED);
	read_window(c, m, pattern);
}

static void read_gemma3(struct config *c, struct llm_architecture *m)
{
	read_pattern(c, m, 6);
}

static void read_pattern_of_4(struct config *c, struct llm_architecture *m)
{
	read_pattern(c, m, 4);
}

/* EXAONE writes a pattern "LLLG": a window in the first three of four layers.
 */
static void read_exaone(struct config *c, struct llm_architecture *m)
{
	const json_t *pattern =
		json_object_get(c->object, "sliding_window_pattern");
	const char *text = json_string_value(pattern);
	size_t len = text ? strspn(text, "L") : 0;

	if (!text) {
		read_llama(c, m);
		read_window(c, m, whole(c, "sliding_window_pattern", 1, 4));
		return;
	}
	if (strcmp(text + len, "G") != 0)
		refuse(c, "sliding_window_pattern",
		       "sliding_window_pattern to be a number, or Ls before "
		       "one "
		       "G: no other order is modelled");
	read_llama(c, m);
	read_window(c, m, (int)len + 1);
}

/* Models that also see name their language model so. */
#define TEXT "text_config"

/* Numbers that a file need not say: those of Gemma 3 with 4 billion. */
static const struct usual {
	int vocab, heads, kv_heads, head_dim;
} gemma3_usual = {262208, 8, 4, 256}, none_usual;

/* What a file need not say, and where the rest is read. */
static const struct family {
	const char *model_type;
	bool gated, tied, biases, qkv_biases;
	bool own_head_dim; /* does not follow from hidden size and heads */
	const struct usual *usual; /* NULL: all numbers are to be said */
	void (*read)(struct config *c, struct llm_architecture *m);
} families[] = {
	{"apertus", false, false, false, false, false, NULL, read_llama},
	{"arcee", false, false, false, false, false, NULL, read_llama},
	{"bloom", false, true, true, true, false, NULL, read_bloom},
	{"cohere", true, true, false, false, false, NULL, read_llama},
	{"cohere2", true, true, false, false, false, NULL, read_pattern_of_4},
	{"dbrx", true, false, false, false, false, NULL, read_dbrx},
	{"deepseek_v2", true, false, false, false, false, NULL, read_deepseek},
	{"deepseek_v3", true, false, false, false, false, NULL, read_deepseek},
	{"dots1", true, false, false, false, false, NULL, read_glm_moe},
	{"ernie4_5", true, true, false, false, false, NULL, read_llama},
	{"ernie4_5_moe", true, true, false, false, false, NULL, read_ernie_moe},
	{"exaone4", true, false, false, false, false, NULL, read_exaone},
	{"falcon", false, true, false, false, false, NULL, read_falcon},
	{"gemma", true, true, false, false, true, NULL, read_llama},
	{"gemma2", true, true, false, false, true, NULL, read_gemma2},
	{"gemma3_text", true, true, false, false, false, &gemma3_usual,
	 read_gemma3},
	{"glm4", true, false, false, true, true, NULL, read_llama},
	{"glm4_moe", true, false, false, false, true, NULL, read_glm_moe},
	{"glm4v_moe_text", true, false, false, true, true, NULL, read_glm_moe},
	{"gpt2", false, true, true, true, false, NULL, read_gpt2},
	{"gpt_bigcode", false, true, true, true, false, NULL, read_gpt_bigcode},
	{"gpt_neox", false, false, true, true, false, NULL, read_gpt_neox},
	{"gpt_oss", true, false, true, true, true, NULL, read_gpt_oss},
	{"granite", true, false, false, false, false, NULL, read_llama},
	{"granitemoe", true, false, false, false, false, NULL,
	 read_granite_moe},
	{"granitemoeshared", true, false, false, false, false, NULL,
	 read_granite_moe},
	{"hunyuan_v1_dense", true, false, false, false, false, NULL,
	 read_llama},
	{"internlm2", true, false, false, false, false, NULL, read_llama},
	{"kimi_k2", true, false, false, false, false, NULL, read_deepseek},
	{"llama", true, false, false, false, false, NULL, read_llama},
	{"llama4_text", true, false, false, false, true, NULL, read_llama4},
	{"minimax_m2", true, false, false, false, true, NULL, read_minimax},
	{"ministral3", true, false, false, false, true, NULL, read_mistral},
	{"mistral", true, false, false, false, false, NULL, read_mistral},
	{"mixtral", true, false, false, false, false, NULL, read_mixtral},
	{"mpt", false, true, false, false, false, NULL, read_mpt},
	{"nemotron", false, false, false, false, false, NULL, read_llama},
	{"olmo", true, false, false, false, false, NULL, read_llama},
	{"olmo2", true, false, false, false, false, NULL, read_llama},
	{"olmo3", true, false, false, false, false, NULL, read_pattern_of_4},
	{"olmoe", true, false, false, false, false, NULL, read_olmoe},
	{"opt", false, true, true, true, false, NULL, read_opt},
	{"phi3", true, false, false, false, false, NULL, read_mistral},
	{"phimoe", true, false, false, false, false, NULL, read_mixtral},
	{"qwen2", true, false, false, true, false, NULL, read_qwen},
	{"qwen2_5_vl", true, false, false, true, false, NULL, read_qwen},
	{"qwen2_5_vl_text", true, false, false, true, false, NULL, read_qwen},
	{"qwen2_moe", true, false, false, true, false, NULL, read_qwen_moe},
	{"qwen2_vl", true, false, false, true, false, NULL, read_qwen},
	{"qwen3", true, false, false, false, true, NULL, read_qwen},
	{"qwen3_moe", true, false, false, false, true, NULL, read_qwen_moe},
	{"qwen3_vl_moe_text", true, false, false, false, true, NULL,
	 read_qwen_moe},
	{"qwen3_vl_text", true, false, false, false, true, NULL, read_qwen},
	{"seed_oss", true, false, false, true, true, NULL, read_llama},
	{"smollm3", true, true, false, false, false, NULL, read_qwen},
	{"stablelm", true, false, false, false, false, NULL, read_stablelm},
	{"starcoder2", false, true, true, true, false, NULL, read_starcoder2},
};

#define NUM_FAMILIES (sizeof families / sizeof *families)

static const struct family *family_find(struct config *c)
{
	const json_t *value = json_object_get(c->object, "model_type");
	const char *name =
		json_is_string(value) ? json_string_value(value) : "";
	char got[64];

	for (size_t i = 0; i < NUM_FAMILIES; i++)
		if (strcmp(name, families[i].model_type) == 0)
			return &families[i];
	c->error = dist__refuse(
		c->message,
		"%.120s: expected model_type to be one of those in "
		"docs/models.md, such as llama or qwen3_moe, got %s%s",
		c->path, value ? value_text(value, got) : "none",
		json_object_get(c->object, "linear_num_value_heads")
			? "; linear attention is not modelled"
			: "");
	return NULL;
}

static void read_object(struct config *c, struct llm_architecture *m)
{
	struct config whole_model = *c;
	const struct family *family;
	const struct usual *usual;
	struct dist_message why;

	c->inside = json_is_object(json_object_get(c->object, TEXT));
	if (c->inside)
		c->object = json_object_get(c->object, TEXT);
	family = family_find(c);
	if (!family)
		return;
	m->gated = family->gated;
	m->tied = flag(&whole_model, "tie_word_embeddings", family->tied);
	usual = family->usual ? family->usual : &none_usual;
	m->head_dim = usual->head_dim;
	m->biases = family->biases;
	m->qkv_biases = family->qkv_biases;
	if (family->own_head_dim)
		(void)whole(c, "head_dim", 1, REQUIRED);
	/* Names of the newer and the older classes. */
	m->layers = whole(c, "num_hidden_layers|n_layer|n_layers", 1, REQUIRED);
	m->hidden = whole(c, "hidden_size|n_embd|n_embed|d_model", 1, REQUIRED);
	m->heads = whole(c, "num_attention_heads|n_head|n_heads", 1,
			 usual->heads ? usual->heads : REQUIRED);
	m->vocab = whole(c, "vocab_size", 1,
			 usual->vocab ? usual->vocab : REQUIRED);
	m->tied = flag(c, "tie_word_embeddings", m->tied);
	if (!c->error)
		read_head_dim(c, m);
	m->kv_heads = usual->kv_heads ? usual->kv_heads : m->heads;
	if (!c->error)
		family->read(c, m);
	if (!c->error && llm_architecture_check(m, &why))
		c->error = dist__refuse(c->message, "%.200s: %.200s", c->path,
					why.text);
}

/* ---- the file --------------------------------------------------------- */

/* The name of the folder that holds a config.json, else the file's. */
static void store_name(struct llm_architecture *m, const char *path,
		       bool inside)
{
	char copy[PATH_MAX], *base;

	snprintf(copy, sizeof copy, "%s", path);
	base = strrchr(copy, '/');
	base = base ? base + 1 : copy;
	if (base > copy + 1 && strcmp(base, "config.json") == 0 &&
	    strcmp(copy, "./config.json") != 0) {
		base[-1] = '\0';
		base = strrchr(copy, '/');
		base = base ? base + 1 : copy;
	} else if (strlen(base) > 5 &&
		   strcmp(base + strlen(base) - 5, ".json") == 0) {
		base[strlen(base) - 5] = '\0';
	}
	snprintf(m->name, sizeof m->name, "%.63s", base);
	dist__printable(m->name);
	snprintf(m->source, sizeof m->source, "%.100s%s", path,
		 inside ? ", its " TEXT " alone" : "");
	dist__printable(m->source);
}

enum dist_error llm_config_parse(struct llm_architecture *model,
				 const char *path, const char *text,
				 struct dist_message *message)
{
	struct config c = {.path = path, .text = text, .message = message};
	json_error_t where;
	json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &where);

	*model = (struct llm_architecture){.layers = 0};
	if (!object)
		return dist__refuse(message, "%.200s:%d: expected JSON: %s",
				    path, where.line, where.text);
	c.object = object;
	if (json_is_object(object))
		read_object(&c, model);
	else
		c.error = dist__refuse(
			message, "%.200s:1: expected a JSON object", path);
	json_decref(object);
	if (c.error)
		*model = (struct llm_architecture){.layers = 0};
	else
		store_name(model, path, c.inside);
	return c.error;
}

enum dist_error llm_config_read(struct llm_architecture *model,
				const char *path, struct dist_message *message)
{
	char inside[PATH_MAX], *text;
	struct stat status;
	enum dist_error error;
	size_t len;

	*model = (struct llm_architecture){.layers = 0};
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		snprintf(inside, sizeof inside, "%.4000s%sconfig.json", path,
			 dist__ends_in(path, "/") ? "" : "/");
		path = inside;
	}
	error = dist__input_read(path, &text, &len);
	if (error) {
		(void)dist__refuse(message, "%.200s: cannot be read: %s", path,
				   error == DIST_ERR_NO_MEMORY
					   ? "out of memory"
					   : strerror(errno));
		return error;
	}
	if (strlen(text) < len)
		error = dist__refuse(message,
				     "%.200s: expected text, found a zero byte",
				     path);
	else
		error = llm_config_parse(model, path, text, message);
	free(text);
	return error;
}
