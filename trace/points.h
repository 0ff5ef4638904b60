/*
 * points.h - the order of sync points: the collectives that each rank called on
 * each group, as text, to be compared with those of another run.
 *
 * In the text, ranks that did the same share a block, and equal calls in a row
 * share a line:
 *
 *	group default, ranks 0-2
 *	  broadcast(float32 x 4, root 0) in train.c
 *	  100 x all_reduce(float32 x 1024, sum) in train.c
 *
 * Only a file's name counts, because line numbers change with every edit; nor
 * do lengths of an all_to_all, which may depend on the data. Calls that make
 * groups are not listed; group names are numbered by them. A run without
 * collectives is the line DIST__NO_POINTS, which a truncated file is not.
 */
#ifndef LOCKSTEP_TRACE_POINTS_H
#define LOCKSTEP_TRACE_POINTS_H

#include <stdio.h>

#include "trace/trace.h"

#define DIST__NO_POINTS "no collectives"

struct dist__point {
	char *text; /* owned */
	int line;   /* of the file that it was read from; 0: none */
	const struct dist__trace_call *call; /* of the trace; NULL: none */
};

/* The points of one rank on one group, in the order of the calls. */
struct dist__points_track {
	int rank;
	char *group;   /* owned */
	size_t before; /* the rank's track before this one, plus 1; 0: none */
	struct dist__point *points;
	size_t num;
};

struct dist__points {
	struct dist__points_track *tracks; /* by rank, then by first call */
	size_t num;
	size_t *latest; /* by rank: its latest track, plus 1; 0: none */
	size_t ranks;   /* capacity of latest */
};

/* dist__points_of finds the sync points of trace, which they borrow. The caller
 * releases them in any case. Errors: NO_MEMORY. */
enum dist_error dist__points_of(const struct dist__trace *trace,
				struct dist__points *points);

/* dist__points_read reads the text of dist__points_print() from path. The
 * caller releases the points in any case. Errors: IO, INVALID_ARGUMENT
 * (message: "file:line: what was expected"), NO_MEMORY. */
enum dist_error dist__points_read(const char *path, struct dist__points *points,
				  struct dist_message *message);

void dist__points_print(FILE *out, const struct dist__points *points);

/* dist__points_compare writes to out the first difference, of the lowest rank,
 * and the number of differences; path is that of expected. Returns whether
 * there is a difference. */
bool dist__points_compare(FILE *out, const char *path,
			  const struct dist__points *expected,
			  const struct dist__points *got);

void dist__points_release(struct dist__points *points);

#endif
