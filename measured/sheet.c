#include "measured/sheet.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The reader: what it reads, and where it stands. */
struct reader {
	struct sheet *sheet;
	struct dist_message *message;
	int line;
};

enum dist_error sheet_refuse(const struct sheet *sheet, int line,
			     struct dist_message *message, const char *format,
			     ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(message->text, sizeof(message->text), "%.200s:%d: expected %s",
		 sheet->path, line, what);
	return DIST_ERR_INVALID_ARGUMENT;
}

/* ---- the file --------------------------------------------------------- */

/* Reads all of a file, ended by a zero byte. */
static enum dist_error read_all(FILE *in, char **text, size_t *len)
{
	size_t room = 0, got;

	*text = NULL;
	*len = 0;
	do {
		char *grown = realloc(*text, room + 65536 + 1);

		if (!grown)
			return DIST_ERR_NO_MEMORY;
		*text = grown;
		room += 65536;
		got = fread(*text + *len, 1, room - *len, in);
		*len += got;
	} while (*len == room);
	(*text)[*len] = '\0';
	return ferror(in) ? DIST_ERR_IO : DIST_OK;
}

/* Returns items with room for one more than count; NULL: no memory. Grows at
 * powers of two, when the list is full exactly. */
static void *grow(void *items, size_t count, size_t size)
{
	if (count & (count - 1))
		return items;
	return realloc(items, (count ? 2 * count : 1) * size);
}

static const struct sheet_entry *head_find(const struct sheet *sheet,
					   const char *name)
{
	for (size_t i = 0; i < sheet->num_head; i++)
		if (strcmp(sheet->head[i].name, name) == 0)
			return &sheet->head[i];
	return NULL;
}

static bool column_find(const struct sheet *sheet, const char *name,
			size_t *column)
{
	for (size_t i = 0; i < sheet->num_columns; i++)
		if (strcmp(sheet->columns[i], name) == 0) {
			*column = i;
			return true;
		}
	return false;
}

/* "# name: value" */
static enum dist_error read_head(const struct reader *r, char *line)
{
	struct sheet *sheet = r->sheet;
	char *colon = strstr(line, ": ");
	struct sheet_entry *head;

	if (sheet->num_columns)
		return sheet_refuse(sheet, r->line, r->message,
				    "a row: the head ends at the columns");
	if (strncmp(line, "# ", 2) != 0 || !colon || colon == line + 2 ||
	    !colon[2])
		return sheet_refuse(sheet, r->line, r->message,
				    "a line of the head, \"# name: value\"");
	*colon = '\0';
	if (head_find(sheet, line + 2))
		return sheet_refuse(sheet, r->line, r->message,
				    "\"%.40s\" once", line + 2);
	head = grow(sheet->head, sheet->num_head, sizeof(*head));
	if (!head)
		return DIST_ERR_NO_MEMORY;
	sheet->head = head;
	head[sheet->num_head++] =
		(struct sheet_entry){line + 2, colon + 2, r->line};
	return DIST_OK;
}

/* Cuts line at its tabs; room for most fields. Returns how many there are,
 * also if more. */
static size_t split(char *line, const char **fields, size_t most)
{
	size_t num = 0;

	while (line) {
		char *tab = strchr(line, '\t');

		if (tab)
			*tab++ = '\0';
		if (num < most)
			fields[num] = line;
		num++;
		line = tab;
	}
	return num;
}

static enum dist_error read_columns(const struct reader *r, char *line)
{
	struct sheet *sheet = r->sheet;
	size_t num = 1, unused;

	for (const char *c = line; *c; c++)
		num += *c == '\t';
	sheet->columns = calloc(num, sizeof(*sheet->columns));
	if (!sheet->columns)
		return DIST_ERR_NO_MEMORY;
	sheet->header_line = r->line;
	split(line, sheet->columns, num);
	for (size_t i = 0; i < num; i++) {
		const char *name = sheet->columns[i];

		if (!*name || head_find(sheet, name) ||
		    column_find(sheet, name, &unused))
			return sheet_refuse(
				sheet, r->line, r->message,
				"names of columns, each once and not "
				"in the head, got \"%.40s\"",
				name);
		sheet->num_columns++;
	}
	return DIST_OK;
}

/* Makes room for one more row. */
static bool grow_rows(struct sheet *sheet)
{
	size_t width = sheet->num_columns * sizeof(*sheet->cells);
	const char **cells = grow(sheet->cells, sheet->num_rows, width);
	int *lines;

	if (cells)
		sheet->cells = cells;
	lines = grow(sheet->lines, sheet->num_rows, sizeof(*lines));
	if (lines)
		sheet->lines = lines;
	return cells && lines;
}

static enum dist_error read_row(const struct reader *r, char *line)
{
	struct sheet *sheet = r->sheet;
	size_t num = sheet->num_columns, found;
	const char **cells;

	if (!grow_rows(sheet))
		return DIST_ERR_NO_MEMORY;
	cells = sheet->cells + sheet->num_rows * num;
	found = split(line, cells, num);
	if (found != num)
		return sheet_refuse(sheet, r->line, r->message,
				    "%zu fields parted by tabs, got %zu", num,
				    found);
	for (size_t i = 0; i < num; i++)
		if (!*cells[i])
			return sheet_refuse(sheet, r->line, r->message,
					    "a value or - for %.40s",
					    sheet->columns[i]);
	sheet->lines[sheet->num_rows++] = r->line;
	return DIST_OK;
}

/* Of a text that a zero byte ends too early. */
static enum dist_error refuse_zero(const struct reader *r)
{
	int line = 1;

	for (const char *c = r->sheet->text; *c; c++)
		line += *c == '\n';
	return sheet_refuse(r->sheet, line, r->message,
			    "text, found a zero byte");
}

static enum dist_error read_lines(struct reader *r, size_t len)
{
	struct sheet *sheet = r->sheet;
	enum dist_error err = DIST_OK;
	char *next = sheet->text;

	if (strlen(sheet->text) != len)
		return refuse_zero(r);
	/* Editors on Windows put a byte order mark in front. */
	if (strncmp(next, "\xEF\xBB\xBF", 3) == 0)
		next += 3;
	while (!err && *next) {
		char *line = next;

		next += strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		r->line++;
		if (*line == '#')
			err = read_head(r, line);
		else if (!sheet->num_columns)
			err = read_columns(r, line);
		else
			err = read_row(r, line);
	}
	r->line++;
	if (!err && (!head_find(sheet, "title") || !head_find(sheet, "source")))
		err = sheet_refuse(sheet, r->line, r->message,
				   "a title and a source in the head");
	if (!err && !sheet->num_rows)
		err = sheet_refuse(sheet, r->line, r->message,
				   "at least one row");
	return err;
}

enum dist_error sheet_load(struct sheet *sheet, const char *path,
			   struct dist_message *message)
{
	struct reader r = {sheet, message, 0};
	enum dist_error err;
	size_t len;
	FILE *in;

	*sheet = (struct sheet){.path = strdup(path)};
	message->text[0] = '\0';
	in = sheet->path ? fopen(path, "r") : NULL;
	if (!in) {
		err = sheet->path ? DIST_ERR_INVALID_ARGUMENT
				  : DIST_ERR_NO_MEMORY;
	} else {
		err = read_all(in, &sheet->text, &len);
		fclose(in);
		if (!err)
			err = read_lines(&r, len);
	}
	if (!err)
		return DIST_OK;
	if (!*message->text)
		snprintf(message->text, sizeof(message->text),
			 "%.200s: cannot be read: %s", path,
			 err == DIST_ERR_NO_MEMORY ? "out of memory"
						   : strerror(errno));
	sheet_release(sheet);
	return err;
}

void sheet_release(struct sheet *sheet)
{
	free(sheet->path);
	free(sheet->text);
	free(sheet->head);
	free(sheet->columns);
	free(sheet->cells);
	free(sheet->lines);
	*sheet = (struct sheet){.path = NULL};
}

/* ---- fields ----------------------------------------------------------- */

const char *sheet_title(const struct sheet *sheet)
{
	return head_find(sheet, "title")->value;
}

const char *sheet_source(const struct sheet *sheet)
{
	return head_find(sheet, "source")->value;
}

const char *sheet_get(const struct sheet *sheet, size_t row, const char *name)
{
	const struct sheet_entry *entry = head_find(sheet, name);
	const char *value = entry ? entry->value : NULL;
	size_t column;

	if (column_find(sheet, name, &column))
		value = sheet->cells[row * sheet->num_columns + column];
	return value && strcmp(value, "-") != 0 ? value : NULL;
}

static bool is_legal(const struct sheet_field *fields, const char *name)
{
	while (fields->name && strcmp(fields->name, name) != 0)
		fields++;
	return fields->name != NULL;
}

static bool is_about_sheet(const char *name)
{
	return strcmp(name, "title") == 0 || strcmp(name, "source") == 0 ||
	       strcmp(name, "licence") == 0 || strcmp(name, "note") == 0;
}

/* Holds the names of head and columns against the legal fields. */
static enum dist_error check_names(const struct sheet *sheet,
				   const struct sheet_field *fields,
				   struct dist_message *message)
{
	const struct sheet_entry *entry = sheet->head;
	size_t column;

	for (; entry < sheet->head + sheet->num_head; entry++) {
		if (!is_about_sheet(entry->name) &&
		    !is_legal(fields, entry->name))
			return sheet_refuse(sheet, entry->line, message,
					    "no field \"%.40s\"", entry->name);
	}
	for (size_t i = 0; i < sheet->num_columns; i++)
		if (!is_legal(fields, sheet->columns[i]))
			return sheet_refuse(sheet, sheet->header_line, message,
					    "no column \"%.40s\"",
					    sheet->columns[i]);
	for (; fields->name; fields++)
		if (fields->required && !head_find(sheet, fields->name) &&
		    !column_find(sheet, fields->name, &column))
			return sheet_refuse(
				sheet, sheet->header_line, message,
				"a column \"%s\", or it in the head",
				fields->name);
	return DIST_OK;
}

static enum dist_error fill_row(const struct sheet *sheet, size_t row,
				const struct sheet_field *fields, void *into,
				struct dist_message *message)
{
	for (; fields->name; fields++) {
		const char *text = sheet_get(sheet, row, fields->name);
		const char *wanted = NULL;

		if (text)
			wanted = fields->read(text,
					      (char *)into + fields->offset);
		else if (fields->required)
			wanted = "a known value";
		if (wanted)
			return sheet_refuse(sheet, sheet->lines[row], message,
					    "%s to be %s, got \"%.40s\"",
					    fields->name, wanted,
					    text ? text : "-");
	}
	return DIST_OK;
}

enum dist_error sheet_read(const struct sheet *sheet,
			   const struct sheet_field *fields, void *rows,
			   size_t size, struct dist_message *message)
{
	enum dist_error err = check_names(sheet, fields, message);

	for (size_t i = 0; i < sheet->num_rows && !err; i++)
		err = fill_row(sheet, i, fields, (char *)rows + i * size,
			       message);
	return err;
}
