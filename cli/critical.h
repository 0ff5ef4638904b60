/* critical.h - prints the critical path of a trace, for `lockstep trace path`
 * and predictions. */
#ifndef LOCKSTEP_CLI_CRITICAL_H
#define LOCKSTEP_CLI_CRITICAL_H

#include <jansson.h>
#include <stdio.h>

#include "base/rows.h"
#include "trace/path.h"

/* critical_print writes, as text or Markdown, a line of sums and one for each
 * leg, in ms after from_ns. Calls of one kind that only waited for each other
 * share a line; repeated legs are printed once. Returns 0, or -1 without
 * memory. */
int critical_print(const struct dist__path *path, int64_t from_ns,
		   enum dist__form form, FILE *out);

/* critical_print_parts writes the line of sums, and one for each group of legs
 * that differ only in numbers ("computes backward layer"), the longest first.
 * Returns as critical_print. */
int critical_print_parts(const struct dist__path *path, enum dist__form form,
			 FILE *out);

/* critical_legs returns all legs as a table, for TSV; the caller releases it.
 */
struct dist__rows critical_legs(const struct dist__path *path, int64_t from_ns);

/* critical_json returns the sums and all legs; NULL: no memory. */
json_t *critical_json(const struct dist__path *path, int64_t from_ns);

#endif
