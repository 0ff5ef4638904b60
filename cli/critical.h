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

/* critical_legs returns all legs as a table, for TSV; the caller releases it.
 */
struct dist__rows critical_legs(const struct dist__path *path, int64_t from_ns);

/* critical_json returns the sums and all legs; NULL: no memory. */
json_t *critical_json(const struct dist__path *path, int64_t from_ns);

/* ---- why a predicted step takes so long --------------------------------- */

/* The most ranks for which the path is found quickly. */
#define EXPLANATION_RANKS 1024

struct explanation {
	int ranks; /* of the step; 0: no step is explained */
	int64_t from_ns;
	struct dist__trace trace;
	struct dist__path path; /* borrows from trace */
};

/* explanation_make finds the critical path of the last step in
 * explanation->trace: it began with a barrier of `ranks` ranks and took
 * step_ns. Errors: NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
explanation_make(struct explanation *explanation, int ranks, int64_t step_ns);

/* explanation_print writes it as text or Markdown, leg by leg or as its parts;
 * nothing if there is none. Returns 0, or -1 without memory. */
int explanation_print(const struct explanation *explanation, bool in_parts,
		      enum dist__form form, FILE *out);

/* explanation_json returns the same; NULL: there is none, or no memory. */
json_t *explanation_json(const struct explanation *explanation);

/* explanation_release frees what explanation holds. */
void explanation_release(struct explanation *explanation);

#endif
