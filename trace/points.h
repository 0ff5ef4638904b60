/*
 * points.h - the order of sync points: the collectives that each rank called on
 * each group, in words, to be held against those of another run.
 *
 * As a text, ranks that did the same share a block, and what is called several
 * times in a row a line:
 *
 *	group default, ranks 0-2
 *	  broadcast(float32 x 4, root 0) in train.c
 *	  100 x all_reduce(float32 x 1024, sum) in train.c
 *
 * A line of the source would change with every edit, so that only the file's
 * name counts; the lengths of an all_to_all may depend on the data. The making
 * of groups shows in their names, which count up. A run without collectives is
 * the line DIST__NO_POINTS, so that a file that was cut off is not taken for
 *one.
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

/* Those of one rank on one group, in the order of the calls. */
struct dist__points_track {
	int rank;
	char *group;   /* owned */
	size_t before; /* the rank's track before this one, plus 1; 0: none */
	struct dist__point *points;
	size_t num;
};

struct dist__points {
	struct dist__points_track *tracks; /* by rank, then as first called */
	size_t num;
	size_t *latest; /* of each rank its latest track, plus 1; 0: none */
	size_t ranks;   /* that latest has room for */
};

/* dist__points_of finds the sync points of trace, which must stay. The caller
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
 * and how many there are; path is the expected one's. Returns whether there is
 * one. */
bool dist__points_compare(FILE *out, const char *path,
			  const struct dist__points *expected,
			  const struct dist__points *got);

void dist__points_release(struct dist__points *points);

/* ---- putting them together; private to trace/ ------------------------- */

/* dist__points_track returns that of rank and group, made if it is not there;
 * NULL: no memory. */
struct dist__points_track *dist__points_track(struct dist__points *points,
					      int rank, const char *group);

/* dist__points_append copies the point; false: no memory. */
bool dist__points_append(struct dist__points_track *track,
			 const struct dist__point *point);

#endif
