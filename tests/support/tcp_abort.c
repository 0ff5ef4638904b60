#include "tests/support/tcp_abort.h"

/* Long enough to find a waiting thread asleep, mostly; right in either case. */
#define WHILE_NS ((int64_t)50000000)

/* A lane waits for what never comes, until the rank's thread gives the group
 * up. */
struct vain_wait {
	struct tcp_rank *r;
	enum dist_error error;
	struct dist__op op;
	struct dist__lane *lane;
	struct dist__job job;
};

static void wait_in_vain(void *arg)
{
	struct vain_wait *wait = arg;
	struct dist__request *request;
	int64_t word;
	struct dist__message m = {.peer = 1 - wait->r->rank,
				  .group = 1,
				  .tag = -1,
				  .data = &word,
				  .bytes = sizeof word};

	wait->error = tcp_post(wait->r, false, &m, &request);
	if (!wait->error)
		wait->error = tcp_wait(wait->r, request, TCP_PATIENCE);
	dist__op_finish(&wait->op, DIST_OK, 0);
	wait->r->transport->ops->lanes->notify(wait->lane);
}

void tcp_abort_wakes(struct tcp_rank *r)
{
	const struct dist__transport_ops *ops = r->transport->ops;
	struct vain_wait wait = {.r = r};
	int64_t before = ops->now_ns(r->transport);

	tcp_is(r, "lane_new", ops->lanes->create(r->transport, &wait.lane),
	       DIST_OK);
	wait.job.run = wait_in_vain;
	wait.job.arg = &wait;
	tcp_is(r, "lane_submit", ops->lanes->submit(wait.lane, &wait.job),
	       DIST_OK);
	ops->compute(r->transport, WHILE_NS);
	ops->abort(r->transport, 1);
	ops->lanes->free(wait.lane);
	tcp_is(r, "woken",
	       wait.error == DIST_ERR_ABORTED ||
		       wait.error == DIST_ERR_PEER_LOST,
	       true);
	tcp_is(r, "soon", ops->now_ns(r->transport) - before < TCP_PATIENCE / 2,
	       true);
}
