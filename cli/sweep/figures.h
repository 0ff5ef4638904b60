/*
 * figures.h - which figures a study affords, and their data.
 *
 * What a figure shows follows from the axes of the grid that have several
 * values. Those it has no place for give a figure each of their combinations,
 * up to FIGURES_OF_A_KIND; but one figure where they make no difference to what
 * is chosen.
 */
#ifndef LOCKSTEP_CLI_SWEEP_FIGURES_H
#define LOCKSTEP_CLI_SWEEP_FIGURES_H

#include "cli/sweep/answers.h"

#define FIGURES_OF_A_KIND 12
#define FIGURES_MOST      (5 * FIGURES_OF_A_KIND)

enum figure_kind {
	FIGURE_SCALING,   /* step, throughput, efficiency over world-size */
	FIGURE_BUCKETS,   /* step over bucket-cap-mb */
	FIGURE_BREAKDOWN, /* what the time of each step is spent on */
	FIGURE_FASTEST,   /* of algorithms, by bucket-cap-mb and world-size */
	FIGURE_CHOSEN,    /* algorithms, by bytes and world size, as picked */
};

struct figure {
	enum figure_kind kind;
	char name[32];  /* of its files, without suffix: "scaling-2" */
	char text[256]; /* the values that all its points share; "": all do */
	bool own[STUDY_AXES];   /* axes that differ within it */
	bool alike[STUDY_AXES]; /* of these, which show nothing: one value
				   stands for all */
	size_t curve;           /* axis of its curves; num_axes: one curve */
	size_t point;           /* its first */
};

/* figures_plan stores the figures of a study in figures, FIGURES_MOST at most,
 * and returns their number. All answers must be there. */
size_t figures_plan(const struct answers *answers, struct figure *figures);

/* figure_script returns the gnuplot script of plots/ that draws it. */
const char *figure_script(const struct figure *figure);

/* figure_title returns what it shows, in a few words. */
const char *figure_title(const struct figure *figure);

/* figure_write writes its data to path, as the script wants it. Errors: IO,
 * NO_MEMORY; message says what. */
DIST_MUST_CHECK enum dist_error figure_write(const struct figure *figure,
					     const struct answers *answers,
					     const char *path,
					     struct dist_message *message);

#endif
