/*
 * sides.h - who has come to a call that takes all of its ranks, and who has
 * not. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_SIDES_H
#define LOCKSTEP_CHECK_SIDES_H

#include "check/picture.h"

enum check_side {
	CHECK_SIDE_NONE, /* not to come */
	CHECK_SIDE_CAME,
	CHECK_SIDE_MISSING
};

/* check_is_in_shutdown returns whether cohort waits in a shutdown of remote
 * calls. */
bool check_is_in_shutdown(const struct check_cohort *cohort);

/* check_has_sides returns whether cohort waits in a shutdown, or in a
 * collective that only waits for the others because of the library or the size
 * of its messages. */
bool check_has_sides(const struct check_picture *picture,
		     const struct check_cohort *cohort);

/* check_side_of returns the side of rank, of a cohort that has sides. */
enum check_side check_side_of(const struct check_picture *picture,
			      const struct check_cohort *cohort, uint32_t rank);

#endif
