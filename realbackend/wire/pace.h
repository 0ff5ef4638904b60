/*
 * pace.h - the measured cost of a byte of a long message through memory: by a
 * ring, through which both ranks copy, or lent, if the system lets the receiver
 * read the sender's memory.
 *
 * Which is cheaper depends on where the two ranks run, on whether the elements
 * were just written, and on the system. 256 KiB in cache took 5 us through a
 * ring and 18 us lent, on one machine; on another 24 and 11. So each collective
 * has its own costs, and so have lengths by powers of four.
 *
 * A side measures its own copying, never waiting. It shows the result to the
 * other, so that both decide alike: if they do not, both are slower.
 * Private to realbackend/wire/.
 */
#ifndef LOCKSTEP_WIRE_PACE_H
#define LOCKSTEP_WIRE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/transport.h"

/* Shorter messages are never lent, and fewer bytes at once are not measured. A
 * sum is written again at once, so its cache lines must return from the
 * reader's cache, if they are few enough to be there: a higher limit. */
#define DIST__PACE_LEAST     ((size_t)16 << 10)
#define DIST__PACE_LEAST_SUM ((size_t)128 << 10)
#define DIST__PACE_BYTES     ((size_t)8 << 10)

/* So much a ring holds. */
#define DIST__PACE_RING ((size_t)128 << 10)

#define DIST__PACE_LENGTHS 4
#define DIST__PACE_CELLS   (DIST__OP_KINDS * DIST__PACE_LENGTHS)

/* What is measured: putting a byte into a ring, taking it out, reading it where
 * it was lent. */
enum dist__pace_kind {
	DIST__PACE_PUT,
	DIST__PACE_TAKE,
	DIST__PACE_READ,
	DIST__PACE_KINDS
};

/* Nanoseconds for 64 KiB; 0: not known yet. Only one side writes them. */
struct dist__pace_shown {
	atomic_uint_least32_t cost[DIST__PACE_CELLS][DIST__PACE_KINDS];
};

/* What a side has measured and decided. Begins as zeros. */
struct dist__pace {
	uint32_t cost[DIST__PACE_CELLS][DIST__PACE_KINDS]; /* as shown */
	unsigned char times[DIST__PACE_CELLS][DIST__PACE_KINDS];
	uint32_t turns; /* chances to measure */
	struct dist__pace_row {
		uint32_t group, number; /* of some of its collectives; or 0 */
		bool lends;
		unsigned char tried; /* collectives, at first */
	} rows[DIST__PACE_CELLS];    /* the last decision */
};

/* dist__pace_cell returns the cell for messages like m; -1: m is never lent. */
int dist__pace_cell(const struct dist__message *m);

/* dist__pace_is_due returns whether to measure this time: reading the clock has
 * a cost, too. */
bool dist__pace_is_due(struct dist__pace *pace, int cell,
		       enum dist__pace_kind kind);

/* dist__pace_note records that bytes took ns, and shows the cost in mine.
 */
void dist__pace_note(struct dist__pace *pace, struct dist__pace_shown *mine,
		     int cell, enum dist__pace_kind kind, size_t bytes,
		     int64_t ns);

/* dist__pace_lends returns whether m, of a cell, is better lent, by what both
 * sides show. At first true for some collectives and false for as many, and
 * then until both costs are known. From there on the same for some collectives
 * of a group in a row; now and then the other way, so that a changed cost is
 * noticed. crowded: there are more ranks than processors. */
bool dist__pace_lends(struct dist__pace *pace,
		      const struct dist__pace_shown sides[2],
		      const struct dist__message *m, int cell, bool crowded);

#endif
