/* plan.c - all legal layouts of a model on so many GPUs: enumerated, held
 * against the memory, timed, and sorted. */
#include "model/llm/plan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/refuse.h"

/* Beyond these nothing was ever found to be fast. */
#define MOST_CHUNKS      8
#define MOST_MICRO_BATCH 8
#define MOST_THREADS     16

struct list {
	struct llm_candidate *of;
	size_t num;
	bool failed;
	struct dist_message refusal; /* of the first that is not legal */
};

/* ---- enumeration -------------------------------------------------------- */

static void list_add(struct list *list, const struct llm_layout *layout)
{
	const struct llm_candidate candidate = {.layout = *layout};

	if (!dist__array_add(&list->of, &list->num, &candidate,
			     sizeof candidate))
		list->failed = true;
}

/* Whether value of a dimension is to be tried: the one asked for, or one from 1
 * to most that divides whole. */
static bool is_tried(int asked, int value, int whole)
{
	return asked > 0 ? value == asked : whole % value == 0;
}

/* The largest value that a dimension is tried with. */
static int last_of(int asked, int most)
{
	return asked > 0 ? asked : most;
}

static void add_legal(struct list *list, const struct llm_search *search,
		      struct llm_layout layout)
{
	struct dist__refusal refusal;

	if (!llm_layout_complete(&layout, search->model, &refusal))
		list_add(list, &layout);
	else if (!*list->refusal.text)
		dist__refuse(&list->refusal, "--%s: %.400s", refusal.option,
			     refusal.message.text);
}

/* Whether all chunks are alike; embedding and loss may count as a layer each.
 */
static bool is_even(const struct llm_search *search, int stages, int chunks)
{
	int layers = search->model->layers, all = stages * chunks;

	return layers % all == 0 || (layers + 2) % all == 0;
}

/* Whether a split is tried: chunks that are alike, as Megatron-LM makes them of
 * itself (--account-for-embedding-in-pipeline-split and -loss-); others of
 * models that no number of stages divides, as of 61 layers, for which one
 * writes the pipeline's layout by hand (--pipeline-model-parallel-layout). */
static bool is_split(const struct llm_search *search, int stages, int chunks)
{
	int gpus = search->space->base.gpus;

	if (is_even(search, stages, chunks))
		return true;
	for (int p = 2; p <= search->model->layers; p++)
		if (gpus % p == 0 && is_even(search, p, 1))
			return false;
	return true;
}

/* Schedules, chunks and ways to divide state, of a layout with its groups. */
static void add_ways(struct list *list, const struct llm_search *search,
		     struct llm_layout layout)
{
	const struct llm_space *space = search->space;
	int chunks = layout.pp > 1 ? MOST_CHUNKS : 1;

	for (int shard = 0; shard < LLM_SHARDS; shard++) {
		bool is_asked = space->shard == (enum llm_shard)shard;

		/* Copies of shards are asked for, with how many ranks; what
		 * sums gradients after each micro-batch has no stages. */
		if (!is_asked &&
		    (space->shard != LLM_SHARDS || shard == LLM_HSDP ||
		     (shard == LLM_ZERO2 && layout.pp > 1)))
			continue;
		layout.shard = (enum llm_shard)shard;
		layout.schedule = LLM_1F1B;
		if (space->schedule != LLM_SCHEDULES)
			layout.schedule = space->schedule;
		for (int v = 1; v <= last_of(space->vpp, chunks); v++) {
			layout.vpp = v;
			if (space->vpp == v ||
			    (space->vpp == 0 &&
			     (is_split(search, layout.pp, v) ||
			      (v == 1 && space->pp == layout.pp))))
				add_legal(list, search, layout);
		}
		layout.vpp = 1;
		layout.schedule = LLM_ZERO_BUBBLE;
		if (space->schedule == LLM_SCHEDULES && layout.pp > 1 &&
		    space->vpp <= 1 &&
		    (is_split(search, layout.pp, 1) || space->pp == layout.pp))
			add_legal(list, search, layout);
	}
}

/* Micro-batches and groups of experts. */
static void add_batches(struct list *list, const struct llm_search *search,
			struct llm_layout layout)
{
	const struct llm_space *space = search->space;
	int experts = search->model->experts > 0 ? search->model->experts : 1;

	for (int e = 1; e <= last_of(space->ep, experts); e++) {
		if (!is_tried(space->ep, e, experts))
			continue;
		layout.ep = e;
		for (int m = 1;
		     m <= last_of(space->micro_batch, MOST_MICRO_BATCH);
		     m += space->micro_batch ? 1 : m) {
			layout.micro_batch = m;
			if (space->micro_batch == 0 || space->micro_batch == m)
				add_ways(list, search, layout);
		}
	}
}

static void enumerate(struct list *list, const struct llm_search *search)
{
	const struct llm_space *space = search->space;
	struct llm_layout layout = space->base;
	int gpus = layout.gpus;
	int most_tp = gpus < space->node_ranks ? gpus : space->node_ranks;

	layout.recompute = space->recompute;
	for (int t = 1; t <= last_of(space->tp, most_tp); t++) {
		if (!is_tried(space->tp, t, gpus))
			continue;
		layout.tp = t;
		for (int p = 1; p <= last_of(space->pp, search->model->layers);
		     p++) {
			if (!is_tried(space->pp, p, gpus / t))
				continue;
			layout.pp = p;
			for (int c = 1; c <= last_of(space->cp, gpus / t / p);
			     c += space->cp ? 1 : c) {
				layout.cp = c;
				if (is_tried(space->cp, c, gpus / t / p))
					add_batches(list, search, layout);
			}
		}
	}
}

/* ---- times -------------------------------------------------------------- */

/* What the threads share. */
struct crew {
	const struct llm_search *search;
	struct list *list;
	pthread_mutex_t lock; /* of what follows */
	size_t next;
	enum dist_error error;
	struct dist_message message;
};

static enum dist_error judge(const struct llm_search *search,
			     struct llm_candidate *candidate,
			     struct dist_message *message)
{
	struct llm_layout *layout = &candidate->layout;
	struct llm_answer *answer = &candidate->answer;
	struct llm_work work;
	enum dist_error error = DIST_OK;

	if (layout->recompute == LLM_RECOMPUTE_AUTO)
		error = llm_recompute_choose(layout, search->model,
					     search->cluster->device,
					     search->pace, message);
	if (!error)
		error = llm_work_init(&work, search->model, layout,
				      search->cluster->device, search->pace,
				      message);
	if (error)
		return error;
	llm_memory_worst(&answer->memory, &work, search->cluster->device);
	if (!llm_memory_has_room(&answer->memory, layout))
		return DIST_OK;
	return llm_step(answer, &work, search->cluster, message);
}

static void *help(void *arg)
{
	struct crew *crew = arg;
	const struct llm_search *search = crew->search;

	pthread_mutex_lock(&crew->lock);
	while (!crew->error && crew->next < crew->list->num) {
		size_t i = crew->next++;
		struct dist_message message = {""};
		enum dist_error error;

		pthread_mutex_unlock(&crew->lock);
		error = judge(search, &crew->list->of[i], &message);
		pthread_mutex_lock(&crew->lock);
		if (error && !crew->error) {
			crew->error = error;
			crew->message = message;
		}
		if (search->done)
			search->done(search->arg, crew->list->num);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static enum dist_error judge_all(const struct llm_search *search,
				 struct list *list,
				 struct dist_message *message)
{
	struct crew crew = {.search = search,
			    .list = list,
			    .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t threads[MOST_THREADS];
	int num = 0;

	while (num + 1 < search->threads && num < MOST_THREADS &&
	       pthread_create(&threads[num], NULL, help, &crew) == 0)
		num++;
	(void)help(&crew);
	while (num > 0)
		pthread_join(threads[--num], NULL);
	pthread_mutex_destroy(&crew.lock);
	if (crew.error)
		*message = crew.message;
	return crew.error;
}

/* ---- the plan ----------------------------------------------------------- */

/* The faster one first; of equals the one that divides less, then the one that
 * needs less memory. */
static int compare(const void *a, const void *b)
{
	const struct llm_candidate *left = a, *right = b;
	double difference = left->answer.step_ns - right->answer.step_ns;

	if (difference == 0)
		difference = (int)left->layout.shard - (int)right->layout.shard;
	if (difference == 0)
		difference =
			left->answer.memory.total - right->answer.memory.total;
	return difference < 0 ? -1 : difference > 0;
}

static void keep_best(struct llm_plan *plan, struct list *list)
{
	size_t fit = 0;

	plan->legal = list->num;
	plan->least = list->of[0];
	for (size_t i = 0; i < list->num; i++) {
		struct llm_candidate *candidate = &list->of[i];

		if (candidate->answer.memory.least <
		    plan->least.answer.memory.least)
			plan->least = *candidate;
		if (llm_memory_has_room(&candidate->answer.memory,
					&candidate->layout))
			list->of[fit++] = *candidate;
	}
	plan->best = list->of;
	plan->num = fit;
	qsort(plan->best, fit, sizeof *plan->best, compare);
}

enum dist_error llm_plan_make(struct llm_plan *plan,
			      const struct llm_search *search,
			      struct dist_message *message)
{
	struct list list = {.refusal = {""}};
	enum dist_error error = DIST_OK;

	memset(plan, 0, sizeof *plan);
	snprintf(message->text, sizeof message->text, "out of memory");
	enumerate(&list, search);
	if (list.failed)
		error = DIST_ERR_NO_MEMORY;
	else if (list.num == 0)
		error = dist__refuse(message, "no layout is legal: %s",
				     list.refusal.text);
	else
		error = judge_all(search, &list, message);
	if (error)
		free(list.of);
	else
		keep_best(plan, &list);
	return error;
}

void llm_plan_release(struct llm_plan *plan)
{
	free(plan->best);
	memset(plan, 0, sizeof *plan);
}
