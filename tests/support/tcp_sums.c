#include "tests/support/tcp_sums.h"

#include <stdlib.h>

/* Elements of a message: none, few, what fills a stage of 256 KiB and what does
 * not, and more than moves in one turn. */
static const size_t lengths[] = {0,     1,     3,      2047,   65535,
				 65536, 65537, 131072, 200001, 700001};
#define LENGTHS (sizeof lengths / sizeof lengths[0])
#define LONGEST ((size_t)700001)
/* Elements after a message, which stay as they are. */
#define BEHIND ((size_t)4096)

static int32_t sent(size_t i, uint32_t seq)
{
	return (int32_t)(i * 7 + seq);
}

static int32_t own(size_t i)
{
	return (int32_t)(i * 3) - 5;
}

static struct dist__message term(uint32_t seq, int peer, void *data)
{
	return (struct dist__message){
		.peer = peer,
		.tag = -1,
		.seq = seq,
		.data = data,
		.bytes = lengths[seq % LENGTHS] * sizeof(int32_t),
		.dtype = DIST_INT32,
		.reduce_op = DIST_SUM,
	};
}

static void give(struct tcp_rank *r, int32_t *data, uint32_t seq)
{
	struct dist__message m = term(seq, 1, data);
	struct dist__request *request;

	for (size_t i = 0; i < lengths[seq % LENGTHS]; i++)
		data[i] = sent(i, seq);
	tcp_is(r, "send", tcp_post(r, true, &m, &request), DIST_OK);
	tcp_is(r, "sent", tcp_wait(r, request, TCP_PATIENCE), DIST_OK);
}

/* Takes the message in place, or apart from what it is added to. */
static void take(struct tcp_rank *r, int32_t *mine, int32_t *apart,
		 uint32_t seq)
{
	int32_t *sum = seq / LENGTHS % 2 ? apart : mine;
	struct dist__message m = term(seq, 0, sum);
	struct dist__request *request;
	size_t n = lengths[seq % LENGTHS], wrong = 0;

	for (size_t i = 0; i < n + BEHIND; i++)
		mine[i] = own(i);
	m.mine = mine;
	tcp_is(r, "receive", tcp_post(r, false, &m, &request), DIST_OK);
	tcp_is(r, "received", tcp_wait(r, request, TCP_PATIENCE), DIST_OK);
	for (size_t i = 0; i < n; i++) {
		wrong += sum[i] != own(i) + sent(i, seq);
		wrong += sum != mine && mine[i] != own(i);
	}
	for (size_t i = n; i < n + BEHIND; i++)
		wrong += mine[i] != own(i);
	tcp_is(r, "wrong elements", (long long)wrong, 0);
}

/* Every length in place and apart, asked for before it comes and after. */
void tcp_sums(struct tcp_rank *r)
{
	int32_t *mine = malloc((LONGEST + BEHIND) * sizeof *mine);
	int32_t *apart = malloc((LONGEST + BEHIND) * sizeof *apart);
	char late = 0;

	for (uint32_t seq = 0; mine && apart && seq < 4 * LENGTHS; seq++) {
		/* Whoever hears this has the message already, or it is held. */
		bool early = seq >= 2 * LENGTHS;

		if (r->rank == 0) {
			give(r, mine, seq);
			if (early)
				tcp_send(r, 1, 1, &late, 1, TCP_PATIENCE);
			continue;
		}
		if (early)
			tcp_receive(r, 0, 1, &late, 1, TCP_PATIENCE);
		take(r, mine, apart, seq);
	}
	tcp_is(r, "memory", mine && apart, true);
	free(mine);
	free(apart);
}
