/* A rank is stopped, or never calls: the others get their timeout, no less and
 * not for ever. */
#include <criterion/criterion.h>

#include <signal.h>

#include "tests/support/tcp_cases.h"
#include "tests/support/tcp_world.h"

#define SECOND ((int64_t)1000000000)
#define SHORT  (SECOND / 5)

TestSuite(silent_rank);

static void expect_timeout(struct tcp_rank *r, int peer)
{
	static char big[64 << 20];
	int64_t before = r->transport->ops->now_ns(r->transport), took;

	tcp_is(r, "receive", tcp_receive(r, peer, 5, big, 8, SHORT),
	       DIST_ERR_TIMEOUT);
	took = r->transport->ops->now_ns(r->transport) - before;
	tcp_is(r, "not early", took >= SHORT, true);
	/* More than the sockets hold, so that it cannot be complete. */
	tcp_is(r, "send", tcp_send(r, peer, 5, big, sizeof big, SHORT),
	       DIST_ERR_TIMEOUT);
}

/* Rank 1 is stopped before any connection; the kernel still accepts. */
static int stop_before(void *arg)
{
	struct tcp_rank r;

	(void)arg;
	if (!tcp_enter(&r))
		return 2;
	if (r.rank == 1)
		raise(SIGSTOP);
	expect_timeout(&r, 1);
	tcp_leave(&r);
	return r.failures;
}

Test(silent_rank, stopped_before_the_first_message)
{
	cr_assert_eq(tcp_world_without(1, 4, stop_before), 0);
}

/* Rank 1 is stopped once all are connected to it. */
static int stop_after(void *arg)
{
	struct tcp_rank r;
	char byte = 0;

	(void)arg;
	if (!tcp_enter(&r))
		return 2;
	for (int peer = 0; r.rank == 1 && peer < 4; peer++)
		if (peer != 1)
			(void)tcp_send(&r, peer, 0, &byte, 1, 20 * SECOND);
	if (r.rank == 1)
		raise(SIGSTOP);
	tcp_is(&r, "hello", tcp_receive(&r, 1, 0, &byte, 1, 20 * SECOND),
	       DIST_OK);
	expect_timeout(&r, 1);
	tcp_leave(&r);
	return r.failures;
}

Test(silent_rank, stopped_later)
{
	cr_assert_eq(tcp_world_without(1, 4, stop_after), 0);
}

/* Rank 3 is alive and connected, and calls nothing. */
static int never_call(void *arg)
{
	struct tcp_rank r;

	(void)arg;
	if (!tcp_enter(&r))
		return 2;
	if (r.rank == 3)
		for (;;)
			r.transport->ops->compute(r.transport, SECOND);
	expect_timeout(&r, 3);
	tcp_leave(&r);
	return r.failures;
}

Test(silent_rank, calls_nothing)
{
	cr_assert_eq(tcp_world_without(3, 4, never_call), 0);
}
