#include "tests/support/tcp_ahead.h"

#include <malloc.h>

#include "base/clock.h"

#define MESSAGES 300
#define WORDS    128
#define GO       1 /* tag */

/* The receiver looks when all is there, or takes what comes. */
enum { WAITS, RUNS, WAYS };

/* Message i of a group: of collective i. Everybody agrees but on the last one
 * of the group of way WAITS. */
static struct dist__message message(const struct tcp_rank *r, uint32_t group,
				    uint32_t i, uint64_t *data)
{
	bool differs = group == WAITS + 1 && i == MESSAGES - 1;

	return (struct dist__message){
		.peer = 1 - r->rank,
		.tag = -1,
		.group = group,
		.seq = i,
		.fingerprint = 7 + (differs ? (uint64_t)r->rank : 0),
		.data = data,
		.bytes = WORDS * sizeof *data};
}

static enum dist_error move(struct tcp_rank *r, uint32_t group, uint32_t i,
			    uint64_t *data)
{
	const struct dist__message m = message(r, group, i, data);
	bool receives = r->rank == 0;

	return r->transport->ops->exchange(r->transport, &m, receives, &m,
					   !receives,
					   dist__clock_after(TCP_PATIENCE));
}

static void send_all(struct tcp_rank *r, uint32_t group)
{
	uint64_t data[WORDS] = {0};

	for (uint32_t i = 0; i < MESSAGES; i++) {
		data[0] = data[WORDS - 1] = group * MESSAGES + i;
		tcp_is(r, "send", move(r, group, i, data), DIST_OK);
	}
}

/* The first is never asked for, as where a collective ends early. */
static void receive_all(struct tcp_rank *r, uint32_t group)
{
	uint64_t data[WORDS];

	for (uint32_t i = 1; i < MESSAGES; i++) {
		enum dist_error error = move(r, group, i, data);

		if (group == WAITS + 1 && i == MESSAGES - 1) {
			tcp_is(r, "last", error, DIST_ERR_MISMATCH);
			continue;
		}
		tcp_is(r, "receive", error, DIST_OK);
		tcp_is(r, "front", (long long)data[0], group * MESSAGES + i);
		tcp_is(r, "end", (long long)data[WORDS - 1],
		       group * MESSAGES + i);
	}
}

/* Rank 1 is ahead in two groups, and differs at the end of one. */
void tcp_ahead(struct tcp_rank *r)
{
	char go = 0;

	for (uint32_t way = 0; way < WAYS; way++) {
		if (r->rank == 1)
			send_all(r, way + 1);
		if (r->rank == 1 && way == WAITS)
			tcp_is(r, "go",
			       tcp_send(r, 0, GO, &go, 1, TCP_PATIENCE),
			       DIST_OK);
		if (r->rank == 0 && way == WAITS)
			tcp_is(r, "go",
			       tcp_receive(r, 1, GO, &go, 1, TCP_PATIENCE),
			       DIST_OK);
		if (r->rank == 0)
			receive_all(r, way + 1);
	}
}

/* ---- short messages ----------------------------------------------------- */

/* More than the memory between two ranks holds, which goes round meanwhile. */
#define SHORTS     12000
#define SHORTS_NS  20000000
#define HELD_BYTES ((size_t)4 << 10)

/* Receives short messages of a rank that is ahead; returns how many bytes were
 * allocated after the first, at most. */
static size_t receive_shorts(struct tcp_rank *r)
{
	size_t before = 0, held, most = 0;
	uint64_t data;

	for (uint32_t i = 0; i < SHORTS; i++) {
		struct dist__message m = message(r, WAYS + 1, i, &data);

		m.bytes = sizeof data;
		tcp_is(r, "receive short",
		       r->transport->ops->exchange(
			       r->transport, &m, 1, NULL, 0,
			       dist__clock_after(TCP_PATIENCE)),
		       DIST_OK);
		tcp_is(r, "short", (long long)data, i);
		held = mallinfo2().uordblks;
		if (i == 0)
			before = held;
		if (held > before + most)
			most = held - before;
	}
	return most;
}

/* Through memory they stay where they are until they are wanted. */
void tcp_short_ahead(struct tcp_rank *r)
{
	size_t held;

	if (r->rank == 0) {
		r->transport->ops->compute(r->transport, SHORTS_NS);
		held = receive_shorts(r);
		if (r->transport->shares_memory)
			tcp_is(r, "copies of shorts", held > HELD_BYTES, false);
		return;
	}
	for (uint64_t i = 0; i < SHORTS; i++) {
		struct dist__message m = message(r, WAYS + 1, (uint32_t)i, &i);

		m.bytes = sizeof i;
		tcp_is(r, "send short",
		       r->transport->ops->exchange(
			       r->transport, NULL, 0, &m, 1,
			       dist__clock_after(TCP_PATIENCE)),
		       DIST_OK);
	}
}
