/*
 * pace.h - what a byte of a long message costs through memory, measured while
 * they pass: by way of a ring, which both ranks copy through, or lent, where
 * the system reads the sender's memory for the receiver.
 *
 * Which is cheaper is a matter of where the two ranks run, of whether the
 * elements were just written, and of the system. 256 KiB that no cache had to
 * fetch took 5 us through a ring and 18 us lent, on one machine; on another 24
 * and 11. So the collectives are told apart, and lengths by powers of four.
 *
 * What a side measures is its own copying, never waiting. It shows that to the
 * other, so that both decide alike: where they do not, both suffer.
 * Private to realbackend/wire/.
 */
#ifndef LOCKSTEP_WIRE_PACE_H
#define LOCKSTEP_WIRE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/transport.h"

/* Shorter messages are never lent, and fewer bytes at once no measure. What is
 * added up is written again at once: for that its lines have to come back from
 * the cache of who read them, while they are few enough to lie there. */
#define DIST__PACE_LEAST     ((size_t)16 << 10)
#define DIST__PACE_LEAST_SUM ((size_t)128 << 10)
#define DIST__PACE_BYTES     ((size_t)8 << 10)

#define DIST__PACE_LENGTHS 4
#define DIST__PACE_CELLS   (DIST__OP_KINDS * DIST__PACE_LENGTHS)

/* What is measured: to put a byte into a ring, to take it out, to read it
 * where it was lent. */
enum dist__pace_kind {
	DIST__PACE_PUT,
	DIST__PACE_TAKE,
	DIST__PACE_READ,
	DIST__PACE_KINDS
};

/* Nanoseconds for 64 KiB; 0: not known yet. One side writes them. */
struct dist__pace_shown {
	atomic_uint_least32_t cost[DIST__PACE_CELLS][DIST__PACE_KINDS];
};

/* What a side has measured, and what it has decided. Begins as zeros. */
struct dist__pace {
	uint32_t cost[DIST__PACE_CELLS][DIST__PACE_KINDS]; /* as shown */
	unsigned char times[DIST__PACE_CELLS][DIST__PACE_KINDS];
	uint32_t turns; /* of what could be measured */
	struct dist__pace_row {
		uint32_t group, number; /* of some collectives of it; or 0 */
		bool lends;
	} rows[DIST__PACE_CELLS]; /* the last */
};

/* dist__pace_cell returns where messages like m are counted; -1: nowhere, it is
 * never lent. */
int dist__pace_cell(const struct dist__message *m);

/* dist__pace_is_due returns whether it is time to measure again: the clock
 * costs something, too. */
bool dist__pace_is_due(struct dist__pace *pace, int cell,
		       enum dist__pace_kind kind);

/* dist__pace_note notes that so many bytes took so long, and shows it in mine.
 */
void dist__pace_note(struct dist__pace *pace, struct dist__pace_shown *mine,
		     int cell, enum dist__pace_kind kind, size_t bytes,
		     int64_t ns);

/* dist__pace_lends returns whether m, of a cell, is better lent, by what both
 * sides show: the same for some collectives of a group in a row. Now and then
 * it is the other way, lest a cost that has changed is never seen. crowded:
 * there are more ranks than processors. */
bool dist__pace_lends(struct dist__pace *pace,
		      const struct dist__pace_shown sides[2],
		      const struct dist__message *m, int cell, bool crowded);

#endif
