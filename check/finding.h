/*
 * finding.h - all that is found about a job at its end: what its verdict rests
 * on, found once, and what is said of it. Text, JSON, JUnit, SARIF and
 * annotations are printed from it. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_FINDING_H
#define LOCKSTEP_CHECK_FINDING_H

#include "check/divergence.h"
#include "check/left.h"
#include "check/missing_call.h"
#include "check/other_group.h"
#include "check/taken.h"
#include "check/text.h"
#include "check/verdict.h"

enum check_role {
	CHECK_CULPRIT,
	CHECK_PARTNER, /* the others of the finding */
	CHECK_ACCESS,  /* what a culprit did to the memory of its call */
	CHECK_BETWEEN  /* the nearest calls before and after that */
};

/* Ranks of which the verdict says the same, because of the same line. */
struct check_party {
	const struct check_call *call; /* that shows it; NULL: there is none */
	const struct check_site *site; /* the line; NULL: not known */
	/* ACCESS, and where a rank was that is in no call: the line's; else
	 * NULL. */
	const char *function;
	enum check_role role;
	uint32_t beside; /* number + 1 of that whose ranks these are; or 0 */
	bool alone;      /* of rank first, which is in another party as well */
	uint32_t first, size;
};

/* Of what was not found, or does not belong to the verdict, the call is NULL.
 * board and facts are borrowed. */
struct check_finding {
	const struct check_board *board; /* NULL: there are no records */
	const struct check_facts *facts;
	struct check_verdict verdict;
	struct check_picture picture;

	struct check_disagreement disagreement; /* its a */
	struct check_end unequal;               /* check_unequal_parts() */
	struct check_missing missing;           /* its accounts */
	struct check_left left;
	uint32_t start; /* of the chain of waits */
	struct check_unanswered unanswered;
	struct check_miss miss;               /* its send */
	struct check_end previous;            /* check_find_previous_call() */
	struct check_other_group other_group; /* its few */
	struct check_absent_call absent;
	struct check_taken taken;           /* its any */
	struct check_divergence divergence; /* its few */
	struct check_finding *hence; /* what a refused call led to, or a match
					of a race; NULL: there is none */

	uint32_t *party_of; /* by rank: number + 1; 0: in none */
	struct check_party *parties;
	uint32_t num_parties;
	size_t most_parties;

	struct check_lines report;   /* report.c: the first is the headline */
	struct check_lines warnings; /* not held against the job */
	char summary[256];           /* the headline without our name */
};

/*
 * check_finding_init puts together what verdict rests on; false: no memory.
 * board may be NULL unless it is a mismatch, a hazard or an invalid call.
 *
 * The culprits are: of a mismatch, the ranks that differ from most, or all of
 * them where two calls have as many ranks; of a message, both its ends, also
 * where one is gone, and those of two that almost meet; of a cycle, the ranks
 * in it; of a collective that awaits who is gone, the smaller of both sides, or
 * both; of a timeout, the ranks that are late; of a lost rank, that rank; of
 * refused calls, all ranks that were refused some; of hazards, those that
 * caused them; of handles left behind, those who left some; of a race, the rank
 * that receives, and the two that send are partners, or the rank that looks.
 */
bool check_finding_init(struct check_finding *finding,
			const struct check_board *board,
			const struct check_facts *facts,
			const struct check_verdict *verdict);
void check_finding_release(struct check_finding *finding);

/* check_has_picture returns whether the states of the ranks say more about the
 * verdict. */
bool check_has_picture(const struct check_finding *finding);

/* check_is_culprit returns whether the verdict turns on rank. */
bool check_is_culprit(const struct check_finding *finding, uint32_t rank);

/* check_role_name returns "culprit", "partner", "access" or "between". */
const char *check_role_name(enum check_role role);

/* check_write_report adds the sentences of finding to lines (report.c); the
 * next three, those of its kind (report_mismatch.c and so on). */
void check_write_report(struct check_lines *lines,
			const struct check_finding *finding);
void check_report_mismatch(struct check_lines *lines,
			   const struct check_finding *finding);
void check_report_hazard(struct check_lines *lines,
			 const struct check_board *board);
void check_report_race(struct check_lines *lines,
		       const struct check_race *race);

#endif
