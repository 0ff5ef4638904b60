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
 * timeline_write_tsv writes the bars to path, with the columns of
 * plots/gantt.gp. Adjacent compute spans of one label become one bar. Errors:
 * IO, NO_MEMORY; INVALID_ARGUMENT (the window is empty: nothing is written).
 */
enum dist_error timeline_write_tsv(const struct dist__trace *trace,
				   const struct timeline_window *window,
				   const char *path,
				   struct dist_message *message);

#endif
