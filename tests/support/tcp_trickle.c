#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "tests/support/tcp_trickle.h"

#include <sched.h>
#include <sys/resource.h>

#define MESSAGES 40
#define PAUSE_NS ((int64_t)100000)

/* Whoever else has the processor may hold the sender up, so that the receiver
 * does fall asleep: it may, in all attempts but one. */
#define ATTEMPTS 5

static int64_t now_ns(struct tcp_rank *r)
{
	return r->transport->ops->now_ns(r->transport);
}

static void pause_ns(struct tcp_rank *r, int64_t duration_ns)
{
	int64_t until_ns = now_ns(r) + duration_ns;

	while (now_ns(r) < until_ns)
		sched_yield();
}

static void give(struct tcp_rank *r)
{
	char byte = 0;

	tcp_receive(r, 1, MESSAGES, &byte, 1, TCP_PATIENCE);
	for (int tag = 0; tag < MESSAGES; tag++) {
		pause_ns(r, PAUSE_NS);
		tcp_is(r, "send", tcp_send(r, 1, tag, &byte, 1, TCP_PATIENCE),
		       DIST_OK);
	}
}

/* Returns how often this thread fell asleep. */
static long take(struct tcp_rank *r)
{
	struct dist__request *requests[MESSAGES];
	struct rusage before, after;
	char bytes[MESSAGES], byte = 0;

	for (int tag = 0; tag < MESSAGES; tag++) {
		struct dist__message m = {
			.tag = tag, .data = &bytes[tag], .bytes = 1};

		tcp_is(r, "post", tcp_post(r, false, &m, &requests[tag]),
		       DIST_OK);
	}
	tcp_send(r, 0, MESSAGES, &byte, 1, TCP_PATIENCE);
	getrusage(RUSAGE_THREAD, &before);
	for (int tag = MESSAGES; tag-- > 0;)
		tcp_is(r, "come", tcp_wait(r, requests[tag], TCP_PATIENCE),
		       DIST_OK);
	getrusage(RUSAGE_THREAD, &after);
	return after.ru_nvcsw - before.ru_nvcsw;
}

void tcp_trickle(struct tcp_rank *r)
{
	long least = MESSAGES;

	for (int i = 0; i < ATTEMPTS; i++) {
		long asleep = r->rank == 0 ? 0 : take(r);

		if (r->rank == 0)
			give(r);
		least = asleep < least ? asleep : least;
	}
	tcp_is(r, "slept through a trickle", least > MESSAGES / 8, false);
}
