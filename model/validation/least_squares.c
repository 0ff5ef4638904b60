/* least_squares.c - Levenberg and Marquardt, with derivatives by differences:
 * the normal equations are dense, their columns reach few rows. */
#include "model/validation/least_squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TURNS        60
#define DIFFERENCE   1e-4 /* of a number, for its derivative */
#define ENOUGH       1e-4 /* of the sum: what another turn must gain */
#define MOST_DAMPING 1e8

struct work {
	const struct least_squares *problem;
	double *r, *r_next;      /* residuals; of the numbers that are tried */
	double *columns;         /* derivatives, num x num_rows */
	double *normal, *factor; /* num x num */
	double *gradient, *step, *next;
};

/* The weight that a row has in the squares which touch the sum here. */
static double pull(double weight, double r)
{
	return weight / sqrt(1 + r * r);
}

static double sum_of(const struct least_squares *problem, const double *x,
		     const double *r)
{
	double sum = 0;

	for (size_t i = 0; i < problem->num_rows; i++)
		sum += problem->weights[i] * 2 * (sqrt(1 + r[i] * r[i]) - 1);
	for (size_t j = 0; j < problem->num; j++)
		sum += 2 * (sqrt(1 + x[j] * x[j]) - 1);
	return sum;
}

static void differentiate(struct work *work)
{
	const struct least_squares *problem = work->problem;

	memcpy(work->next, problem->x, problem->num * sizeof *work->next);
	for (size_t j = 0; j < problem->num; j++) {
		double *column = work->columns + j * problem->num_rows;
		size_t first = problem->first[j], last = problem->last[j];

		work->next[j] += DIFFERENCE;
		problem->residuals(problem->context, work->next, first, last,
				   work->r_next);
		work->next[j] = problem->x[j];
		for (size_t i = first; i < last; i++)
			column[i] = (work->r_next[i] - work->r[i]) / DIFFERENCE;
	}
}

/* The squares that touch the sum: their matrix, and half the sum's slope. */
static void linearize(struct work *work)
{
	const struct least_squares *problem = work->problem;
	size_t num = problem->num, rows = problem->num_rows;

	for (size_t j = 0; j < num; j++) {
		const double *a = work->columns + j * rows;

		work->gradient[j] = pull(1, problem->x[j]) * problem->x[j];
		for (size_t i = problem->first[j]; i < problem->last[j]; i++)
			work->gradient[j] +=
				pull(problem->weights[i], work->r[i]) * a[i] *
				work->r[i];
		for (size_t k = 0; k <= j; k++) {
			const double *b = work->columns + k * rows;
			size_t first = problem->first[j];
			size_t last = problem->last[j];
			double sum = j == k ? pull(1, problem->x[j]) : 0;

			if (problem->first[k] > first)
				first = problem->first[k];
			if (problem->last[k] < last)
				last = problem->last[k];
			for (size_t i = first; i < last; i++)
				sum += pull(problem->weights[i], work->r[i]) *
				       a[i] * b[i];
			work->normal[j * num + k] = sum;
		}
	}
}

/* The step that leads to the least of the squares, by Cholesky's factors of
 * their matrix, its diagonal larger by a share. */
static void take_step(struct work *work, double damping)
{
	size_t num = work->problem->num;
	double *l = work->factor, *s = work->step;

	for (size_t j = 0; j < num; j++)
		for (size_t k = 0; k <= j; k++) {
			double sum = work->normal[j * num + k];

			if (j == k)
				sum *= 1 + damping;
			for (size_t i = 0; i < k; i++)
				sum -= l[j * num + i] * l[k * num + i];
			l[j * num + k] =
				j == k ? sqrt(sum) : sum / l[k * num + k];
		}
	for (size_t j = 0; j < num; j++) {
		s[j] = -work->gradient[j];
		for (size_t i = 0; i < j; i++)
			s[j] -= l[j * num + i] * s[i];
		s[j] /= l[j * num + j];
	}
	for (size_t j = num; j-- > 0;) {
		for (size_t i = j + 1; i < num; i++)
			s[j] -= l[i * num + j] * s[i];
		s[j] /= l[j * num + j];
	}
	for (size_t j = 0; j < num; j++)
		work->next[j] = work->problem->x[j] + s[j];
}

static void solve(struct work *work)
{
	const struct least_squares *problem = work->problem;
	double damping = 1e-3, sum;

	problem->residuals(problem->context, problem->x, 0, problem->num_rows,
			   work->r);
	sum = sum_of(problem, problem->x, work->r);
	for (int turn = 0; turn < TURNS; turn++) {
		double next = INFINITY;

		differentiate(work);
		linearize(work);
		while (!(next < sum) && damping < MOST_DAMPING) {
			take_step(work, damping);
			problem->residuals(problem->context, work->next, 0,
					   problem->num_rows, work->r_next);
			next = sum_of(problem, work->next, work->r_next);
			damping *= next < sum ? 0.2 : 5;
		}
		if (!(next < sum))
			return;
		memcpy(problem->x, work->next, problem->num * sizeof(double));
		memcpy(work->r, work->r_next,
		       problem->num_rows * sizeof(double));
		if (sum - next < ENOUGH * sum)
			return;
		sum = next;
	}
}

enum dist_error least_squares_solve(const struct least_squares *problem)
{
	size_t num = problem->num, rows = problem->num_rows;
	double *all =
		calloc((2 + num) * rows + (2 * num + 3) * num + 1, sizeof *all);
	struct work work = {.problem = problem, .r = all};

	if (!all)
		return DIST_ERR_NO_MEMORY;
	work.r_next = work.r + rows;
	work.columns = work.r_next + rows;
	work.normal = work.columns + num * rows;
	work.factor = work.normal + num * num;
	work.gradient = work.factor + num * num;
	work.step = work.gradient + num;
	work.next = work.step + num;
	solve(&work);
	free(all);
	return DIST_OK;
}
