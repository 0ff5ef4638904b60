/* sweep_page.h - the results of a sweep whose points are all predicted. */
#ifndef LOCKSTEP_CLI_SWEEP_PAGE_H
#define LOCKSTEP_CLI_SWEEP_PAGE_H

#include "cli/sweep/answers.h"

/*
 * sweep_report writes into folder: points.tsv; the figures that suit the study,
 * each as SVG and PNG with its data as TSV, drawn `jobs` at a time; and
 * report.html with all of it. Prints a summary, or the points in another form
 * than text. Returns one of enum dist_exit, after a line on stderr when it is
 * not OK.
 */
int sweep_report(const struct answers *answers, const char *folder, int jobs,
		 enum dist__form form);

#endif
