/*
 * flow.h - runs collectives that the world times as one flow instead of message
 * by message. Private to coll/.
 */
#ifndef LOCKSTEP_COLL_FLOW_H
#define LOCKSTEP_COLL_FLOW_H

#include "coll/algorithm.h"

/*
 * dist__flow_of returns whether coll, run by algorithm, will be a flow: it has
 * no data, the world has flows, and the algorithm has a timetable. If so, fills
 * in *seat for the caller, which then waits.
 */
bool dist__flow_of(const struct dist__coll *coll,
		   const struct dist__algorithm *algorithm,
		   struct dist__flow_seat *seat);

/* dist__flow_run returns whether coll is a flow; if so, it blocks until the
 * flow is over, and stores the error, one of algorithm's run(). If not, the
 * caller runs algorithm. */
bool dist__flow_run(const struct dist__coll *coll,
		    const struct dist__algorithm *algorithm,
		    enum dist_error *error);

#endif
