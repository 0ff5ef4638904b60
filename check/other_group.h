/*
 * other_group.h - ranks that wait in the same call, but on two groups of the
 * same ranks. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_OTHER_GROUP_H
#define LOCKSTEP_CHECK_OTHER_GROUP_H

#include "check/picture.h"
#include "check/text.h"

struct check_other_group {
	const struct check_cohort *few, *most; /* NULL: there are none */
};

/* check_find_other_group finds the first two such cohorts. */
void check_find_other_group(const struct check_picture *picture,
			    struct check_other_group *found);

/* check_report_other_group adds a sentence, none if the cohorts are NULL. */
void check_report_other_group(struct check_lines *lines,
			      const struct check_other_group *found);

#endif
