/*
 * config_write.c - writes a model as config.json, by the family of Hugging
 * Face's transformers that has its parts.
 */
#define _GNU_SOURCE /* asprintf */

#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/output.h"
#include "base/refuse.h"
#include "model/llm/config.h"

static void set(json_t *object, const char *key, int value)
{
	(void)json_object_set_new(object, key, json_integer(value));
}

static void set_flag(json_t *object, const char *key, bool value)
{
	(void)json_object_set_new(object, key, json_boolean(value));
}

/* Which layers attend to the window. */
static void set_window(json_t *object, const struct llm_architecture *m)
{
	json_t *types = json_array();

	set(object, "sliding_window", m->window);
	for (int i = 0; i < m->layers; i++) {
		bool full = m->local_of && (i + 1) % m->local_of == 0;

		(void)json_array_append_new(
			types, json_string(full ? "full_attention"
						: "sliding_attention"));
	}
	(void)json_object_set_new(object, "layer_types", types);
}

static const char *set_latent(json_t *object, const struct llm_architecture *m)
{
	(void)json_object_del(object, "head_dim");
	if (m->q_rank)
		set(object, "q_lora_rank", m->q_rank);
	set(object, "kv_lora_rank", m->kv_rank);
	set(object, "qk_nope_head_dim", m->head_dim);
	set(object, "qk_rope_head_dim", m->rope_dim);
	set(object, "v_head_dim", m->value_dim);
	if (m->experts) {
		set(object, "n_routed_experts", m->experts);
		set(object, "num_experts_per_tok", m->top_k);
		set(object, "moe_intermediate_size", m->expert_ffn);
		set(object, "first_k_dense_replace", m->dense_layers);
		set(object, "n_shared_experts", m->shared_ffn / m->expert_ffn);
	}
	return "deepseek_v3";
}

/* The shared expert is as wide as the others. */
static const char *set_blocks(json_t *object, const struct llm_architecture *m)
{
	(void)json_object_del(object, "sliding_window");
	(void)json_object_del(object, "layer_types");
	set(object, "attention_chunk_size", m->window);
	set(object, "num_local_experts", m->experts);
	set(object, "num_experts_per_tok", m->top_k);
	set(object, "intermediate_size", m->expert_ffn);
	set(object, "intermediate_size_mlp", m->ffn);
	set(object, "interleave_moe_layer_step",
	    m->dense_every ? m->dense_every : 1);
	return "llama4_text";
}

static const char *set_experts(json_t *object, const struct llm_architecture *m)
{
	json_t *dense = json_array();

	set(object, "num_experts_per_tok", m->top_k);
	if (m->biases || m->window) {
		set(object, "num_local_experts", m->experts);
		set(object, "intermediate_size", m->expert_ffn);
		return m->biases ? "gpt_oss" : "mixtral";
	}
	set(object, "num_experts", m->experts);
	set(object, "moe_intermediate_size", m->expert_ffn);
	set(object, "decoder_sparse_step", m->dense_every ? m->dense_every : 1);
	for (int i = 0; i < m->dense_layers; i++)
		(void)json_array_append_new(dense, json_integer(i));
	(void)json_object_set_new(object, "mlp_only_layers", dense);
	if (!m->shared_ffn) {
		set_flag(object, "attention_bias", m->qkv_biases);
		return "qwen3_moe";
	}
	set(object, "shared_expert_intermediate_size", m->shared_ffn);
	set_flag(object, "qkv_bias", m->qkv_biases);
	return "qwen2_moe";
}

static const char *set_two_matrices(json_t *object,
				    const struct llm_architecture *m)
{
	if (m->positions) {
		json_object_clear(object);
		set(object, "n_layer", m->layers);
		set(object, "n_embd", m->hidden);
		set(object, "n_head", m->heads);
		set(object, "n_inner", m->ffn);
		set(object, "n_positions", m->positions);
		set(object, "vocab_size", m->vocab);
		set_flag(object, "tie_word_embeddings", m->tied);
		return "gpt2";
	}
	return m->biases ? "gpt_neox" : "nemotron";
}

/* Fills object; returns the family. */
static const char *set_all(json_t *object, const struct llm_architecture *m)
{
	/* What the newer classes call the body. */
	set(object, "hidden_size", m->hidden);
	set(object, "num_hidden_layers", m->layers);
	set(object, "num_attention_heads", m->heads);
	set(object, "num_key_value_heads", m->kv_heads);
	set(object, "head_dim", m->head_dim);
	set(object, "vocab_size", m->vocab);
	set_flag(object, "tie_word_embeddings", m->tied);
	if (m->ffn)
		set(object, "intermediate_size", m->ffn);
	if (m->window)
		set_window(object, m);
	if (m->kv_rank)
		return set_latent(object, m);
	if (m->chunked)
		return set_blocks(object, m);
	if (m->experts)
		return set_experts(object, m);
	if (!m->gated)
		return set_two_matrices(object, m);
	if (m->qkv_biases)
		set_flag(object, "attention_bias", true);
	if (m->biases)
		set_flag(object, "mlp_bias", true);
	return m->window ? "mistral" : "llama";
}

/* Whether the text says this model: what a family has no key for was lost. */
static enum dist_error check_text(const char *text, const char *family,
				  const struct llm_architecture *model,
				  struct dist_message *message)
{
	struct llm_architecture again, wanted = *model;
	struct dist_message why;
	const char *lost;

	if (llm_config_parse(&again, "config.json", text, &why))
		return dist__refuse(
			message, "no family has these parts: %.300s", why.text);
	/* With all biases those of queries, keys and values are there, too. */
	wanted.qkv_biases |= wanted.biases;
	again.qkv_biases |= again.biases;
	lost = llm_catalogue_difference(&wanted, &again);
	if (lost)
		return dist__refuse(message,
				    "%s: no family of config.json has it "
				    "beside the rest (%s would be nearest)",
				    lost, family);
	return DIST_OK;
}

enum dist_error llm_config_write(const struct llm_architecture *model,
				 const char *path, struct dist_message *message)
{
	json_t *object = json_object();
	const char *family = set_all(object, model);
	enum dist_error error;
	char *dump, *text = NULL;

	(void)json_object_set_new(object, "model_type", json_string(family));
	dump = json_dumps(object, JSON_INDENT(2) | JSON_SORT_KEYS);
	json_decref(object);
	if (dump && asprintf(&text, "%s\n", dump) < 0)
		text = NULL;
	error = text ? check_text(text, family, model, message)
		     : dist__refuse_as(message, DIST_ERR_NO_MEMORY,
				       "out of memory");
	if (!error)
		error = dist__output_save(path, text, message);
	free(dump);
	free(text);
	return error;
}
