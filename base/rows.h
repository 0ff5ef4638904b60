/*
 * rows.h - a table of rows, described once and printed as text, Markdown, TSV
 * or JSON.
 */
#ifndef LOCKSTEP_BASE_ROWS_H
#define LOCKSTEP_BASE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "lockstep/dist.h"

enum dist__form { FORM_TEXT, FORM_MARKDOWN, FORM_TSV, FORM_JSON };

/* A value, made by one of the cell_ functions. */
struct dist__cell {
	enum dist__cell_kind {
		CELL_TEXT,
		CELL_COPY,
		CELL_INT,
		CELL_REAL,    /* people read significant digits, */
		CELL_FIXED,   /* digits after the point, */
		CELL_PERCENT, /* a fraction in percent, */
		CELL_ERROR,   /* the same with sign and unit, */
		CELL_TIME,    /* ns as "12.35 ms" */
		CELL_JSON
	} kind;
	int digits;
	union {
		const char *text;
		int64_t number;
		double real;
		json_t *json;
	};
};

/*
 * The columns are one text, "key|heading;key|heading": JSON and TSV name a
 * column by its key, people read its heading. A column without key
 * ("|heading") is not in JSON and TSV, one without heading ("key|") not in the
 * others; without a bar both are the same.
 */
struct dist__rows {
	const char *columns; /* borrowed */
	const char *unknown; /* shown to people for unknown values; NULL:
				"-"; borrowed */
	size_t num_rows;
	struct dist__cell *cells; /* owned */
	bool failed;              /* no memory: nothing will be printed */
};

/* A whole number that is not known. */
#define CELL_UNKNOWN INT64_MIN

/* cell_text borrows text until the table is printed, cell_copy until the row is
 * added. NULL, CELL_UNKNOWN, NAN and JSON null are unknown values. */
static inline struct dist__cell cell_text(const char *text)
{
	return (struct dist__cell){.kind = CELL_TEXT, .text = text};
}

static inline struct dist__cell cell_copy(const char *text)
{
	return (struct dist__cell){.kind = text ? CELL_COPY : CELL_TEXT,
				   .text = text};
}

static inline struct dist__cell cell_int(int64_t number)
{
	return (struct dist__cell){.kind = CELL_INT, .number = number};
}

static inline struct dist__cell cell_size(size_t number)
{
	return cell_int((int64_t)number);
}

/* The table owns json once the row is added; NULL: no memory for it. In a
 * column without heading it is not in TSV either. */
static inline struct dist__cell cell_json(json_t *json)
{
	return (struct dist__cell){.kind = CELL_JSON, .json = json};
}

/* One of the kinds from CELL_REAL to CELL_ERROR, shown to people with so many
 * digits. */
static inline struct dist__cell cell_number(enum dist__cell_kind kind,
					    int digits, double real)
{
	return (struct dist__cell){kind, digits, {.real = real}};
}

static inline struct dist__cell cell_real(double real)
{
	return cell_number(CELL_REAL, 4, real);
}

static inline struct dist__cell cell_fixed(int digits, double real)
{
	return cell_number(CELL_FIXED, digits, real);
}

static inline struct dist__cell cell_percent(double fraction)
{
	return cell_number(CELL_PERCENT, 1, fraction);
}

static inline struct dist__cell cell_error(double fraction)
{
	return cell_number(CELL_ERROR, 1, fraction);
}

static inline struct dist__cell cell_time(double ns)
{
	return cell_number(CELL_TIME, 0, ns);
}

/* ADD_ROW(table, cells...) adds a row with a cell for each column. */
#define ADD_ROW(table, ...)                                                    \
	dist__rows_add(table, (const struct dist__cell[]){__VA_ARGS__},        \
		       sizeof((const struct dist__cell[]){__VA_ARGS__}) /      \
			       sizeof(struct dist__cell))

void dist__rows_add(struct dist__rows *table, const struct dist__cell *cells,
		    size_t num);

/* dist__rows_print writes the table. Returns 0, or -1: there was no memory for
 * a row. */
DIST_MUST_CHECK int dist__rows_print(const struct dist__rows *table,
				     enum dist__form form, FILE *out);

/* dist__rows_section writes a table if it has rows, and releases it. In text
 * and Markdown an empty line and lead, which may be "", come before. Returns as
 * dist__rows_print. */
DIST_MUST_CHECK int dist__rows_section(struct dist__rows *table,
				       const char *lead, enum dist__form form,
				       FILE *out);

/* One of the tables of an answer. */
struct dist__section {
	const char *key;  /* its member in JSON */
	const char *lead; /* as of dist__rows_section; NULL: in JSON alone */
	struct dist__rows table;
};

/* dist__sections_print writes num tables as sections, or as JSON an object:
 * head (NULL: an empty one), which it takes, with the tables behind. Releases
 * them. Returns as dist__rows_print. */
DIST_MUST_CHECK int dist__sections_print(struct dist__section *sections,
					 size_t num, json_t *head,
					 enum dist__form form, FILE *out);

/* dist__rows_json returns the rows as an array of objects, owned by the caller,
 * and releases the table; NULL: no memory. */
json_t *dist__rows_json(struct dist__rows *table);

/* dist__rows_write writes it as TSV to path, whole or not at all, below the
 * lines of head (NULL: none), and releases it. Errors: IO, NO_MEMORY. */
DIST_MUST_CHECK enum dist_error dist__rows_write(struct dist__rows *table,
						 const char *head,
						 const char *path,
						 struct dist_message *message);

/* dist__rows_release frees the rows. */
void dist__rows_release(struct dist__rows *table);

/* dist__json_print writes value (NULL: no memory for it) and a newline, and
 * releases it. Returns as dist__rows_print. */
DIST_MUST_CHECK int dist__json_print(json_t *value, FILE *out);

#endif
