/*
 * transfers.h - who sends how much to whom in a library's collective: what a
 * simulation puts on links where they are not one's own. Arithmetic alone.
 *
 * All channels together: of a pair of ranks there is one transfer, whatever the
 * pieces it is sent in. All of them go on at the same time, and the collective
 * is over when the slowest is.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_TRANSFERS_H
#define LOCKSTEP_MODEL_LIBRARY_TRANSFERS_H

#include <stddef.h>

#include "model/library/library.h"

/* To whom a transfer is that goes by all NVLinks of its rank, as much by each
 * as it is wide: where NVLinks join pairs, a library lays its rings so. */
#define LIBRARY_NEIGHBOURS (-1)

struct library_transfer {
	double share; /* of the call's bytes */
	int from, to; /* ranks of the group */
	bool leaves;  /* the node */
};

struct library_transfers {
	struct library_transfer *list; /* owned */
	size_t count, space;

	/* The most, either way, of the call's bytes: that the links of a rank
	 * inside its node carry, that a card does, and both of one rank. */
	double local_share, card_share, rank_share;
};

/*
 * library_transfers_make makes those of a call that estimate is of, among ranks
 * that sit on the nodes with these numbers, one for each rank of the group. The
 * caller releases transfers in any case. Errors: INVALID_ARGUMENT (message:
 * there are too many to list, or none are known), NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error library_transfers_make(
	const struct fabric *fabric, const struct library_call *call,
	const struct library_estimate *estimate, const int *nodes,
	struct library_transfers *transfers, struct dist_message *message);

void library_transfers_release(struct library_transfers *transfers);

/* What a byte of a transfer loads its links with, by whether it leaves. */
struct library_load {
	double local, remote;
};

/*
 * library_transfers_load returns that: a byte, and what the protocol and the
 * network lose beside it; so that links of one's own, at the fabric's rates,
 * carry all transfers in estimate->transfer_ns, or sooner if something else
 * sets the pace.
 */
struct library_load
library_transfers_load(const struct fabric *fabric,
		       const struct library_call *call,
		       const struct library_estimate *estimate,
		       const struct library_transfers *transfers);

#endif
