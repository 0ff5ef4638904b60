/* validate_summary.c - what all tables say together. */
#include <math.h>
#include <stdlib.h>

#include "cli/validate.h"
#include "model/validation/interval.h"

double validate_goal(enum stream_schedule schedule)
{
	return stream_overlaps(schedule) ? 0.12 : 0.07;
}

/* What a table has that is summed up. */
typedef const struct accuracy *accuracy_part(const struct validate_table *table,
					     int index);

static const struct accuracy *range_part(const struct validate_table *table,
					 int index)
{
	return &table->ranges[index];
}

static const struct accuracy *blind_part(const struct validate_table *table,
					 int index)
{
	return &table->blind_errors[index];
}

static const struct accuracy *fit_part(const struct validate_table *table,
				       int index)
{
	(void)index;
	return &table->fit;
}

/* Medians over tables, of what they have; scratch has room for two numbers a
 * table. */
static struct accuracy middle(const struct validate *validate,
			      accuracy_part *part, int index, double *scratch)
{
	double *medians = scratch, *p90s = scratch + validate->num;
	struct accuracy result;
	size_t num = 0;

	for (size_t i = 0; i < validate->num; i++) {
		const struct accuracy *one = part(&validate->tables[i], index);

		if (!one->num)
			continue;
		medians[num] = one->median;
		p90s[num++] = one->p90;
	}
	result = accuracy_of(medians, num);
	result.p90 = accuracy_of(p90s, num).median;
	return result;
}

static void count(const struct validate_table *table,
		  struct validate_summary *summary)
{
	const struct accuracy *all = &table->ranges[ACCURACY_ALL];

	summary->tables += all->num > 0;
	summary->good += accuracy_is_good(all, false);
	summary->blind_good += accuracy_is_good(&table->blind_errors[0], true);
	for (int s = 0; s < STREAM_SCHEDULES; s++)
		if (table->schedules[s].num &&
		    table->schedules[s].median > summary->worst_steps)
			summary->worst_steps = table->schedules[s].median;
}

/* Returns 0, or -1: no memory. Where no errors are stored nothing is held. */
static int count_held(double held[3])
{
	struct intervals intervals;
	struct dist_message ignored;
	bool failed;

	if (intervals_load(&intervals, &ignored))
		return 0;
	failed = intervals_coverage(&intervals, false, false, &held[0]) ||
		 intervals_coverage(&intervals, false, true, &held[1]) ||
		 intervals_coverage(&intervals, true, false, &held[2]);
	dist__tsv_release(&intervals.tsv);
	return failed ? -1 : 0;
}

int validate_summarize(const struct validate *validate,
		       struct validate_summary *summary)
{
	double *scratch = calloc(2 * validate->num + 1, sizeof *scratch);

	*summary = (struct validate_summary){.held = {NAN, NAN, NAN}};
	if (!scratch || (validate->is_blind && count_held(summary->held))) {
		free(scratch);
		return -1;
	}
	for (size_t i = 0; i < validate->num; i++)
		count(&validate->tables[i], summary);
	for (int r = 0; r < ACCURACY_RANGES; r++)
		summary->ranges[r] = middle(validate, range_part, r, scratch);
	for (int b = 0; b < VALIDATE_BLIND; b++)
		summary->blind[b] = middle(validate, blind_part, b, scratch);
	summary->fit = middle(validate, fit_part, 0, scratch);
	free(scratch);
	return 0;
}
