/* What language models hold and compute, against what their authors state and
 * what a hand counts. */
#include <stdlib.h>
#include <string.h>

#include "model/llm/architecture.h"
#include "tests/support/okay.h"

static struct llm_architecture find(const char *name)
{
	struct llm_architecture model;
	struct dist_message message;

	okay_or(llm_architecture_find(&model, name, &message), message);
	return model;
}

static double total(const char *name)
{
	struct llm_architecture model = find(name);
	struct llm_parameters p;

	llm_count_parameters(&model, &p);
	return p.total;
}

/* The card of gpt-oss leaves the embedding out of the active parameters, that
 * of GLM-4.5 the output projection, too. */
static double active(const struct llm_architecture *model)
{
	struct llm_parameters p;

	llm_count_parameters(model, &p);
	if (strncmp(model->name, "GLM", 3) == 0)
		return p.active - p.embedding - p.head;
	return strncmp(model->name, "gpt-oss", 7) == 0 ? p.active - p.embedding
						       : p.active;
}

Test(llm_architecture, counts_are_those_that_authors_state)
{
	struct llm_architecture *models;
	struct dist_message message;
	size_t num, stated = 0;

	okay_or(llm_catalogue(&models, &num, &message), message);
	cr_assert_geq(num, 36);
	for (size_t i = 0; i < num; i++) {
		const struct llm_architecture *m = &models[i];
		struct llm_parameters p;

		llm_count_parameters(m, &p);
		if (!m->published)
			continue;
		stated++;
		cr_expect_float_eq(p.total / m->published, 1, 0.02,
				   "%s: %g of %g", m->name, p.total,
				   m->published);
		if (m->published_active)
			cr_expect_float_eq(active(m) / m->published_active, 1,
					   0.02, "%s: %g of %g active", m->name,
					   active(m), m->published_active);
		else
			cr_expect(!m->experts || strstr(m->name, "Grok"),
				  "%s: active parameters", m->name);
	}
	cr_expect_geq(stated, num - 1);
	free(models);
}

/* As the checkpoints have them, to the element. */
Test(llm_architecture, counts_are_exact)
{
	cr_expect_eq(total("gpt2"), 124439808);
	cr_expect_eq(total("gpt2-xl"), 1557611200);
	cr_expect_eq(total("llama2-7b"), 6738415616);
	cr_expect_eq(total("llama3-8b"), 8030261248);
	cr_expect_eq(total("qwen2.5-7b"), 7615616512);
	cr_expect_eq(total("mixtral-8x7b"), 46702792704);
}

Test(llm_architecture, names_are_those_that_people_use)
{
	static const char *const names[][2] = {
		{"llama3-70b", "Llama-3-70B"},
		{"llama-3.1-70b", "Llama-3-70B"},
		{"LLAMA3_70B", "Llama-3-70B"},
		{"Llama-3.1-8B", "Llama-3-8B"},
		{"llama2-7b", "Llama-2-7B"},
		{"gpt3-175b", "GPT-3-175B"},
		{"mixtral-8x7b", "Mixtral-8x7B"},
		{"qwen3-30b-a3b", "Qwen3-30B-A3B"},
		{"deepseek-v3", "DeepSeek-V3"},
		{"GPT OSS 120B", "gpt-oss-120b"},
		{"nemotron-340b", "Nemotron-4-340B"},
		{"gpt3-1.3b", "GPT-3-1.3B"},
		{"gpt3-13b", "GPT-3-13B"},
		{"mistral-large", "Mistral-Large-123B"},
		/* Repositories. */
		{"meta-llama/Meta-Llama-3-70B", "Llama-3-70B"},
		{"meta-llama/Llama-3.1-8B-Instruct", "Llama-3-8B"},
		{"llama-3.3-70b-instruct", "Llama-3-70B"},
		{"Qwen/Qwen3-30B-A3B-Instruct-2507", "Qwen3-30B-A3B"},
		{"deepseek-ai/DeepSeek-V3.1", "DeepSeek-V3"},
		{"google/gemma-3-27b-it", "Gemma-3-27B"},
		{"google/gemma-3-27b-pt", "Gemma-3-27B"},
		{"allenai/OLMo-2-0325-32B", "OLMo-2-32B"},
		{"mistralai/Mixtral-8x7B-v0.1", "Mixtral-8x7B"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		cr_expect_str_eq(find(names[i][0]).name, names[i][1]);
}

Test(llm_architecture, names_and_aliases_are_one_models)
{
	struct llm_architecture *models;
	struct dist_message message;
	size_t num;

	okay(llm_catalogue(&models, &num, &message));
	for (size_t i = 0; i < num; i++)
		cr_expect_str_eq(find(models[i].name).name, models[i].name);
	free(models);
}

Test(llm_architecture, an_unknown_name_is_refused_with_near_ones)
{
	struct llm_architecture model;
	struct dist_message message;

	cr_assert_eq(llm_architecture_find(&model, "lama3-70b", &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect(strstr(message.text, "no language model \"lama3-70b\""));
	cr_expect(strstr(message.text, "Llama-3-70B"), "%s", message.text);
	cr_assert_eq(llm_architecture_find(&model, "me/llama3-71b", &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect(strstr(message.text, "no language model \"me/llama3-71b\""));
	cr_assert_eq(llm_architecture_find(&model, "./llama3-70b", &message),
		     DIST_ERR_IO);
}

/* One layer of 4 heads of 2, no gate, vocabulary 10, tied. */
static const struct llm_architecture small = {
	.name = "small",
	.layers = 3,
	.hidden = 8,
	.heads = 4,
	.kv_heads = 2,
	.head_dim = 2,
	.ffn = 16,
	.vocab = 10,
	.tied = true,
};

static double forward(const struct llm_architecture *model, int seq,
		      bool causal)
{
	return llm_model_flops(model, seq, causal) / 3;
}

Test(llm_architecture, flops_of_a_dense_model)
{
	/* Queries and output 8 x 8, keys and values 8 x 4, MLP 2 of 8 x 16:
	 * 448 elements a layer; the head 80. */
	double matrices = 2 * (3 * 448 + 80);
	/* Query x key and weights x value: 4 heads of 2, so 8 + 8 a key. */
	double key = 2 * (8 + 8);

	cr_expect_eq(forward(&small, 6, false), matrices + 3 * 6 * key);
	cr_expect_eq(forward(&small, 6, true), matrices + 3 * 3 * key);
}

Test(llm_architecture, flops_of_a_window)
{
	struct llm_architecture model = small;
	double matrices = 2 * (3 * 448 + 80), key = 2 * (8 + 8);

	model.window = 2;
	/* Of 4 tokens: 2 keys each; causal 2 - 2^2 / (2 x 4) on average. */
	cr_expect_eq(forward(&model, 4, false), matrices + 3 * 2 * key);
	cr_expect_eq(forward(&model, 4, true), matrices + 3 * 1.5 * key);
	model.local_of = 3; /* one of the three sees all four, or half */
	cr_expect_eq(llm_local_layers(&model), 2);
	cr_expect_eq(forward(&model, 4, true), matrices + (2 * 1.5 + 2) * key);
	model.window = 100;
	cr_expect_eq(forward(&model, 4, true), matrices + 3 * 2 * key);
}

Test(llm_architecture, experts_are_counted_whole_and_active)
{
	struct llm_architecture model = small;
	struct llm_parameters p;

	model.experts = 4;
	model.top_k = 2;
	model.expert_ffn = 5;
	model.shared_ffn = 3;
	model.gated = true;
	model.dense_layers = 1;
	llm_count_parameters(&model, &p);
	cr_expect_eq(llm_expert_layers(&model), 2);
	cr_expect_not(llm_has_experts(&model, 0));
	cr_expect(llm_has_experts(&model, 1));
	cr_expect_eq(p.experts, 4 * 3 * 8 * 5);
	cr_expect_eq(p.router, 8 * 4 + 3 * 8 * 3);
	cr_expect_eq(p.mlp, 3 * 8 * 16);
	cr_expect_eq(p.attention, 2 * 64 + 2 * 32 + 2 * 8);
	cr_expect_eq(p.total, 80 + 8 + 3 * p.attention + p.mlp +
				      2 * (p.experts + p.router));
	cr_expect_eq(p.active, p.total - 2 * 2 * 3 * 8 * 5);
	/* Norms and the embedding, which is the head here too, aside. */
	cr_expect_eq(forward(&model, 0, false), 2 * (p.active - 8 - 3 * 2 * 8));
	model.dense_layers = 0;
	model.dense_every = 2;
	cr_expect_eq(llm_expert_layers(&model), 1);
	cr_expect(llm_has_experts(&model, 1));
	cr_expect_not(llm_has_experts(&model, 2));
}

Test(llm_architecture, latent_attention)
{
	struct llm_architecture model = small;
	struct llm_parameters p;

	model.kv_rank = 3;
	model.rope_dim = 1;
	model.value_dim = 5;
	llm_count_parameters(&model, &p);
	/* Queries 8 x 4 (2 + 1); 8 x (3 + 1) down, 3 x 4 (2 + 5) up; output
	 * 4 x 5 x 8; norms 2 of 8 and one of 3. */
	cr_expect_eq(p.attention, 96 + 32 + 84 + 160 + 16 + 3);
	model.q_rank = 6;
	llm_count_parameters(&model, &p);
	cr_expect_eq(p.attention, 6 * (8 + 12) + 32 + 84 + 160 + 16 + 3 + 6);
}

static void expect_refusal(const struct llm_architecture *model,
			   const char *expected)
{
	struct dist_message message = {""};

	cr_expect_eq(llm_architecture_check(model, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_str_eq(message.text, expected);
}

Test(llm_architecture, numbers_must_go_together)
{
	struct llm_architecture model = small;
	struct dist_message message;

	okay_or(llm_architecture_check(&model, &message), message);
	model.kv_heads = 3;
	expect_refusal(&model, "kv_heads: expected a divisor of the 4 heads, "
			       "got 3");
	model = small;
	model.layers = 0;
	expect_refusal(&model, "layers: expected 1 to 10000, got 0");
	model = small;
	model.ffn = 0;
	expect_refusal(&model, "ffn: expected 1 to 67108864, got 0");
	model = small;
	model.top_k = 2;
	expect_refusal(&model, "experts: expected 2 or more where top_k, "
			       "expert_ffn, shared_ffn, dense_layers or "
			       "dense_every are, got 0");
	model.experts = 4;
	model.expert_ffn = 7;
	cr_expect_eq(llm_architecture_check(&model, &message), DIST_OK);
	model.top_k = 5;
	expect_refusal(&model, "top_k: expected 1 to 4, got 5");
	model = small;
	model.rope_dim = 2;
	expect_refusal(&model, "kv_rank: expected 1 or more where q_rank, "
			       "rope_dim or value_dim are, got 0");
	model = small;
	model.local_of = 2;
	expect_refusal(&model, "window: expected 1 or more beside local_of, "
			       "got 0");
}
