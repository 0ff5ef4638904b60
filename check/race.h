/*
 * race.h - a receive or a look that decides how the job ends. Private to
 * check/.
 */
#ifndef LOCKSTEP_CHECK_RACE_H
#define LOCKSTEP_CHECK_RACE_H

#include "check/verdict.h"

/* check_report_race writes the call, both ways, and what each leads to.
 */
void check_report_race(FILE *out, const struct check_race *race);

#endif
