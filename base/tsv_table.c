#include "base/tsv_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/input.h"
#include "base/printable.h"
#include "base/refuse.h"
#include "base/quantity.h"

/* The reader: what it reads, and where it stands. */
struct reader {
	struct tsv_table *tsv;
	struct dist_message *message;
	int line;
};

enum dist_error dist__tsv_refuse(const struct tsv_table *tsv, int line,
				 struct dist_message *message,
				 const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	snprintf(message->text, sizeof message->text, "%.200s:%d: expected %s",
		 tsv->path, line, what);
	dist__printable(message->text);
	return DIST_ERR_INVALID_ARGUMENT;
}

/* ---- the file --------------------------------------------------------- */

static const struct tsv_entry *head_find(const struct tsv_table *tsv,
					 const char *name)
{
	for (size_t i = 0; i < tsv->num_head; i++)
		if (strcmp(tsv->head[i].name, name) == 0)
			return &tsv->head[i];
	return NULL;
}

static bool column_find(const struct tsv_table *tsv, const char *name,
			size_t *column)
{
	for (size_t i = 0; i < tsv->num_columns; i++)
		if (strcmp(tsv->columns[i], name) == 0) {
			*column = i;
			return true;
		}
	return false;
}

/* "# name: value" */
static enum dist_error read_head(const struct reader *r, char *line)
{
	struct tsv_table *tsv = r->tsv;
	char *colon = strstr(line, ": ");
	struct tsv_entry entry;

	if (tsv->num_columns)
		return dist__tsv_refuse(tsv, r->line, r->message,
					"a row: the head ends at the columns");
	if (strncmp(line, "# ", 2) != 0 || !colon || colon == line + 2 ||
	    !colon[2])
		return dist__tsv_refuse(
			tsv, r->line, r->message,
			"a line of the head, \"# name: value\"");
	*colon = '\0';
	if (head_find(tsv, line + 2))
		return dist__tsv_refuse(tsv, r->line, r->message,
					"\"%.40s\" once", line + 2);
	entry = (struct tsv_entry){line + 2, colon + 2, r->line};
	return dist__array_add(&tsv->head, &tsv->num_head, &entry, sizeof entry)
		       ? DIST_OK
		       : DIST_ERR_NO_MEMORY;
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
	struct tsv_table *tsv = r->tsv;
	size_t num = 1, unused;

	for (const char *c = line; *c; c++)
		num += *c == '\t';
	tsv->columns = calloc(num, sizeof *tsv->columns);
	if (!tsv->columns)
		return DIST_ERR_NO_MEMORY;
	tsv->header_line = r->line;
	split(line, tsv->columns, num);
	for (size_t i = 0; i < num; i++) {
		const char *name = tsv->columns[i];

		if (!*name || head_find(tsv, name) ||
		    column_find(tsv, name, &unused))
			return dist__tsv_refuse(
				tsv, r->line, r->message,
				"names of columns, each once and not "
				"in the head, got \"%.40s\"",
				name);
		tsv->num_columns++;
	}
	return DIST_OK;
}

static enum dist_error read_row(const struct reader *r, char *line)
{
	struct tsv_table *tsv = r->tsv;
	size_t num = tsv->num_columns, found;
	const char **cells;

	if (!dist__array_grow(&tsv->cells, tsv->num_rows,
			      num * sizeof *tsv->cells) ||
	    !dist__array_grow(&tsv->lines, tsv->num_rows, sizeof *tsv->lines))
		return DIST_ERR_NO_MEMORY;
	cells = tsv->cells + tsv->num_rows * num;
	found = split(line, cells, num);
	if (found != num)
		return dist__tsv_refuse(tsv, r->line, r->message,
					"%zu fields separated by tabs, got %zu",
					num, found);
	for (size_t i = 0; i < num; i++)
		if (!*cells[i])
			return dist__tsv_refuse(tsv, r->line, r->message,
						"a value or - for %.40s",
						tsv->columns[i]);
	tsv->lines[tsv->num_rows++] = r->line;
	return DIST_OK;
}

/* Of a byte, at text + odd, that no text has. */
static enum dist_error refuse_byte(const struct reader *r, size_t odd)
{
	const char *text = r->tsv->text;
	int line = 1;

	for (size_t i = 0; i < odd; i++)
		line += text[i] == '\n';
	if (text[odd] == '\0')
		return dist__tsv_refuse(r->tsv, line, r->message,
					"text, found a zero byte");
	return dist__tsv_refuse(r->tsv, line, r->message,
				"text in UTF-8, found a byte 0x%02x",
				(unsigned char)text[odd]);
}

static enum dist_error read_lines(struct reader *r, size_t len)
{
	struct tsv_table *tsv = r->tsv;
	enum dist_error error = DIST_OK;
	char *next = tsv->text;
	size_t odd = dist__input_odd(tsv->text, len);

	if (odd < len)
		return refuse_byte(r, odd);
	/* Editors on Windows put a byte order mark in front. */
	if (strncmp(next, "\xEF\xBB\xBF", 3) == 0)
		next += 3;
	while (!error && *next) {
		char *line = next;

		next += strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		r->line++;
		if (*line == '#')
			error = read_head(r, line);
		else if (!tsv->num_columns)
			error = read_columns(r, line);
		else
			error = read_row(r, line);
	}
	r->line++;
	if (!error && (!head_find(tsv, "title") || !head_find(tsv, "source")))
		error = dist__tsv_refuse(tsv, r->line, r->message,
					 "a title and a source in the head");
	if (!error && !tsv->num_rows)
		error = dist__tsv_refuse(tsv, r->line, r->message,
					 "at least one row");
	return error;
}

enum dist_error dist__tsv_load(struct tsv_table *tsv, const char *path,
			       struct dist_message *message)
{
	struct reader r = {tsv, message, 0};
	enum dist_error error;
	size_t len;

	*tsv = (struct tsv_table){.path = strdup(path)};
	message->text[0] = '\0';
	error = tsv->path ? dist__input_read(path, &tsv->text, &len)
			  : DIST_ERR_NO_MEMORY;
	if (error == DIST_ERR_IO) /* a name that is wrong, most often */
		error = DIST_ERR_INVALID_ARGUMENT;
	if (!error)
		error = read_lines(&r, len);
	if (!error)
		return DIST_OK;
	if (!*message->text)
		snprintf(message->text, sizeof message->text,
			 "%.200s: cannot be read: %s", path,
			 error == DIST_ERR_NO_MEMORY ? "out of memory"
						     : strerror(errno));
	dist__tsv_release(tsv);
	return error;
}

void dist__tsv_release(struct tsv_table *tsv)
{
	free(tsv->path);
	free(tsv->text);
	free(tsv->head);
	free(tsv->columns);
	free(tsv->cells);
	free(tsv->lines);
	free(tsv->rows);
	*tsv = (struct tsv_table){.path = NULL};
}

/* ---- fields ----------------------------------------------------------- */

const char *dist__tsv_title(const struct tsv_table *tsv)
{
	return head_find(tsv, "title")->value;
}

const char *dist__tsv_source(const struct tsv_table *tsv)
{
	return head_find(tsv, "source")->value;
}

const char *dist__tsv_get(const struct tsv_table *tsv, size_t row,
			  const char *name)
{
	const struct tsv_entry *entry = head_find(tsv, name);
	const char *value = entry ? entry->value : NULL;
	size_t column;

	if (column_find(tsv, name, &column))
		value = tsv->cells[row * tsv->num_columns + column];
	return value && strcmp(value, "-") != 0 ? value : NULL;
}

static bool is_legal(const struct tsv_field *fields, const char *name)
{
	while (fields->name && strcmp(fields->name, name) != 0)
		fields++;
	return fields->name != NULL;
}

static bool is_about_table(const char *name)
{
	return strcmp(name, "title") == 0 || strcmp(name, "source") == 0 ||
	       strcmp(name, "licence") == 0 || strcmp(name, "note") == 0;
}

/* Holds the names of head and columns against the legal fields. */
static enum dist_error check_names(const struct tsv_table *tsv,
				   const struct tsv_field *fields,
				   struct dist_message *message)
{
	const struct tsv_entry *entry = tsv->head;
	size_t column;

	for (; entry < tsv->head + tsv->num_head; entry++) {
		if (!is_about_table(entry->name) &&
		    !is_legal(fields, entry->name))
			return dist__tsv_refuse(tsv, entry->line, message,
						"no field \"%.40s\"",
						entry->name);
	}
	for (size_t i = 0; i < tsv->num_columns; i++)
		if (!is_legal(fields, tsv->columns[i]))
			return dist__tsv_refuse(tsv, tsv->header_line, message,
						"no column \"%.40s\"",
						tsv->columns[i]);
	for (; fields->name; fields++)
		if (fields->required && !head_find(tsv, fields->name) &&
		    !column_find(tsv, fields->name, &column))
			return dist__tsv_refuse(
				tsv, tsv->header_line, message,
				"a column \"%s\", or it in the head",
				fields->name);
	return DIST_OK;
}

static enum dist_error fill_row(const struct tsv_table *tsv, size_t row,
				const struct tsv_field *fields, void *into,
				struct dist_message *message)
{
	for (; fields->name; fields++) {
		const char *text = dist__tsv_get(tsv, row, fields->name);
		const char *wanted = NULL;

		if (text)
			wanted = fields->read(text,
					      (char *)into + fields->offset);
		else if (fields->required)
			wanted = "a known value";
		if (wanted)
			return dist__tsv_refuse(tsv, tsv->lines[row], message,
						"%s to be %s, got \"%.40s\"",
						fields->name, wanted,
						text ? text : "-");
	}
	return DIST_OK;
}

enum dist_error dist__tsv_load_rows(struct tsv_table *tsv, const char *path,
				    const struct tsv_field *fields, size_t size,
				    tsv_check *check,
				    struct dist_message *message)
{
	enum dist_error error = dist__tsv_load(tsv, path, message);
	char *row;

	if (error)
		return error;
	tsv->rows = row = calloc(tsv->num_rows, size);
	error = row ? check_names(tsv, fields, message)
		    : dist__refuse_as(message, DIST_ERR_NO_MEMORY,
				      "out of memory");
	for (size_t i = 0; i < tsv->num_rows && !error; i++, row += size) {
		error = fill_row(tsv, i, fields, row, message);
		if (!error && check)
			error = check(tsv, i, row, message);
	}
	if (error)
		dist__tsv_release(tsv);
	return error;
}

const char *dist__tsv_text(const char *text, void *into)
{
	*(const char **)into = text;
	return NULL;
}

const char *dist__tsv_positive(const char *text, void *into)
{
	return dist__number_read(text, into) && *(double *)into > 0
		       ? NULL
		       : "a number over 0";
}
