/* Layouts of language models: what is legal, and where groups of ranks sit, on
 * cases that were worked out by hand. */
#include <criterion/criterion.h>
#include <string.h>

#include "model/llm/layout.h"
#include "tests/support/llm_spread.h"

/* Llama-3 70B, and Mixtral 8x7B. */
static struct llm_architecture dense(void)
{
	return (struct llm_architecture){.layers = 80,
					 .hidden = 8192,
					 .heads = 64,
					 .kv_heads = 8,
					 .head_dim = 128,
					 .ffn = 28672,
					 .gated = true,
					 .vocab = 128256};
}

static struct llm_architecture experts(void)
{
	return (struct llm_architecture){.layers = 32,
					 .hidden = 4096,
					 .heads = 32,
					 .kv_heads = 8,
					 .head_dim = 128,
					 .gated = true,
					 .vocab = 32000,
					 .experts = 8,
					 .top_k = 2,
					 .expert_ffn = 14336};
}

static struct llm_architecture model; /* asked about; at first dense() */

static void start(void)
{
	model = dense();
}

TestSuite(llm_layout, .init = start);

static void legal(struct llm_layout *l)
{
	struct dist__refusal refusal;

	cr_assert_eq(llm_layout_complete(l, &model, &refusal), DIST_OK,
		     "%s: %s", refusal.option, refusal.message.text);
}

/* Layout l is refused because of option, and the message says `values`. */
static void refused(struct llm_layout l, const char *option, const char *values)
{
	struct dist__refusal refusal;

	cr_assert_eq(llm_layout_complete(&l, &model, &refusal),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_str_eq(refusal.option, option, "%s: %s", refusal.option,
			 refusal.message.text);
	cr_expect(strstr(refusal.message.text, values), "no \"%s\" in: %s",
		  values, refusal.message.text);
}

Test(llm_layout, a_legal_layout_gets_its_data_parallel_ranks)
{
	struct llm_layout l = spread(512, 8, 4, 2, 1);

	l.micro_batch = 2;
	legal(&l);
	cr_expect_eq(l.dp, 8);
	cr_expect_eq(llm_micro_batches(&l), 64);
}

Test(llm_layout, tensor_parallelism_divides_heads_and_widths)
{
	refused(spread(48, 3, 1, 1, 1), "tp", "(1, 2, 4, 8), got 3");
	refused(spread(16, 16, 1, 1, 1), "tp", "8 key-value heads");
	model.ffn = 28674;
	refused(spread(16, 4, 1, 1, 1), "tp", "(1, 2), got 4");
}

Test(llm_layout, latent_attention_has_no_key_value_heads_to_divide)
{
	struct llm_layout l = spread(16, 16, 1, 1, 1);

	model.kv_rank = 512;
	legal(&l);
}

Test(llm_layout, a_stage_has_a_layer_and_a_chunk_something)
{
	struct llm_layout l = spread(96, 1, 96, 1, 1);

	refused(l, "pp", "from 1 to 80");
	l = spread(4, 1, 4, 1, 1);
	l.vpp = 21;
	refused(l, "vpp", "from 1 to 20");
	l = spread(8, 1, 1, 1, 1);
	l.vpp = 2;
	refused(l, "vpp", "from 1 to 1");
	l = spread(8, 1, 4, 1, 1);
	l.vpp = 2;
	l.schedule = LLM_ZERO_BUBBLE;
	refused(l, "vpp", "only 1f1b is interleaved");
	l = spread(7, 1, 7, 1, 1);
	legal(&l); /* 80 layers on 7 stages: uneven */
}

Test(llm_layout, sequences_are_divided)
{
	struct llm_layout l = spread(12, 1, 1, 3, 1);

	refused(l, "cp", "(1, 2, 4, 8");
	l = spread(8, 1, 1, 8, 1);
	l.seq = 1001;
	refused(l, "seq", "2 x cp = 16, as 992 or 1008");
	l = spread(16, 8, 1, 2, 1);
	l.seq = 8196; /* a multiple of 4, not of 16 */
	refused(l, "seq", "= 16, as 8192 or 8208");
	l.sequence = false;
	legal(&l);
}

Test(llm_layout, gpus_are_divided)
{
	refused(spread(100, 8, 4, 1, 1), "gpus", "= 32, as 96 or 128");
}

Test(llm_layout, experts_are_divided)
{
	struct llm_layout l = spread(64, 2, 4, 1, 1); /* tp x cp x dp = 16 */

	model = experts();
	l.ep = 3;
	refused(l, "ep", "8 experts (1, 2, 4, 8), got 3");
	l.ep = 8;
	legal(&l); /* etp 2: 16 / 2 = 8 */
	cr_expect_eq(l.etp, 2);
	l = spread(32, 2, 4, 1, 1);
	l.ep = 8;
	refused(l, "ep", "/ etp = 4 (1, 2, 4), got 8");
	l.etp = 1;
	legal(&l);
	l.imbalance = 9;
	refused(l, "imbalance", "from 1 to ep = 8");
	l.imbalance = 1;
	l.sequence = false;
	refused(l, "no-sequence", "as the model has experts");
	l = spread(32, 4, 4, 1, 1);
	l.etp = 2;
	refused(l, "etp", "1 or tp = 4, got 2");
	l.ep = 2;
	model.experts = 0;
	refused(l, "ep", "no experts");
}

Test(llm_layout, batches_are_divided)
{
	struct llm_layout l = spread(256, 8, 4, 1, 1); /* dp 8 */

	l.micro_batch = 3;
	refused(l, "global-batch", "= 24, as 1008 or 1032");
	l.micro_batch = 1;
	l.vpp = 5;
	l.global_batch = 1000; /* 125 micro-batches on 4 stages */
	refused(l, "global-batch", "= 32, as 992 or 1024");
	l.vpp = 1;
	legal(&l);
	cr_expect_eq(llm_micro_batches(&l), 125);
}

Test(llm_layout, shards_divide_the_copies)
{
	struct llm_layout l = spread(64, 1, 1, 1, 1);

	l.shard = LLM_HSDP;
	l.shard_ranks = 24;
	refused(l, "shard-ranks", "dp = 64 (1, 2, 4, 8, 16, 32, 64)");
	l.shard_ranks = 0;
	refused(l, "shard-ranks", "expected the number of ranks that share");
	l.shard_ranks = 8;
	legal(&l);
	l.shard = LLM_ZERO1;
	legal(&l);
	cr_expect_eq(llm_layout_group(&l, LLM_DP, 8).ranks, 8);
	cr_expect_eq(llm_layout_group(&l, LLM_REPLICAS, 8).ranks, 8);
	l.shard = LLM_FSDP;
	refused(l, "shard-ranks", "with shard hsdp or zero1, got fsdp");
	l.shard = LLM_HSDP;
	l.recompute = LLM_RECOMPUTE_FULL;
	l.recompute_layers = 81;
	refused(l, "recompute-layers", "from 0 to 80");
}

static void sits(const struct llm_layout *l, enum llm_axis axis, int node,
		 struct llm_group expected)
{
	struct llm_group g = llm_layout_group(l, axis, node);

	cr_expect_eq(g.ranks, expected.ranks, "%s has %d ranks",
		     llm_axis_name(axis), g.ranks);
	cr_expect_eq(g.node_ranks, expected.node_ranks, "%s: %d on a node",
		     llm_axis_name(axis), g.node_ranks);
	cr_expect_eq(g.stride, expected.stride, "%s: stride %d",
		     llm_axis_name(axis), g.stride);
	cr_expect_eq(g.sharers, expected.sharers, "%s: %d sharers",
		     llm_axis_name(axis), g.sharers);
}

Test(llm_layout, groups_count_along_tp_cp_dp_pp)
{
	struct llm_layout l = spread(128, 4, 4, 2, 1); /* dp 4 */

	legal(&l);
	/* ranks, on a node, stride, sharers */
	sits(&l, LLM_TP, 8, (struct llm_group){4, 4, 1, 2});
	sits(&l, LLM_CP, 8, (struct llm_group){2, 2, 4, 4});
	sits(&l, LLM_DP, 8, (struct llm_group){8, 2, 4, 4});
	sits(&l, LLM_PP, 8, (struct llm_group){2, 1, 32, 8});
	sits(&l, LLM_REPLICAS, 8, (struct llm_group){1, 1, 32, 8});
}

Test(llm_layout, groups_of_experts_lie_within_cp_and_dp)
{
	struct llm_layout l = spread(64, 2, 2, 1, 1); /* a stage: 32 ranks */

	model = experts();
	l.ep = 8;
	legal(&l); /* etp 2 */
	sits(&l, LLM_EP, 8, (struct llm_group){8, 4, 2, 2});
	sits(&l, LLM_EXPERT_DP, 8, (struct llm_group){2, 1, 16, 8});
	l.etp = 1;
	sits(&l, LLM_EP, 8, (struct llm_group){8, 8, 1, 1});
	sits(&l, LLM_EXPERT_DP, 8, (struct llm_group){4, 1, 8, 8});
}

Test(llm_layout, hybrid_shards_have_copies)
{
	struct llm_layout l = spread(64, 1, 1, 2, 1); /* dp 32 */

	l.shard = LLM_HSDP;
	l.shard_ranks = 4;
	legal(&l);
	sits(&l, LLM_DP, 8, (struct llm_group){8, 8, 1, 1});
	sits(&l, LLM_REPLICAS, 8, (struct llm_group){8, 1, 8, 8});
}

Test(llm_layout, stages_that_share_a_node_send_within_it)
{
	struct llm_layout l = spread(8, 2, 4, 1, 1);

	legal(&l);
	sits(&l, LLM_PP, 8, (struct llm_group){2, 2, 2, 4});
	l = spread(16, 2, 4, 1, 1); /* stages of 4 ranks: the middle two part */
	legal(&l);
	sits(&l, LLM_PP, 8, (struct llm_group){2, 1, 4, 4});
}

Test(llm_layout, a_job_takes_as_many_gpus_of_each_domain)
{
	struct llm_layout l = spread(256, 1, 1, 1, 1);

	legal(&l); /* 64 of 72 */
	sits(&l, LLM_DP, 72, (struct llm_group){256, 64, 1, 1});
	l = spread(6, 2, 1, 1, 1);
	l.global_batch = 6;
	legal(&l); /* fewer than a node */
	sits(&l, LLM_DP, 8, (struct llm_group){3, 3, 2, 2});
}
