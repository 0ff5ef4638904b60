#include "cli/sweep/answers.h"

#include <stdio.h>
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

bool answers_impossible(const struct answers *answers, size_t point)
{
	return json_is_string(answers_value(answers, point, "impossible"));
}

size_t answers_num_impossible(const struct answers *answers)
{
	size_t num = 0;

	for (size_t i = 0; i < answers->num; i++)
		num += answers_impossible(answers, i);
	return num;
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
	char text[64];

	snprintf(text, sizeof text, "%s", name);
	for (char *c = text; *c; c++)
		if (*c == '_')
			*c = '-';
	for (size_t i = 0; i < study->num_axes; i++)
		if (study->axes[i].in_grid &&
		    strcmp(study->axes[i].name, text) == 0)
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

/* "8196000 31502336 ring, 9724160 tree": neighbours of one algorithm in one
 * word. */
static void print_buckets(const json_t *buckets, FILE *out)
{
	const char *name = NULL, *before = NULL;
	size_t num = json_array_size(buckets);

	for (size_t i = 0; i < num; i++) {
		const json_t *bucket = json_array_get(buckets, i);

		name = json_string_value(json_object_get(bucket, "algorithm"));
		if (before && name && strcmp(before, name) != 0)
			fprintf(out, " %s, ", before);
		else if (before)
			fputc(' ', out);
		fprintf(out, "%" JSON_INTEGER_FORMAT,
			json_integer_value(json_object_get(bucket, "bytes")));
		before = name;
	}
	fprintf(out, "%s%s", before ? " " : "-", before ? before : "");
}

static json_t *buckets_text(const json_t *buckets)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *string;

	if (!out)
		return NULL;
	print_buckets(buckets, out);
	string = fclose(out) ? NULL : json_string(text);
	free(text);
	return string;
}

/* In JSON what is a number is one. */
static struct dist__cell axis_cell(const char *text, enum dist__form form)
{
	json_t *value = form == FORM_JSON
				? json_loads(text, JSON_DECODE_ANY, NULL)
				: NULL;

	if (json_is_number(value))
		return cell_json(value);
	json_decref(value);
	return cell_text(text);
}

/* A row is a point's choice on each axis, and its figures. */
static void add_point(struct dist__rows *rows, const struct answers *answers,
		      size_t point, const char *const *names, size_t num,
		      enum dist__form form)
{
	struct dist__cell cells[2 + STUDY_AXES + ANSWERS_FIGURES];
	const struct study *study = answers->study;
	size_t used = 0;

	cells[used++] = cell_size(point + 1);
	for (size_t i = 0; i < study->num_axes; i++)
		if (study->axes[i].in_grid)
			cells[used++] =
				axis_cell(study_value(study, point, i), form);
	for (size_t i = 0; i < num; i++) {
		const json_t *value = answers_value(answers, point, names[i]);

		cells[used++] = cell_json(value ? json_incref((json_t *)value)
						: json_null());
	}
	cells[used++] =
		cell_json(buckets_text(answers_buckets(answers, point)));
	dist__rows_add(rows, cells, used);
}

/* The columns of the table, for the caller to free; NULL: no memory. */
static char *columns_of(const struct study *study, const char *const *names,
			size_t num)
{
	char *columns = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&columns, &size);

	if (!out)
		return NULL;
	fputs("point", out);
	for (size_t i = 0; i < study->num_axes; i++)
		if (study->axes[i].in_grid)
			fprintf(out, ";%s", study->axes[i].name);
	for (size_t i = 0; i < num; i++)
		fprintf(out, ";%s", names[i]);
	fputs(";buckets", out);
	if (fclose(out) == 0)
		return columns;
	free(columns);
	return NULL;
}

/* The table of all points; its columns are for the caller to free. */
static struct dist__rows rows_of(const struct answers *answers,
				 enum dist__form form)
{
	const char *names[ANSWERS_FIGURES];
	size_t num = answers_columns(answers, names);
	char *columns = columns_of(answers->study, names, num);
	struct dist__rows rows = {.columns = columns, .failed = !columns};

	for (size_t p = 0; columns && p < answers->num; p++)
		add_point(&rows, answers, p, names, num, form);
	return rows;
}

enum dist_error answers_write(const struct answers *answers, const char *path,
			      struct dist_message *message)
{
	struct dist__rows rows = rows_of(answers, FORM_TSV);
	char head[sizeof answers->study->title + 4];
	enum dist_error error;

	snprintf(head, sizeof head, "# %s\n", answers->study->title);
	error = dist__rows_write(&rows, head, path, message);
	free((char *)rows.columns);
	return error;
}

int answers_print(const struct answers *answers, enum dist__form form,
		  FILE *out)
{
	struct dist__rows rows = rows_of(answers, form);
	int failed = dist__rows_print(&rows, form, out);

	dist__rows_release(&rows);
	free((char *)rows.columns);
	return failed;
}
