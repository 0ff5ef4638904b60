/* explanation.h - why a predicted step takes so long: the critical path of a
 * traced step. */
#ifndef LOCKSTEP_CLI_EXPLANATION_H
#define LOCKSTEP_CLI_EXPLANATION_H

#include <jansson.h>
#include <stdio.h>

#include "base/rows.h"
#include "trace/path.h"

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
