/* plot.h - drawing with gnuplot and the scripts of plots/. */
#ifndef LOCKSTEP_CLI_PLOT_H
#define LOCKSTEP_CLI_PLOT_H

#include <stddef.h>

#include "trace/trace.h"

/*
 * plot_draw runs gnuplot's script ("gantt.gp") on input, a TSV file, and writes
 * the picture to output; its suffix, .svg or .png, is the format. title is
 * printed above it. command begins messages on stderr. Returns an exit status:
 * OK; FAILED (no gnuplot, or it failed: then no picture is written). Call
 * plot_check() first.
 */
int plot_draw(const char *command, const char *script, const char *input,
	      const char *output, const char *title);

/* plot_find stores in path where a file of plots/ is: among the data that the
 * user points at, else among ours, or beside them in the source tree. */
void plot_find(const char *script, char *path, size_t size);

/* plot_check returns OK if the suffix of picture, the value of option, is
 * known, else USAGE after a message. Call it before anything is written. */
int plot_check(const char *command, const char *option, const char *picture);

#define PLOT_PATH 4096

/* plot_data returns the TSV file to draw: tsv, if it is one, else picture's,
 * with its suffix .tsv, which it writes to path; NULL: there is neither. */
const char *plot_data(const char *tsv, const char *picture,
		      char path[PLOT_PATH]);

/* plot_title writes what is drawn and the conditions in trace: "Timeline: sim,
 * 8 ranks, platform star-8, profile default". */
void plot_title(const char *what, const struct dist__trace *trace, char *title,
		size_t size);

#endif
