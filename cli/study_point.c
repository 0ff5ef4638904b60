#include "cli/study_point.h"

#include <stdio.h>
#include <string.h>

#include "base/refuse.h"
#include "cli/command.h"

/* Writes all values of an axis, separated by commas. */
static void join(const struct study_axis *axis, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < axis->num_values && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i ? "," : "", axis->values[i].text);
}

/* What predict has options for, but a study does not. */
static bool is_for_studies(const char *name)
{
	static const char *const others[] = {"json", "markdown", "tsv", "trace",
					     "dry-run"};

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(others[i], name) == 0)
			return false;
	return true;
}

bool study_takes(const struct study *study, const char *name)
{
	size_t axis = study_axis(study, "workload"), num = 1;
	struct manual manual = manual_predict;
	const struct option_group *group;

	if (!is_for_studies(name))
		return false;
	manual.taker = workload_ddp_step.name;
	if (axis < study->num_axes)
		num = study->axes[axis].num_values;
	for (size_t v = 0; v < num; v++) {
		if (axis < study->num_axes)
			manual.taker = study->axes[axis].values[v].text;
		/* An unknown workload is refused with its points. */
		if (!workload_find(manual.taker) ||
		    option_find(&manual, name, strlen(name), &group))
			return true;
	}
	return false;
}

/* Reads the value of one axis, which not every kind of step need take. */
static enum dist_error read_value(struct study_point *result,
				  const struct study_axis *axis,
				  const char *text,
				  struct prediction_refusal *refusal)
{
	struct manual manual = manual_predict;
	const struct option_group *group;
	const struct option *option;

	manual.taker = result->options.workload->name;
	option = option_find(&manual, axis->name, strlen(axis->name), &group);
	if (!option)
		return dist__refuse(&refusal->message,
				    "--%s: unknown option of %s", axis->name,
				    manual.taker);
	return option_set(&manual, &result->options, group, option, text,
			  &refusal->message)
		       ? DIST_OK
		       : DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error study_point_read(struct study_point *result,
				 const struct study *study, size_t point,
				 bool together,
				 struct prediction_refusal *refusal)
{
	size_t workload = study_axis(study, "workload");
	enum dist_error error = predict_options_init(
		&result->options,
		workload < study->num_axes ? study_value(study, point, workload)
					   : NULL,
		refusal);

	for (size_t i = 0; i < study->num_axes && !error; i++) {
		const struct study_axis *axis = &study->axes[i];
		const char *text = study_value(study, point, i);

		refusal->option = axis->name;
		refusal->number = 0;
		if (together && strcmp(axis->name, STUDY_TOGETHER) == 0) {
			join(axis, result->sizes, sizeof result->sizes);
			text = result->sizes;
		}
		error = read_value(result, axis, text, refusal);
	}
	result->options.form.json = true;
	result->options.no_explain = true;
	return error;
}
