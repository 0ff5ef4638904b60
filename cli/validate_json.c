/* validate_json.c - errors by table, for machines. */
#include <stdlib.h>

#include <jansson.h>

#include "cli/validate.h"

/* ---- JSON ------------------------------------------------------------- */

static json_t *accuracy_json(struct accuracy accuracy)
{
	if (!accuracy.num)
		return json_null();
	return json_pack("{s:I, s:f, s:f, s:f}", "rows",
			 (json_int_t)accuracy.num, "median", accuracy.median,
			 "p90", accuracy.p90, "worst", accuracy.worst);
}

static json_t *crossover_json(const struct outcome *outcome)
{
	struct crossover found;

	if (!crossover_find(outcome, &found))
		return json_null();
	return json_pack("{s:f, s:f}", "predicted_bytes", found.predicted_bytes,
			 "measured_bytes", found.measured_bytes);
}

static json_t *table_json(const struct validate_table *table)
{
	static const char *const ranges[] = {"to_32KiB", "to_64MiB", "above"};
	const struct outcome *outcome = &table->outcome;
	double *scratch = calloc(outcome->num + 1, sizeof(*scratch));
	json_t *object = scratch ? json_object() : NULL;
	char choices[512];

	if (object) {
		outcome_choices(outcome, choices, sizeof(choices));
		json_object_set_new(object, "name", json_string(table->name));
		json_object_set_new(object, "error",
				    accuracy_json(outcome_accuracy(
					    outcome, ACCURACY_ALL, scratch)));
		for (int r = 0; r < ACCURACY_ALL; r++)
			json_object_set_new(
				object, ranges[r],
				accuracy_json(outcome_accuracy(
					outcome, (enum accuracy_range)r,
					scratch)));
		json_object_set_new(object, "fit",
				    accuracy_json(outcome_fit_accuracy(
					    outcome, ACCURACY_ALL, scratch)));
		json_object_set_new(object, "crossover",
				    crossover_json(outcome));
		json_object_set_new(object, "choices", json_string(choices));
		json_object_set_new(
			object, "left_out",
			json_integer((json_int_t)outcome->left_out.num));
	}
	free(scratch);
	return object;
}

static json_t *steps_json(const struct validate_table *table)
{
	const struct step_outcome *outcome = &table->step_outcome;
	struct step_order order = step_outcome_order(outcome);
	double *scratch = calloc(outcome->num + 1, sizeof(*scratch));
	json_t *schedules = json_object();

	for (int i = 0; scratch && i < STREAM_SCHEDULES; i++) {
		enum stream_schedule schedule = (enum stream_schedule)i;
		struct accuracy part =
			step_outcome_accuracy(outcome, schedule, scratch);

		if (part.num)
			json_object_set_new(schedules,
					    stream_schedule_name(schedule),
					    accuracy_json(part));
	}
	free(scratch);
	return json_pack("{s:s, s:o, s:I, s:I, s:I}", "name", table->name,
			 "schedules", schedules, "pairs",
			 (json_int_t)order.pairs, "pairs_right",
			 (json_int_t)order.right, "left_out",
			 (json_int_t)outcome->left_out.num);
}

int validate_print_json(const struct validate *validate, FILE *out)
{
	json_t *tables = json_array(), *steps = json_array(), *all;
	struct validate_summary summary;
	int status = validate_summarize(validate, &summary);

	for (size_t i = 0; i < validate->num; i++) {
		const struct validate_table *table = &validate->tables[i];

		if (table->wanted && table->is_steps)
			status |=
				json_array_append_new(steps, steps_json(table));
		else if (table->wanted)
			status |= json_array_append_new(tables,
							table_json(table));
	}
	all = json_pack("{s:o, s:o, s:{s:I, s:I, s:o, s:o}}", "tables", tables,
			"steps", steps, "summary", "tables",
			(json_int_t)summary.tables, "good",
			(json_int_t)summary.good, "medians",
			accuracy_json(summary.ranges[ACCURACY_ALL]),
			"fit_medians", accuracy_json(summary.fit));
	if (!all || status)
		status = -1;
	else
		status = json_dumpf(all, out,
				    JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	json_decref(all);
	if (!status)
		fputc('\n', out);
	return status;
}
