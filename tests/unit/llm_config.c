/* Reading config.json: of every family one as its models have it, and what is
 * refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/llm/config.h"
#include "tests/support/okay.h"
#include "tests/support/text_file.h"

static enum dist_error read_config(const char *text,
				   struct llm_architecture *model,
				   struct dist_message *message)
{
	enum dist_error error;

	message->text[0] = '\0';
	with_text_file(text, path,
		       error = llm_config_read(model, path, message));
	return error;
}

/* Of a file and of the catalogue's row, which were written apart. */
static void expect_same(const char *text, const char *name)
{
	struct llm_architecture got, row;
	struct llm_parameters p, q;
	struct dist_message message;

	okay_or(read_config(text, &got, &message), message);
	okay(llm_architecture_find(&row, name, &message));
	llm_count_parameters(&got, &p);
	llm_count_parameters(&row, &q);
	cr_expect_eq(p.total, q.total, "%s: %.0f, not %.0f", name, p.total,
		     q.total);
	cr_expect_eq(p.active, q.active, "%s", name);
	cr_expect_eq(llm_model_flops(&got, 8192, true),
		     llm_model_flops(&row, 8192, true), "%s", name);
}

Test(llm_config, of_every_family)
{
	expect_same("{\"model_type\": \"llama\", \"hidden_size\": 4096,"
		    "\"intermediate_size\": 14336, \"vocab_size\": 128256,"
		    "\"num_attention_heads\": 32, \"num_hidden_layers\": 32,"
		    "\"num_key_value_heads\": 8, \"attention_bias\": false,"
		    "\"mlp_bias\": false, \"tie_word_embeddings\": false}",
		    "llama3-8b");
	/* Of the time before num_key_value_heads. */
	expect_same("{\"model_type\": \"llama\", \"hidden_size\": 4096,"
		    "\"intermediate_size\": 11008, \"vocab_size\": 32000,"
		    "\"num_attention_heads\": 32, \"num_hidden_layers\": 32}",
		    "llama2-7b");
	expect_same("{\"model_type\": \"mistral\", \"hidden_size\": 4096,"
		    "\"intermediate_size\": 14336, \"vocab_size\": 32000,"
		    "\"num_attention_heads\": 32, \"num_hidden_layers\": 32,"
		    "\"num_key_value_heads\": 8, \"sliding_window\": 4096}",
		    "mistral-7b");
	expect_same("{\"model_type\": \"mixtral\", \"hidden_size\": 4096,"
		    "\"intermediate_size\": 14336, \"vocab_size\": 32000,"
		    "\"num_attention_heads\": 32, \"num_hidden_layers\": 32,"
		    "\"num_key_value_heads\": 8, \"sliding_window\": null,"
		    "\"num_local_experts\": 8, \"num_experts_per_tok\": 2}",
		    "mixtral-8x7b");
	expect_same("{\"model_type\": \"qwen2\", \"hidden_size\": 3584,"
		    "\"intermediate_size\": 18944, \"vocab_size\": 152064,"
		    "\"num_attention_heads\": 28, \"num_hidden_layers\": 28,"
		    "\"num_key_value_heads\": 4, \"sliding_window\": 131072,"
		    "\"use_sliding_window\": false}",
		    "qwen2.5-7b");
	expect_same("{\"model_type\": \"qwen3\", \"hidden_size\": 4096,"
		    "\"intermediate_size\": 12288, \"vocab_size\": 151936,"
		    "\"num_attention_heads\": 32, \"num_hidden_layers\": 36,"
		    "\"num_key_value_heads\": 8, \"head_dim\": 128}",
		    "qwen3-8b");
	expect_same("{\"model_type\": \"qwen3_moe\", \"hidden_size\": 2048,"
		    "\"intermediate_size\": 6144, \"vocab_size\": 151936,"
		    "\"num_attention_heads\": 32, \"num_hidden_layers\": 48,"
		    "\"num_key_value_heads\": 4, \"head_dim\": 128,"
		    "\"num_experts\": 128, \"num_experts_per_tok\": 8,"
		    "\"moe_intermediate_size\": 768, \"mlp_only_layers\": [],"
		    "\"decoder_sparse_step\": 1}",
		    "qwen3-30b-a3b");
	expect_same("{\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168,"
		    "\"intermediate_size\": 18432, \"vocab_size\": 129280,"
		    "\"num_attention_heads\": 128, \"num_hidden_layers\": 61,"
		    "\"num_key_value_heads\": 128, \"q_lora_rank\": 1536,"
		    "\"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128,"
		    "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128,"
		    "\"n_routed_experts\": 256, \"n_shared_experts\": 1,"
		    "\"num_experts_per_tok\": 8, \"moe_layer_freq\": 1,"
		    "\"moe_intermediate_size\": 2048,"
		    "\"first_k_dense_replace\": 3,"
		    "\"num_nextn_predict_layers\": 1}",
		    "deepseek-v3");
	expect_same("{\"model_type\": \"deepseek_v2\", \"hidden_size\": 2048,"
		    "\"intermediate_size\": 10944, \"vocab_size\": 102400,"
		    "\"num_attention_heads\": 16, \"num_hidden_layers\": 27,"
		    "\"q_lora_rank\": null, \"kv_lora_rank\": 512,"
		    "\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64,"
		    "\"v_head_dim\": 128, \"n_routed_experts\": 64,"
		    "\"n_shared_experts\": 2, \"num_experts_per_tok\": 6,"
		    "\"moe_intermediate_size\": 1408,"
		    "\"first_k_dense_replace\": 1}",
		    "deepseek-v2-lite");
	expect_same("{\"model_type\": \"gpt_oss\", \"hidden_size\": 2880,"
		    "\"intermediate_size\": 2880, \"vocab_size\": 201088,"
		    "\"num_attention_heads\": 64, \"num_hidden_layers\": 24,"
		    "\"num_key_value_heads\": 8, \"head_dim\": 64,"
		    "\"sliding_window\": 128, \"num_local_experts\": 32,"
		    "\"num_experts_per_tok\": 4, \"attention_bias\": true}",
		    "gpt-oss-20b");
	expect_same("{\"model_type\": \"gpt2\", \"n_embd\": 768,"
		    "\"n_layer\": 12, \"n_head\": 12, \"n_ctx\": 1024,"
		    "\"n_positions\": 1024, \"vocab_size\": 50257}",
		    "gpt2");
	expect_same("{\"model_type\": \"gpt_neox\", \"hidden_size\": 6144,"
		    "\"intermediate_size\": 24576, \"vocab_size\": 50432,"
		    "\"num_attention_heads\": 64, \"num_hidden_layers\": 44,"
		    "\"tie_word_embeddings\": false}",
		    "gpt-neox-20b");
	expect_same("{\"model_type\": \"bloom\", \"n_embed\": 14336,"
		    "\"n_layer\": 70, \"num_attention_heads\": 112,"
		    "\"vocab_size\": 250880}",
		    "bloom-176b");
	expect_same("{\"model_type\": \"nemotron\", \"hidden_size\": 6144,"
		    "\"intermediate_size\": 24576, \"vocab_size\": 256000,"
		    "\"num_attention_heads\": 48, \"num_hidden_layers\": 32,"
		    "\"num_key_value_heads\": 8}",
		    "nemotron-4-15b");
	expect_same("{\"model_type\": \"gemma2\", \"hidden_size\": 4608,"
		    "\"intermediate_size\": 36864, \"vocab_size\": 256000,"
		    "\"num_attention_heads\": 32, \"num_hidden_layers\": 46,"
		    "\"num_key_value_heads\": 16, \"head_dim\": 128,"
		    "\"sliding_window\": 4096}",
		    "gemma-2-27b");
}

#define LLAMA4                                                                 \
	"{\"model_type\": \"llama4\", \"text_config\": {"                      \
	"\"model_type\": \"llama4_text\", \"hidden_size\": 5120,"              \
	"\"intermediate_size\": 8192, \"intermediate_size_mlp\": 16384,"       \
	"\"vocab_size\": 202048, \"num_attention_heads\": 40,"                 \
	"\"num_hidden_layers\": 48, \"num_key_value_heads\": 8,"               \
	"\"head_dim\": 128, \"attention_chunk_size\": 8192,"                   \
	"\"num_local_experts\": 16, \"num_experts_per_tok\": 1,"               \
	"\"interleave_moe_layer_step\": 1,"

/* What a model that sees too, or a nested part, says. */
Test(llm_config, reads_parts)
{
	expect_same("{\"model_type\": \"gemma3\", \"vision_config\": {},"
		    "\"text_config\": {\"model_type\": \"gemma3_text\","
		    "\"hidden_size\": 5376, \"intermediate_size\": 21504,"
		    "\"num_attention_heads\": 32, \"num_hidden_layers\": 62,"
		    "\"num_key_value_heads\": 16, \"head_dim\": 128,"
		    "\"sliding_window\": 1024}}",
		    "Gemma-3-27B");
	expect_same(LLAMA4 "\"tie_word_embeddings\": false}}",
		    "Llama-4-Scout-109B");
	expect_same("{\"model_type\": \"dbrx\", \"d_model\": 6144,"
		    "\"n_heads\": 48, \"n_layers\": 40,"
		    "\"vocab_size\": 100352,"
		    "\"attn_config\": {\"kv_n_heads\": 8},"
		    "\"ffn_config\": {\"ffn_hidden_size\": 10752,"
		    "\"moe_num_experts\": 16, \"moe_top_k\": 4}}",
		    "DBRX");
	expect_same("{\"model_type\": \"mpt\", \"d_model\": 7168,"
		    "\"n_heads\": 64, \"n_layers\": 48,"
		    "\"vocab_size\": 50432, \"no_bias\": true,"
		    "\"attn_config\": {\"alibi\": true}}",
		    "MPT-30B");
}

Test(llm_config, newer_families)
{
	expect_same("{\"model_type\": \"phi3\", \"hidden_size\": 5120,"
		    "\"intermediate_size\": 17920, \"vocab_size\": 100352,"
		    "\"num_attention_heads\": 40, \"num_hidden_layers\": 40,"
		    "\"num_key_value_heads\": 10, \"sliding_window\": null}",
		    "Phi-4");
	expect_same("{\"model_type\": \"olmo2\", \"hidden_size\": 5120,"
		    "\"intermediate_size\": 27648, \"vocab_size\": 100352,"
		    "\"num_attention_heads\": 40, \"num_hidden_layers\": 64,"
		    "\"num_key_value_heads\": 8}",
		    "OLMo-2-32B");
	expect_same("{\"model_type\": \"glm4_moe\", \"hidden_size\": 4096,"
		    "\"intermediate_size\": 10944, \"vocab_size\": 151552,"
		    "\"num_attention_heads\": 96, \"num_hidden_layers\": 46,"
		    "\"num_key_value_heads\": 8, \"head_dim\": 128,"
		    "\"attention_bias\": true, \"n_routed_experts\": 128,"
		    "\"num_experts_per_tok\": 8, \"n_shared_experts\": 1,"
		    "\"moe_intermediate_size\": 1408,"
		    "\"first_k_dense_replace\": 1}",
		    "GLM-4.5-Air");
	expect_same("{\"model_type\": \"olmoe\", \"hidden_size\": 2048,"
		    "\"intermediate_size\": 1024, \"vocab_size\": 50304,"
		    "\"num_attention_heads\": 16, \"num_hidden_layers\": 16,"
		    "\"num_key_value_heads\": 16, \"num_experts\": 64,"
		    "\"num_experts_per_tok\": 8}",
		    "OLMoE-1B-7B");
}

/* Of families without a row of the catalogue. */
static struct llm_architecture read_well(const char *text)
{
	struct llm_architecture model;
	struct dist_message message;

	okay_or(read_config(text, &model, &message), message);
	return model;
}

Test(llm_config, shared_experts_and_dense_layers)
{
	struct llm_architecture model = read_well(
		"{\"model_type\": \"qwen2_moe\", \"hidden_size\": 2048,"
		"\"intermediate_size\": 5632, \"vocab_size\": 151936,"
		"\"num_attention_heads\": 16, \"num_hidden_layers\": 24,"
		"\"num_key_value_heads\": 16, \"num_experts\": 60,"
		"\"num_experts_per_tok\": 4, \"moe_intermediate_size\": 1408,"
		"\"shared_expert_intermediate_size\": 5632,"
		"\"decoder_sparse_step\": 2}");
	struct llm_parameters p;

	cr_expect_eq(model.shared_ffn, 5632);
	cr_expect_eq(model.dense_every, 2);
	cr_expect_eq(llm_expert_layers(&model), 12);
	cr_expect(model.qkv_biases && !model.biases && model.gated);
	/* Qwen1.5-MoE-A2.7B, but for the step: 14.3 of 2.7 billion active. */
	model.dense_every = 0;
	llm_count_parameters(&model, &p);
	cr_expect_float_eq(p.total / 14.3e9, 1, 0.01);
	cr_expect_float_eq(p.active / 2.7e9, 1, 0.02);
}

/* In billions: what the safetensors of each hold (huggingface.co), or of what
 * sees, too, its authors state of the language model. */
Test(llm_config, totals_of_newer_families)
{
	const struct {
		double billions;
		const char *text;
	} of[] = {
		{12.85, "{\"model_type\": \"opt\", \"ffn_dim\": 20480,"
			"\"hidden_size\": 5120, \"num_attention_heads\": 40,"
			"\"num_hidden_layers\": 40, \"vocab_size\": 50272,"
			"\"max_position_embeddings\": 2048}"},
		{34.98, "{\"model_type\": \"cohere\", \"hidden_size\": 8192,"
			"\"intermediate_size\": 22528, \"vocab_size\": 256000,"
			"\"num_attention_heads\": 64,"
			"\"num_hidden_layers\": 40}"},
		{3.075,
		 "{\"model_type\": \"smollm3\", \"hidden_size\": 2048,"
		 "\"intermediate_size\": 11008, \"vocab_size\": 128256,"
		 "\"num_attention_heads\": 16, \"num_hidden_layers\": 36,"
		 "\"num_key_value_heads\": 4}"},
		{21.83,
		 "{\"model_type\": \"ernie4_5_moe\", \"hidden_size\": 2560,"
		 "\"intermediate_size\": 12288, \"vocab_size\": 103424,"
		 "\"num_attention_heads\": 20, \"num_hidden_layers\": 28,"
		 "\"num_key_value_heads\": 4, \"moe_num_experts\": 64,"
		 "\"moe_k\": 6, \"moe_intermediate_size\": 1536,"
		 "\"moe_layer_start_index\": 1, \"moe_num_shared_experts\": "
		 "2}"},
		{3.3, "{\"model_type\": \"granitemoe\", \"hidden_size\": 1536,"
		      "\"intermediate_size\": 512, \"vocab_size\": 49155,"
		      "\"num_attention_heads\": 24, \"num_hidden_layers\": 32,"
		      "\"num_key_value_heads\": 8, \"num_local_experts\": 40,"
		      "\"num_experts_per_tok\": 8,"
		      "\"tie_word_embeddings\": true}"},
		{3.88, "{\"model_type\": \"gemma3\", \"text_config\": {"
		       "\"model_type\": \"gemma3_text\","
		       "\"hidden_size\": 2560, \"intermediate_size\": 10240,"
		       "\"num_hidden_layers\": 34,"
		       "\"sliding_window\": 1024}}"},
		{8.49, "{\"text_config\": {\"model_type\": \"ministral3\","
		       "\"hidden_size\": 4096, \"intermediate_size\": 14336,"
		       "\"num_attention_heads\": 32, \"head_dim\": 128,"
		       "\"num_hidden_layers\": 34, \"vocab_size\": 131072,"
		       "\"num_key_value_heads\": 8}}"},
		{7.616,
		 "{\"model_type\": \"qwen2_5_vl\", \"hidden_size\": 3584,"
		 "\"intermediate_size\": 18944, \"vocab_size\": 152064,"
		 "\"num_attention_heads\": 28, \"num_hidden_layers\": 28,"
		 "\"num_key_value_heads\": 4}"},
		{32.0, "{\"model_type\": \"exaone4\", \"hidden_size\": 5120,"
		       "\"intermediate_size\": 27392, \"head_dim\": 128,"
		       "\"num_attention_heads\": 40, \"vocab_size\": 102400,"
		       "\"num_hidden_layers\": 64,"
		       "\"num_key_value_heads\": 8, \"sliding_window\": 4096,"
		       "\"sliding_window_pattern\": \"LLLG\"}"},
		{142.8,
		 "{\"model_type\": \"dots1\", \"hidden_size\": 4096,"
		 "\"intermediate_size\": 10944, \"vocab_size\": 152064,"
		 "\"num_attention_heads\": 32, \"num_hidden_layers\": 62,"
		 "\"moe_intermediate_size\": 1408, \"n_routed_experts\": 128,"
		 "\"n_shared_experts\": 2, \"num_experts_per_tok\": 6,"
		 "\"first_k_dense_replace\": 1}"},
		{41.87,
		 "{\"model_type\": \"phimoe\", \"hidden_size\": 4096,"
		 "\"intermediate_size\": 6400, \"vocab_size\": 32064,"
		 "\"num_attention_heads\": 32, \"num_hidden_layers\": 32,"
		 "\"num_key_value_heads\": 8, \"num_local_experts\": 16,"
		 "\"num_experts_per_tok\": 2, \"attention_bias\": true}"},
	};
	struct llm_architecture model;
	struct llm_parameters p;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		model = read_well(of[i].text);
		llm_count_parameters(&model, &p);
		cr_expect_float_eq(p.total / 1e9 / of[i].billions, 1, 0.002,
				   "%.4f, not %.4f", p.total / 1e9,
				   of[i].billions);
	}
}

/* Llama 4 attends within blocks of 8,192 tokens, but every fourth layer. */
Test(llm_config, attention_in_blocks)
{
	struct llm_architecture model = read_well(
		LLAMA4 "\"no_rope_layers\": [1, 1, 1, 0, 1, 1, 1, 0]}}");
	struct llm_flops flops;

	cr_expect_eq(llm_local_layers(&model), 36);
	llm_forward_flops(&model, 8192, true, &flops);
	cr_expect_eq(flops.local, flops.scores);
	llm_forward_flops(&model, 32768, true, &flops);
	cr_expect_eq(4 * flops.local, flops.scores);
}

Test(llm_config, falcon_and_gemma3)
{
	struct llm_architecture model = read_well(
		"{\"model_type\": \"falcon\", \"hidden_size\": 8192,"
		"\"vocab_size\": 65024, \"num_attention_heads\": 128,"
		"\"num_hidden_layers\": 60, \"num_kv_heads\": 8,"
		"\"multi_query\": true, \"new_decoder_architecture\": true,"
		"\"bias\": false}");
	struct llm_parameters p;

	llm_count_parameters(&model, &p);
	cr_expect_eq(model.kv_heads, 8);
	cr_expect_float_eq(p.total / 41.3e9, 1, 0.01);

	model = read_well(
		"{\"model_type\": \"gemma3_text\", \"hidden_size\": 1152,"
		"\"intermediate_size\": 6912, \"vocab_size\": 262144,"
		"\"num_attention_heads\": 4, \"num_hidden_layers\": 26,"
		"\"num_key_value_heads\": 1, \"head_dim\": 256,"
		"\"sliding_window\": 512, \"sliding_window_pattern\": 6}");
	llm_count_parameters(&model, &p);
	cr_expect_eq(model.local_of, 6);
	cr_expect_eq(llm_local_layers(&model), 22);
	cr_expect_float_eq(p.total / 1e9, 1, 0.01);
}

#define LLAMA(more)                                                            \
	"{\"model_type\": \"llama\",\n\"hidden_size\": 64,\n"                  \
	"\"intermediate_size\": 128,\n\"vocab_size\": 100,\n"                  \
	"\"num_attention_heads\": 4,\n\"num_hidden_layers\": 2" more "}"

Test(llm_config, layer_types_say_the_window)
{
	struct llm_architecture model = read_well(
		"{\"model_type\": \"mistral\", \"hidden_size\": 64,"
		"\"intermediate_size\": 128, \"vocab_size\": 100,"
		"\"num_attention_heads\": 4, \"num_hidden_layers\": 4,"
		"\"sliding_window\": 8, \"layer_types\": "
		"[\"sliding_attention\","
		"\"full_attention\", \"sliding_attention\","
		"\"full_attention\"]}");

	cr_expect_eq(model.window, 8);
	cr_expect_eq(model.local_of, 2);
	model = read_well(LLAMA(",\"layer_types\": [\"full_attention\","
				"\"full_attention\"]"));
	cr_expect_eq(model.window, 0);
	cr_expect_eq(model.local_of, 0);
}

/* What follows the path of the file. */
static void expect_refusal(const char *text, const char *expected)
{
	struct llm_architecture model;
	struct dist_message message;

	cr_expect_eq(read_config(text, &model, &message),
		     DIST_ERR_INVALID_ARGUMENT, "%s", text);
	cr_expect_geq(strlen(message.text), strlen(TEXT_FILE));
	cr_expect_str_eq(message.text + strlen(TEXT_FILE), expected);
	cr_expect_eq(model.layers, 0);
}

#define EXAONE(pattern)                                                        \
	"{\"model_type\": \"exaone4\", \"hidden_size\": 64,"                   \
	"\"intermediate_size\": 128, \"num_attention_heads\": 4,"              \
	"\"num_hidden_layers\": 8, \"vocab_size\": 100" pattern "}"

Test(llm_config, exaone_names_its_windows_by_letters)
{
	struct llm_architecture model =
		read_well(EXAONE(", \"sliding_window\": 16,"
				 "\"sliding_window_pattern\": \"LLLG\""));

	cr_expect_eq(model.local_of, 4);
	cr_expect_eq(llm_local_layers(&model), 6);
	model = read_well(EXAONE(", \"sliding_window\": null"));
	cr_expect_eq(llm_local_layers(&model), 0);
	expect_refusal(EXAONE(", \"sliding_window_pattern\": \"LGLL\""),
		       ":1: expected sliding_window_pattern to be a number, or "
		       "Ls before one G: no other order is modelled");
}

Test(llm_config, what_is_refused)
{
	expect_refusal("{\n\"hidden_size\": }",
		       ":2: expected JSON: unexpected token near '}'");
	expect_refusal("[1]", ":1: expected a JSON object");
	expect_refusal("{\"a\": 1,\n \"a\": 2}",
		       ":2: expected JSON: duplicate object key near '\"a\"'");
	expect_refusal("{\"model_type\": \"mamba\"}",
		       ": expected model_type to be one of those in "
		       "docs/models.md, such as llama or qwen3_moe, got "
		       "\"mamba\"");
	expect_refusal("{\"model_type\": \"qwen3_next\", "
		       "\"linear_num_value_heads\": 32}",
		       ": expected model_type to be one of those in "
		       "docs/models.md, such as llama or qwen3_moe, got "
		       "\"qwen3_next\"; linear attention is not modelled");
	expect_refusal("{\"model_type\": \"gemma3\", \"text_config\": "
		       "{\"model_type\": \"mamba\"}}",
		       ": expected model_type to be one of those in "
		       "docs/models.md, such as llama or qwen3_moe, got "
		       "\"mamba\"");
	expect_refusal(
		LLAMA4 "\"no_rope_layers\": [1, 0]}}",
		":1: expected no_rope_layers to be 0 for every 4-th layer: "
		"no other order is modelled");
	expect_refusal(
		"{\"model_type\": \"minimax_m2\", \"hidden_size\": 64,"
		"\"intermediate_size\": 128, \"vocab_size\": 32,"
		"\"num_attention_heads\": 4, \"num_hidden_layers\": 2,"
		"\"head_dim\": 16, \"num_local_experts\": 4,"
		"\"num_experts_per_tok\": 2, \"attn_type_list\": [0, 1]}",
		":1: expected attn_type_list to be all 1: linear attention "
		"is not modelled");
	expect_refusal("{\"model_type\": \"mpt\", \"d_model\": 64,"
		       "\"vocab_size\": 32, \"n_heads\": 4, \"n_layers\": 2}",
		       ": expected attn_config, an object; there is none");
	expect_refusal("{\"model_type\": \"llama\", \"hidden_size\": 64}",
		       ": expected num_hidden_layers, a whole number from 1 "
		       "on; there is none");
	expect_refusal(LLAMA(",\n\"num_key_value_heads\": 2.5"),
		       ":7: expected num_key_value_heads to be a whole number "
		       "from 1 to 67108864, got 2.5");
	expect_refusal(LLAMA(",\n\"num_key_value_heads\": \"8\""),
		       ":7: expected num_key_value_heads to be a whole number "
		       "from 1 to 67108864, got \"8\"");
	expect_refusal(LLAMA(",\n\"num_key_value_heads\": 1e99"),
		       ":7: expected num_key_value_heads to be a whole number "
		       "from 1 to 67108864, got 1e99");
	expect_refusal(LLAMA(",\n\"num_key_value_heads\": 3"),
		       ": kv_heads: expected a divisor of the 4 heads, got 3");
	expect_refusal(LLAMA(",\n\"tie_word_embeddings\": 1"),
		       ":7: expected tie_word_embeddings to be true or false, "
		       "got 1");
	expect_refusal(
		LLAMA(",\n\"layer_types\": [\"full_attention\"]"),
		":7: expected layer_types to have \"full_attention\" for "
		"every so many-th of the 2 layers, "
		"\"sliding_attention\" for the others: no other order "
		"is modelled");
	expect_refusal("{\"model_type\": \"qwen3\", \"hidden_size\": 64,"
		       "\"num_attention_heads\": 4}",
		       ": expected head_dim, a whole number from 1 on; there "
		       "is none");
	expect_refusal("{\"model_type\": \"llama\", \"hidden_size\": 66,"
		       "\"num_attention_heads\": 4, \"num_hidden_layers\": 1,"
		       "\"vocab_size\": 10, \"intermediate_size\": 8}",
		       ": expected head_dim: 4 heads do not divide the hidden "
		       "size 66");
}

Test(llm_config, a_folder_names_the_model)
{
	char folder[] = "/tmp/lockstep-config-XXXXXX", path[64];
	struct llm_architecture model;
	struct dist_message message;
	FILE *file;

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/config.json", folder);
	cr_assert_eq(llm_architecture_find(&model, folder, &message),
		     DIST_ERR_IO);
	cr_expect(strstr(message.text, "config.json: cannot be read: No such"));
	file = fopen(path, "w");
	fputs(LLAMA(""), file);
	fclose(file);
	okay_or(llm_architecture_find(&model, folder, &message), message);
	cr_expect_str_eq(model.name, strrchr(folder, '/') + 1);
	okay(llm_architecture_find(&model, path, &message));
	cr_expect_str_eq(model.name, strrchr(folder, '/') + 1);
	cr_expect_str_eq(model.source, path);
	unlink(path);
	rmdir(folder);
}

/* Every model of the catalogue can be written so that it is read again. */
Test(llm_config, what_is_written_is_read)
{
	char path[] = TEXT_FILE;
	struct llm_architecture *models, again;
	struct llm_parameters p, q;
	struct dist_message message;
	size_t num;

	text_file(path, "");
	okay(llm_catalogue(&models, &num, &message));
	for (size_t i = 0; i < num; i++) {
		cr_assert_eq(llm_config_write(&models[i], path, &message),
			     DIST_OK, "%s: %s", models[i].name, message.text);
		okay(llm_config_read(&again, path, &message));
		llm_count_parameters(&models[i], &p);
		llm_count_parameters(&again, &q);
		cr_expect_eq(p.total, q.total, "%s", models[i].name);
		cr_expect_eq(p.active, q.active, "%s", models[i].name);
		cr_expect_eq(llm_model_flops(&models[i], 8192, true),
			     llm_model_flops(&again, 8192, true), "%s",
			     models[i].name);
	}
	free(models);
	unlink(path);
}

Test(llm_config, what_no_family_has_is_not_written)
{
	struct llm_architecture model;
	struct dist_message message;

	okay(llm_architecture_find(&model, "deepseek-v3", &message));
	model.shared_ffn = 100; /* not of whole experts */
	cr_expect_eq(llm_config_write(&model, "/tmp/none.json", &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_str_eq(message.text,
			 "shared_ffn: no family of config.json has it beside "
			 "the rest (deepseek_v3 would be nearest)");
	cr_expect_neq(access("/tmp/none.json", F_OK), 0);
}
