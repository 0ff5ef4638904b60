/*
 * plan.h - the layout of a model on so many GPUs that takes the least time: all
 * that are legal are enumerated, those that leave no headroom left out, the
 * others timed by step.h's closed form.
 */
#ifndef LOCKSTEP_MODEL_LLM_PLAN_H
#define LOCKSTEP_MODEL_LLM_PLAN_H

#include "model/llm/step.h"

/* Which layouts are tried. */
struct llm_space {
	struct llm_layout
		base; /* what is not searched: gpus, batch, seq, ... */
	int tp, pp, vpp, cp, ep, micro_batch; /* 0: searched */
	enum llm_shard shard;                 /* LLM_SHARDS: searched */
	enum llm_schedule schedule;           /* LLM_SCHEDULES: so too */
	enum llm_recompute recompute; /* AUTO: of each layout the least that
				       * has room, which is its fastest */
	int node_ranks; /* of a node: tensor groups stay within one */
};

struct llm_candidate {
	struct llm_layout layout;
	struct llm_answer answer; /* of what has no room, memory alone */
};

struct llm_plan {
	struct llm_candidate *best; /* with room, the fastest first; owned */
	size_t num;
	size_t legal;               /* layouts that were looked at */
	struct llm_candidate least; /* that needs the least memory */
};

/* What is searched over; borrowed. */
struct llm_search {
	const struct llm_space *space;
	const struct llm_architecture *model;
	const struct llm_cluster *cluster;
	const struct llm_pace *pace;
	int threads;

	/* Called by one thread at a time, once a layout is done, of so many;
	 * NULL: not. */
	void (*done)(void *arg, size_t all);
	void *arg;
};

/*
 * llm_plan_make looks at all layouts of the space; the caller releases plan.
 * Errors: INVALID_ARGUMENT (message: no layout is legal, and what stands
 * against the last; or what the device or library cannot), NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error llm_plan_make(struct llm_plan *plan,
					      const struct llm_search *search,
					      struct dist_message *message);

/* llm_plan_release frees what plan holds. */
void llm_plan_release(struct llm_plan *plan);

#endif
