/*
 * pace.c - decides whether a long message is better lent, by measurement.
 *
 * Through a ring a byte costs its sender `put` and its receiver `take`; lent,
 * it costs the receiver `read`. In an exchange every rank does both, and ranks
 * that share processors wait for each other, so a ring costs put + take. In one
 * direction, with a processor for each rank, both copy at the same time, and a
 * ring costs the larger. Until all is known one way is tried, then the other.
 */
#include "realbackend/wire/pace.h"

/* So many collectives in a row go one way, and one row in so many goes the
 * other. In a row, for the caches are at first as the other way has left them:
 * reading what is lent takes twice as long then. */
#define ROW  16
#define ROWS 64
/* At first so many go one way and as many the other. They may be all that warms
 * a program up. */
#define TRIES 8
/* It is measured once in so many times that it could be, by a step that no
 * sequence of calls keeps; */
#define MEASURE_EVERY 4
/* but each time until it is known. The first few meet fresh pages. */
#define FRESH 2
#define KNOWN 8
/* What a cost counts for. */
#define UNIT_BYTES (64 << 10)
/* What it costs besides that ranks of one processor hand it over to each other,
 * for a message that the ring does not hold as a whole. On 4 and 8 ranks of 2
 * cores of an Intel Xeon 256 KiB and more are faster lent, though read costs up
 * to 2100 more than put and take (docs/peers.md). */
#define TURNS_NS 2500

int dist__pace_cell(const struct dist__message *m)
{
	size_t least = m->op && dist__op_reduces(m->op->kind)
			       ? DIST__PACE_LEAST_SUM
			       : DIST__PACE_LEAST;
	int length = 0;

	if (m->tag >= 0 || !m->op || m->bytes < least)
		return -1;
	for (size_t n = m->bytes / DIST__PACE_LEAST; n >= 4; n /= 4)
		if (++length == DIST__PACE_LENGTHS - 1)
			break;
	return (int)m->op->kind * DIST__PACE_LENGTHS + length;
}

bool dist__pace_is_due(struct dist__pace *pace, int cell,
		       enum dist__pace_kind kind)
{
	if (pace->times[cell][kind] < KNOWN)
		return true;
	/* The golden ratio's. */
	return ++pace->turns * UINT32_C(2654435769) <
	       UINT32_MAX / MEASURE_EVERY;
}

/* What is believed once ns was measured for so many bytes. Less is believed
 * soon. More may be a rank that lost its processor meanwhile: slowly. */
static uint32_t learn(uint32_t old, size_t bytes, int64_t ns)
{
	double fresh = (double)ns * UNIT_BYTES / (double)bytes + 1;

	if (old == 0)
		return fresh < UINT32_MAX / 2 ? (uint32_t)fresh
					      : UINT32_MAX / 2;
	if (fresh <= old)
		return (uint32_t)((old + fresh) / 2);
	if (fresh > 2.0 * old)
		fresh = 2.0 * old;
	fresh = old + (fresh - old) / 8 + 1;
	return fresh < UINT32_MAX / 2 ? (uint32_t)fresh : UINT32_MAX / 2;
}

void dist__pace_note(struct dist__pace *pace, struct dist__pace_shown *mine,
		     int cell, enum dist__pace_kind kind, size_t bytes,
		     int64_t ns)
{
	uint32_t *cost = &pace->cost[cell][kind];
	bool known = pace->times[cell][kind] == KNOWN;

	if (!known && ++pace->times[cell][kind] <= FRESH)
		return;
	*cost = learn(*cost, bytes, ns);
	if (known)
		atomic_store_explicit(&mine->cost[cell][kind], *cost,
				      memory_order_relaxed);
}

/* Whether every rank sends while it receives. */
static bool goes_both_ways(int cell)
{
	int kind = cell / DIST__PACE_LENGTHS;

	return kind == DIST__ALL_REDUCE || kind == DIST__ALL_GATHER ||
	       kind == DIST__REDUCE_SCATTER || kind == DIST__ALL_TO_ALL;
}

/* The mean of what the sides show; 0: neither knows. */
static uint32_t mean(const struct dist__pace_shown sides[2], int cell,
		     enum dist__pace_kind kind)
{
	uint32_t a = atomic_load_explicit(&sides[0].cost[cell][kind],
					  memory_order_relaxed);
	uint32_t b = atomic_load_explicit(&sides[1].cost[cell][kind],
					  memory_order_relaxed);

	return a && b ? a / 2 + b / 2 : a + b;
}

/* As dist__pace_lends, but what is known decides alone. */
static bool is_cheaper_lent(const struct dist__pace_shown sides[2],
			    const struct dist__message *m, int cell,
			    bool crowded)
{
	uint32_t put = mean(sides, cell, DIST__PACE_PUT);
	uint32_t take = mean(sides, cell, DIST__PACE_TAKE);
	uint32_t read = mean(sides, cell, DIST__PACE_READ);
	bool turns = crowded && m->bytes > DIST__PACE_RING;

	/* One that comes as a whole with its frame is not measured. */
	if (!take)
		take = put;
	if (goes_both_ways(cell))
		return read < put + take + (turns ? TURNS_NS : 0);
	if (crowded)
		return read < put + take;
	return read < (put > take ? put : take);
}

/* Whether m is of the first collectives, which are counted. */
static bool is_trial(struct dist__pace_row *row, const struct dist__message *m)
{
	if (row->tried > 2 * TRIES)
		return false;
	if (row->tried == 0 || row->number != m->seq || row->group != m->group)
		row->tried++;
	row->number = row->tried <= 2 * TRIES ? m->seq : 0;
	row->group = m->group;
	return row->tried <= 2 * TRIES;
}

bool dist__pace_lends(struct dist__pace *pace,
		      const struct dist__pace_shown sides[2],
		      const struct dist__message *m, int cell, bool crowded)
{
	struct dist__pace_row *row = &pace->rows[cell];
	uint32_t number = m->seq / ROW + 1;
	bool read = mean(sides, cell, DIST__PACE_READ) > 0;

	if (is_trial(row, m))
		return row->tried <= TRIES;
	if (!read || !mean(sides, cell, DIST__PACE_PUT))
		return !read;
	if (row->number == number && row->group == m->group)
		return row->lends;
	row->number = number;
	row->group = m->group;
	row->lends = is_cheaper_lent(sides, m, cell, crowded) !=
		     (number % ROWS == 0);
	return row->lends;
}
