#include "cli/study_point.h"

#include <stdio.h>
#include <stdlib.h>
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
	struct dist__refusal refusal;
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

bool study_varies_layout(const struct study *study)
{
	static const char *const names[] = {"tp",
					    "pp",
					    "cp",
					    "ep",
					    "shard",
					    "recompute",
					    "global-batch",
					    "micro-batch",
					    "gpus",
					    "world-size",
					    "ranks-per-node",
					    "machine"};

	for (size_t i = 0; i < study->num_axes; i++)
		if (study->axes[i].num_values > 1 &&
		    DIST__NAMED(names, study->axes[i].name))
			return true;
	return false;
}

/* Reads the value of one axis, which not every kind of step need take. */
static enum dist_error read_value(struct predict_options *options,
				  const struct study_axis *axis,
				  const char *text,
				  struct dist__refusal *refusal)
{
	const struct manual manual = predict_manual(options);
	const struct option_group *group;
	const struct option *option;

	refusal->option = axis->name;
	refusal->number = 0;
	option = option_find(&manual, axis->name, strlen(axis->name), &group);
	if (!option)
		return dist__refuse(&refusal->message,
				    "--%s: unknown option of %s", axis->name,
				    options->language ? "language models"
						      : manual.taker);
	return option_set(&manual, options, group, option, text,
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
				 bool together, struct dist__refusal *refusal)
{
	enum dist_error error = predict_options_init(
		&result->options, value_of(study, point, "workload"),
		value_of(study, point, "model"), refusal);

	for (size_t i = 0; i < study->num_axes && !error; i++) {
		const struct study_axis *axis = &study->axes[i];
		const char *text = study_value(study, point, i);

		if (together && strcmp(axis->name, STUDY_TOGETHER) == 0) {
			join(axis, result->sizes, sizeof result->sizes);
			text = result->sizes;
		}
		error = read_value(&result->options, axis, text, refusal);
	}
	result->options.llm.layout.varied = study_varies_layout(study);
	result->options.form.json = true;
	result->options.no_explain = true;
	return error;
}

/* ---- from a command line ------------------------------------------------ */

/* Whether a comma parts two values: "fat-tree:4x2,taper=2" is one, and so are
 * options whose own values are lists. */
static bool parts_at(const struct option *option, const char *comma)
{
	const char *next = comma + 1;
	size_t len = strcspn(next, ",");

	return !strchr(option->value, ',') && !strchr(option->value, ' ') &&
	       (!memchr(next, '=', len) || memchr(next, ':', len));
}

/* The length of the first value in text. */
static size_t value_len(const struct option *option, const char *text)
{
	size_t len = strcspn(text, ",");

	while (text[len] && !parts_at(option, text + len))
		len += 1 + strcspn(text + len + 1, ",");
	return len;
}

/* Adds the values in text to an axis. */
static enum dist_error add_values(struct study_axis *axis,
				  const struct option *option, const char *text,
				  struct dist_message *message)
{
	for (size_t len;; text += len + 1) {
		struct study_value *value = &axis->values[axis->num_values];

		len = value_len(option, text);
		if (axis->num_values == STUDY_VALUES ||
		    len >= sizeof value->text)
			return dist__refuse(message,
					    "--%s: expected at most %d values, "
					    "each shorter than %zu characters",
					    option->name, STUDY_VALUES,
					    sizeof value->text);
		snprintf(value->text, sizeof value->text, "%.*s", (int)len,
			 text);
		for (size_t i = 0; i < axis->num_values; i++)
			if (strcmp(axis->values[i].text, value->text) == 0)
				return dist__refuse(
					message,
					"--%s: expected \"%.80s\" only once",
					option->name, value->text);
		axis->num_values++;
		if (!text[len])
			return DIST_OK;
	}
}

/* Whether argv has several values of option, of which text is one. */
static bool has_several(const struct manual *manual,
			const struct option *option, int argc,
			const char **argv, const char *text)
{
	const char *other;
	int words;

	if (is_for_studies(option->name) && text[value_len(option, text)])
		return true;
	for (int i = 1; i < argc; i++)
		if (option_at(manual, argc, argv, i, &other, &words) ==
			    option &&
		    other != text)
			return true;
	return false;
}

/* Adds an option to the axes, or, where it has one value, leaves it. */
static enum dist_error take_option(struct study *study,
				   const struct option *option,
				   const char *text, bool several, bool *taken,
				   struct dist_message *message)
{
	const size_t i = study_axis(study, option->name);
	struct study_axis *axis = &study->axes[i];

	*taken = several || i < study->num_axes;
	if (!*taken)
		return DIST_OK;
	if (!is_for_studies(option->name))
		return dist__refuse(message, "--%s: expected once, one value",
				    option->name);
	if (i == study->num_axes) {
		if (i == STUDY_AXES)
			return dist__refuse(message,
					    "expected at most %d options with "
					    "several values",
					    STUDY_AXES);
		snprintf(axis->name, sizeof axis->name, "%s", option->name);
		axis->values = calloc(STUDY_VALUES, sizeof *axis->values);
		if (!axis->values)
			return DIST_ERR_NO_MEMORY;
		study->num_axes++;
	}
	return add_values(axis, option, text, message);
}

enum dist_error study_of_line(struct study *study, const struct manual *manual,
			      int *argc, const char **argv,
			      struct dist_message *message)
{
	enum dist_error error = DIST_OK;
	int i = 1, num = 1;

	memset(study, 0, sizeof *study);
	while (i < *argc && strcmp(argv[i], "--") != 0 && !error) {
		const char *text;
		int words = 1;
		const struct option *option =
			option_at(manual, *argc, argv, i, &text, &words);
		bool taken = false;

		if (option)
			error = take_option(
				study, option, text,
				has_several(manual, option, *argc, argv, text),
				&taken, message);
		else
			words = 1;
		for (int end = i + words; i < end; i++)
			if (!taken)
				argv[num++] = argv[i];
	}
	while (i < *argc)
		argv[num++] = argv[i++];
	if (num < *argc)
		argv[num] = NULL;
	*argc = num;
	return error;
}

enum dist_error study_point_set(struct predict_options *options,
				const struct study *study, size_t point,
				struct dist__refusal *refusal)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < study->num_axes && !error; i++)
		error = read_value(options, &study->axes[i],
				   study_value(study, point, i), refusal);
	options->llm.layout.varied = study_varies_layout(study);
	return error;
}
