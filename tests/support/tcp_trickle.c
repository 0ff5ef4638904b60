#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "tests/support/tcp_trickle.h"

#include <sched.h>
#include <sys/resource.h>

#define MESSAGES 40
#define PAUSE_NS ((int64_t)100000)

/* Who waits looks on for 200 us. Where others have the processor the sender is
 * held up, and the receiver does fall asleep: as often as this much time passed
 * between two messages it may. */
#define HELD_UP_NS ((int64_t)150000)

/* The receiver's processor may be taken as well, and where that took half a ms
 * it falls asleep for the next 100 ms: in all attempts but one. */
#define ATTEMPTS 50
#define REST_NS  ((int64_t)120000000)

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
	int held_up = 0;
	int64_t sent_ns, before_ns;

	tcp_receive(r, 1, MESSAGES, &byte, 1, TCP_PATIENCE);
	sent_ns = now_ns(r);
	for (int tag = 0; tag < MESSAGES; tag++) {
		pause_ns(r, PAUSE_NS);
		tcp_is(r, "send", tcp_send(r, 1, tag, &byte, 1, TCP_PATIENCE),
		       DIST_OK);
		before_ns = sent_ns;
		sent_ns = now_ns(r);
		held_up += sent_ns - before_ns > HELD_UP_NS;
	}
	tcp_send(r, 1, MESSAGES, &held_up, sizeof held_up, TCP_PATIENCE);
}

/* Returns how often this thread fell asleep while the sender kept time. */
static long take(struct tcp_rank *r)
{
	struct dist__request *requests[MESSAGES];
	struct rusage before, after;
	char bytes[MESSAGES], byte = 0;
	int held_up = MESSAGES;

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
	tcp_is(r, "held up",
	       tcp_receive(r, 0, MESSAGES, &held_up, sizeof held_up,
			   TCP_PATIENCE),
	       DIST_OK);
	return after.ru_nvcsw - before.ru_nvcsw - held_up;
}

/* Once more, after a rest, where the receiver slept too often. */
void tcp_trickle(struct tcp_rank *r)
{
	bool slept = true;

	for (int i = 0; i < ATTEMPTS && slept; i++) {
		if (i > 0)
			pause_ns(r, REST_NS);
		if (r->rank == 0) {
			give(r);
			tcp_is(r, "slept",
			       tcp_receive(r, 1, 0, &slept, sizeof slept,
					   TCP_PATIENCE),
			       DIST_OK);
		} else {
			slept = take(r) > MESSAGES / 8;
			tcp_is(r, "slept",
			       tcp_send(r, 0, 0, &slept, sizeof slept,
					TCP_PATIENCE),
			       DIST_OK);
		}
	}
	tcp_is(r, "slept through a trickle", slept, false);
}
