/*
 * transfers.h - who sends how much to whom in a library's collective, for
 * simulations with shared links. Only arithmetic.
 *
 * A pair of ranks has one transfer, for all channels and pieces together. All
 * transfers run at the same time; the collective ends with the slowest.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_TRANSFERS_H
#define LOCKSTEP_MODEL_LIBRARY_TRANSFERS_H

#include <stddef.h>

#include "model/library/library.h"

/* The destination of a transfer that uses all NVLinks of its rank, in
 * proportion to their widths: so a library lays its rings over NVLinks between
 * pairs. */
#define LIBRARY_NEIGHBOURS (-1)

struct library_transfer {
	double share; /* of the call's bytes */
	int from, to; /* ranks of the group */
	bool leaves;  /* the node */
};

struct library_transfers {
	struct library_transfer *list; /* owned */
	size_t count;

	/* The largest share of the call's bytes, either way, on a rank's links
	 * inside its node, on a card, and on both for one rank. */
	double local_share, card_share, rank_share;
};

/*
 * library_transfers_make lists the transfers of the call that estimate
 * describes. nodes holds the number of each rank's node. The caller releases
 * transfers in any case. Errors: INVALID_ARGUMENT (message: too many to list,
 * or unknown), NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error library_transfers_make(
	const struct fabric *fabric, const struct library_call *call,
	const struct library_estimate *estimate, const int *nodes,
	struct library_transfers *transfers, struct dist_message *message);

void library_transfers_release(struct library_transfers *transfers);

/* Bytes on the links for each byte of a transfer, within a node and between
 * nodes. */
struct library_load {
	double local, remote;
};

/*
 * library_transfers_load returns it: the byte itself and the overhead of
 * protocol and network. With it, links at the fabric's rates without other
 * traffic carry all transfers in estimate->transfer_ns, or sooner if links are
 * not the bottleneck.
 */
struct library_load
library_transfers_load(const struct fabric *fabric,
		       const struct library_call *call,
		       const struct library_estimate *estimate,
		       const struct library_transfers *transfers);

#endif
