/*
 * flow.h - running an algorithm as the world wants it: message by message, or
 * as one flow. Private to coll/.
 */
#ifndef LOCKSTEP_COLL_FLOW_H
#define LOCKSTEP_COLL_FLOW_H

#include "core/algorithm.h"

/*
 * dist__flow_of returns whether coll, run by algorithm, is to be a flow: one
 * without data in a world that has flows, by an algorithm that has a timetable.
 * If so it fills in seat, for who waits.
 */
bool dist__flow_of(const struct dist__coll *coll,
		   const struct dist__algorithm *algorithm,
		   struct dist__flow_seat *seat);

/* dist__coll_run runs coll by algorithm, either way, and blocks. Errors: as
 * algorithm's run(). */
enum dist_error dist__coll_run(const struct dist__coll *coll,
			       const struct dist__algorithm *algorithm);

#endif
