#include "cli/columns.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void columns_init(struct columns *columns, const char *const *names)
{
	memset(columns, 0, sizeof(*columns));
	columns->names = names;
	while (names[columns->num])
		columns->num++;
}

static char *next_cell(struct columns *columns)
{
	size_t more = columns->room ? 2 * columns->room : 64;

	if (columns->used == columns->room) {
		void *grown =
			realloc(columns->cells, more * sizeof(*columns->cells));

		if (!grown) {
			columns->failed = 1;
			return NULL;
		}
		columns->cells = grown;
		columns->room = more;
	}
	return columns->cells[columns->used++];
}

void columns_add(struct columns *columns, const char *format, ...)
{
	char *cell = next_cell(columns);
	va_list args;

	if (!cell)
		return;
	va_start(args, format);
	vsnprintf(cell, COLUMNS_CELL, format, args);
	va_end(args);
}

void columns_time_text(char *text, size_t text_size, double ns)
{
	double size = fabs(ns);

	if (size < 999.95)
		snprintf(text, text_size, "%.4g ns", ns);
	else if (size < 999.95e3)
		snprintf(text, text_size, "%.4g us", ns / 1e3);
	else if (size < 999.95e6)
		snprintf(text, text_size, "%.4g ms", ns / 1e6);
	else
		snprintf(text, text_size, "%.4g s", ns / 1e9);
}

void columns_bytes_text(char *text, size_t text_size, int64_t bytes)
{
	double size = (double)bytes;

	if (bytes < 1000)
		snprintf(text, text_size, "%lld B", (long long)bytes);
	else if (size < 999.5e3)
		snprintf(text, text_size, "%.3g kB", size / 1e3);
	else if (size < 999.5e6)
		snprintf(text, text_size, "%.3g MB", size / 1e6);
	else
		snprintf(text, text_size, "%.3g GB", size / 1e9);
}

void columns_add_time(struct columns *columns, double ns)
{
	char *cell = next_cell(columns);

	if (cell)
		columns_time_text(cell, COLUMNS_CELL, ns);
}

static const char *name_of(const struct columns *columns, size_t column)
{
	const char *name = columns->names[column];

	return *name == '>' ? name + 1 : name;
}

static size_t width_of(const struct columns *columns, size_t column)
{
	size_t width = strlen(name_of(columns, column));

	for (size_t i = column; i < columns->used; i += columns->num) {
		size_t length = strlen(columns->cells[i]);

		width = length > width ? length : width;
	}
	return width;
}

static void print_cell(const struct columns *columns, size_t column,
		       size_t width, const char *text, FILE *out)
{
	bool last = column + 1 == columns->num;

	if (columns->names[column][0] == '>')
		fprintf(out, "%*s", (int)width, text);
	else if (last)
		fputs(text, out);
	else
		fprintf(out, "%-*s", (int)width, text);
	fputs(last ? "\n" : "  ", out);
}

int columns_print(const struct columns *columns, FILE *out)
{
	size_t widths[COLUMNS_MOST];
	size_t num = columns->num;

	assert(num > 0 && num <= COLUMNS_MOST);
	if (columns->failed)
		return -1;
	for (size_t i = 0; i < num; i++) {
		widths[i] = width_of(columns, i);
		print_cell(columns, i, widths[i], name_of(columns, i), out);
	}
	for (size_t i = 0; i < columns->used; i++)
		print_cell(columns, i % num, widths[i % num], columns->cells[i],
			   out);
	return 0;
}

int columns_print_markdown(const struct columns *columns, FILE *out)
{
	size_t num = columns->num;

	assert(num > 0);
	if (columns->failed)
		return -1;
	for (size_t i = 0; i < num; i++)
		fprintf(out, "| %s ", name_of(columns, i));
	fputs("|\n", out);
	for (size_t i = 0; i < num; i++)
		fputs(columns->names[i][0] == '>' ? "|--:" : "|---", out);
	fputs("|\n", out);
	for (size_t i = 0; i < columns->used; i++)
		fprintf(out, "| %s %s", columns->cells[i],
			i % num + 1 == num ? "|\n" : "");
	return 0;
}

void columns_release(struct columns *columns)
{
	free(columns->cells);
	memset(columns, 0, sizeof(*columns));
}
