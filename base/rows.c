/*
 * rows.c - a table of rows: cells are stored as values, and become text when
 * the table is printed, in the form asked for.
 */
#include "base/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/output.h"
#include "base/quantity.h"

/* Room for a number in text. */
#define NUMBER_SIZE 64

/* Doubles up to this have their whole numbers one apart. */
#define MOST_EXACT 9007199254740992.0

/* ---- rows -------------------------------------------------------------- */

static size_t num_columns(const struct dist__rows *table)
{
	size_t num = 1;

	for (const char *c = table->columns; *c; c++)
		num += *c == ';';
	return num;
}

static struct dist__cell own(struct dist__rows *table, struct dist__cell cell)
{
	if (cell.kind == CELL_COPY)
		cell.text = strdup(cell.text);
	if ((cell.kind == CELL_COPY || cell.kind == CELL_JSON) && !cell.text)
		table->failed = true;
	return cell;
}

static void release(struct dist__cell cell)
{
	if (cell.kind == CELL_COPY)
		free((char *)cell.text);
	else if (cell.kind == CELL_JSON)
		json_decref(cell.json);
}

void dist__rows_add(struct dist__rows *table, const struct dist__cell *cells,
		    size_t num)
{
	const bool is_room = dist__array_grow(&table->cells, table->num_rows,
					      num * sizeof *cells);

	assert(num == num_columns(table));
	table->failed |= !is_room;
	for (size_t i = 0; i < num; i++)
		if (is_room)
			table->cells[table->num_rows * num + i] =
				own(table, cells[i]);
		else if (cells[i].kind == CELL_JSON)
			json_decref(cells[i].json);
	table->num_rows += is_room;
}

void dist__rows_release(struct dist__rows *table)
{
	size_t num = table->num_rows ? table->num_rows * num_columns(table) : 0;

	for (size_t i = 0; i < num; i++)
		release(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->num_rows = 0;
}

/* ---- a table in a form -------------------------------------------------- */

struct column {
	const char *name; /* key or heading; "": not in this form */
	size_t width;     /* of text; else 0 */
	bool is_number;   /* in the first row: aligned to the right */
};

struct view {
	const struct dist__rows *table;
	enum dist__form form;
	size_t num;
	struct column *columns;
	char *names; /* what their names lie in */
};

static const char *real_text(const struct dist__cell *cell, double real,
			     enum dist__form form, char text[NUMBER_SIZE])
{
	int digits = cell->digits;

	if (!isfinite(real))
		return NULL;
	if (form == FORM_TSV)
		snprintf(text, NUMBER_SIZE, "%.*g",
			 cell->kind == CELL_TIME ? 15 : 9, real);
	else if (cell->kind == CELL_TIME)
		dist__time_text(text, NUMBER_SIZE, real);
	else if (cell->kind == CELL_PERCENT)
		snprintf(text, NUMBER_SIZE, "%.*f", digits, 100 * real);
	else if (cell->kind == CELL_ERROR)
		snprintf(text, NUMBER_SIZE, "%+.*f %%", digits, 100 * real);
	else if (cell->kind == CELL_FIXED)
		snprintf(text, NUMBER_SIZE, "%.*f", digits, real);
	else
		snprintf(text, NUMBER_SIZE, "%.*g", digits ? digits : 4, real);
	return text;
}

static const char *int_text(int64_t number, char text[NUMBER_SIZE])
{
	if (number == CELL_UNKNOWN)
		return NULL;
	snprintf(text, NUMBER_SIZE, "%lld", (long long)number);
	return text;
}

/* number is room for the text; NULL: not known. */
static const char *cell_as_text(const struct dist__cell *cell,
				enum dist__form form, char number[NUMBER_SIZE])
{
	switch (cell->kind) {
	case CELL_TEXT:
	case CELL_COPY:
		return cell->text;
	case CELL_INT:
		return int_text(cell->number, number);
	case CELL_JSON:
		break;
	default:
		return real_text(cell, cell->real, form, number);
	}
	if (json_is_integer(cell->json))
		return int_text(json_integer_value(cell->json), number);
	if (json_is_real(cell->json))
		return real_text(cell, json_real_value(cell->json), form,
				 number);
	if (json_is_boolean(cell->json))
		return json_is_true(cell->json) ? "yes" : "no";
	return json_string_value(cell->json);
}

/* The text at a row and column, row 0 being the head. */
static const char *text_at(const struct view *view, size_t row, size_t column,
			   char number[NUMBER_SIZE])
{
	const char *unknown = view->table->unknown, *text;

	if (row == 0)
		return view->columns[column].name;
	text = cell_as_text(&view->table->cells[(row - 1) * view->num + column],
			    view->form, number);
	if (text)
		return text;
	return unknown && view->form != FORM_TSV ? unknown : "-";
}

static size_t width_of(const struct view *view, size_t column)
{
	char number[NUMBER_SIZE];
	size_t width = 0;

	for (size_t row = 0; row <= view->table->num_rows; row++) {
		size_t len = strlen(text_at(view, row, column, number));

		width = len > width ? len : width;
	}
	return width;
}

static bool is_number(const struct dist__cell *cell)
{
	if (cell->kind == CELL_JSON)
		return json_is_number(cell->json);
	return cell->kind != CELL_TEXT && cell->kind != CELL_COPY;
}

/* Cuts the columns' text into names. */
static void name_columns(const struct view *view)
{
	bool keys = view->form == FORM_TSV || view->form == FORM_JSON;
	const struct dist__cell *first = view->table->cells;
	char *rest = NULL, *name = strtok_r(view->names, ";", &rest);

	for (size_t i = 0; i < view->num; i++) {
		char *bar = strchr(name, '|');

		if (bar)
			*bar = '\0';
		view->columns[i].name = keys || !bar ? name : bar + 1;
		name = strtok_r(NULL, ";", &rest);
		if (view->table->num_rows == 0)
			continue;
		view->columns[i].is_number = is_number(&first[i]);
		/* What people do not read is an object, as a rule. */
		if (view->form == FORM_TSV && first[i].kind == CELL_JSON &&
		    bar && !bar[1])
			view->columns[i].name = "";
	}
}

static void view_close(struct view *view)
{
	free(view->columns);
	free(view->names);
}

/* Returns 0; -1: no memory, now or before. */
static int view_open(struct view *view, const struct dist__rows *table,
		     enum dist__form form)
{
	if (table->failed)
		return -1;
	*view = (struct view){table, form, num_columns(table), NULL, NULL};
	view->columns = calloc(view->num, sizeof *view->columns);
	view->names = strdup(table->columns);
	if (!view->columns || !view->names) {
		view_close(view);
		return -1;
	}
	name_columns(view);
	for (size_t i = 0; form == FORM_TEXT && i < view->num; i++)
		view->columns[i].width = width_of(view, i);
	return 0;
}

/* ---- lines ------------------------------------------------------------- */

/* What would end a line or a cell is written otherwise. */
static void put(const char *text, enum dist__form form, FILE *out)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			fputc(' ', out);
		else if (*text == '|' && form == FORM_MARKDOWN)
			fputs("\\|", out);
		else
			fputc(*text, out);
}

/* A line of Markdown or TSV. */
static void print_fields(const struct view *view, size_t row, FILE *out)
{
	bool is_tsv = view->form == FORM_TSV;
	const char *between = is_tsv ? "" : "| ";
	char number[NUMBER_SIZE];

	for (size_t i = 0; i < view->num; i++) {
		if (!*view->columns[i].name)
			continue;
		fputs(between, out);
		put(text_at(view, row, i, number), view->form, out);
		between = is_tsv ? "\t" : " | ";
	}
	fputs(is_tsv ? "\n" : " |\n", out);
	for (size_t i = 0; !is_tsv && row == 0 && i < view->num; i++)
		if (*view->columns[i].name)
			fputs(view->columns[i].is_number ? "|--:" : "|---",
			      out);
	fputs(is_tsv || row > 0 ? "" : "|\n", out);
}

/* Spaces are held back until something follows them: no line ends in one. */
static void print_line(const struct view *view, size_t row, FILE *out)
{
	char number[NUMBER_SIZE];
	size_t spaces = 0;

	for (size_t i = 0; i < view->num; i++) {
		const struct column *column = &view->columns[i];
		const char *text = text_at(view, row, i, number);
		size_t rest = column->width - strlen(text);

		if (!*column->name)
			continue;
		spaces += column->is_number ? rest : 0;
		if (*text) {
			fprintf(out, "%*s", (int)spaces, "");
			put(text, FORM_TEXT, out);
			spaces = 0;
		}
		spaces += column->is_number ? 2 : rest + 2;
	}
	fputc('\n', out);
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *cell_as_json(const struct dist__cell *cell)
{
	switch (cell->kind) {
	case CELL_TEXT:
	case CELL_COPY:
		return cell->text ? json_string(cell->text) : json_null();
	case CELL_INT:
		return cell->number == CELL_UNKNOWN
			       ? json_null()
			       : json_integer(cell->number);
	case CELL_JSON:
		return json_incref(cell->json);
	default:
		/* Times are whole numbers where they can be, lest they are
		 * rounded. */
		if (!isfinite(cell->real))
			return json_null();
		if (cell->kind == CELL_TIME && fabs(cell->real) < MOST_EXACT &&
		    floor(cell->real) == cell->real)
			return json_integer((json_int_t)cell->real);
		return json_real(cell->real);
	}
}

static json_t *rows_of(const struct dist__rows *table)
{
	const struct dist__cell *cell = table->cells;
	json_t *rows = json_array();
	struct view view;
	int failed;

	if (view_open(&view, table, FORM_JSON)) {
		json_decref(rows);
		return NULL;
	}
	failed = !rows;
	for (size_t r = 0; r < table->num_rows; r++) {
		json_t *row = json_object();

		for (size_t i = 0; i < view.num; i++, cell++)
			if (*view.columns[i].name)
				failed |= json_object_set_new(
					row, view.columns[i].name,
					cell_as_json(cell));
		failed |= json_array_append_new(rows, row);
	}
	view_close(&view);
	if (!failed)
		return rows;
	json_decref(rows);
	return NULL;
}

json_t *dist__rows_json(struct dist__rows *table)
{
	json_t *rows = rows_of(table);

	dist__rows_release(table);
	return rows;
}

int dist__json_print(json_t *value, FILE *out)
{
	int status = value ? json_dumpf(value, out,
					JSON_INDENT(2) | JSON_REAL_PRECISION(9))
			   : -1;

	json_decref(value);
	if (!status)
		fputc('\n', out);
	return status;
}

/* ---- tables ------------------------------------------------------------ */

int dist__rows_print(const struct dist__rows *table, enum dist__form form,
		     FILE *out)
{
	struct view view;

	if (form == FORM_JSON)
		return dist__json_print(rows_of(table), out);
	if (view_open(&view, table, form))
		return -1;
	for (size_t row = 0; row <= table->num_rows; row++)
		if (form == FORM_TEXT)
			print_line(&view, row, out);
		else
			print_fields(&view, row, out);
	view_close(&view);
	return 0;
}

int dist__rows_section(struct dist__rows *table, const char *lead,
		       enum dist__form form, FILE *out)
{
	int status = table->failed ? -1 : 0;

	if (table->num_rows > 0) {
		fprintf(out, "\n%s%s", lead, *lead ? "\n\n" : "");
		status = dist__rows_print(table, form, out);
	}
	dist__rows_release(table);
	return status;
}

int dist__sections_print(struct dist__section *sections, size_t num,
			 json_t *head, enum dist__form form, FILE *out)
{
	json_t *object = head ? head : json_object();
	int failed = 0;

	for (size_t i = 0; i < num; i++) {
		struct dist__section *s = &sections[i];

		if (form == FORM_JSON)
			failed |= json_object_set_new(
				object, s->key, dist__rows_json(&s->table));
		else if (s->lead)
			failed |= dist__rows_section(&s->table, s->lead, form,
						     out);
		dist__rows_release(&s->table);
	}
	if (form == FORM_JSON && !failed)
		return dist__json_print(object, out);
	json_decref(object);
	return failed;
}

/* A table as TSV below a head. */
struct headed {
	const struct dist__rows *table;
	const char *head;
};

static bool print_headed(FILE *out, const void *arg)
{
	const struct headed *headed = arg;

	fputs(headed->head ? headed->head : "", out);
	return !dist__rows_print(headed->table, FORM_TSV, out);
}

enum dist_error dist__rows_write(struct dist__rows *table, const char *head,
				 const char *path, struct dist_message *message)
{
	const struct headed headed = {table, head};
	enum dist_error error =
		dist__output_write(path, print_headed, &headed, message);

	dist__rows_release(table);
	return error;
}
