#include "study/answers.h"

#include <stdlib.h>
#include <string.h>

/* The object of a point's figures; NULL if it has none. */
static const json_t *row_of(const struct answers *answers, size_t point)
{
	return json_array_get(json_object_get(answers->of[point], "rows"), 0);
}

enum dist_error answers_init(struct answers *answers, const struct study *study)
{
	answers->study = study;
	answers->num = study_num_points(study);
	answers->of = calloc(answers->num, sizeof(json_t *));
	return answers->of ? DIST_OK : DIST_ERR_NO_MEMORY;
}

void answers_release(struct answers *answers)
{
	for (size_t i = 0; i < answers->num; i++)
		json_decref(answers->of[i]);
	free(answers->of);
}

size_t answers_missing(const struct answers *answers)
{
	size_t missing = 0;

	for (size_t i = 0; i < answers->num; i++)
		missing += answers->of[i] == NULL;
	return missing;
}

const json_t *answers_value(const struct answers *answers, size_t point,
			    const char *name)
{
	return json_object_get(row_of(answers, point), name);
}

double answers_number(const struct answers *answers, size_t point,
		      const char *name, double fallback)
{
	const json_t *value = answers_value(answers, point, name);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

const json_t *answers_buckets(const struct answers *answers, size_t point)
{
	return json_object_get(row_of(answers, point), "buckets");
}

const json_t *answers_conditions(const struct answers *answers, size_t point)
{
	return json_object_get(answers->of[point], "conditions");
}

/* ---- the table -------------------------------------------------------- */

/* Returns whether the study's axes have that figure already, world_size as
 * world-size. */
static bool is_axis(const struct study *study, const char *name)
{
	char words[64];

	snprintf(words, sizeof(words), "%s", name);
	for (char *c = words; *c; c++)
		if (*c == '_')
			*c = '-';
	for (size_t i = 0; i < study->num_axes; i++)
		if (study->axes[i].in_grid &&
		    strcmp(study->axes[i].name, words) == 0)
			return true;
	return false;
}

static size_t add_name(const char **names, size_t num, const char *name)
{
	for (size_t i = 0; i < num; i++)
		if (strcmp(names[i], name) == 0)
			return num;
	if (num < ANSWERS_FIGURES)
		names[num++] = name;
	return num;
}

size_t answers_columns(const struct answers *answers,
		       const char *names[ANSWERS_FIGURES])
{
	size_t num = 0;

	for (size_t i = 0; i < answers->num; i++) {
		json_t *row = (json_t *)row_of(answers, i), *value;
		const char *name;

		json_object_foreach(row, name, value)
		{
			if ((json_is_number(value) || json_is_string(value)) &&
			    !is_axis(answers->study, name))
				num = add_name(names, num, name);
		}
	}
	return num;
}

static void print_value(struct dist__output *out, const json_t *value)
{
	if (json_is_integer(value))
		dist__output_print(out, "\t%lld",
				   (long long)json_integer_value(value));
	else if (json_is_real(value))
		dist__output_print(out, "\t%.6f", json_real_value(value));
	else
		dist__output_print(
			out, "\t%.200s",
			json_is_string(value) ? json_string_value(value) : "-");
}

/* "8196000 31502336 ring, 9724160 tree": neighbours of one algorithm in one
 * word. */
static void print_buckets(struct dist__output *out, const json_t *buckets)
{
	size_t num = json_array_size(buckets);
	const char *name = NULL, *before = NULL;

	dist__output_text(out, num ? "\t" : "\t-");
	for (size_t i = 0; i < num; i++) {
		const json_t *bucket = json_array_get(buckets, i);

		name = json_string_value(json_object_get(bucket, "algorithm"));
		if (before && name && strcmp(before, name) != 0)
			dist__output_print(out, " %.64s, ", before);
		else if (before)
			dist__output_text(out, " ");
		dist__output_print(out, "%lld",
				   (long long)json_integer_value(
					   json_object_get(bucket, "bytes")));
		before = name;
	}
	if (before)
		dist__output_print(out, " %.64s", before);
}

static void print_head(struct dist__output *out, const struct study *study,
		       const char *const *names, size_t num)
{
	dist__output_text(out, "point");
	for (size_t i = 0; i < study->num_axes; i++)
		if (study->axes[i].in_grid)
			dist__output_print(out, "\t%s", study->axes[i].name);
	for (size_t i = 0; i < num; i++)
		dist__output_print(out, "\t%.64s", names[i]);
	dist__output_text(out, "\tbuckets\n");
}

enum dist_error answers_write(const struct answers *answers, const char *path,
			      struct dist_message *message)
{
	const struct study *study = answers->study;
	const char *names[ANSWERS_FIGURES];
	size_t num = answers_columns(answers, names);
	struct dist__output *out;
	enum dist_error error = dist__output_open(path, &out, message);

	if (error)
		return error;
	dist__output_print(out, "# %s\n", study->title);
	print_head(out, study, names, num);
	for (size_t p = 0; p < answers->num; p++) {
		dist__output_print(out, "%zu", p + 1);
		for (size_t i = 0; i < study->num_axes; i++)
			if (study->axes[i].in_grid)
				dist__output_print(out, "\t%s",
						   study_value(study, p, i));
		for (size_t i = 0; i < num; i++)
			print_value(out, answers_value(answers, p, names[i]));
		print_buckets(out, answers_buckets(answers, p));
		dist__output_text(out, "\n");
	}
	return dist__output_close(out, message);
}
