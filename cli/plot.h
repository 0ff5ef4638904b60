/* plot.h - drawing with gnuplot and the scripts of plots/. */
#ifndef LOCKSTEP_CLI_PLOT_H
#define LOCKSTEP_CLI_PLOT_H

#include <stddef.h>

#include "trace/trace.h"

/*
 * plot_draw lets gnuplot run script ("gantt.gp") on input, a TSV file, and
 * gives the picture the name output, whose suffix, .svg or .png, says what it
 * is. title goes above it. command begins the messages, on stderr. Returns an
 * exit status: OK; FAILED (no gnuplot, or it failed: then there is no new
 * picture). The suffix must have passed plot_check().
 */
int plot_draw(const char *command, const char *script, const char *input,
	      const char *output, const char *title);

/* plot_check returns OK when picture's name says what it is, else USAGE after a
 * message; to be asked before anything is written. */
int plot_check(const char *command, const char *picture);

/* plot_data_path stores in path the name of the TSV file that lies beside
 * picture: its suffix changed to .tsv. */
void plot_data_path(const char *picture, char *path, size_t size);

/* plot_title writes what is drawn and what made its times, as far as trace
 * tells: "Timeline: sim, 8 ranks, platform star-8, profile default". */
void plot_title(const char *what, const struct dist__trace *trace, char *title,
		size_t size);

#endif
