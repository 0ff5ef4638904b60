#include "cli/table.h"

#include <string.h>

/* Room for a number in words. */
#define NUMBER_SIZE 32

void table_init(struct table *table, const char *const *columns)
{
	table->columns = columns;
	table->rows = json_array();
}

void table_add(struct table *table, json_t *row)
{
	if (!row || json_array_append_new(table->rows, row)) {
		json_decref(table->rows);
		table->rows = NULL;
	}
}

/* The words for a cell; number is room for them when they must be made. */
static const char *cell_text(const json_t *row, const char *column,
			     char number[NUMBER_SIZE])
{
	const json_t *cell = json_object_get(row, column);

	if (json_is_integer(cell))
		snprintf(number, NUMBER_SIZE, "%" JSON_INTEGER_FORMAT,
			 json_integer_value(cell));
	else if (json_is_real(cell))
		snprintf(number, NUMBER_SIZE, "%.4g", json_real_value(cell));
	else
		return json_is_string(cell) ? json_string_value(cell) : "";
	return number;
}

static size_t column_width(const struct table *table, const char *column)
{
	size_t width = strlen(column);
	char number[NUMBER_SIZE];
	const json_t *row;
	size_t i;

	json_array_foreach(table->rows, i, row)
	{
		size_t length = strlen(cell_text(row, column, number));

		width = length > width ? length : width;
	}
	return width;
}

static bool column_is_number(const struct table *table, const char *column)
{
	const json_t *first = json_array_get(table->rows, 0);

	return json_is_number(json_object_get(first, column));
}

/* One line: the names of the columns when row is NULL. */
static void print_line(const struct table *table, const json_t *row, FILE *out)
{
	char number[NUMBER_SIZE];

	for (const char *const *c = table->columns; *c; c++) {
		const char *text = row ? cell_text(row, *c, number) : *c;
		int width = (int)column_width(table, *c);
		const char *gap = c[1] ? "  " : "\n";

		if (column_is_number(table, *c))
			fprintf(out, "%*s%s", width, text, gap);
		else if (c[1])
			fprintf(out, "%-*s%s", width, text, gap);
		else
			fprintf(out, "%s%s", text, gap);
	}
}

int table_print(const struct table *table, bool as_json, FILE *out)
{
	const json_t *row;
	size_t i;

	if (!table->rows)
		return -1;
	if (as_json) {
		if (json_dumpf(table->rows, out, JSON_INDENT(2)))
			return -1;
		fputc('\n', out);
		return 0;
	}
	print_line(table, NULL, out);
	json_array_foreach(table->rows, i, row) print_line(table, row, out);
	return 0;
}

void table_release(struct table *table)
{
	json_decref(table->rows);
	table->rows = NULL;
}
