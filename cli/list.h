/* list.h - shared by the files of lockstep list, one for each longer list. */
#ifndef LOCKSTEP_CLI_LIST_H
#define LOCKSTEP_CLI_LIST_H

#include "base/rows.h"

/* Adds a row for the file at path, called name without its suffix. Errors: any
 * of reading it; message says what was expected. */
typedef enum dist_error list_add(struct dist__rows *table, const char *name,
				 const char *path,
				 struct dist_message *message);

/* list_each_file adds every file of a kind, in order of name. Returns
 * DIST_EXIT_OK, or DIST_EXIT_USAGE after a line on stderr: there is no such
 * folder, or add failed for one. */
int list_each_file(const char *kind, const char *suffix, list_add *add,
		   struct dist__rows *table);

extern const char list_backends_columns[];
extern const char list_measured_columns[];
extern const char list_llms_columns[];

/* list_llms adds a row for each language model of the catalogue. Returns the
 * exit status, after a message. */
int list_llms(struct dist__rows *table);

/* list_backends adds a row for each back end, for JSON with the calls that it
 * has. Returns DIST_EXIT_OK. */
int list_backends(struct dist__rows *table);

/* list_backends_calls prints tables of calls, reduce ops and element types,
 * with a column for each back end. Returns 0, or -1: no memory. */
int list_backends_calls(enum dist__form form, FILE *out);

/* list_print_names writes the rows of one list as TSV, the name first. */
void list_print_names(const char *kind, FILE *out);

/* list_measured adds a row for each measured table, with the error of a
 * two-parameter fit. A table that cannot be read is named on stderr and left
 * out. Returns the exit status. */
int list_measured(struct dist__rows *table);

#endif
