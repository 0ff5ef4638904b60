/*
 * channel.h - channels of collectives: finding, matching, failing. Private to
 * sim/.
 */
#ifndef LOCKSTEP_SIM_CHANNEL_H
#define LOCKSTEP_SIM_CHANNEL_H

#include "sim/world.h"

/* dist__sim_channel_find returns the channel, made when missing; NULL: no
 * memory, or no route between the hosts (then the world has ended). */
struct dist__sim_channel *
dist__sim_channel_find(struct dist__sim_world *world,
		       const struct dist__sim_channel *key);

/* dist__sim_match lets request meet the first unanswered one of the other end,
 * or queues it. Ends that disagree both get DIST_ERR_MISMATCH. */
void dist__sim_match(struct dist__request *request);

/* dist__sim_unqueue takes request out of the queue of its channel, if it is
 * there. */
void dist__sim_unqueue(struct dist__request *request);

/* dist__sim_has_route returns whether there is a way from rank to rank; without
 * one it ends the world. */
bool dist__sim_has_route(struct dist__sim_world *world, int from, int to);

/* dist__sim_channel_fail gives error to the unanswered requests of channel and
 * wakes who is blocked on one. */
void dist__sim_channel_fail(struct dist__sim_channel *channel,
			    enum dist_error error);

/* dist__sim_channel_loosen makes messages of the unanswered requests of
 * channel, and wakes those that wait. */
void dist__sim_channel_loosen(struct dist__sim_channel *channel);

/* dist__sim_channels_release frees all, after the simulation. */
void dist__sim_channels_release(struct dist__sim_world *world);

#endif
