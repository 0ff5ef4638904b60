/* The search over layouts: it looks at all that are legal, once each; what it
 * puts first nothing that fits beats. */
#include <string.h>

#include "model/llm/plan.h"
#include "tests/support/fabrics.h"
#include "tests/support/okay.h"

/* A small cluster of H100, on links of their own. */
struct place {
	struct llm_architecture model;
	struct llm_device device;
	struct dist__profile profile;
	struct fabric fabric;
	struct llm_cluster cluster;
	struct llm_pace pace;
	struct llm_space space;
};

static void open_place(struct place *p, const char *model)
{
	struct dist_message message = {""};

	memset(p, 0, sizeof *p);
	okay_or(llm_architecture_find(&p->model, model, &message), message);
	okay(llm_device_find(&p->device, "H100", &message));
	dist__profile_init(&p->profile);
	okay_or(dist__profile_load(&p->profile, "scenarios/profiles/nccl.yaml",
				   &message),
		message);
	p->fabric =
		(struct fabric){GPUS(4, 8, "H100 80GB", FABRIC_NVSWITCH, 450e9),
				.intra_latency_ns = 2000, CARDS("ib", 8, 50e9),
				.inter_latency_ns = 5000};
	p->cluster = (struct llm_cluster){.device = &p->device,
					  .profile = &p->profile,
					  .fabric = &p->fabric,
					  .efficiency = 1};
	p->pace = llm_pace_of(&p->device, LLM_BF16);
	llm_layout_init(&p->space.base);
	p->space.base.gpus = 32;
	p->space.base.seq = 4096;
	p->space.base.global_batch = 64;
	p->space.shard = LLM_SHARDS;
	p->space.schedule = LLM_SCHEDULES;
	p->space.recompute = LLM_RECOMPUTE_AUTO;
	p->space.node_ranks = 8;
}

static void close_place(struct place *p)
{
	llm_device_release(&p->device);
	dist__profile_release(&p->profile);
}

static size_t search(const struct place *p, int threads, struct llm_plan *plan)
{
	const struct llm_search search = {.space = &p->space,
					  .model = &p->model,
					  .cluster = &p->cluster,
					  .pace = &p->pace,
					  .threads = threads};
	struct dist_message message = {""};

	okay_or(llm_plan_make(plan, &search, &message), message);
	return plan->legal;
}

static bool is_same(const struct llm_layout *a, const struct llm_layout *b)
{
	return a->tp == b->tp && a->pp == b->pp && a->vpp == b->vpp &&
	       a->cp == b->cp && a->ep == b->ep && a->shard == b->shard &&
	       a->schedule == b->schedule && a->micro_batch == b->micro_batch;
}

Test(llm_plan, sorts_what_fits_and_has_each_layout_once)
{
	struct llm_plan plan;
	struct place p;

	open_place(&p, "llama3-8b");
	cr_assert_gt(search(&p, 1, &plan), 500);
	cr_assert_gt(plan.num, 100);
	for (size_t i = 0; i < plan.num; i++) {
		const struct llm_candidate *c = &plan.best[i];

		cr_assert(llm_memory_has_room(&c->answer.memory, &c->layout));
		cr_assert_leq(c->layout.tp, 8);
		cr_assert(i == 0 || c[-1].answer.step_ns <= c->answer.step_ns);
		for (size_t j = 0; j < i; j++)
			cr_assert_not(is_same(&plan.best[j].layout, &c->layout),
				      "%zu and %zu are the same", i, j);
	}
	llm_plan_release(&plan);
	close_place(&p);
}

Test(llm_plan, finds_the_same_by_several_threads)
{
	struct llm_plan one, many;
	struct place p;

	open_place(&p, "mixtral-8x7b");
	p.space.tp = 2;
	cr_assert_eq(search(&p, 1, &one), search(&p, 4, &many));
	cr_assert_eq(one.num, many.num);
	for (size_t i = 0; i < one.num; i++) {
		cr_assert_eq(one.best[i].answer.step_ns,
			     many.best[i].answer.step_ns);
		cr_assert_eq(many.best[i].layout.tp, 2);
	}
	llm_plan_release(&one);
	llm_plan_release(&many);
	close_place(&p);
}

/* What is held fast is counted by hand: tp 8 on 32 GPUs leaves 4 for stages and
 * copies; 64 sequences; Llama-3 8B has 32 layers. */
Test(llm_plan, holds_fast_what_is_asked_for)
{
	struct llm_plan plan;
	struct place p;

	open_place(&p, "llama3-8b");
	p.space.tp = 8;
	p.space.cp = 1;
	p.space.vpp = 1;
	p.space.micro_batch = 1;
	p.space.shard = LLM_ZERO1;
	p.space.schedule = LLM_1F1B;
	cr_assert_eq(search(&p, 2, &plan), 3, "pp is 1, 2 or 4, not %zu ways",
		     plan.legal);
	llm_plan_release(&plan);
	p.space.schedule = LLM_SCHEDULES;
	cr_assert_eq(search(&p, 2, &plan), 5, "zero-bubble of 2 and 4 stages");
	llm_plan_release(&plan);
	close_place(&p);
}

Test(llm_plan, says_what_stands_against_all_and_what_needs_least)
{
	struct dist_message message = {""};
	struct llm_plan plan;
	struct place p;

	open_place(&p, "llama3-405b");
	p.space.base.gpus = 8;
	p.space.base.global_batch = 8;
	p.fabric.nodes = 1;
	(void)search(&p, 2, &plan);
	cr_assert_eq(plan.num, 0);
	cr_assert_gt(plan.least.answer.memory.total, p.device.memory_bytes);
	llm_plan_release(&plan);

	p.space.tp = 3;
	const struct llm_search none = {.space = &p.space,
					.model = &p.model,
					.cluster = &p.cluster,
					.pace = &p.pace,
					.threads = 1};

	cr_assert_eq(llm_plan_make(&plan, &none, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_assert(strstr(message.text, "no layout is legal: "), "%s",
		  message.text);
	/* Of ten GPUs a tensor group of 5 is refused, too, but last. */
	p.space.tp = 0;
	p.space.base.gpus = 10;
	cr_assert_eq(llm_plan_make(&plan, &none, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_assert(
		strstr(message.text, "--global-batch: expected a multiple of"),
		"%s", message.text);
	close_place(&p);
}
