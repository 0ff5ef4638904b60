/* sweep.h - a sweep over a study: requested by sweep.c, done by sweep_run.c. */
#ifndef LOCKSTEP_CLI_SWEEP_H
#define LOCKSTEP_CLI_SWEEP_H

#include <stdbool.h>

#include "base/rows.h"
#include "cli/shard.h"

struct sweep_job {
	char path[4096];   /* of the study */
	char folder[4096]; /* of the results */
	struct shard share;
	int jobs;             /* points at a time */
	bool restart;         /* discard points that are done */
	bool merge;           /* predict nothing */
	bool dry_run;         /* only check */
	enum dist__form form; /* of the printed points */
};

/*
 * sweep_run predicts the points of its part that are not yet in the folder's
 * journals and, when no point is missing, writes the results (sweep_page.h).
 * Prints a summary. Returns one of enum dist_exit, after a line on stderr when
 * it is not OK.
 */
int sweep_run(const struct sweep_job *job);

#endif
