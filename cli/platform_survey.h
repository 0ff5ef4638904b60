/*
 * platform_survey.h - facts for a prediction that the simulation engine knows
 * about a platform and ranks on it.
 */
#ifndef LOCKSTEP_CLI_PLATFORM_SURVEY_H
#define LOCKSTEP_CLI_PLATFORM_SURVEY_H

#include "sim/platform/platform.h"

struct platform_survey {
	char network[1024];   /* the network model, in a line */
	struct fabric fabric; /* borrows these: */
	struct calibration calibrations[CALIBRATIONS];
	struct dist__narrowest narrowest; /* links 0: not determined */
};

/* platform_survey uses a child process, because an engine starts only once in a
 * process. Returns one of enum dist_exit, after a line on stderr when it is not
 * OK. */
int platform_survey(struct platform_survey *survey, const char *path, int ranks,
		    const struct dist__link_overrides *overrides);

#endif
