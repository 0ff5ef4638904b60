/* validate_steps.c - errors of training steps, by table and schedule. */
#include <stdlib.h>

#include "cli/validate.h"

/* What all tables of steps say together. */
struct counts {
	size_t parts, good; /* schedules of tables, and those within bounds */
	struct step_order order;
};

static void add_schedule(struct columns *columns, struct counts *counts,
			 const struct validate_table *table,
			 enum stream_schedule schedule, double *scratch)
{
	struct accuracy part =
		step_outcome_accuracy(&table->step_outcome, schedule, scratch);
	double goal = validate_goal(schedule);

	if (!part.num)
		return;
	counts->parts++;
	counts->good += part.median <= goal;
	columns_add(columns, "%s", table->name);
	columns_add(columns, "%s", stream_schedule_name(schedule));
	columns_add(columns, "%zu", part.num);
	validate_add_percent(columns, part.num, part.median);
	validate_add_percent(columns, part.num, part.p90);
	validate_add_percent(columns, part.num, part.worst);
	columns_add(columns, "%g", 100 * goal);
	columns_add(columns, "%s", part.median <= goal ? "yes" : "no");
}

static void add_table(struct columns *columns, struct counts *counts,
		      const struct validate_table *table)
{
	struct step_order order = step_outcome_order(&table->step_outcome);
	double *scratch = calloc(table->step_outcome.num + 1, sizeof(*scratch));

	if (!scratch)
		columns->failed = 1;
	for (int i = 0; scratch && i < STREAM_SCHEDULES; i++)
		add_schedule(columns, counts, table, (enum stream_schedule)i,
			     scratch);
	counts->order.pairs += order.pairs;
	counts->order.right += order.right;
	free(scratch);
}

int validate_print_steps(const struct validate *validate, bool markdown,
			 FILE *out)
{
	static const char *const names[] = {"steps",     "schedule", ">rows",
					    ">median %", ">p90 %",   ">worst %",
					    ">bound %",  "good",     NULL};
	struct counts counts = {0};
	struct columns columns;

	columns_init(&columns, names);
	for (size_t i = 0; i < validate->num; i++)
		add_table(&columns, &counts, &validate->tables[i]);
	if (counts.parts > 0)
		fputc('\n', out);
	else if (!columns.failed)
		return 0;
	if (validate_print_columns(&columns, markdown, out))
		return -1;
	fprintf(out,
		"\nSteps: %zu of %zu schedules of tables hold their bound by "
		"median",
		counts.good, counts.parts);
	if (counts.order.pairs > 0)
		fprintf(out,
			"; of %zu pairs of schedules that differ by more than "
			"two standard deviations the faster one is predicted "
			"right in %zu",
			counts.order.pairs, counts.order.right);
	fputs(".\n", out);
	return 0;
}
