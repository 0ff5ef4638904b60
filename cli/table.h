/* table.h - rows of values, printed aligned for people or as JSON. */
#ifndef LOCKSTEP_CLI_TABLE_H
#define LOCKSTEP_CLI_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/* A row is a JSON object with a string or a number for every column. */
struct table {
	const char *const *columns; /* ended by NULL; borrowed */
	json_t *rows;               /* NULL once memory ran out */
};

/* table_init makes a table without rows. */
void table_init(struct table *table, const char *const *columns);

/* table_add appends row, which the table owns from now on, also on failure.
 * NULL stands for a row there was no memory for. */
void table_add(struct table *table, json_t *row);

/* table_print writes the table: aligned columns under their names, or an array
 * of objects. Returns 0, or -1 when memory had run out on the way here. */
int table_print(const struct table *table, bool as_json, FILE *out);

/* table_release frees the rows. */
void table_release(struct table *table);

#endif
