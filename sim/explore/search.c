#include "sim/explore/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What the search thinks of an option. */
enum thought {
	UNTRIED, /* and need not be tried, as far as is known */
	WANTED,
	TRIED,  /* or being tried */
	ASLEEP, /* runs with it are known */
};

struct dist__sim_node {
	struct dist__sim_option *options; /* owned */
	enum thought *thoughts;           /* of each; owned */
	uint32_t count;
	uint32_t taken;
};

static bool same_receive(const struct dist__sim_option *a,
			 const struct dist__sim_option *b)
{
	return a->rank == b->rank && a->receive == b->receive;
}

static bool same(const struct dist__sim_option *a,
		 const struct dist__sim_option *b)
{
	return same_receive(a, b) && a->sender == b->sender;
}

void dist__sim_search_init(struct dist__sim_search *search)
{
	*search = (struct dist__sim_search){.is_complete = true};
}

static void pop(struct dist__sim_search *search)
{
	struct dist__sim_node *node = &search->nodes[--search->count];

	free(node->options);
	free(node->thoughts);
}

void dist__sim_search_release(struct dist__sim_search *search)
{
	while (search->count > 0)
		pop(search);
	free(search->nodes);
	free(search->asleep);
}

/* ---- learning --------------------------------------------------------- */

/* Whether an option of before sleeps after it: runs with it are known, and what
 * was taken instead does not change what it leads to. */
static bool sleeps_after(const struct dist__sim_node *before, uint32_t i)
{
	enum thought thought = before->thoughts[i];

	return (thought == ASLEEP || thought == TRIED) &&
	       !same_receive(&before->options[i],
			     &before->options[before->taken]);
}

static bool is_asleep(const struct dist__sim_node *before,
		      const struct dist__sim_option *option)
{
	for (uint32_t i = 0; i < before->count; i++)
		if (same(&before->options[i], option))
			return sleeps_after(before, i);
	return false;
}

/* Another sender for the same receive excludes what was taken: try it. */
static void think(struct dist__sim_node *node,
		  const struct dist__sim_node *before)
{
	const struct dist__sim_option *taken = &node->options[node->taken];

	for (uint32_t i = 0; i < node->count; i++)
		if (i == node->taken)
			node->thoughts[i] = TRIED;
		else if (before && is_asleep(before, &node->options[i]))
			node->thoughts[i] = ASLEEP;
		else if (same_receive(&node->options[i], taken))
			node->thoughts[i] = WANTED;
}

static bool push(struct dist__sim_search *search,
		 const struct dist__sim_log *log,
		 const struct dist__sim_step *step)
{
	struct dist__sim_node node = {.count = step->count,
				      .taken = step->taken};

	node.options = malloc(node.count * sizeof *node.options);
	node.thoughts = calloc(node.count, sizeof *node.thoughts);
	if (!node.options || !node.thoughts ||
	    !dist__array_room(&search->nodes, &search->space, search->count + 1,
			      sizeof node)) {
		free(node.options);
		free(node.thoughts);
		return false;
	}
	memcpy(node.options, &log->options[step->first],
	       node.count * sizeof *node.options);
	search->nodes[search->count] = node;
	think(&search->nodes[search->count],
	      search->count > 0 ? &search->nodes[search->count - 1] : NULL);
	search->count++;
	search->states++;
	return true;
}

static bool is_node(const struct dist__sim_node *node,
		    const struct dist__sim_log *log,
		    const struct dist__sim_step *step)
{
	if (node->count != step->count || node->taken != step->taken)
		return false;
	for (uint32_t i = 0; i < node->count; i++)
		if (!same(&node->options[i], &log->options[step->first + i]))
			return false;
	return true;
}

static void want_all(struct dist__sim_node *node)
{
	for (uint32_t i = 0; i < node->count; i++)
		if (node->thoughts[i] == UNTRIED)
			node->thoughts[i] = WANTED;
}

bool dist__sim_search_learn(struct dist__sim_search *search,
			    const struct dist__sim_log *log)
{
	bool known = log->num_steps >= search->count;

	for (uint32_t i = 0; i < log->num_steps && known; i++) {
		const struct dist__sim_step *step = &log->steps[i];

		if (i < search->count)
			known = is_node(&search->nodes[i], log, step);
		else
			known = push(search, log, step);
		if (known && step->raced)
			want_all(&search->nodes[i]);
	}
	if (!known || log->full || log->fate == DIST__SIM_GONE)
		search->is_complete = false;
	if (log->fate != DIST__SIM_REDUNDANT) {
		search->runs++;
		search->states++; /* the end */
	}
	return known;
}

/* ---- planning --------------------------------------------------------- */

/* Goes back to the last node with an option to try, and takes that. */
static struct dist__sim_node *backtrack(struct dist__sim_search *search)
{
	for (; search->count > 0; pop(search)) {
		struct dist__sim_node *node = &search->nodes[search->count - 1];

		for (uint32_t i = 0; i < node->count; i++) {
			if (node->thoughts[i] != WANTED)
				continue;
			node->taken = i;
			node->thoughts[i] = TRIED;
			return node;
		}
	}
	return NULL;
}

static bool put_to_sleep(struct dist__sim_search *search,
			 const struct dist__sim_node *last,
			 struct dist__sim_plan *plan)
{
	struct dist__sim_option *asleep =
		realloc(search->asleep, last->count * sizeof *asleep);

	if (!asleep)
		return false;
	search->asleep = asleep;
	plan->asleep = asleep;
	plan->num_asleep = 0;
	for (uint32_t i = 0; i < last->count; i++)
		if (sleeps_after(last, i))
			asleep[plan->num_asleep++] = last->options[i];
	return true;
}

bool dist__sim_search_next(struct dist__sim_search *search,
			   struct dist__sim_plan *plan)
{
	const struct dist__sim_node *last = backtrack(search);
	uint32_t point = 0;
	bool good;

	if (!last)
		return false;
	good = put_to_sleep(search, last, plan);
	for (size_t i = 0; i < search->count && good; i++) {
		const struct dist__sim_node *node = &search->nodes[i];

		if (node->count > 1 && node->taken > 0)
			good = dist__sim_plan_add(
				plan,
				(struct dist__sim_choice){point, node->taken});
		point += node->count > 1;
	}
	plan->prefix = search->count;
	if (!good)
		search->is_complete = false;
	return good;
}
