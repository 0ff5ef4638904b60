/* list.h - shared by the files of lockstep list, one for each longer list. */
#ifndef LOCKSTEP_CLI_LIST_H
#define LOCKSTEP_CLI_LIST_H

#include "base/rows.h"
#include "cli/table_option.h"

extern const char list_backends_columns[];

/* list_backends adds a row for each back end, for JSON with the calls that it
 * has. Returns DIST_EXIT_OK. */
int list_backends(struct dist__rows *table);

/* list_backends_calls prints tables of calls, reduce ops and element types,
 * with a column for each back end. Returns 0, or -1: no memory. */
int list_backends_calls(enum dist__form form, FILE *out);

/* list_print prints one list as asked, as lockstep list does. Returns the exit
 * status. */
int list_print(const char *kind, const struct table_options *options);

/* list_print_names writes the rows of one list as TSV, the name first. */
void list_print_names(const char *kind, FILE *out);

#endif
