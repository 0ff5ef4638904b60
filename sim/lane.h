/* lane.h - jobs beside the program of a rank. Private to sim/. */
#ifndef LOCKSTEP_SIM_LANE_H
#define LOCKSTEP_SIM_LANE_H

#include "core/transport.h"

extern const struct dist__lane_ops dist__sim_lanes;

/* dist__sim_lane_over is lane_over() of core/simulation.h. */
void dist__sim_lane_over(struct dist__lane *lane);

#endif
