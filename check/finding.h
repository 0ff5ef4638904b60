/*
 * finding.h - everything that is found about a job at its end: the facts behind
 * its verdict, and the sentences about it. Text, JSON, JUnit, SARIF and
 * annotations are printed from it. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_FINDING_H
#define LOCKSTEP_CHECK_FINDING_H

#include "check/divergence.h"
#include "check/left.h"
#include "check/missing_call.h"
#include "check/taken.h"
#include "check/text.h"
#include "check/verdict.h"

enum check_role {
	CHECK_CULPRIT,
	CHECK_PARTNER, /* the other ranks of the finding */
	CHECK_ACCESS,  /* a culprit's access to the memory of its call */
	CHECK_BETWEEN  /* the nearest calls before and after that access */
};

/* Ranks to which the same part of the verdict applies, because of one line. */
struct check_party {
	const struct check_call *call; /* the call at fault; NULL: none */
	const struct check_site *site; /* the line; NULL: not known */
	/* The function of that line, for ACCESS and for a rank in no call;
	 * else NULL. */
	const char *function;
	enum check_role role;
	uint32_t beside; /* number + 1 of the party with these ranks; or 0 */
	bool alone;      /* only rank first, which is in another party, too */
	uint32_t first, size;
};

/* The call of a part is NULL if it was not found or is not part of the verdict.
 * board and facts are borrowed. */
struct check_finding {
	const struct check_board *board; /* NULL: there are no records */
	const struct check_facts *facts;
	struct check_verdict verdict;
	struct check_picture picture;

	struct check_disagreement disagreement; /* NULL call: a */
	struct check_end unequal;               /* check_unequal_parts() */
	struct check_missing missing;           /* its accounts */
	struct check_left left;
	uint32_t start; /* of the chain of waits: a rank */
	struct check_unanswered unanswered;
	struct check_miss miss;               /* its send */
	struct check_end previous;            /* check_find_previous_call() */
	struct check_other_group other_group; /* its few */
	struct check_absent_call absent;
	struct check_taken taken;           /* its any */
	struct check_divergence divergence; /* its few */
	struct check_finding *hence; /* without the refused call; with the match
					of a race; NULL: none */

	uint32_t *party_of; /* by rank: number + 1; 0: in none */
	struct check_party *parties;
	uint32_t num_parties;
	size_t most_parties;

	struct check_lines report;   /* report.c: the first is the headline */
	struct check_lines warnings; /* that do not fail the job */
	char summary[256];           /* the headline without "lockstep:" */
};

/*
 * check_finding_init finds the facts behind verdict; false: no memory. board
 * may be NULL unless verdict is a mismatch, a hazard or an invalid call.
 *
 * Culprits are: for a mismatch, the ranks that differ from most, or all if two
 * calls have equally many ranks; for a message, both ends, also if one is gone,
 * and the ends of two messages that almost match; for a cycle, the ranks in it;
 * for a collective that waits for a rank that is gone, the smaller of both
 * sides, or both; for a timeout, the late ranks; for a lost rank, that rank;
 * for refused calls, the ranks whose calls were refused; for hazards, the ranks
 * that caused them; for handles left behind, the ranks that left them; for a
 * race, the rank that receives (the two senders are partners) or that looks.
 */
bool check_finding_init(struct check_finding *finding,
			const struct check_board *board,
			const struct check_facts *facts,
			const struct check_verdict *verdict);
void check_finding_release(struct check_finding *finding);

/* check_has_picture returns whether the states of the ranks help to explain the
 * verdict. */
bool check_has_picture(const struct check_finding *finding);

/* check_is_culprit returns whether rank is a culprit of the verdict. */
bool check_is_culprit(const struct check_finding *finding, uint32_t rank);

/* check_role_name returns "culprit", "partner", "access" or "between". */
const char *check_role_name(enum check_role role);

/* check_write_report adds the sentences of finding to lines (report.c); the
 * next three add those of their kinds (report_mismatch.c and so on). */
void check_write_report(struct check_lines *lines,
			const struct check_finding *finding);
void check_report_mismatch(struct check_lines *lines,
			   const struct check_finding *finding);
void check_report_hazard(struct check_lines *lines,
			 const struct check_board *board);
void check_report_race(struct check_lines *lines,
		       const struct check_race *race);

#endif
