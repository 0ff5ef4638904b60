/*
 * missing_call.h - calls that some ranks of a group made and others never did.
 * Private to check/.
 *
 * A call may end well although some ranks never make it: the data is buffered,
 * or comes from other ranks. So when all have ended, the numbers of calls on
 * each group, and a hash of the calls, are compared between ranks. Whether it
 * does end so is chance: a rank may be gone before it is sent its data, or the
 * others meet it in their next call. So a wait for a rank that is gone counts
 * as the same if what it never made was such a call.
 */
#ifndef LOCKSTEP_CHECK_MISSING_CALL_H
#define LOCKSTEP_CHECK_MISSING_CALL_H

#include "check/picture.h"
#include "check/text.h"

/* The calls of one rank on a group that it is or was in. */
struct check_account {
	uint32_t generation, group_id, leader; /* which group */
	uint32_t rank;
	uint32_t collectives, trail; /* as in struct check_membership */
	bool excused;                /* it may have had a reason */
};

/* The first group on which the ranks' accounts differ. */
struct check_missing {
	struct check_account *accounts; /* of its members, by rank; owned */
	uint32_t num;
	struct check_account odd, usual; /* the first of each side: fewer ranks
					    have the first than the second */
	bool tie;                        /* or equally many */
	const struct check_call *call;   /* the first call that the shorter side
					    did not make; NULL: not kept */
	uint32_t caller;                 /* a rank that made it */
	uint32_t others;                 /* other groups with differences */
	bool unmade; /* ranks wait for who is gone; the accounts go as far as
			call */
};

/* check_find_missing compares the accounts of the ranks of every group; false:
 * they agree, or there is no memory. A group is ignored if one of its ranks has
 * not ended well, or had a failed call, or gave up a group. */
bool check_find_missing(const struct check_board *board,
			struct check_missing *missing);
void check_missing_release(struct check_missing *missing);

/* check_find_unmade finds a collective that a rank, which is gone and which
 * others wait for, never made, and that nobody who made it needed that for: a
 * broadcast or scatter whose root came, a reduce or gather whose root did not.
 * False: there is none, or no memory. */
bool check_find_unmade(const struct check_picture *picture,
		       struct check_missing *missing);

/* check_same_account returns whether two ranks made the same calls. */
bool check_same_account(const struct check_account *a,
			const struct check_account *b);

/* check_account_call returns a call to show for account: the missing one, if it
 * made that and it is kept, else the last one on the group, else the rank's
 * last call; NULL: it made none. */
const struct check_call *
check_account_call(const struct check_board *board,
		   const struct check_missing *missing,
		   const struct check_account *account);

/* check_report_missing adds the headline and the sentences about *missing, from
 * check_find_missing(). */
void check_report_missing(struct check_lines *lines,
			  const struct check_board *board,
			  const struct check_missing *missing);

#endif
