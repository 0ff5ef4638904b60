/* explanation.h - why a predicted step takes as long as it does: the critical
 * path of one that was traced. */
#ifndef LOCKSTEP_CLI_EXPLANATION_H
#define LOCKSTEP_CLI_EXPLANATION_H

#include <jansson.h>
#include <stdio.h>

#include "base/rows.h"
#include "trace/path.h"

/* Ranks of whose calls the path is still found in no time. */
#define EXPLANATION_RANKS 1024

struct explanation {
	int ranks; /* of the step; 0: none is explained */
	int64_t from_ns;
	struct dist__trace trace;
	struct dist__path path; /* borrows from trace */
};

/* explanation_make follows the path of explanation->trace, of which the last
 * step of `ranks` ranks began with a barrier and took step_ns. Errors:
 * NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
explanation_make(struct explanation *explanation, int ranks, int64_t step_ns);

/* explanation_print writes it as text or Markdown; nothing if there is none.
 * Returns 0, -1: no memory. */
int explanation_print(const struct explanation *explanation,
		      enum dist__form form, FILE *out);

/* explanation_print_parts writes in its place what it is made of. */
int explanation_print_parts(const struct explanation *explanation,
			    enum dist__form form, FILE *out);

/* explanation_json returns the same; NULL: there is none, or no memory. */
json_t *explanation_json(const struct explanation *explanation);

/* explanation_release frees what explanation holds. */
void explanation_release(struct explanation *explanation);

#endif
