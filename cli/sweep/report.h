/* report.h - all results of a study as one HTML page, without other files and
 * without JavaScript. */
#ifndef LOCKSTEP_CLI_SWEEP_REPORT_H
#define LOCKSTEP_CLI_SWEEP_REPORT_H

#include "cli/sweep/figures.h"

/* The source of data that the answers use. */
struct report_source {
	char what[320]; /* "platform star-64" */
	char text[4096];
};

struct report {
	const struct answers *answers;
	const struct figure *figures;
	size_t num_figures;
	const struct report_source *sources;
	size_t num_sources;
	const char *folder;  /* has the figures as SVG, and study.yaml */
	const char *version; /* of Lockstep */
};

/* report_write writes the page to path. Errors: IO, NO_MEMORY, with message. */
DIST_MUST_CHECK enum dist_error report_write(const struct report *report,
					     const char *path,
					     struct dist_message *message);

#endif
