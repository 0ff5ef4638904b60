/* places.h - helpers of which the calls stand in a header, as users have. */
#ifndef LOCKSTEP_TESTS_PROGRAMS_PLACES_H
#define LOCKSTEP_TESTS_PROGRAMS_PLACES_H

#include "tests/programs/programs.h"

static inline enum dist_error average(struct job *job, struct dist_tensor x)
{
	/* culprit: helper_in_a_header */
	return dist_all_reduce(job->world, x, DIST_SUM, NULL);
}

static inline enum dist_error share(struct job *job, struct dist_tensor x)
{
	/* partner: helper_in_a_header */
	return dist_broadcast(job->world, x, 0, NULL);
}

#define SHARE_FROM(job, array, root)                                           \
	try(dist_broadcast((job)->world, floats(array), root, NULL))

#endif
