/* validate_summary.c - what all tables say together. */
#include <math.h>
#include <stdlib.h>

#include "cli/validate.h"
#include "model/validation/interval.h"

#define AT(field) offsetof(struct validate_table, field)

double validate_goal(enum stream_schedule schedule)
{
	return stream_overlaps(schedule) ? 0.12 : 0.07;
}

/* Medians over tables, of the errors at offset in them; scratch has room for
 * two numbers a table. */
static struct accuracy middle(const struct validate *validate, size_t offset,
			      double *scratch)
{
	double *medians = scratch, *p90s = scratch + validate->num;
	struct accuracy result;
	size_t num = 0;

	for (size_t i = 0; i < validate->num; i++) {
		const struct accuracy *one =
			(const void *)((const char *)&validate->tables[i] +
				       offset);

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
	for (size_t r = 0; r < ACCURACY_RANGES; r++)
		summary->ranges[r] = middle(validate, AT(ranges[r]), scratch);
	for (size_t b = 0; b < VALIDATE_BLIND; b++)
		summary->blind[b] =
			middle(validate, AT(blind_errors[b]), scratch);
	summary->fit = middle(validate, AT(fit), scratch);
	free(scratch);
	return 0;
}
