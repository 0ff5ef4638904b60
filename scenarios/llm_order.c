/* The orders of llm_order.h, written out. */
#include "scenarios/llm_order.h"

/* Actions as they are written. */
struct writer {
	const struct llm_order *order;
	struct llm_action *next;
	int exchange;
};

size_t llm_order_size(const struct llm_order *order)
{
	size_t ways = order->schedule == LLM_ZERO_BUBBLE ? 3 : 2;

	return ways * (size_t)order->num * (size_t)order->chunks;
}

/* Stores which chunk and micro-batch number k of a way is: as many micro-
 * batches of a chunk follow each other as there are stages, or are left. */
static void place(const struct llm_order *order, int k,
		  struct llm_action *action)
{
	int group = order->stages, round = group * order->chunks;
	int first = k / round * group, within = k % round;

	if (order->num - first < group)
		group = order->num - first;
	action->chunk = within / group;
	action->micro_batch = first + within % group;
	if (action->way != LLM_FORWARD)
		action->chunk = order->chunks - 1 - action->chunk;
}

static void put(struct writer *w, enum llm_way way, int k)
{
	w->next->way = way;
	w->next->exchange = w->exchange;
	place(w->order, k, w->next);
	w->next++;
}

/* How many forward come before the first backward. */
static int warm_up(const struct llm_order *order)
{
	int all = order->num * order->chunks;
	int behind = order->stages - 1 - order->stage, ahead = behind;

	if (order->schedule == LLM_GPIPE)
		return all;
	if (order->chunks > 1)
		ahead = 2 * behind + (order->chunks - 1) * order->stages;
	return ahead < all ? ahead : all;
}

void llm_order_fill(const struct llm_order *order, struct llm_action *actions)
{
	struct writer w = {.order = order, .next = actions};
	int all = order->num * order->chunks, ahead = warm_up(order), k;
	bool apart = order->schedule == LLM_ZERO_BUBBLE;
	int late = order->stage < all ? order->stage : all;

	for (k = 0; k < ahead; k++, w.exchange++)
		put(&w, LLM_FORWARD, k);
	for (k = 0; k < all; k++, w.exchange++) {
		if (ahead + k < all) {
			put(&w, LLM_FORWARD, ahead + k);
			w.exchange += order->chunks == 1;
		}
		put(&w, LLM_BACKWARD, k);
		if (apart && k >= late)
			put(&w, LLM_WEIGHTS, k - late);
	}
	for (k = all - late; apart && k < all; k++, w.exchange++)
		put(&w, LLM_WEIGHTS, k);
}
