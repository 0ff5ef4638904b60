#include "cli/study_point.h"

#include <string.h>

#include "base/refuse.h"
#include "base/text.h"

/* Writes all values of an axis, separated by commas. */
static void join(const struct study_axis *axis, char *text, size_t size)
{
	*text = '\0';
	for (size_t i = 0; i < axis->num_values; i++)
		(void)dist__append(text, size, "%s%s", i ? "," : "",
				   axis->values[i].text);
}

/* What predict has options for, but a study does not. */
static bool is_for_studies(const char *name)
{
	static const char *const others[] = {"json",  "markdown", "tsv",
					     "trace", "picture",  "dry-run"};

	return !DIST__NAMED(others, name);
}

/* Whether what is asked of that workload and model takes the option; NULL: the
 * usual one. What is unknown is refused with its points. */
static bool takes(const char *workload, const char *model, const char *name)
{
	const struct option_group *group;
	struct prediction_refusal refusal;
	struct predict_options options;
	struct manual manual;

	if (predict_options_init(&options, workload, model, &refusal))
		return true;
	manual = predict_manual(&options);
	return option_find(&manual, name, strlen(name), &group) != NULL;
}

/* Value v of an axis, which may not be there. */
static const char *value_at(const struct study *study, size_t axis, size_t v)
{
	return axis < study->num_axes ? study->axes[axis].values[v].text : NULL;
}

static size_t num_values(const struct study *study, size_t axis)
{
	return axis < study->num_axes ? study->axes[axis].num_values : 1;
}

bool study_takes(const struct study *study, const char *name)
{
	size_t workload = study_axis(study, "workload");
	size_t model = study_axis(study, "model");

	for (size_t w = 0; w < num_values(study, workload); w++)
		for (size_t m = 0; m < num_values(study, model); m++)
			if (is_for_studies(name) &&
			    takes(value_at(study, workload, w),
				  value_at(study, model, m), name))
				return true;
	return false;
}

/* Reads the value of one axis, which not every kind of step need take. */
static enum dist_error read_value(struct study_point *result,
				  const struct study_axis *axis,
				  const char *text,
				  struct prediction_refusal *refusal)
{
	const struct manual manual = predict_manual(&result->options);
	const struct option_group *group;
	const struct option *option;

	option = option_find(&manual, axis->name, strlen(axis->name), &group);
	if (!option)
		return dist__refuse(&refusal->message,
				    "--%s: unknown option of %s", axis->name,
				    result->options.language ? "language models"
							     : manual.taker);
	return option_set(&manual, &result->options, group, option, text,
			  &refusal->message)
		       ? DIST_OK
		       : DIST_ERR_INVALID_ARGUMENT;
}

/* A point's value of a key; NULL: the study has none. */
static const char *value_of(const struct study *study, size_t point,
			    const char *name)
{
	size_t axis = study_axis(study, name);

	return axis < study->num_axes ? study_value(study, point, axis) : NULL;
}

enum dist_error study_point_read(struct study_point *result,
				 const struct study *study, size_t point,
				 bool together,
				 struct prediction_refusal *refusal)
{
	enum dist_error error = predict_options_init(
		&result->options, value_of(study, point, "workload"),
		value_of(study, point, "model"), refusal);

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
