/* llm_fit.c - the constants of steps of language models, fitted to measured
 * rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/validation/least_squares.h"
#include "model/validation/llm_set.h"

/* A row off by as much counts no more than in proportion: the spread between
 * releases of one software. */
#define FIRM 0.1

struct fit {
	const struct llm_set *set;
	const size_t *rows; /* cases */
	const double *weights;
	int numbers[LLM_CONSTANTS]; /* which constant each is */
	size_t num_numbers;
};

static void constants_at(const struct fit *fit, const double *x,
			 struct llm_constants *constants)
{
	const struct llm_constant_row *known = llm_constant_rows();

	*constants = *llm_constants_known();
	for (size_t n = 0; n < fit->num_numbers; n++) {
		int c = fit->numbers[n];

		constants->value[c] =
			known[c].start * exp(known[c].spread * x[n]);
	}
}

static void residuals(void *context, const double *x, size_t first, size_t last,
		      double *r)
{
	const struct fit *fit = context;
	struct llm_constants constants;

	constants_at(fit, x, &constants);
	for (size_t i = first; i < last; i++) {
		const struct llm_case *of = &fit->set->cases[fit->rows[i]];
		struct dist_message message;
		struct llm_answer answer;
		bool failed = llm_set_step(fit->set, fit->rows[i], &constants,
					   1, &answer, &message);

		r[i] = failed ? 0
			      : log(answer.step_ns / of->measured_ns) / FIRM;
	}
}

/* As much for each model of a source as for a row, and the root of as many. */
static double weight_of(const struct llm_set *set, size_t i)
{
	const struct llm_case *of = &set->cases[i];
	double like = 0;

	for (size_t k = 0; k < set->num; k++)
		like += strcmp(set->cases[k].source, of->source) == 0 &&
			strcmp(set->cases[k].model.name, of->model.name) == 0;
	return 1 / sqrt(like);
}

static enum dist_error solve(struct fit *fit, size_t num,
			     struct llm_constants *constants)
{
	size_t first[LLM_CONSTANTS], last[LLM_CONSTANTS];
	double x[LLM_CONSTANTS] = {0};
	const struct least_squares problem = {.num = fit->num_numbers,
					      .x = x,
					      .num_rows = num,
					      .weights = fit->weights,
					      .first = first,
					      .last = last,
					      .residuals = residuals,
					      .context = fit};
	enum dist_error error;

	for (size_t n = 0; n < fit->num_numbers; n++) {
		first[n] = 0;
		last[n] = num;
	}
	error = least_squares_solve(&problem);
	constants_at(fit, x, constants);
	return error;
}

enum dist_error llm_set_fit(const struct llm_set *set, const bool *without,
			    struct llm_constants *constants)
{
	size_t *rows = calloc(set->num + 1, sizeof *rows);
	double *weights = calloc(set->num + 1, sizeof *weights);
	struct fit fit = {.set = set, .rows = rows, .weights = weights};
	enum dist_error error = DIST_ERR_NO_MEMORY;
	size_t num = 0;

	for (int c = 0; c < LLM_CONSTANTS; c++)
		if (llm_constant_rows()[c].spread > 0)
			fit.numbers[fit.num_numbers++] = c;
	for (size_t i = 0; rows && weights && i < set->num; i++) {
		if (without && without[i])
			continue;
		weights[num] = weight_of(set, i);
		rows[num++] = i;
	}
	if (rows && weights)
		error = solve(&fit, num, constants);
	free(rows);
	free(weights);
	return error;
}
