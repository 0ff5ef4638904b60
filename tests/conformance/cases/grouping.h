/* grouping.h - which ranks walk the conformance table together. */
#ifndef LOCKSTEP_CONFORMANCE_GROUPING_H
#define LOCKSTEP_CONFORMANCE_GROUPING_H

#include "lockstep/dist.h"

enum conformance_grouping {
	CONFORMANCE_ALL,         /* the default group */
	CONFORMANCE_HALVES,      /* both at the same time */
	CONFORMANCE_ODD,         /* the odd ranks, by their own call alone */
	CONFORMANCE_REVERSED,    /* all, numbered from the last on */
	CONFORMANCE_OVERLAPPING, /* the halves, with a rank in common */
	CONFORMANCE_NESTED,      /* each half made again, of itself, turned */
	CONFORMANCE_GROUPINGS
};

/* conformance_grouping_name returns "halves" and so on. */
const char *conformance_grouping_name(enum conformance_grouping grouping);

/*
 * conformance_groups_new makes the groups of grouping out of all, which has two
 * ranks or more, and stores those that the rank is in, in the order in which it
 * walks in them; a place not used becomes NULL. They end with all. Errors: as
 * dist_new_group.
 */
DIST_MUST_CHECK enum dist_error
conformance_groups_new(struct dist_group *all,
		       enum conformance_grouping grouping,
		       struct dist_group *groups[2]);

#endif
