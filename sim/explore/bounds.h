/*
 * bounds.h - how far a job is explored, as dist_launch_options.explore states
 * it: "max-runs=1000,max-seconds=60,skew=64,values". Private to sim/explore/.
 */
#ifndef LOCKSTEP_SIM_EXPLORE_BOUNDS_H
#define LOCKSTEP_SIM_EXPLORE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct dist__sim_bounds {
	uint64_t runs;    /* at most, for each rule for sends; default 10000 */
	uint64_t seconds; /* at most, for all runs; default 60 */
	uint64_t skews;   /* runs with seeds 1 to skews; default 64 */
	bool values;      /* runs that send other bytes end differently */
};

/* An example of bounds, for a message. */
#define DIST__SIM_BOUNDS "such as max-runs=1000,max-seconds=60,skew=64,values"

/* dist__sim_bounds_parse reads text, "" for the defaults. Returns false if text
 * is no bounds. */
bool dist__sim_bounds_parse(struct dist__sim_bounds *bounds, const char *text);

#endif
