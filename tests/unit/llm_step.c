/* llm_step.c - a language model's step by closed form: what must hold whatever
 * the constants are. */

#include "model/llm/step.h"
#include "tests/support/fabrics.h"
#include "tests/support/okay.h"

static struct dist_message message;

/* What is asked about, once set_up() has been called. */
static struct {
	struct llm_architecture model;
	struct llm_layout layout;
	struct llm_device device;
	struct dist__profile profile;
	struct fabric fabric;
	struct llm_cluster cluster;
} s;

static void set_up(const char *model, int gpus)
{
	okay_or(llm_architecture_find(&s.model, model, &message), message);
	okay(llm_device_find(&s.device, "H100", &message));
	okay(dist__profile_load(&s.profile, "scenarios/profiles/nccl.yaml",
				&message));
	s.fabric = (struct fabric){
		GPUS((gpus + 7) / 8, 8, "H100", FABRIC_NVSWITCH, 450e9),
		CARDS("ib", 8, 50e9)};
	s.cluster = (struct llm_cluster){.device = &s.device,
					 .profile = &s.profile,
					 .fabric = &s.fabric,
					 .efficiency = 1};
	llm_layout_init(&s.layout);
	s.layout.gpus = gpus;
	s.layout.seq = 4096;
	s.layout.micro_batch = 1;
	s.layout.global_batch = gpus * 4;
}

static void tear_down(void)
{
	llm_device_release(&s.device);
	dist__profile_release(&s.profile);
}

TestSuite(llm_step, .fini = tear_down);

static struct llm_answer answer(void)
{
	struct dist__refusal refusal;
	struct llm_pace pace;
	struct llm_answer got;
	struct llm_work work;

	cr_assert_eq(llm_layout_complete(&s.layout, &s.model, &refusal),
		     DIST_OK, "%s: %s", refusal.option, refusal.message.text);
	pace = llm_pace_of(&s.device, s.layout.precision);
	okay_or(llm_work_init(&work, &s.model, &s.layout, &s.device, &pace,
			      &message),
		message);
	okay_or(llm_step(&got, &work, &s.cluster, &message), message);
	return got;
}

static double sum_of(const struct llm_breakdown *parts)
{
	double sum = parts->recompute_ns + parts->offload_ns +
		     parts->bubble_ns + parts->other_ns;

	for (int k = 0; k < LLM_KINDS; k++)
		sum += parts->compute_ns[k];
	for (int a = 0; a < LLM_AXES; a++)
		sum += parts->exposed_ns[a];
	return sum;
}

Test(llm_step, its_parts_add_up)
{
	struct llm_answer got;

	set_up("Llama-3-70B", 64);
	s.layout.tp = 4;
	s.layout.pp = 4;
	s.layout.vpp = 5;
	got = answer();
	cr_assert_float_eq(sum_of(&got.breakdown) / got.step_ns, 1, 1e-9);
	cr_assert_float_eq(got.tokens_per_s_gpu,
			   256.0 * 4096 / 64 / (got.step_ns / 1e9), 1e-6);
	cr_assert(got.low_ns < got.step_ns && got.step_ns < got.high_ns);
	cr_assert(got.mfu > 0.2 && got.mfu < 0.7, "%g", got.mfu);
}

/* (pp - 1) / micro-batches of what a stage computes, by vpp less. */
Test(llm_step, the_bubble_is_that_of_its_schedule)
{
	double plain, interleaved, zero;
	struct llm_answer got;

	set_up("Llama-2-70B", 32);
	s.layout.tp = 8;
	s.layout.pp = 4;
	s.layout.global_batch = 64;
	got = answer();
	plain = got.breakdown.bubble_ns;
	cr_assert_float_eq(plain / (got.step_ns * 3 / 64), 1, 0.1, "%g of %g",
			   plain, got.step_ns);
	s.layout.vpp = 5;
	interleaved = answer().breakdown.bubble_ns;
	cr_assert_float_eq(interleaved * 5 / plain, 1, 0.05);
	s.layout.vpp = 1;
	s.layout.schedule = LLM_ZERO_BUBBLE;
	zero = answer().breakdown.bubble_ns;
	cr_assert(zero > 0 && zero < 0.7 * plain, "%g of %g", zero, plain);
}

/* What does not fit beside computing waits for the cards. */
Test(llm_step, slow_cards_expose_gathers)
{
	double fast, slow;

	set_up("Llama-3-8B", 64);
	s.layout.shard = LLM_FSDP;
	fast = answer().breakdown.exposed_ns[LLM_DP];
	s.fabric.card_Bps /= 16;
	slow = answer().breakdown.exposed_ns[LLM_DP];
	cr_assert_gt(slow, 8 * fast);
}

/* In a pipeline only the last micro-batch sums gradients, and parameters that
 * are kept are gathered once: more micro-batches expose no more. */
Test(llm_step, fsdp_in_a_pipeline_sums_once)
{
	double few, kept;

	set_up("Llama-3-8B", 64);
	s.layout.shard = LLM_FSDP;
	s.layout.pp = 4;
	s.layout.reshard = false;
	few = answer().breakdown.exposed_ns[LLM_DP];
	s.layout.global_batch *= 4;
	kept = answer().breakdown.exposed_ns[LLM_DP];
	cr_assert(few > 0 && kept == few, "%g, then %g", few, kept);
	s.layout.reshard = true;
	cr_assert_gt(answer().breakdown.exposed_ns[LLM_DP], 1.5 * kept);
}

/* Summed late, gradients cross the network once a step: in four micro-batches
 * what is exposed of calls falls, and more of them expose only gathers. */
Test(llm_step, fsdp_may_sum_once)
{
	double each, late;

	set_up("Llama-3-8B", 64);
	s.layout.shard = LLM_FSDP;
	s.layout.overlap_grad = false;
	each = answer().breakdown.exposed_ns[LLM_DP];
	s.layout.defer_sums = true;
	late = answer().breakdown.exposed_ns[LLM_DP];
	cr_assert_lt(late, 0.6 * each);
	s.layout.global_batch = 64;
	late = answer().breakdown.exposed_ns[LLM_DP];
	s.layout.defer_sums = false;
	cr_assert_float_eq(answer().breakdown.exposed_ns[LLM_DP] / late, 1,
			   1e-9);
}

/* FSDP2 reads and writes gathered parameters of 2 bytes twice, reads gradients
 * of 2 and writes them of 4: 14 bytes a parameter and micro-batch. FSDP1 copies
 * nothing; recomputed layers gather once less, but are made once more. */
Test(llm_step, fsdp2_copies_what_it_gathers_and_sums)
{
	const double pass = 14.0 * 8.03e9 / 3.35e12 * 1e9;
	double flat, copies;

	set_up("Llama-3-8B", 64);
	s.layout.shard = LLM_FSDP;
	s.layout.global_batch = 64;
	copies = answer().breakdown.compute_ns[LLM_ELEMENTWISE];
	s.layout.flat_shards = true;
	flat = answer().breakdown.compute_ns[LLM_ELEMENTWISE];
	cr_assert(copies - flat > pass && copies - flat < 2 * pass,
		  "%g ns, at full bandwidth %g", copies - flat, pass);
	s.layout.flat_shards = false;
	s.layout.reshard = false;
	copies = answer().breakdown.compute_ns[LLM_ELEMENTWISE] - flat;
	cr_assert(copies > pass * 10 / 14 && copies < 2 * pass * 10 / 14);
}

/* gpt2 --flash --fused of scenarios/measured/hardware/torch-steps-h100.tsv. */
Test(llm_step, a_short_step_of_one_gpu_is_not_most_of_it_the_hosts)
{
	const double measured = 49.54e6;
	struct llm_answer got;

	set_up("GPT-2-small", 1);
	s.layout.shard = LLM_DDP;
	s.layout.seq = 1024;
	s.layout.micro_batch = s.layout.global_batch = 16;
	s.cluster.software = LLM_EAGER;
	got = answer();
	cr_expect_float_eq(got.step_ns / measured, 1, 0.2, "%g ns",
			   got.step_ns);
	cr_expect(got.low_ns < measured && measured < got.high_ns);
}

/* A stage has its own tensors alone, and ranks that share no state no loop. */
Test(llm_step, the_host_goes_over_the_tensors_of_a_stage)
{
	double all, part, none, none_part;

	set_up("Llama-2-7B", 64);
	all = answer().breakdown.other_ns;
	s.layout.pp = 4;
	part = answer().breakdown.other_ns;
	s.layout.shard = LLM_DDP;
	none_part = answer().breakdown.other_ns;
	s.layout.pp = 1;
	none = answer().breakdown.other_ns;
	cr_expect_gt(all - none, 3 * (part - none_part));
	cr_expect_gt(part, none_part);
}

/* A GPU that no constant was fitted to is known less well. */
Test(llm_step, unseen_gpus_have_wider_intervals)
{
	struct llm_answer seen, unseen;

	set_up("Llama-3-8B", 64);
	seen = answer();
	s.device.seen = false;
	unseen = answer();
	cr_expect_eq(unseen.step_ns, seen.step_ns);
	cr_expect_gt(unseen.high_ns, 1.03 * seen.high_ns);
	cr_expect_lt(unseen.low_ns, seen.low_ns / 1.03);
}

/* nanotron's ranks copy the piece of each rank of each parameter by itself. */
Test(llm_step, pieces_are_copied_one_by_one)
{
	double whole, pieces;

	set_up("Llama-2-7B", 64);
	whole = answer().breakdown.other_ns;
	s.layout.piecewise = true;
	pieces = answer().breakdown.other_ns - whole;
	cr_assert_float_eq(pieces / ((32 * 6 + 2) * 64 * 10e3), 1, 0.02);
	s.layout.shard = LLM_DDP; /* shares nothing */
	pieces = answer().breakdown.other_ns;
	s.layout.piecewise = false;
	cr_assert_float_eq(pieces, answer().breakdown.other_ns, 1);
}

/* Copies to the host's memory cost what no pass hides: twice as slow a link
 * exposes as much more as they take. */
Test(llm_step, slow_hosts_expose_offloaded_layers)
{
	double whole, fast, slow;
	struct llm_answer got;

	set_up("Llama-3-8B", 8);
	s.layout.shard = LLM_FSDP;
	whole = answer().step_ns;
	s.layout.offload_layers = 2;
	cr_assert_eq(answer().step_ns, whole);
	s.layout.offload_layers = 32;
	s.device.host_Bps /= 4;
	fast = answer().breakdown.offload_ns;
	got = answer();
	cr_assert_float_eq(sum_of(&got.breakdown) / got.step_ns, 1, 1e-9);
	s.device.host_Bps /= 2;
	slow = answer().breakdown.offload_ns;
	s.device.host_Bps /= 2;
	/* Exposed: copies less what hides them, which stays. */
	cr_assert_float_eq((answer().breakdown.offload_ns - slow) /
				   (2 * (slow - fast)),
			   1, 1e-6);
}

/* Groups of one node gather parameters within it. */
Test(llm_step, groups_of_zero1_gather_within_a_node)
{
	struct llm_answer whole, groups;

	set_up("Llama-2-7B", 64);
	s.fabric.card_Bps /= 4;
	s.layout.micro_batch = 4;
	s.layout.gradient_bytes = 2;
	s.layout.overlap_param = false;
	whole = answer();
	s.layout.shard_ranks = 8;
	groups = answer();
	cr_expect_lt(groups.breakdown.exposed_ns[LLM_DP],
		     whole.breakdown.exposed_ns[LLM_DP]);
	cr_expect_gt(groups.breakdown.compute_ns[LLM_OPTIMIZER],
		     4 * whole.breakdown.compute_ns[LLM_OPTIMIZER]);
}

/* Layers that are made again take no longer on slow cards: parameters are there
 * for backward, too, which has more to hide them beside. */
Test(llm_step, what_is_made_again_is_gathered_once)
{
	struct llm_answer fast, slow, kept;

	set_up("Llama-2-7B", 64);
	s.layout.shard = LLM_FSDP;
	s.layout.recompute = LLM_RECOMPUTE_FULL;
	fast = answer();
	s.fabric.card_Bps /= 16;
	slow = answer();
	s.layout.recompute = LLM_RECOMPUTE_NONE;
	kept = answer();
	cr_expect_float_eq(slow.breakdown.recompute_ns,
			   fast.breakdown.recompute_ns, 1);
	cr_expect_gt(slow.breakdown.exposed_ns[LLM_DP],
		     fast.breakdown.exposed_ns[LLM_DP]);
	cr_expect_lt(slow.breakdown.exposed_ns[LLM_DP],
		     kept.breakdown.exposed_ns[LLM_DP]);
}

/* A token goes to a node once, not to each of its experts. */
Test(llm_step, a_plain_exchange_sends_more)
{
	double once, each;

	set_up("Qwen3-30B-A3B", 16);
	s.layout.ep = 16;
	once = answer().breakdown.exposed_ns[LLM_EP];
	s.layout.plain_exchange = true;
	each = answer().breakdown.exposed_ns[LLM_EP];
	cr_assert(each > 2 * once && each < 6 * once, "%g, %g", once, each);
}

/* Small layers wait for the processor, with CUDA graphs for less long. */
Test(llm_step, a_processor_bounds_small_layers)
{
	struct llm_breakdown graphed, eager;

	set_up("Qwen3-30B-A3B", 8);
	s.layout.ep = 8;
	graphed = answer().breakdown;
	s.cluster.software = LLM_EAGER;
	eager = answer().breakdown;
	cr_assert_gt(eager.other_ns, 2 * graphed.other_ns);
	/* Products are as fast kernel by kernel, what is between them is not.
	 */
	cr_assert_float_eq(eager.compute_ns[LLM_GEMM] /
				   graphed.compute_ns[LLM_GEMM],
			   1, 1e-9);
	cr_assert_gt(eager.compute_ns[LLM_ELEMENTWISE],
		     1.2 * graphed.compute_ns[LLM_ELEMENTWISE]);
	/* It runs ahead where it needs no counts of tokens. */
	s.layout.even_experts = true;
	cr_assert_lt(answer().breakdown.other_ns, 0.3 * eager.other_ns);
}

/* ZeRO-2 keeps a shard of the gradients' sums, so that it sums them in each
 * micro-batch, ZeRO-1 once. */
Test(llm_step, zero2_sums_in_each_micro_batch)
{
	const struct {
		int micro_batches;
		double times;
	} cases[] = {{1, 1}, {4, 4}};

	set_up("Llama-3-8B", 64);
	s.layout.overlap_grad = false;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double zero1, zero2, sum, gather;

		s.layout.global_batch = 64 * cases[i].micro_batches;
		s.layout.shard = LLM_ZERO1;
		zero1 = answer().breakdown.exposed_ns[LLM_DP];
		s.layout.shard = LLM_ZERO2;
		zero2 = answer().breakdown.exposed_ns[LLM_DP];
		s.layout.overlap_grad = true;
		s.layout.shard = LLM_ZERO1;
		gather = answer().breakdown.exposed_ns[LLM_DP];
		s.layout.overlap_grad = false;
		sum = zero1 - gather;
		cr_expect(cases[i].times == 1 ? zero1 == zero2
					      : zero2 > zero1 + 2.5 * sum,
			  "%d micro-batches: %g and %g ms",
			  cases[i].micro_batches, zero1 / 1e6, zero2 / 1e6);
	}
}

/* Chunks of a stage take turns of as many micro-batches as there are stages. */
Test(llm_step, zero2_sums_behind_each_turn_of_a_chunk)
{
	set_up("Llama-3-8B", 64);
	s.layout.pp = 4;
	s.layout.dp = 16;
	s.layout.global_batch = 16 * 8;
	s.layout.shard = LLM_ZERO2;
	cr_expect_eq(llm_gradient_sums(&s.layout), 8);
	s.layout.vpp = 2;
	cr_expect_eq(llm_gradient_sums(&s.layout), 2);
	s.layout.shard = LLM_ZERO1;
	cr_expect_eq(llm_gradient_sums(&s.layout), 1);
}

/* A layer takes this long to launch, without what is done once a step. */
static double launched_ms(enum llm_software software)
{
	s.cluster.software = software;
	return (answer().step_ns - llm_constants_known()->value[LLM_STEP_NS]) /
	       1e6 / s.model.layers;
}

/* scenarios/measured/hardware/torch-steps-h100.tsv, launch_ms of 12 layers of
 * gpt2: 32.8 with --flash, 51.6 without. */
Test(llm_step, a_processor_launches_attention_in_parts)
{
	set_up("GPT-2-medium", 1);
	s.layout.shard = LLM_DDP;
	s.layout.seq = 128;
	s.layout.global_batch = 1;
	cr_expect_float_eq(launched_ms(LLM_EAGER), 2.73, 0.2);
	s.layout.attention = LLM_UNFUSED;
	cr_expect_float_eq(launched_ms(LLM_EAGER), 4.3, 0.7);
	cr_expect_float_eq(launched_ms(LLM_OLD), 4.3, 0.7);
	cr_expect_lt(launched_ms(LLM_GRAPHED), 1);
}

/* Calls of tensor and context parallelism are more to launch. */
Test(llm_step, a_processor_launches_calls_inside_a_layer)
{
	double alone, tensor, both;

	set_up("GPT-2-medium", 8);
	s.layout.seq = 256;
	s.layout.global_batch = 8;
	alone = launched_ms(LLM_EAGER);
	s.layout.tp = 2;
	tensor = launched_ms(LLM_EAGER);
	s.layout.cp = 2;
	both = launched_ms(LLM_EAGER);
	cr_expect_gt(tensor, alone + 1.5);
	cr_expect_gt(both, tensor + 1.5);
}

/* What elementwise kernels of one layer and micro-batch read and write, a row
 * that is routed. */
static double row_bytes(void)
{
	s.device.launch_ns = 0;

	const struct llm_answer got = answer();
	const struct llm_pace pace = llm_pace_of(&s.device, s.layout.precision);
	const double rate =
		s.device.memory_Bps * s.device.copy_share * pace.memory;
	const double rows = (double)s.layout.seq * s.model.top_k;

	return got.breakdown.compute_ns[LLM_ELEMENTWISE] / 1e9 * rate / rows /
	       (s.model.layers * llm_micro_batches(&s.layout));
}

/* Kernel by kernel, in 32 bits: 28 bytes an element forward, 36 backward. */
Test(llm_step, eager_biases_of_experts_pass_through_memory)
{
	double with, without;

	set_up("gpt-oss-20b", 8);
	s.layout.ep = 8;
	s.cluster.software = LLM_EAGER;
	with = row_bytes();
	s.model.biases = false;
	without = row_bytes();
	cr_assert_float_eq((with - without) / s.model.hidden, 64, 1);
	s.cluster.software = LLM_GRAPHED;
	without = row_bytes();
	s.model.biases = true;
	cr_assert_float_eq((row_bytes() - without) / s.model.hidden, 0, 1);
}

/* Of 32 heads of queries and 8 of keys turning takes 16 bytes an element more,
 * each way; 8 heads are read and 32 written, of keys and of values, and back.
 */
Test(llm_step, heads_are_cast_and_copied)
{
	const double bytes = 2 * (40 * 16 + 2 * 40 * 2) * 128;
	double plain, rate, got;

	set_up("Llama-3-8B", 8);
	plain = answer().breakdown.compute_ns[LLM_ELEMENTWISE];
	s.layout.copied_heads = true;
	got = answer().breakdown.compute_ns[LLM_ELEMENTWISE] - plain;
	rate = s.device.memory_Bps * s.device.copy_share *
	       llm_pace_of(&s.device, LLM_BF16).memory;
	got *= rate / 1e9 / s.model.layers / s.layout.seq /
	       llm_micro_batches(&s.layout);
	cr_assert(got > bytes && got < 1.1 * bytes, "%g bytes, not %g", got,
		  bytes);
}

/* Two ranks gather keys and values of 8 heads for both passes, and reduce their
 * gradients: six parts of one rank's. A ring of copied heads gathers 32 heads
 * for both passes, 16 parts, and sends gradients in 32 bits twice: each rank
 * receives 16, as of a gather of 32. Nothing of it is hidden. */
Test(llm_step, a_ring_of_copied_heads_moves_all_of_them)
{
	double shared, copied;

	set_up("Llama-3-8B", 8);
	s.layout.seq = 65536;
	s.layout.cp = 2;
	s.layout.gather_cp = true;
	shared = answer().breakdown.exposed_ns[LLM_CP];
	s.layout.gather_cp = false;
	s.layout.copied_heads = true;
	copied = answer().breakdown.exposed_ns[LLM_CP];
	cr_assert(copied > 6.5 * shared && copied < 8 * shared, "%g times",
		  copied / shared);
}

/* Tokens that came once to a rank are put in order once: four copies less, each
 * read and written. */
Test(llm_step, a_plain_exchange_sorts_twice)
{
	double once;

	set_up("Qwen3-30B-A3B", 8);
	s.layout.ep = 8;
	once = row_bytes();
	s.layout.plain_exchange = true;
	cr_assert_float_eq((row_bytes() - once) / s.model.hidden, 4 * 4, 0.5);
}

/* Of an expert of width w activation reads and writes 3 w forward, 5 w
 * backward, casts read w and 2 w and write each twice in 8 bits: 28 bytes. */
Test(llm_step, experts_of_mxfp8_are_one_kernel)
{
	double fused, plain;

	set_up("Qwen3-30B-A3B", 8);
	llm_device_release(&s.device);
	okay(llm_device_find(&s.device, "B200", &message));
	s.layout.ep = 8;
	s.layout.precision = LLM_MXFP8;
	fused = row_bytes();
	s.layout.fused_experts = false;
	plain = row_bytes();
	cr_assert_float_eq((plain - fused) / s.model.expert_ffn, 28, 1.5);
	s.layout.precision = LLM_BF16;
	plain = row_bytes();
	s.layout.fused_experts = true;
	cr_assert_float_eq(row_bytes(), plain, 1);
}

/* DeepSpeed of 2022 adds gradients up in kernels beside the products: more
 * bytes a parameter, each micro-batch. */
Test(llm_step, old_software_adds_gradients_up_by_itself)
{
	const double *known = llm_constants_known()->value;
	double bytes = known[LLM_ACCUMULATE_OLD] - known[LLM_ACCUMULATE_BYTES];
	struct llm_parameters parameters;
	double before, rows;

	set_up("Llama-2-7B", 1);
	llm_count_parameters(&s.model, &parameters);
	s.model.top_k = 1;
	s.cluster.software = LLM_EAGER;
	before = row_bytes();
	s.cluster.software = LLM_OLD;
	rows = (double)s.layout.seq * s.model.layers;
	cr_assert_float_eq((row_bytes() - before) * rows /
				   (bytes * parameters.total),
			   1, 0.01);
}

/* Interleaved, calls of a chunk have passes of all other chunks beside them. */
Test(llm_step, chunks_hide_each_others_sums)
{
	double whole, chunks;

	set_up("Llama-3-70B", 64);
	s.layout.tp = 2;
	s.layout.pp = 8;
	s.layout.seq = 1024;
	s.layout.global_batch = 64;
	whole = answer().breakdown.exposed_ns[LLM_DP];
	s.layout.vpp = 5;
	chunks = answer().breakdown.exposed_ns[LLM_DP];
	cr_expect_lt(chunks, 0.7 * whole, "%g of %g ns", chunks, whole);
	cr_expect_gt(chunks, whole / 20);
}
