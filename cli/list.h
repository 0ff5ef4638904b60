/* list.h - what the files of lockstep list share: one file a list that is not
 * a few lines. */
#ifndef LOCKSTEP_CLI_LIST_H
#define LOCKSTEP_CLI_LIST_H

#include "cli/table.h"

/*
 * list_each_file calls add(table, name, path) for every file of a kind, in
 * order of name, where name is the file's without suffix. add returns an exit
 * status after a message. Returns DIST_EXIT_OK, or DIST_EXIT_USAGE after a
 * message: there is no such folder, or add failed for one.
 */
int list_each_file(const char *kind, const char *suffix,
		   int (*add)(struct table *table, const char *name,
			      const char *path),
		   struct table *table);

/* The measured tables, with what a two-parameter fit misses each by. */
extern const char *const list_measured_columns[];

/* list_measured adds a row for each; one that cannot be read is named on
 * stderr and left out. Returns the exit status. */
int list_measured(struct table *table);

#endif
