/* llm_planned.c - published best layouts among those that plan looks at. */
#include "model/validation/llm_planned.h"

#include <string.h>

#include "model/llm/plan.h"

/* Two layouts of one question: but for the layout all is the same. */
static bool same_question(const struct llm_case *a, const struct llm_case *b)
{
	return llm_case_same_model(a, b) &&
	       strcmp(b->row->task, "pretrain") == 0;
}

static double tokens_per_ns(const struct llm_case *of)
{
	return (double)of->layout.global_batch * of->layout.seq /
	       of->layout.gpus / of->measured_ns;
}

bool llm_planned_is_best(const struct llm_set *set, size_t i)
{
	const struct llm_case *mine = &set->cases[i];

	if (!same_question(mine, mine) || mine->layout.gpus < 16)
		return false;
	for (size_t k = 0; k < set->num; k++) {
		const struct llm_case *of = &set->cases[k];
		double rival = tokens_per_ns(of), own = tokens_per_ns(mine);

		if (k == i || !same_question(mine, of))
			continue;
		if (of->layout.gpus > mine->layout.gpus ||
		    (of->layout.gpus == mine->layout.gpus &&
		     (rival > own || (rival == own && k < i))))
			return false;
	}
	return true;
}

enum dist_error llm_planned_make(struct llm_planned *planned,
				 const struct llm_set *set, size_t i,
				 const struct llm_constants *constants,
				 double ns, int threads,
				 struct dist_message *message)
{
	const struct llm_case *of = &set->cases[i];
	const struct llm_cluster cluster = llm_set_cluster(set, i, constants);
	const struct llm_pace pace = llm_constants_pace(
		constants, cluster.device, of->layout.precision, of->software);
	const struct llm_space space = {
		.base = of->layout,
		.shard = of->layout.shard,
		.schedule = of->layout.schedule,
		.recompute =
			of->guessed ? LLM_RECOMPUTE_AUTO : of->layout.recompute,
		.node_ranks = of->fabric.node_ranks,
	};
	const struct llm_search search = {.space = &space,
					  .model = &of->model,
					  .cluster = &cluster,
					  .pace = &pace,
					  .threads = threads};
	struct llm_plan plan;
	enum dist_error error = llm_plan_make(&plan, &search, message);

	*planned = (struct llm_planned){.fit = 0};
	if (error)
		return error;
	planned->fit = plan.num;
	while (planned->before < plan.num &&
	       plan.best[planned->before].answer.step_ns < ns * (1 - 1e-6))
		planned->before++;
	if (plan.num > 0) {
		planned->best = plan.best[0].layout;
		planned->loss = ns / plan.best[0].answer.step_ns - 1;
	}
	llm_plan_release(&plan);
	return DIST_OK;
}
