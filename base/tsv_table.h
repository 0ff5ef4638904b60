/*
 * tsv_table.h - a table of published figures, read from TSV.
 *
 *	# title: all-reduce on 2 DGX A100 over 8 HDR ports each, ring forced
 *	# source: github.com/NVIDIA/deepops, docs/..., commit 3957a42fb9af
 *	# machine: dgx-a100
 *	# ranks: 16
 *	use	bytes	time_us
 *	calibration	8	38.63
 *	validation	16	38.14
 *
 * A field that is the same in every row is in the head, as "# name: value"; any
 * other has a column. "-" means: not known. One tab separates the fields of a
 * row. Every head has title and source.
 */
#ifndef LOCKSTEP_BASE_TSV_TABLE_H
#define LOCKSTEP_BASE_TSV_TABLE_H

#include "lockstep/dist.h"

/* A line of the head. */
struct tsv_entry {
	const char *name, *value; /* in the table's text */
	int line;
};

struct tsv_table {
	char *path; /* owned, as are all fields below */
	char *text; /* the file, cut into fields */
	struct tsv_entry *head;
	size_t num_head;
	const char **columns; /* in text */
	size_t num_columns;
	int header_line;
	const char **cells; /* num_columns for each row, in text */
	int *lines;         /* of the rows in the file, from 1 */
	void *rows;         /* read by dist__tsv_load_rows(); else NULL */
	size_t num_rows;
};

/* A field that rows of a kind of table may have; a list of them ends with a
 * NULL name. */
struct tsv_field {
	const char *name;

	/* Reads text, a known value, into the field at into. Returns NULL, or
	 * what was expected instead, as text. */
	const char *(*read)(const char *text, void *into);
	size_t offset; /* of the field in the row's struct */
	bool required; /* must be known in every row */
};

/* Readers: of a const char *, the text itself, and of a double above 0. */
const char *dist__tsv_text(const char *text, void *into);
const char *dist__tsv_positive(const char *text, void *into);

/* The field for the member of a struct with the same name. */
#define TSV_FIELD(row, reader, field)                                          \
	.name = #field, .read = (reader), .offset = offsetof(row, field)

/* Checks row i, which was read: OK, or INVALID_ARGUMENT and what was
 * expected. */
typedef enum dist_error tsv_check(const struct tsv_table *tsv, size_t i,
				  const void *row,
				  struct dist_message *message);

/*
 * dist__tsv_load reads the file at path. On failure *tsv is empty and message
 * says why, as "file:line: what was expected" if possible. Errors:
 * DIST_ERR_INVALID_ARGUMENT (no tsv), DIST_ERR_IO, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error dist__tsv_load(struct tsv_table *tsv,
					       const char *path,
					       struct dist_message *message);

/* dist__tsv_release frees what *tsv owns. */
void dist__tsv_release(struct tsv_table *tsv);

/* dist__tsv_get returns a field of a row, from its column or from the head;
 * NULL: there is none, or it is not known. Owned by the table. */
const char *dist__tsv_get(const struct tsv_table *tsv, size_t row,
			  const char *name);

/* dist__tsv_title and dist__tsv_source return these lines of the head. */
const char *dist__tsv_title(const struct tsv_table *tsv);
const char *dist__tsv_source(const struct tsv_table *tsv);

/*
 * dist__tsv_load_rows loads the file and reads its rows by the legal fields:
 * tsv->rows is an array of num_rows structs of size bytes each, in which an
 * unknown field is zero. The head may also have title, source, licence and
 * note. check, which may be NULL, checks every row. On failure *tsv is empty.
 * Errors: as load; DIST_ERR_INVALID_ARGUMENT also for an illegal field, a
 * missing required one, an unexpected value.
 */
DIST_MUST_CHECK enum dist_error
dist__tsv_load_rows(struct tsv_table *tsv, const char *path,
		    const struct tsv_field *fields, size_t size,
		    tsv_check *check, struct dist_message *message);

/* TSV_LOADER defines the loader of a struct that has a tsv, and typed rows. */
#define TSV_LOADER(loader, type, fields, check)                                \
	enum dist_error loader(struct type *table, const char *path,           \
			       struct dist_message *message)                   \
	{                                                                      \
		enum dist_error error = dist__tsv_load_rows(                   \
			&table->tsv, path, fields, sizeof *table->rows, check, \
			message);                                              \
                                                                               \
		table->rows = table->tsv.rows;                                 \
		return error;                                                  \
	}

/* dist__tsv_refuse writes what was expected in line; returns INVALID_ARGUMENT.
 */
enum dist_error dist__tsv_refuse(const struct tsv_table *tsv, int line,
				 struct dist_message *message,
				 const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
