/* llm_ratio.c - pairs, ablations and searches of layouts. */
#include "model/validation/llm_ratio.h"

#include <math.h>
#include <string.h>

/* Tokens a second and GPU, if the step takes ns. */
static double rate(const struct llm_case *of, double ns)
{
	return (double)of->layout.global_batch * of->layout.seq /
	       of->layout.gpus / ns;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool comparable(const struct llm_case *a, const struct llm_case *b)
{
	return llm_case_same_model(a, b) &&
	       strcmp(a->row->task, b->row->task) == 0 &&
	       same_text(a->row->version, b->row->version) &&
	       (!a->row->group || same_text(a->row->group, b->row->group));
}

struct llm_pairs llm_ratio_pairs(const struct llm_set *set, const double *ns)
{
	struct llm_pairs pairs = {.num = 0};

	for (size_t i = 0; i < set->num; i++)
		for (size_t k = 0; k < i; k++) {
			const struct llm_case *a = &set->cases[i];
			const struct llm_case *b = &set->cases[k];
			double measured = rate(a, a->measured_ns) /
					  rate(b, b->measured_ns);

			if (!comparable(a, b) || isnan(ns[i]) || isnan(ns[k]) ||
			    fabs(log(measured)) < log(1 + LLM_RATIO_APART))
				continue;
			pairs.num++;
			pairs.right += (rate(a, ns[i]) > rate(b, ns[k])) ==
				       (measured > 1);
		}
	return pairs;
}

struct llm_ablations llm_ratio_ablations(const struct llm_set *set,
					 const double *ns, const char *source)
{
	struct llm_ablations sum = {.num = 0};

	for (size_t i = 0; i < set->num; i++) {
		const struct llm_case *of = &set->cases[i];
		size_t first = 0;
		double off;

		if (strcmp(of->source, source) != 0)
			continue;
		while (!same_text(set->cases[first].row->group,
				  of->row->group) ||
		       strcmp(set->cases[first].source, source) != 0)
			first++;
		if (first == i)
			continue;
		off = fabs(ns[first] / ns[i] -
			   set->cases[first].measured_ns / of->measured_ns);
		sum.num++;
		sum.close += off <= 0.05;
		sum.worst = fmax(sum.worst, off);
	}
	return sum;
}

/* Two layouts of one search. */
static bool rival(const struct llm_case *a, const struct llm_case *b)
{
	return comparable(a, b) && same_text(a->row->group, b->row->group);
}

/* Whether no case before i is of its search. */
static bool begins_search(const struct llm_set *set, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (rival(&set->cases[k], &set->cases[i]))
			return false;
	return true;
}

static void add_search(const struct llm_set *set, const double *ns, size_t i,
		       struct llm_searches *sum)
{
	size_t best = i, first = i, before = 0, num = 0;

	for (size_t k = i; k < set->num; k++) {
		const struct llm_case *of = &set->cases[k];

		if (!rival(of, &set->cases[i]) || isnan(ns[k]))
			continue;
		num++;
		if (rate(of, of->measured_ns) >
		    rate(&set->cases[best], set->cases[best].measured_ns))
			best = k;
		if (rate(of, ns[k]) > rate(&set->cases[first], ns[first]))
			first = k;
	}
	if (num < 4)
		return;
	for (size_t k = i; k < set->num; k++)
		before += rival(&set->cases[k], &set->cases[i]) &&
			  rate(&set->cases[k], ns[k]) >
				  rate(&set->cases[best], ns[best]);
	sum->num++;
	sum->first_three += before < 3;
	sum->worst_loss = fmax(
		sum->worst_loss,
		1 - rate(&set->cases[first], set->cases[first].measured_ns) /
				rate(&set->cases[best],
				     set->cases[best].measured_ns));
}

struct llm_searches llm_ratio_searches(const struct llm_set *set,
				       const double *ns, const char *source)
{
	struct llm_searches sum = {.num = 0};

	for (size_t i = 0; i < set->num; i++)
		if (strcmp(set->cases[i].source, source) == 0 &&
		    set->cases[i].row->group && begins_search(set, i))
			add_search(set, ns, i, &sum);
	return sum;
}
