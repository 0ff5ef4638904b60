/* launch.h - the simulated world: its row of the table of worlds, and a launch
 * with more options than dist_launch() has. */
#ifndef LOCKSTEP_SIM_LAUNCH_H
#define LOCKSTEP_SIM_LAUNCH_H

#include "core/backend.h"
#include "sim/platform/platform.h"

extern const struct dist__world dist__sim_world;

/* A NULL pointer means: none. */
struct dist__sim_options {
	/* Instead of dist_launch_options.links. */
	const struct dist__link_overrides *overrides;

	/* Records every call, instead of a recorder for
	 * dist_launch_options.trace; owned by the caller. */
	struct dist__recorder *recorder;

	/* All ranks do the same: at formula and at flow, on hosts of one pace,
	 * rank 0 runs for all. If it turns out that it cannot, because ranks
	 * do not end a flow together, has_parted of the tally is set, calls
	 * return ABORTED, and the launch OK: launch again without this, in
	 * another process. */
	bool are_alike;
};

/*
 * dist__sim_launch is dist_launch() for back end sim, without the environment:
 * options that are not set are off, and world size and timeout must be set.
 * Returns as dist_launch().
 */
DIST_MUST_CHECK int dist__sim_launch(const struct dist_launch_options *options,
				     const struct dist__sim_options *more,
				     int (*rank_main)(void *arg), void *arg);

#endif
