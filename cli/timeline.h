/* timeline.h - a trace as a Gantt chart: the step timeline. */
#ifndef LOCKSTEP_CLI_TIMELINE_H
#define LOCKSTEP_CLI_TIMELINE_H

#include "trace/trace.h"

/* Which part of a trace is drawn. */
struct timeline_window {
	int first_rank;
	int last_rank;
	int64_t from_ns;
	int64_t to_ns;
};

/*
 * timeline_write_tsv writes the bars to path; the columns are those of
 * plots/gantt.gp. Compute spans of one label that follow each other without a
 * gap become one bar. Errors: IO, NO_MEMORY; INVALID_ARGUMENT (nothing happens
 * in the window; then nothing is written).
 */
enum dist_error timeline_write_tsv(const struct dist__trace *trace,
				   const struct timeline_window *window,
				   const char *path,
				   struct dist_message *message);

#endif
