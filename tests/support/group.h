/* group.h - a simulated rank comes and goes. */
#ifndef LOCKSTEP_TESTS_SUPPORT_GROUP_H
#define LOCKSTEP_TESTS_SUPPORT_GROUP_H

#include "lockstep/dist.h"
#include "tests/support/okay.h"

/* join returns the default group, or fails the test. */
static inline struct dist_group *join(void)
{
	struct dist_group *group = NULL;

	okay(dist_init_process_group(NULL, &group));
	return group;
}

/* leave returns a rank's exit status: 0 if it left well and error is OK. */
static inline int leave(struct dist_group *group, enum dist_error error)
{
	return dist_destroy_process_group(group) != DIST_OK || error;
}

#endif
