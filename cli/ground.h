/*
 * ground.h - what a prediction stands on: what the simulation engine says of a
 * platform and so many ranks on it.
 */
#ifndef LOCKSTEP_CLI_GROUND_H
#define LOCKSTEP_CLI_GROUND_H

#include "sim/platform.h"

struct ground {
	char facts[1024]; /* "key: value" lines about the platform */
	struct fabric fabric;
	struct dist__narrowest narrowest; /* links 0: not looked for */
};

/* ground_survey asks a child process, since an engine starts once. Returns one
 * of enum dist_exit, after a line on stderr when it is not OK. */
int ground_survey(struct ground *ground, const char *path, int ranks);

#endif
