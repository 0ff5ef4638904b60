/*
 * finding.h - what a verdict rests on: which ranks it turns on, and which calls
 * show it. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_FINDING_H
#define LOCKSTEP_CHECK_FINDING_H

#include "check/disagreement.h"
#include "check/picture.h"
#include "check/verdict.h"

enum check_role {
	CHECK_CULPRIT,
	CHECK_PARTNER, /* the others of the story */
	CHECK_ACCESS   /* what a culprit did to the memory of its call */
};

/* Ranks of which the verdict says the same, because of the same line. */
struct check_party {
	const struct check_call *call; /* that shows it; NULL: there is none */
	const struct check_site *site; /* the line; NULL: not known */
	const char *function;          /* ACCESS: the line's; else NULL */
	enum check_role role;
	uint32_t beside; /* number + 1 of that whose ranks these are; or 0 */
	bool alone;      /* of rank first, which is in another party as well */
	uint32_t first, size;
};

struct check_finding {
	struct check_picture picture;
	uint32_t *party_of; /* by rank: number + 1; 0: not in the story */
	struct check_party *parties;
	uint32_t num_parties;
};

/*
 * check_finding_init puts together what verdict rests on; false: no memory.
 *
 * The culprits are: of a mismatch, the ranks that differ from most, or all of
 * them where two calls have as many ranks; of a message, both its ends, also
 * where one is gone, and those of two that almost meet; of a cycle, the ranks
 * in it; of a collective that awaits who is gone, the smaller of both sides, or
 * both; of a timeout, the ranks that are late; of a lost rank, that rank, with
 * those that gave up for the same reason; of hazards, those that caused them;
 * of handles left behind, those who left some; of a race, the rank that
 * receives, and the two that send are partners, or
 * the rank that looks.
 */
bool check_finding_init(struct check_finding *finding,
			const struct check_board *board,
			const struct check_facts *facts,
			const struct check_verdict *verdict);
void check_finding_release(struct check_finding *finding);

/* check_is_culprit returns whether the verdict turns on rank. */
bool check_is_culprit(const struct check_finding *finding, uint32_t rank);

/* check_role_name returns "culprit", "partner" or "access". */
const char *check_role_name(enum check_role role);

#endif
