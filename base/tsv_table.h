/*
 * tsv_table.h - a table of figures that others published, read from TSV.
 *
 *	# title: all-reduce on 2 DGX A100 over 8 HDR ports each, ring forced
 *	# source: github.com/NVIDIA/deepops, docs/..., commit 3957a42fb9af
 *	# machine: dgx-a100
 *	# ranks: 16
 *	use	bytes	time_us
 *	calibration	8	38.63
 *	validation	16	38.14
 *
 * A field that is the same in every row stands in the head, as "# name: value";
 * one that is not has a column. "-" says that a value is not known. Fields of
 * a row are parted by one tab. title and source stand in every head.
 */
#ifndef LOCKSTEP_BASE_TSV_TABLE_H
#define LOCKSTEP_BASE_TSV_TABLE_H

#include "lockstep/dist.h"

/* A line of the head. */
struct tsv_entry {
	const char *name, *value; /* of the table's text */
	int line;
};

struct tsv_table {
	char *path; /* owned, as is all that follows */
	char *text; /* the file, cut into fields */
	struct tsv_entry *head;
	size_t num_head;
	const char **columns; /* of the text */
	size_t num_columns;
	int header_line;
	const char **cells; /* num_columns a row, of the text */
	int *lines;         /* of the rows in the file, from 1 */
	void *rows;         /* as dist__tsv_load_rows() read them; else NULL */
	size_t num_rows;
};

/* A field of a row that a table of some kind may have; a list of them ends
 * with a name of NULL. */
struct tsv_field {
	const char *name;

	/* Reads text, which is known, into what lies at into. Returns NULL, or
	 * what was expected instead, in words. */
	const char *(*read)(const char *text, void *into);
	size_t offset; /* of what it fills, in the row */
	bool required; /* and known in every row */
};

/* That of a member of a struct, which is called as it. */
#define TSV_FIELD(row, reader, field)                                          \
	.name = #field, .read = (reader), .offset = offsetof(row, field)

/* Checks a row that was read, the i-th: INVALID_ARGUMENT, and what was
 * expected, or OK. */
typedef enum dist_error tsv_check(const struct tsv_table *tsv, size_t i,
				  const void *row,
				  struct dist_message *message);

/*
 * dist__tsv_load reads the file at path. On failure *tsv is empty and message
 * says why, as "file:line: what was expected" where it can. Errors:
 * DIST_ERR_INVALID_ARGUMENT (no tsv), DIST_ERR_IO, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error dist__tsv_load(struct tsv_table *tsv,
					       const char *path,
					       struct dist_message *message);

/* dist__tsv_release frees what *tsv holds. */
void dist__tsv_release(struct tsv_table *tsv);

/* dist__tsv_get returns a field of a row, from its column or from the head;
 * NULL: there is none, or it is not known. The table's. */
const char *dist__tsv_get(const struct tsv_table *tsv, size_t row,
			  const char *name);

/* dist__tsv_title and dist__tsv_source return these lines of the head. */
const char *dist__tsv_title(const struct tsv_table *tsv);
const char *dist__tsv_source(const struct tsv_table *tsv);

/*
 * dist__tsv_load_rows loads the file, and by the legal fields its rows:
 * tsv->rows is an array of num_rows structs of size bytes each; what is not
 * known is zero there. The head may also have title, source, licence and note.
 * check, which may be NULL, sees every row. On failure *tsv is empty. Errors:
 * as load; DIST_ERR_INVALID_ARGUMENT also for a field that is not legal, a
 * required one that is not there, a value that is not what was expected.
 */
DIST_MUST_CHECK enum dist_error
dist__tsv_load_rows(struct tsv_table *tsv, const char *path,
		    const struct tsv_field *fields, size_t size,
		    tsv_check *check, struct dist_message *message);

/* dist__tsv_refuse says what was expected in a line; returns INVALID_ARGUMENT.
 */
enum dist_error dist__tsv_refuse(const struct tsv_table *tsv, int line,
				 struct dist_message *message,
				 const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
