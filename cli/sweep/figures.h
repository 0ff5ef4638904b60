/*
 * figures.h - the figures that suit a study, and their data.
 *
 * The axes of the grid with several values decide what figures show. Axes that
 * have no place in a figure give a figure for each of their combinations, up to
 * FIGURES_OF_A_KIND, or only one if they make no difference to the algorithms
 * chosen.
 */
#ifndef LOCKSTEP_CLI_SWEEP_FIGURES_H
#define LOCKSTEP_CLI_SWEEP_FIGURES_H

#include "cli/sweep/answers.h"

#define FIGURES_OF_A_KIND 12
#define FIGURES_MOST      (5 * FIGURES_OF_A_KIND)

enum figure_kind {
	FIGURE_SCALING,   /* step, throughput, efficiency over world-size */
	FIGURE_BUCKETS,   /* step over bucket-cap-mb */
	FIGURE_BREAKDOWN, /* the parts of each step's time */
	FIGURE_FASTEST,   /* algorithms, by bucket-cap-mb and world-size */
	FIGURE_CHOSEN,    /* chosen algorithms, by bytes and world size */
};

struct figure {
	enum figure_kind kind;
	char name[32];  /* of its files, without suffix: "scaling-2" */
	char text[256]; /* the values that all its points share; "": none */
	bool own[STUDY_AXES];   /* axes that differ within it */
	bool alike[STUDY_AXES]; /* of these, axes without effect: one value is
				   shown for all */
	size_t curve;           /* axis of its curves; num_axes: one curve */
	size_t point;           /* its first point */
};

/* figures_plan stores the figures of a study in figures, at most FIGURES_MOST,
 * and returns their number. No answer may be missing. */
size_t figures_plan(const struct answers *answers, struct figure *figures);

/* figure_script returns the gnuplot script of plots/ that draws it. */
const char *figure_script(const struct figure *figure);

/* figure_title returns its title. */
const char *figure_title(const struct figure *figure);

/* figure_write writes its data to path, as the script reads it. Errors: IO,
 * NO_MEMORY, with message. */
DIST_MUST_CHECK enum dist_error figure_write(const struct figure *figure,
					     const struct answers *answers,
					     const char *path,
					     struct dist_message *message);

#endif
