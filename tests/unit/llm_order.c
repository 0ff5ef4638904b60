/* Orders of pipelines, held against published ones and against time. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/llm_order.h"

#define MOST 512

/* Writes a stage's order as "F0 F1 B0", of several chunks "F0.1". */
static void print_order(const struct llm_order *order, char *text, size_t size)
{
	struct llm_action actions[MOST];
	size_t i, used = 0, num = llm_order_size(order);

	cr_assert_leq(num, MOST);
	llm_order_fill(order, actions);
	text[0] = '\0';
	for (i = 0; i < num; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%c%d",
					 i ? " " : "", "FBW"[actions[i].way],
					 actions[i].micro_batch);
		if (order->chunks > 1)
			used += (size_t)snprintf(text + used, size - used,
						 ".%d", actions[i].chunk);
	}
}

static void expect_order(enum llm_schedule schedule, int stage, int stages,
			 int chunks, int num, const char *want)
{
	const struct llm_order order = {schedule, stages, stage, chunks, num};
	char text[4096];

	print_order(&order, text, sizeof text);
	cr_expect_str_eq(text, want);
}

Test(llm_order, of_one_chunk)
{
	expect_order(LLM_GPIPE, 1, 3, 1, 4, "F0 F1 F2 F3 B0 B1 B2 B3");
	expect_order(LLM_1F1B, 1, 3, 1, 4, "F0 F1 B0 F2 B1 F3 B2 B3");
	expect_order(LLM_1F1B, 0, 4, 1, 2, "F0 F1 B0 B1");
	expect_order(LLM_1F1B, 0, 1, 1, 2, "F0 B0 F1 B1");
	expect_order(LLM_ZERO_BUBBLE, 1, 3, 1, 4,
		     "F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3");
	expect_order(LLM_ZERO_BUBBLE, 0, 3, 1, 4,
		     "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
	expect_order(LLM_ZERO_BUBBLE, 2, 3, 1, 2, "F0 B0 F1 B1 W0 W1");
}

/* The last two of D. Narayanan et al., 2021, figure 4, with half as many. */
Test(llm_order, of_two_chunks)
{
	expect_order(LLM_1F1B, 1, 2, 2, 2,
		     "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0");
	expect_order(LLM_1F1B, 0, 2, 2, 4,
		     "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 "
		     "B1.0 B2.1 B3.1 B2.0 B3.0");
	/* Five micro-batches: the last group has one. */
	expect_order(LLM_1F1B, 3, 4, 2, 5,
		     "F0.0 F1.0 F2.0 F3.0 F0.1 B0.1 F1.1 B1.1 F2.1 B2.1 F3.1 "
		     "B3.1 F4.0 B0.0 F4.1 B1.0 B2.0 B3.0 B4.1 B4.0");
}

/* As torch 2.13 has them (distributed/pipelining/schedules.py,
 * _get_1f1b_rank_ops). */
Test(llm_order, of_torch)
{
	expect_order(LLM_ZERO_BUBBLE, 2, 4, 1, 8,
		     "F0 F1 B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 F6 B5 W3 F7 "
		     "B6 W4 B7 W5 W6 W7");
	expect_order(LLM_1F1B, 0, 4, 2, 8,
		     "F0.0 F1.0 F2.0 F3.0 F0.1 F1.1 F2.1 F3.1 F4.0 F5.0 "
		     "F6.0 B0.1 F7.0 B1.1 F4.1 B2.1 F5.1 B3.1 F6.1 B0.0 "
		     "F7.1 B1.0 B2.0 B3.0 B4.1 B5.1 B6.1 B7.1 B4.0 B5.0 "
		     "B6.0 B7.0");
	expect_order(LLM_1F1B, 2, 4, 3, 12,
		     "F0.0 F1.0 F2.0 F3.0 F0.1 F1.1 F2.1 F3.1 F0.2 F1.2 "
		     "F2.2 B0.2 F3.2 B1.2 F4.0 B2.2 F5.0 B3.2 F6.0 B0.1 "
		     "F7.0 B1.1 F4.1 B2.1 F5.1 B3.1 F6.1 B0.0 F7.1 B1.0 "
		     "F4.2 B2.0 F5.2 B3.0 F6.2 B4.2 F7.2 B5.2 F8.0 B6.2 "
		     "F9.0 B7.2 F10.0 B4.1 F11.0 B5.1 F8.1 B6.1 F9.1 B7.1 "
		     "F10.1 B4.0 F11.1 B5.0 F8.2 B6.0 F9.2 B7.0 F10.2 B8.2 "
		     "F11.2 B9.2 B10.2 B11.2 B8.1 B9.1 B10.1 B11.1 B8.0 "
		     "B9.0 B10.0 B11.0");
}

/* ---- as clocks run ------------------------------------------------------ */

#define STAGES 4

/* When each action of each stage ends, where it begins as soon as its stage is
 * free and what it needs is there. */
struct run {
	int chunks, num;
	double duration[3];
	double end[3][STAGES * 4][16]; /* by way, chunk of the model, batch */
	double clock[STAGES];
};

static double needed(const struct run *run, const struct llm_action *action,
		     int stage)
{
	int at = action->chunk * STAGES + stage, m = action->micro_batch;
	int last = run->chunks * STAGES - 1;

	switch (action->way) {
	case LLM_FORWARD:
		return at == 0 ? 0 : run->end[LLM_FORWARD][at - 1][m];
	case LLM_BACKWARD:
		return at == last ? run->end[LLM_FORWARD][at][m]
				  : run->end[LLM_BACKWARD][at + 1][m];
	default:
		return run->end[LLM_BACKWARD][at][m];
	}
}

/* Returns whether the stage could do its next action. */
static bool advance(struct run *run, const struct llm_action *action, int stage)
{
	int at = action->chunk * STAGES + stage;
	double from = needed(run, action, stage);

	if (from < 0)
		return false;
	if (from < run->clock[stage])
		from = run->clock[stage];
	run->clock[stage] = from + run->duration[action->way];
	run->end[action->way][at][action->micro_batch] = run->clock[stage];
	return true;
}

static double step_of(enum llm_schedule schedule, int chunks, int num, double f,
		      double b, double w)
{
	struct run run = {.chunks = chunks, .num = num, .duration = {f, b, w}};
	struct llm_action actions[STAGES][MOST];
	size_t at[STAGES] = {0}, size = 0, left = 0;
	double last = 0;
	bool moved = true;
	int s;

	memset(run.end, 0, sizeof run.end);
	for (size_t i = 0; i < sizeof run.end / sizeof(double); i++)
		((double *)run.end)[i] = -1;
	for (s = 0; s < STAGES; s++) {
		struct llm_order order = {schedule, STAGES, s, chunks, num};

		size = llm_order_size(&order);
		llm_order_fill(&order, actions[s]);
		left += size;
	}
	while (left && moved)
		for (moved = false, s = 0; s < STAGES; s++)
			while (at[s] < size &&
			       advance(&run, &actions[s][at[s]], s)) {
				at[s]++;
				left--;
				moved = true;
			}
	cr_assert_eq(left, 0, "stages wait for each other");
	for (s = 0; s < STAGES; s++)
		last = run.clock[s] > last ? run.clock[s] : last;
	return last;
}

Test(llm_order, takes_what_the_papers_say)
{
	const double f = 3, b = 4, w = 2;

	for (int m = STAGES; m <= 4 * STAGES; m += STAGES) {
		cr_expect_eq(step_of(LLM_GPIPE, 1, m, f, b, 0),
			     (m + STAGES - 1) * (f + b));
		cr_expect_eq(step_of(LLM_1F1B, 1, m, f, b, 0),
			     (m + STAGES - 1) * (f + b));
		/* A chunk takes half of a stage. */
		cr_expect_eq(step_of(LLM_1F1B, 2, m, f, b, 0),
			     (2 * m + STAGES - 1) * (f + b));
		cr_expect_eq(step_of(LLM_1F1B, 4, m, f, b, 0),
			     (4 * m + STAGES - 1) * (f + b));
		cr_expect_eq(step_of(LLM_ZERO_BUBBLE, 1, m, f, b, w),
			     m * (f + b + w) + (STAGES - 1) * (f + b - w));
		cr_expect_eq(step_of(LLM_ZERO_BUBBLE, 1, m, 1, 1, 1),
			     3 * m + STAGES - 1);
	}
}

/* A stage never holds more micro-batches than there are stages behind it and
 * itself (1f1b, zero-bubble), and each is done once. */
Test(llm_order, holds_few_micro_batches)
{
	for (int num = 1; num < 9; num++)
		for (int stage = 0; stage < STAGES; stage++)
			for (int way = LLM_1F1B; way < LLM_SCHEDULES; way++) {
				struct llm_order order = {
					(enum llm_schedule)way, STAGES, stage,
					1, num};
				struct llm_action actions[MOST];
				int done[3] = {0}, most = 0;

				llm_order_fill(&order, actions);
				for (size_t i = 0; i < llm_order_size(&order);
				     i++) {
					int held;

					cr_assert_eq(actions[i].micro_batch,
						     done[actions[i].way]++);
					held = done[LLM_FORWARD] -
					       done[LLM_BACKWARD];
					cr_assert_geq(held, 0);
					most = held > most ? held : most;
				}
				cr_expect_eq(done[LLM_BACKWARD], num);
				cr_expect_eq(most, num < STAGES - stage
							   ? num
							   : STAGES - stage);
			}
}

/* Exchanges do not fall, and interleaved a forward and a backward share one. */
Test(llm_order, exchanges_follow_each_other)
{
	const struct llm_order order = {LLM_1F1B, 2, 0, 2, 4};
	struct llm_action actions[MOST];
	size_t num = llm_order_size(&order);

	llm_order_fill(&order, actions);
	for (size_t i = 1; i < num; i++) {
		int more = actions[i].exchange - actions[i - 1].exchange;

		cr_expect(more == 0 || more == 1);
		cr_expect_eq(more == 0,
			     actions[i].way == LLM_BACKWARD &&
				     actions[i - 1].way == LLM_FORWARD &&
				     i < num - 4);
	}
}
