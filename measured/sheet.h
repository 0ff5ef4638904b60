/*
 * sheet.h - a table of figures that others published, read from TSV.
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
#ifndef LOCKSTEP_MEASURED_SHEET_H
#define LOCKSTEP_MEASURED_SHEET_H

#include "lockstep/dist.h"

/* A line of the head. */
struct sheet_entry {
	const char *name, *value; /* of the sheet's text */
	int line;
};

struct sheet {
	char *path; /* owned, as is all that follows */
	char *text; /* the file, cut into fields */
	struct sheet_entry *head;
	size_t num_head;
	const char **columns; /* of the text */
	size_t num_columns;
	int header_line;
	const char **cells; /* num_columns a row, of the text */
	int *lines;         /* of the rows in the file, from 1 */
	size_t num_rows;
};

/* A field of a row that a table of some kind may have; a list of them ends
 * with a name of NULL. */
struct sheet_field {
	const char *name;

	/* Reads text, which is known, into what lies at into. Returns NULL, or
	 * what was expected instead, in words. */
	const char *(*read)(const char *text, void *into);
	size_t offset; /* of what it fills, in the row */
	bool required; /* and known in every row */
};

/*
 * sheet_load reads the file at path. On failure *sheet is empty and message
 * says why, as "file:line: what was expected" where it can. Errors:
 * DIST_ERR_INVALID_ARGUMENT (no sheet), DIST_ERR_IO, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
sheet_load(struct sheet *sheet, const char *path, struct dist_message *message);

/* sheet_release frees what sheet holds. */
void sheet_release(struct sheet *sheet);

/* sheet_get returns a field of a row, from its column or from the head; NULL:
 * there is none, or it is not known. The sheet's. */
const char *sheet_get(const struct sheet *sheet, size_t row, const char *name);

/* sheet_title and sheet_source return these lines of the head. */
const char *sheet_title(const struct sheet *sheet);
const char *sheet_source(const struct sheet *sheet);

/*
 * sheet_read fills rows, an array of num_rows structs of size bytes each, all
 * zero, by the legal fields; what is not known stays zero. The head may also
 * have title, source, licence and note. Errors: DIST_ERR_INVALID_ARGUMENT (a
 * field is not legal, a required one is not there, or a value is not what was
 * expected: message says which, with its line).
 */
DIST_MUST_CHECK enum dist_error sheet_read(const struct sheet *sheet,
					   const struct sheet_field *fields,
					   void *rows, size_t size,
					   struct dist_message *message);

/* sheet_refuse says what was expected in a line; returns INVALID_ARGUMENT. */
enum dist_error sheet_refuse(const struct sheet *sheet, int line,
			     struct dist_message *message, const char *format,
			     ...) __attribute__((format(printf, 4, 5)));

#endif
