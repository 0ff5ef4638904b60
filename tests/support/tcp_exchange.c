#include "tests/support/tcp_exchange.h"

#define MOST_RANKS 4
#define STEPS      5 /* with 3 others: more messages than fit on a stack */
#define MOST       ((MOST_RANKS - 1) * STEPS)
#define LATE_NS    ((int64_t)200000000)

/* One call: a message of each step to and from every other rank. A word says
 * who sent it, and the step. */
struct exchanged {
	struct dist__message in[MOST], out[MOST];
	int64_t come[MOST], gone[MOST];
	int n;
};

static int64_t word(int rank, uint32_t step)
{
	return rank * 100 + (int64_t)step;
}

static struct dist__message message(int peer, uint32_t seq, uint32_t step,
				    int64_t *data)
{
	return (struct dist__message){.peer = peer,
				      .tag = -1,
				      .seq = seq,
				      .step = step,
				      .data = data,
				      .bytes = sizeof *data};
}

static void fill(const struct tcp_rank *r, uint32_t seq, struct exchanged *x)
{
	int p = r->world_size, n = 0;

	for (uint32_t step = 0; step < STEPS; step++)
		for (int i = 1; i < p; i++, n++) {
			x->come[n] = -1;
			x->gone[n] = word(r->rank, step);
			x->in[n] = message((r->rank + p - i) % p, seq, step,
					   &x->come[n]);
			x->out[n] = message((r->rank + i) % p, seq, step,
					    &x->gone[n]);
		}
	x->n = n;
}

static enum dist_error run(struct tcp_rank *r, const struct exchanged *x,
			   int64_t timeout_ns)
{
	struct dist__transport *t = r->transport;

	return t->ops->exchange(t, x->in, x->n, x->out, x->n,
				t->ops->now_ns(t) + timeout_ns);
}

/* The first n are as they were sent. */
static void check(struct tcp_rank *r, const struct exchanged *x, int n)
{
	for (int i = 0; i < n; i++)
		tcp_is(r, "word", x->come[i],
		       word(x->in[i].peer, x->in[i].step));
}

/* What never comes keeps neither what goes nor what came before it. */
static void last_never_comes(struct tcp_rank *r)
{
	struct dist__transport *t = r->transport;
	int64_t deadline_ns = t->ops->now_ns(t) + TCP_PATIENCE;
	struct exchanged x;
	struct dist__message *last;

	fill(r, 1, &x);
	last = &x.in[x.n - 1];
	last->step = STEPS;
	tcp_is(r, "late", run(r, &x, LATE_NS), DIST_ERR_TIMEOUT);
	check(r, &x, x.n - 1);
	tcp_is(r, "nothing", x.come[x.n - 1], -1);
	last->step = STEPS - 1;
	tcp_is(r, "sent", t->ops->exchange(t, last, 1, NULL, 0, deadline_ns),
	       DIST_OK);
	check(r, &x, x.n);
}

void tcp_exchange(struct tcp_rank *r)
{
	struct exchanged x;

	fill(r, 0, &x);
	tcp_is(r, "all", run(r, &x, TCP_PATIENCE), DIST_OK);
	check(r, &x, x.n);
	last_never_comes(r);
	/* Nobody leaves before the others are late. */
	fill(r, 2, &x);
	tcp_is(r, "again", run(r, &x, TCP_PATIENCE), DIST_OK);
}
