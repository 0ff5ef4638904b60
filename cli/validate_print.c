/* validate_print.c - errors by table, for people. */
#include <stdlib.h>

#include "cli/validate.h"

/* ---- errors by table -------------------------------------------------- */

static void add_table(struct columns *columns,
		      const struct validate_table *table, double *scratch)
{
	const struct outcome *outcome = &table->outcome;
	struct accuracy all, fit;

	all = outcome_accuracy(outcome, ACCURACY_ALL, scratch);
	fit = outcome_fit_accuracy(outcome, ACCURACY_ALL, scratch);
	columns_add(columns, "%s", table->name);
	columns_add(columns, "%zu", all.num);
	validate_add_percent(columns, all.num, all.median);
	validate_add_percent(columns, all.num, all.p90);
	validate_add_percent(columns, all.num, all.worst);
	for (int r = 0; r < ACCURACY_ALL; r++) {
		struct accuracy part = outcome_accuracy(
			outcome, (enum accuracy_range)r, scratch);

		validate_add_percent(columns, part.num, part.median);
	}
	validate_add_percent(columns, fit.num, fit.median);
	validate_add_percent(columns, fit.num, fit.p90);
	columns_add(columns, "%s",
		    !all.num                 ? "-"
		    : accuracy_is_good(&all) ? "yes"
					     : "no");
}

static int print_errors(const struct validate *validate, bool markdown,
			FILE *out)
{
	static const char *const names[] = {
		"table",         ">rows",      ">median %",  ">p90 %",
		">worst %",      ">to 32 KiB", ">to 64 MiB", ">above",
		">fit median %", ">fit p90 %", "good",       NULL};
	struct columns columns;

	columns_init(&columns, names);
	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *table = &validate->tables[i];
		double *scratch =
			calloc(table->outcome.num + 1, sizeof(*scratch));

		if (!scratch)
			columns.failed = 1;
		else if (table->outcome.num > 0)
			add_table(&columns, table, scratch);
		free(scratch);
	}
	return validate_print_columns(&columns, markdown, out);
}

/* ---- crossovers ------------------------------------------------------- */

static void add_bytes(struct columns *columns, double bytes)
{
	if (bytes > 0)
		columns_add(columns, "%.3g MiB", bytes / (1 << 20));
	else
		columns_add(columns, "none");
}

static int print_crossovers(const struct validate *validate, bool markdown,
			    FILE *out)
{
	static const char *const names[] = {"table", ">predicted", ">measured",
					    ">ratio", NULL};
	struct columns columns;
	int rc = 0;

	columns_init(&columns, names);
	for (size_t i = 0; i < validate->num; i++) {
		struct crossover found;

		if (!crossover_find(&validate->tables[i].outcome, &found))
			continue;
		columns_add(&columns, "%s", validate->tables[i].name);
		add_bytes(&columns, found.predicted_bytes);
		add_bytes(&columns, found.measured_bytes);
		if (found.predicted_bytes > 0 && found.measured_bytes > 0)
			columns_add(&columns, "%.2f",
				    found.predicted_bytes /
					    found.measured_bytes);
		else
			columns_add(&columns, "-");
	}
	if (columns.used > 0) {
		fputs("\nFrom which size on the ring beats the tree:\n\n", out);
		rc = validate_print_columns(&columns, markdown, out);
	} else {
		columns_release(&columns);
	}
	return rc;
}

/* ---- words ------------------------------------------------------------ */

static void print_choices(const struct validate *validate, bool markdown,
			  FILE *out)
{
	bool begun = false;
	char text[512];

	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *table = &validate->tables[i];

		outcome_choices(&table->outcome, text, sizeof(text));
		if (!text[0])
			continue;
		if (!begun)
			fputs("\nWhat the libraries are predicted to choose, "
			      "to "
			      "which size:\n\n",
			      out);
		begun = true;
		fprintf(out, "%s%s: %s\n", markdown ? "- " : "", table->name,
			text);
	}
}

static const struct left_out *left_out_of(const struct validate_table *table)
{
	return table->is_steps ? &table->step_outcome.left_out
			       : &table->outcome.left_out;
}

static void print_left_out(const struct validate *validate, bool markdown,
			   FILE *out)
{
	bool begun = false;

	for (size_t i = 0; i < validate->num; i++) {
		const struct left_out *left_out =
			left_out_of(&validate->tables[i]);

		if (left_out->num && !begun)
			fputs("\nLeft out:\n\n", out);
		begun = begun || left_out->num;
		for (size_t r = 0; r < left_out->num_reasons; r++)
			fprintf(out, "%s%s: %zu rows: %s\n",
				markdown ? "- " : "", validate->tables[i].name,
				left_out->reasons[r].num,
				left_out->reasons[r].text);
	}
}

static void print_range(const struct validate_summary *summary,
			enum accuracy_range range, const char *words, FILE *out)
{
	if (summary->ranges[range].num)
		fprintf(out, ", %s %.1f %%", words,
			100 * summary->ranges[range].median);
}

static int print_summary(const struct validate *validate, FILE *out)
{
	struct validate_summary summary;
	const struct accuracy *all = &summary.ranges[ACCURACY_ALL];

	if (validate_summarize(validate, &summary))
		return -1;
	if (!summary.tables)
		return 0;
	fprintf(out,
		"\nCollectives: %zu of %zu tables hold median <= %g %% and p90 "
		"<= %g %%. "
		"Medians over tables: median %.1f %%, p90 %.1f %%",
		summary.good, summary.tables, 100 * ACCURACY_GOOD_MEDIAN,
		100 * ACCURACY_GOOD_P90, 100 * all->median, 100 * all->p90);
	print_range(&summary, ACCURACY_SMALL, "median to 32 KiB", out);
	print_range(&summary, ACCURACY_MIDDLE, "to 64 MiB", out);
	print_range(&summary, ACCURACY_LARGE, "above", out);
	fprintf(out,
		". The fit of two numbers that has seen the rows: median %.1f "
		"%%, p90 %.1f %%.\n",
		100 * summary.fit.median, 100 * summary.fit.p90);
	return 0;
}

int validate_print(const struct validate *validate, bool markdown, FILE *out)
{
	if (print_errors(validate, markdown, out) ||
	    print_crossovers(validate, markdown, out) ||
	    validate_print_steps(validate, markdown, out))
		return -1;
	print_choices(validate, markdown, out);
	validate_print_bases(validate, markdown, out);
	print_left_out(validate, markdown, out);
	return print_summary(validate, out);
}
