/* validate_summary.c - what all tables say together. */
#include <stdlib.h>

#include "cli/validate.h"

/* Numbers by table, and room for those of one. */
struct lists {
	double *medians, *p90s, *scratch;
	size_t num;
};

double validate_goal(enum stream_schedule schedule)
{
	return stream_overlaps(schedule) ? 0.12 : 0.07;
}

static void add(struct lists *lists, struct accuracy one)
{
	if (!one.num)
		return;
	lists->medians[lists->num] = one.median;
	lists->p90s[lists->num++] = one.p90;
}

/* Empties the lists. */
static struct accuracy middle(struct lists *lists)
{
	struct accuracy medians = accuracy_of(lists->medians, lists->num);
	struct accuracy p90s = accuracy_of(lists->p90s, lists->num);

	lists->num = 0;
	medians.p90 = p90s.median;
	return medians;
}

static struct accuracy of_range(const struct validate *validate,
				struct lists *lists, enum accuracy_range range)
{
	for (size_t i = 0; i < validate->num; i++)
		add(lists, outcome_accuracy(&validate->tables[i].outcome, range,
					    lists->scratch));
	return middle(lists);
}

static struct accuracy of_fit(const struct validate *validate,
			      struct lists *lists)
{
	for (size_t i = 0; i < validate->num; i++)
		add(lists, outcome_fit_accuracy(&validate->tables[i].outcome,
						ACCURACY_ALL, lists->scratch));
	return middle(lists);
}

static void count(const struct validate *validate, struct lists *lists,
		  struct validate_summary *summary)
{
	for (size_t i = 0; i < validate->num; i++) {
		struct accuracy all =
			outcome_accuracy(&validate->tables[i].outcome,
					 ACCURACY_ALL, lists->scratch);

		summary->tables += all.num > 0;
		summary->good += accuracy_is_good(&all);
	}
}

static void add_steps(const struct step_outcome *outcome, double *scratch,
		      struct validate_summary *summary)
{
	for (int s = 0; s < STREAM_SCHEDULES; s++) {
		struct accuracy part = step_outcome_accuracy(
			outcome, (enum stream_schedule)s, scratch);

		if (part.num && part.median > summary->worst_steps)
			summary->worst_steps = part.median;
	}
}

/* The most rows of one table. */
static size_t most_rows(const struct validate *validate)
{
	size_t most = 0;

	for (size_t i = 0; i < validate->num; i++) {
		size_t rows = validate->tables[i].outcome.num +
			      validate->tables[i].step_outcome.num;

		most = rows > most ? rows : most;
	}
	return most;
}

int validate_summarize(const struct validate *validate,
		       struct validate_summary *summary)
{
	size_t num = validate->num;
	double *memory =
		calloc(2 * num + most_rows(validate) + 1, sizeof(*memory));
	struct lists lists = {.medians = memory};

	*summary = (struct validate_summary){.tables = 0};
	if (!memory)
		return -1;
	lists.p90s = memory + num;
	lists.scratch = memory + 2 * num;
	count(validate, &lists, summary);
	for (int r = 0; r < ACCURACY_RANGES; r++)
		summary->ranges[r] =
			of_range(validate, &lists, (enum accuracy_range)r);
	summary->fit = of_fit(validate, &lists);
	for (size_t i = 0; i < num; i++)
		add_steps(&validate->tables[i].step_outcome, lists.scratch,
			  summary);
	free(memory);
	return 0;
}
