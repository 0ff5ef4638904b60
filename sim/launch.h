/* launch.h - the simulated world, as the table of worlds lists it, and started
 * with what dist_launch() has no options for. */
#ifndef LOCKSTEP_SIM_LAUNCH_H
#define LOCKSTEP_SIM_LAUNCH_H

#include "core/backend.h"
#include "sim/platform/platform.h"

extern const struct dist__world dist__sim_world;

/* NULL: nothing. */
struct dist__sim_options {
	/* Instead of dist_launch_options.links. */
	const struct dist__link_overrides *overrides;

	/* Hears of every call, instead of one for dist_launch_options.trace;
	 * it stays the caller's. */
	struct dist__recorder *recorder;
};

/*
 * dist__sim_launch is dist_launch() for back end sim. The environment says
 * nothing of what options leave out: that is not asked for, and world size and
 * timeout must be given. Returns as dist_launch().
 */
DIST_MUST_CHECK int dist__sim_launch(const struct dist_launch_options *options,
				     const struct dist__sim_options *more,
				     int (*rank_main)(void *arg), void *arg);

#endif
