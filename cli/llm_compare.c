/* llm_compare.c - which of several answers is best, and why. */
#include "cli/llm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Answers whose parts are printed side by side. */
#define SIDE_BY_SIDE 4

static void describe(const struct llm_replies *replies, size_t i, char *text,
		     size_t size)
{
	study_describe(replies->study, i, text, size);
}

/* Which has most tokens a second and GPU of those that are possible; num: none
 * is. */
static size_t find_best(const struct llm_replies *replies)
{
	size_t best = replies->num;

	for (size_t i = 0; i < replies->num; i++) {
		const struct llm_outcome *outcome = &replies->of[i].outcome;

		if (!outcome->impossible[0] &&
		    (best == replies->num ||
		     outcome->answer.tokens_per_s_gpu >
			     replies->of[best].outcome.answer.tokens_per_s_gpu))
			best = i;
	}
	return best;
}

/* ---- conditions --------------------------------------------------------- */

static json_t *conditions_of(const struct llm_reply *reply)
{
	struct llm_outcome outcome = reply->outcome;

	/* What it would be as others count is for one. */
	outcome.answer.mfu = 0;
	return llm_conditions(&reply->question, &outcome);
}

/* Takes from `others` what is not as in `common`, and from common what is of
 * one alone. */
static void part(json_t *common, json_t *const *others, size_t num)
{
	const char *name;
	json_t *text;
	void *next;

	json_object_foreach_safe(common, next, name, text)
	{
		bool alike = true;

		for (size_t i = 0; i < num; i++)
			alike = alike &&
				json_equal(text,
					   json_object_get(others[i], name));
		for (size_t i = 0; alike && i < num; i++)
			json_object_del(others[i], name);
		if (!alike)
			json_object_del(common, name);
	}
}

json_t *llm_common_conditions(const struct llm_replies *replies)
{
	const size_t num = replies->num;
	json_t *common = conditions_of(&replies->of[0]), *text;
	json_t **all = calloc(num, sizeof *all);
	const char *name;
	char key[600];

	if (num == 1) {
		free(all);
		json_decref(common);
		return llm_conditions(&replies->of[0].question,
				      &replies->of[0].outcome);
	}
	for (size_t i = 0; all && i < num; i++)
		all[i] = conditions_of(&replies->of[i]);
	if (all)
		part(common, all, num);
	for (size_t i = 0; all && i < num; i++) {
		/* The layout says it, too. */
		json_object_del(all[i], "batch");
		json_object_foreach(all[i], name, text)
		{
			snprintf(key, sizeof key, "%s of ", name);
			describe(replies, i, key + strlen(key),
				 sizeof key - strlen(key));
			if (num <= SIDE_BY_SIDE)
				json_object_set(common, key, text);
		}
		json_decref(all[i]);
	}
	free(all);
	return common;
}

/* ---- parts -------------------------------------------------------------- */

/* Parts that no answer has are left out. */
static int print_parts(const struct llm_replies *replies, enum dist__form form,
		       FILE *out)
{
	char columns[64 + SIDE_BY_SIDE * 512] = "part|ms of a step";
	struct llm_part parts[SIDE_BY_SIDE][LLM_PARTS];
	struct dist__rows rows = {.columns = columns};
	size_t num = 0;

	for (size_t i = 0; i < replies->num; i++) {
		char text[512];

		num = llm_parts_of(&replies->of[i].outcome, parts[i]);
		describe(replies, i, text, sizeof text);
		(void)dist__append(columns, sizeof columns, ";%s", text);
	}
	for (size_t p = 0; p < num; p++) {
		struct dist__cell cells[1 + SIDE_BY_SIDE] = {
			cell_text(parts[0][p].name)};
		bool any = false;

		for (size_t i = 0; i < replies->num; i++) {
			cells[1 + i] = cell_fixed(1, parts[i][p].ns / 1e6);
			any = any || parts[i][p].ns > 0;
		}
		if (any)
			dist__rows_add(&rows, cells, 1 + replies->num);
	}
	return dist__rows_section(&rows, "", form, out);
}

/* Whether parts of all answers are of the same kinds. */
static bool are_of_one_kind(const struct llm_replies *replies)
{
	for (size_t i = 1; i < replies->num; i++)
		if ((replies->of[i].outcome.fidelity ==
		     DIST__FIDELITY_FORMULA) !=
		    (replies->of[0].outcome.fidelity == DIST__FIDELITY_FORMULA))
			return false;
	return true;
}

void llm_describe_loss(const struct llm_part *first,
		       const struct llm_part *second, size_t num, char *text,
		       size_t size)
{
	double differ[LLM_PARTS] = {0}, loss = 0, step = 0;

	for (size_t i = 0; i < num; i++) {
		differ[i] = second[i].ns - first[i].ns;
		loss += differ[i];
		step += first[i].ns;
	}
	snprintf(text, size, "%.1f ms a step, %.1f %%", loss / 1e6,
		 100 * loss / step);
	for (int named = 0; named < 4; named++) {
		size_t most = 0;

		for (size_t i = 0; i < num; i++)
			if (fabs(differ[i]) > fabs(differ[most]))
				most = i;
		if (fabs(differ[most]) < 5e4)
			break;
		(void)dist__append(text, size, "%s %s %+.1f ms",
				   named ? "," : ":", first[most].name,
				   differ[most] / 1e6);
		differ[most] = 0;
	}
}

/* ---- in words ----------------------------------------------------------- */

static double tokens_of(const struct llm_outcome *outcome)
{
	return (double)outcome->layout.global_batch * outcome->layout.seq /
	       outcome->layout.gpus;
}

/* What one loses against the best. */
static void print_loss(const struct llm_replies *replies, size_t best, size_t i,
		       FILE *out)
{
	const struct llm_outcome *a = &replies->of[best].outcome;
	const struct llm_outcome *b = &replies->of[i].outcome;
	struct llm_part first[LLM_PARTS], second[LLM_PARTS];
	size_t num = llm_parts_of(a, first);
	char name[512], text[512];

	describe(replies, i, name, sizeof name);
	if (b->impossible[0]) {
		fprintf(out, "%s: impossible: %s\n", name, b->impossible);
	} else if (tokens_of(a) != tokens_of(b) ||
		   num != llm_parts_of(b, second)) {
		fprintf(out, "%s: %.1f %% fewer\n", name,
			100 - 100 * b->answer.tokens_per_s_gpu /
					a->answer.tokens_per_s_gpu);
	} else {
		llm_describe_loss(first, second, num, text, sizeof text);
		fprintf(out, "%s: %s%s\n", name,
			b->answer.step_ns > a->answer.step_ns ? "loses "
							      : "the same step",
			b->answer.step_ns > a->answer.step_ns ? text : "");
	}
}

/* Adds what calls along an axis take to those within nodes or between. */
static void add_calls(const struct llm_outcome *outcome, enum llm_axis axis,
		      double ns[2], char names[2][64])
{
	const struct llm_group group = llm_layout_group(
		&outcome->layout, axis, outcome->fabric.node_ranks);
	const int between = group.ranks > group.node_ranks;
	const double more = outcome->answer.breakdown.exposed_ns[axis];

	ns[between] += more;
	if (more > 0)
		(void)dist__append(names[between], sizeof names[between],
				   "%s%s", *names[between] ? ", " : " (",
				   llm_axis_name(axis));
}

/* What bounds the best: how much a faster card could save at most. */
static void print_bound(const struct llm_outcome *outcome, FILE *out)
{
	const double percent = 100 / outcome->answer.step_ns;
	const struct llm_breakdown *b = &outcome->answer.breakdown;
	double ns[2] = {0}, kernels = b->recompute_ns;
	char names[2][64] = {"", ""};

	if (outcome->fidelity != DIST__FIDELITY_FORMULA) {
		fprintf(out,
			"its step: computing %.1f %%, exposed calls %.1f %%\n",
			percent * (double)outcome->simulated.compute_ns,
			percent * (double)outcome->simulated.exposed_ns);
		return;
	}
	for (int a = 0; a < LLM_AXES; a++)
		add_calls(outcome, (enum llm_axis)a, ns, names);
	for (int k = 0; k < LLM_KINDS; k++)
		kernels += b->compute_ns[k];
	fprintf(out,
		"its step: kernels %.1f %%, exposed calls within nodes "
		"%.1f %%%s%s, between nodes %.1f %%%s%s, bubble %.1f %%\n",
		percent * kernels, percent * ns[0], names[0],
		*names[0] ? ")" : "", percent * ns[1], names[1],
		*names[1] ? ")" : "", percent * b->bubble_ns);
}

int llm_compare_print(const struct llm_replies *replies, enum dist__form form,
		      FILE *out)
{
	const size_t best = find_best(replies);
	int status = 0;
	char name[512];

	if (replies->num <= SIDE_BY_SIDE && are_of_one_kind(replies))
		status = print_parts(replies, form, out);
	fputc('\n', out);
	if (best < replies->num) {
		describe(replies, best, name, sizeof name);
		fprintf(out, "most tokens/s/GPU: %s\n", name);
		print_bound(&replies->of[best].outcome, out);
	} else {
		fprintf(out, "none is possible; lockstep plan searches for "
			     "layouts that are\n");
	}
	for (size_t i = 0; i < replies->num; i++)
		if (i != best)
			print_loss(replies, best < replies->num ? best : i, i,
				   out);
	return status;
}
