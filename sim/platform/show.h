/* show.h - the parts of dist__platform_show(), a file each. */
#ifndef LOCKSTEP_SIM_PLATFORM_SHOW_H
#define LOCKSTEP_SIM_PLATFORM_SHOW_H

#include <stdio.h>

#include "base/rows.h"
#include "sim/platform/platform.h"

/* dist__platform_show_tree draws zones, nodes and hosts as a tree; neighbours
 * that are alike share a branch. Errors: NO_MEMORY. */
enum dist_error dist__platform_show_tree(const struct dist__platform *platform,
					 FILE *out);

/* dist__platform_links returns the table of links, the caller's. */
struct dist__rows dist__platform_links(const struct dist__platform *platform);

/*
 * dist__platform_bisect stores in *total_Bps what flows from each host of the
 * first half to its counterpart in the second carry together, all at once, at
 * fair shares of the links on their routes, and in *least_Bps the slowest of
 * them. Errors: NO_MEMORY, INVALID_ARGUMENT (a route is missing).
 */
enum dist_error dist__platform_bisect(const struct dist__platform *platform,
				      double *total_Bps, double *least_Bps);

#endif
