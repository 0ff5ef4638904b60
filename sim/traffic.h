/*
 * traffic.h - a collective of a library that is described by its transfers: how
 * many bytes it puts on each link of the platform, how long that takes without
 * other traffic, and the transfers themselves. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_TRAFFIC_H
#define LOCKSTEP_SIM_TRAFFIC_H

#include "model/library/transfers.h"
#include "sim/world.h"

/* The transfers of one kind of call in one group, by link; in proportion to the
 * bytes of a call. */
struct dist__sim_traffic;

/* A group that uses it: its ranks, as ranks of the world. */
struct dist__sim_sitting {
	struct dist__sim_world *world;
	const struct fabric *fabric;
	const int *ranks;
	struct dist__sim_traffic *known; /* all that were made; begins as NULL
					  */
};

/* One call. Must not move in memory until it is over. */
struct dist__sim_carriage {
	const struct dist__sim_traffic *traffic;
	struct library_load load; /* bytes on a link for each unit of its share
				   */
	double start_s;           /* until the first byte is sent */
	double transfer_s;        /* of all bytes without other traffic */
	double end_s;             /* simulated time; before the end: as if alone
				   */
	const char *narrow;       /* the link that makes it slower than the
				     library alone; NULL: none. Lives for ever
				     */

	struct dist__sim_parcel *parcels; /* each a flow of the engine */
	size_t under_way;
	bool failed;
	void (*over)(void *arg, bool well);
	void *arg;
};

/* dist__sim_carriage_make determines what a call puts on the links. Errors:
 * INVALID_ARGUMENT (message), NO_MEMORY; IO: the world has ended. */
enum dist_error dist__sim_carriage_make(struct dist__sim_sitting *sitting,
					const struct library_call *call,
					const struct library_estimate *estimate,
					struct dist__sim_carriage *carriage,
					struct dist_message *message);

/* dist__sim_carry begins a call. over(arg, well) is called outside all actors
 * when all bytes have arrived, or (well is false) a link has failed. */
void dist__sim_carry(struct dist__sim_carriage *carriage,
		     void (*over)(void *arg, bool well), void *arg);

/* dist__sim_traffic_free frees the list known. */
void dist__sim_traffic_free(struct dist__sim_traffic *known);

#endif
