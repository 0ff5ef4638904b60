/*
 * bounds.h - how far a job is explored, in the words of dist_launch_options:
 * "max-runs=1000,max-seconds=60,skew=64,values". Private to sim/explore/.
 */
#ifndef LOCKSTEP_SIM_EXPLORE_BOUNDS_H
#define LOCKSTEP_SIM_EXPLORE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct dist__sim_bounds {
	uint64_t runs;    /* at most, of one rule for sends; default 10000 */
	uint64_t seconds; /* at most, for all; default 60 */
	uint64_t skews;   /* seeds 1 to that; default 64 */
	bool values;      /* other bytes sent are another end */
};

/* What they look like, for a message. */
#define DIST__SIM_BOUNDS "such as max-runs=1000,max-seconds=60,skew=64,values"

/* dist__sim_bounds_parse reads text, "" for the defaults; false: it says
 * something else. */
bool dist__sim_bounds_parse(struct dist__sim_bounds *bounds, const char *text);

#endif
