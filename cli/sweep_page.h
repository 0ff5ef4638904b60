/* sweep_page.h - what a sweep leaves once all its points are answered. */
#ifndef LOCKSTEP_CLI_SWEEP_PAGE_H
#define LOCKSTEP_CLI_SWEEP_PAGE_H

#include "cli/sweep/answers.h"

/*
 * sweep_report writes into folder: points.tsv; the figures that the study
 * affords, each as SVG and PNG with its data as TSV beside it, drawn `jobs` at
 * a time; and report.html, which has all of it. Says on stdout what there is,
 * or in another form than text prints the points.
 * Returns one of enum dist_exit, after a line on stderr when it is not OK.
 */
int sweep_report(const struct answers *answers, const char *folder, int jobs,
		 enum dist__form form);

#endif
