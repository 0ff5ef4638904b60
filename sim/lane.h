/* lane.h - jobs that run beside the program of a rank, and how they wait for
 * each other. Private to sim/. */
#ifndef LOCKSTEP_SIM_LANE_H
#define LOCKSTEP_SIM_LANE_H

#include "core/transport.h"

extern const struct dist__lane_ops dist__sim_lanes;
extern const struct dist__event_ops dist__sim_events;

struct dist__sim_rank;
struct dist__sim_world;

/* dist__sim_lane_rank is rank_of_lane() of struct dist__sim_world_ops. */
struct dist__sim_rank *dist__sim_lane_rank(struct dist__sim_world *world,
					   const void *actor);

/* dist__sim_lane_over is lane_over() of core/simulation.h. */
void dist__sim_lane_over(struct dist__lane *lane);

#endif
