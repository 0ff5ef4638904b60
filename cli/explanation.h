/* explanation.h - why a predicted step takes as long as it does: the critical
 * path of one that was traced. */
#ifndef LOCKSTEP_CLI_EXPLANATION_H
#define LOCKSTEP_CLI_EXPLANATION_H

#include <jansson.h>
#include <stdio.h>

#include "trace/path.h"

/* Ranks of which a trace is still read in no time. */
#define EXPLANATION_RANKS 1024

struct explanation {
	int ranks; /* of the step; 0: none is explained */
	int64_t from_ns;
	struct dist__trace trace;
	struct dist__path path; /* borrows from trace */
};

/*
 * explanation_read reads the trace at path, of which the last step of `ranks`
 * ranks began with a barrier and took step_ns, and follows its path. Errors: as
 * dist__trace_read; then *explanation is empty.
 */
DIST_MUST_CHECK enum dist_error
explanation_read(struct explanation *explanation, const char *path, int ranks,
		 int64_t step_ns, struct dist_message *message);

/* explanation_print writes it for people; nothing if there is none. Returns 0,
 * -1: no memory. */
int explanation_print(const struct explanation *explanation, FILE *out);

/* explanation_json returns the same; NULL: there is none, or no memory. */
json_t *explanation_json(const struct explanation *explanation);

/* explanation_release frees what explanation holds. */
void explanation_release(struct explanation *explanation);

#endif
