/* sweep.h - a sweep over a study: asked for by sweep.c, done by sweep_run.c. */
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
	bool restart;         /* forget what is done */
	bool merge;           /* predict nothing */
	bool dry_run;         /* only refuse */
	enum dist__form form; /* of what is printed of the points */
};

/*
 * sweep_run predicts the points of its share that the folder's journals do not
 * have yet, and once no point is missing writes the results (sweep_report.h).
 * Says on stdout what there is. Returns one of enum dist_exit, after a line on
 * stderr when it is not OK.
 */
int sweep_run(const struct sweep_job *job);

#endif
