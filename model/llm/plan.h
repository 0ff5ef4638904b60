/*
 * plan.h - finds the fastest layout of a model on a number of GPUs: enumerates
 * all legal layouts, drops those without headroom in memory, and times the
 * others by the closed form of step.h.
 */
#ifndef LOCKSTEP_MODEL_LLM_PLAN_H
#define LOCKSTEP_MODEL_LLM_PLAN_H

#include "model/llm/step.h"

/* The layouts to search. */
struct llm_space {
	struct llm_layout
		base; /* all that is not searched: gpus, batch, seq, ... */
	int tp, pp, vpp, cp, ep, micro_batch; /* 0: searched */
	enum llm_shard shard;                 /* LLM_SHARDS: searched */
	enum llm_schedule schedule;           /* LLM_SCHEDULES: searched */
	enum llm_recompute recompute; /* AUTO: for each layout the least that
					 has room, which is the fastest */
	int node_ranks; /* of a node: a tensor group stays within a node */
};

struct llm_candidate {
	struct llm_layout layout;
	struct llm_answer answer; /* without room: only its memory */
};

struct llm_plan {
	struct llm_candidate *best; /* with room, the fastest first; owned */
	size_t num;
	size_t legal;               /* legal layouts */
	struct llm_candidate least; /* the one the one that needs the least
				       memory */
};

/* A search; its pointers are borrowed. */
struct llm_search {
	const struct llm_space *space;
	const struct llm_architecture *model;
	const struct llm_cluster *cluster;
	const struct llm_pace *pace;
	int threads;

	/* Called when a layout is done, by one thread at a time, with the
	 * number of all layouts; NULL: none. */
	void (*done)(void *arg, size_t all);
	void *arg;
};

/*
 * llm_plan_make evaluates all layouts of the space; the caller releases plan.
 * Errors: INVALID_ARGUMENT (message: no layout is legal, with the reason of the
 * first one; or what the device or library does not support), NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error llm_plan_make(struct llm_plan *plan,
					      const struct llm_search *search,
					      struct dist_message *message);

/* llm_plan_release frees what plan holds. */
void llm_plan_release(struct llm_plan *plan);

#endif
