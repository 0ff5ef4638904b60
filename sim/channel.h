/*
 * channel.h - channels of collectives: finding, matching, failing. Private to
 * sim/.
 */
#ifndef LOCKSTEP_SIM_CHANNEL_H
#define LOCKSTEP_SIM_CHANNEL_H

#include "sim/world.h"

/* dist__sim_channel_find returns the channel, and makes it if it is missing.
 * NULL: no memory, or no route between the hosts (then the world has ended). */
struct dist__sim_channel *
dist__sim_channel_find(struct dist__sim_world *world,
		       const struct dist__sim_channel *key);

/* dist__sim_match matches request with the first unmatched request of the other
 * end, or queues it. Two ends that disagree both get DIST_ERR_MISMATCH. */
void dist__sim_match(struct dist__request *request);

/* dist__sim_unqueue removes request from the queue of its channel, if it is in
 * there. */
void dist__sim_unqueue(struct dist__request *request);

/* dist__sim_has_route returns whether there is a route between two ranks; if
 * not, it ends the world. */
bool dist__sim_has_route(struct dist__sim_world *world, int from, int to);

/* dist__sim_channel_fail fails the unmatched requests of channel with error,
 * and wakes the actors that wait for them. */
void dist__sim_channel_fail(struct dist__sim_channel *channel,
			    enum dist_error error);

/* dist__sim_channel_loosen turns the unmatched requests of channel into
 * buffered messages, and wakes the actors that wait for them. */
void dist__sim_channel_loosen(struct dist__sim_channel *channel);

/* dist__sim_channels_release frees all channels, after the simulation. */
void dist__sim_channels_release(struct dist__sim_world *world);

#endif
