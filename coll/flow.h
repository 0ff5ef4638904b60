/*
 * flow.h - collectives that the world times as one flow, rather than message by
 * message. Private to coll/.
 */
#ifndef LOCKSTEP_COLL_FLOW_H
#define LOCKSTEP_COLL_FLOW_H

#include "coll/algorithm.h"

/*
 * dist__flow_of returns whether coll, run by algorithm, is to be a flow: one
 * without data in a world that has flows, by an algorithm that has a timetable.
 * If so it fills in seat, for who waits.
 */
bool dist__flow_of(const struct dist__coll *coll,
		   const struct dist__algorithm *algorithm,
		   struct dist__flow_seat *seat);

/* dist__flow_run returns whether coll is to be a flow; if so it blocks until
 * that is over, and stores the error, as of algorithm's run(). Else it is run
 * message by message, by that. */
bool dist__flow_run(const struct dist__coll *coll,
		    const struct dist__algorithm *algorithm,
		    enum dist_error *error);

#endif
