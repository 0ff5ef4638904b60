/* faulty.h - example programs with a fault, which --fixed removes. */
#ifndef LOCKSTEP_SCENARIOS_FAULTY_H
#define LOCKSTEP_SCENARIOS_FAULTY_H

#include <stdbool.h>

#include "lockstep/dist.h"

struct faulty {
	int min_ranks;    /* that it needs */
	const char *cure; /* what --fixed does */
	const char *example;

	/* What a rank does between joining and leaving the group. */
	enum dist_error (*run)(struct dist_group *group, bool fixed);
};

extern const struct faulty deadlock, mismatch, race;

/* faulty_main is the main() of such a program: it parses --fixed, joins, runs,
 * leaves. A job of too few ranks fails with one line on stderr. */
int faulty_main(int argc, char **argv, const struct faulty *faulty);

#endif
