/*
 * traffic.h - a collective whose library is known by its transfers, on the
 * platform's links: what it loads each of them with, how long that takes where
 * nobody else is, and the transfers themselves. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_TRAFFIC_H
#define LOCKSTEP_SIM_TRAFFIC_H

#include "model/library/transfers.h"
#include "sim/world.h"

/* The transfers of one kind of call in one group, link by link; they grow with
 * the bytes of a call. */
struct dist__sim_traffic;

/* Where it is used: by ranks of the group, as ranks of the world. */
struct dist__sim_sitting {
	struct dist__sim_world *world;
	const struct fabric *fabric;
	const int *ranks;
	struct dist__sim_traffic *known; /* all that were made; zeroed first */
};

/* One call of it. Stays where it is until it is over. */
struct dist__sim_carriage {
	const struct dist__sim_traffic *traffic;
	struct library_load load; /* bytes on a link for each of the share */
	double start_s;           /* until the first byte is under way */
	double transfer_s;        /* of all bytes where nobody else is */
	double end_s;             /* on the clock; meanwhile as if alone */
	const char *narrow;       /* the link that makes it take longer than the
				   * library would; NULL: none. Lives for ever */

	struct dist__sim_parcel *parcels; /* each a flow, some under way */
	size_t under_way;
	bool failed;
	void (*over)(void *arg, bool well);
	void *arg;
};

/* dist__sim_carriage_make finds out what a call of estimate puts on the links.
 * Errors: INVALID_ARGUMENT (message), NO_MEMORY; IO: the world has ended. */
enum dist_error dist__sim_carriage_make(struct dist__sim_sitting *sitting,
					const struct library_call *call,
					const struct library_estimate *estimate,
					struct dist__sim_carriage *carriage,
					struct dist_message *message);

/* dist__sim_carry begins a call, and has over(arg, well) called, outside all
 * actors, when all bytes are there or (not well) a link has failed. */
void dist__sim_carry(struct dist__sim_carriage *carriage,
		     void (*over)(void *arg, bool well), void *arg);

/* dist__sim_traffic_free frees all that were made. */
void dist__sim_traffic_free(struct dist__sim_traffic *known);

#endif
