/* validate_summary.c - what all tables say together. */
#include <stdlib.h>

#include "cli/validate.h"

double validate_goal(enum stream_schedule schedule)
{
	return stream_overlaps(schedule) ? 0.12 : 0.07;
}

/* Medians over tables, of what they have in a range of sizes, or, for
 * ACCURACY_RANGES, of the fit; scratch has room for two numbers a table. */
static struct accuracy middle(const struct validate *validate, int range,
			      double *scratch)
{
	double *medians = scratch, *p90s = scratch + validate->num;
	struct accuracy result;
	size_t num = 0;

	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *table = &validate->tables[i];
		const struct accuracy *one = range == ACCURACY_RANGES
						     ? &table->fit
						     : &table->ranges[range];

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
	summary->good += accuracy_is_good(all);
	for (int s = 0; s < STREAM_SCHEDULES; s++)
		if (table->schedules[s].num &&
		    table->schedules[s].median > summary->worst_steps)
			summary->worst_steps = table->schedules[s].median;
}

int validate_summarize(const struct validate *validate,
		       struct validate_summary *summary)
{
	double *scratch = calloc(2 * validate->num + 1, sizeof *scratch);

	*summary = (struct validate_summary){.tables = 0};
	if (!scratch)
		return -1;
	for (size_t i = 0; i < validate->num; i++)
		count(&validate->tables[i], summary);
	for (int r = 0; r < ACCURACY_RANGES; r++)
		summary->ranges[r] = middle(validate, r, scratch);
	summary->fit = middle(validate, ACCURACY_RANGES, scratch);
	free(scratch);
	return 0;
}
