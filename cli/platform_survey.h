/*
 * platform_survey.h - what a prediction stands on: what the simulation engine
 * says of a platform and so many ranks on it.
 */
#ifndef LOCKSTEP_CLI_PLATFORM_SURVEY_H
#define LOCKSTEP_CLI_PLATFORM_SURVEY_H

#include "sim/platform/platform.h"

struct platform_survey {
	char network[1024];   /* the platform's facts about it, in a line */
	struct fabric fabric; /* borrows these: */
	struct calibration calibrations[CALIBRATIONS];
	struct dist__narrowest narrowest; /* links 0: not looked for */
};

/* platform_survey asks a child process, since an engine starts once. Returns
 * one of enum dist_exit, after a line on stderr when it is not OK. */
int platform_survey(struct platform_survey *survey, const char *path, int ranks,
		    const struct dist__link_overrides *overrides);

#endif
