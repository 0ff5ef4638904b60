#include "tests/support/loop_transport.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/own_stack.h"

#define STACK_BYTES ((size_t)1 << 20)

struct dist__request {
	struct loop_rank *owner;
	struct dist__message m;
	bool is_send;
	bool done;
	enum dist_error error;
	double time_ns; /* posted; once done: ended */
	struct dist__request *next;
};

struct loop_rank {
	struct dist__transport base;
	struct loop *loop;
	void (*rank_main)(struct dist__transport *transport, int rank,
			  void *arg);
	void *arg;
	struct own_context *context;
	int rank;
	int calls;
	int sends, receives; /* in flight */
	double clock_ns;
	struct dist__request *posted;  /* in flight, not matched; own ones */
	struct dist__request *waiting; /* the request it blocks on */
	bool meeting;                  /* blocks in loop_meet */
	bool gone;                     /* rank_main returned */
};

struct loop {
	struct loop_options options;
	struct loop_report report;
	struct own_context turns; /* of whoever called loop_run */
	bool broken;              /* a rank failed: nobody hears of anybody */
	bool stuck;               /* no rank can ever move */
	int num_meeting;
	struct loop_rank *ranks;
};

static struct loop_rank *rank_of(struct dist__transport *t)
{
	return (struct loop_rank *)t;
}

/* ---- matching --------------------------------------------------------- */

static bool belong_together(const struct dist__request *a,
			    const struct dist__request *b)
{
	return a->is_send != b->is_send && a->m.peer == b->owner->rank &&
	       b->m.peer == a->owner->rank && a->m.group == b->m.group &&
	       a->m.tag == b->m.tag && a->m.seq == b->m.seq &&
	       a->m.step == b->m.step;
}

/* Takes request out of its owner's list; nothing if it is not there. */
static void unlink_request(struct dist__request *request)
{
	struct dist__request **link = &request->owner->posted;

	while (*link && *link != request)
		link = &(*link)->next;
	if (*link)
		*link = request->next;
}

static void append_request(struct dist__request *request)
{
	struct dist__request **link = &request->owner->posted;

	while (*link)
		link = &(*link)->next;
	*link = request;
}

static struct dist__request *find_partner(const struct dist__request *request)
{
	struct loop_rank *peer = &request->owner->loop->ranks[request->m.peer];
	struct dist__request *other = peer->posted;

	while (other && !belong_together(request, other))
		other = other->next;
	return other;
}

static double arrival_ns(const struct dist__request *a,
			 const struct dist__request *b)
{
	const struct dist__cost *cost = a->owner->loop->options.clock;
	double start = a->time_ns > b->time_ns ? a->time_ns : b->time_ns;

	if (!cost)
		return 0;
	return start + cost->alpha_ns +
	       (double)a->m.bytes * cost->beta_ns_per_byte;
}

static void complete(struct dist__request *send, struct dist__request *recv)
{
	struct loop_report *report = &send->owner->loop->report;
	double end_ns = arrival_ns(send, recv);
	bool agree = send->m.bytes == recv->m.bytes &&
		     send->m.fingerprint == recv->m.fingerprint;

	if (agree && send->m.data && recv->m.data && send->m.bytes)
		memcpy(recv->m.data, send->m.data, send->m.bytes);
	send->error = recv->error = agree ? DIST_OK : DIST_ERR_MISMATCH;
	send->time_ns = recv->time_ns = end_ns;
	send->done = recv->done = true;
	report->messages++;
	report->bytes += send->m.bytes;
}

/* ---- the slots -------------------------------------------------------- */

/* Counts a call, and fails it if it is the one meant to fail. */
static enum dist_error count_call(struct loop_rank *r)
{
	struct loop *loop = r->loop;
	const struct loop_options *options = &loop->options;

	r->calls++;
	if (options->fail_call == r->calls && options->fail_rank == r->rank) {
		loop->report.failed = true;
		loop->broken = true;
		return DIST_ERR_IO;
	}
	return loop->broken ? DIST_ERR_PEER_LOST : DIST_OK;
}

static void count_in_flight(struct loop_rank *r, bool is_send, int change)
{
	struct loop_report *report = &r->loop->report;
	int *count = is_send ? &r->sends : &r->receives;
	int *most = is_send ? &report->most_sends : &report->most_receives;

	*count += change;
	if (*count > *most)
		*most = *count;
}

static enum dist_error post(struct dist__transport *t,
			    const struct dist__message *m, bool is_send,
			    struct dist__request **result)
{
	struct loop_rank *r = rank_of(t);
	struct dist__request *request = calloc(1, sizeof *request);
	struct dist__request *partner = NULL;
	enum dist_error error;

	assert(request);
	assert(m->peer >= 0 && m->peer < r->loop->options.world_size);
	assert(m->peer != r->rank);
	if (is_send && r->loop->options.clock)
		r->clock_ns += r->loop->options.clock->overhead_ns;
	*request = (struct dist__request){.owner = r,
					  .m = *m,
					  .is_send = is_send,
					  .time_ns = r->clock_ns};
	error = count_call(r);
	if (!error) {
		count_in_flight(r, is_send, 1);
		partner = find_partner(request);
		if (!partner) {
			append_request(request);
		} else {
			unlink_request(partner);
			complete(is_send ? request : partner,
				 is_send ? partner : request);
		}
	}
	if (error)
		free(request);
	else
		*result = request;
	return error;
}

static enum dist_error loop_isend(struct dist__transport *t,
				  const struct dist__message *m,
				  struct dist__request **request)
{
	return post(t, m, true, request);
}

static enum dist_error loop_irecv(struct dist__transport *t,
				  const struct dist__message *m,
				  struct dist__request **request)
{
	return post(t, m, false, request);
}

static bool can_move(const struct loop_rank *r)
{
	const struct loop *loop = r->loop;

	if (r->meeting)
		return false;
	return !r->waiting || r->waiting->done || loop->broken || loop->stuck;
}

/* Lets the others have their turns until this rank can move. */
static void let_others_move(struct loop_rank *r)
{
	dist__own_context_switch(r->context, &r->loop->turns, false);
}

/* Blocks until request is done; returns how it ended. */
static enum dist_error block(struct loop_rank *r, struct dist__request *request,
			     int64_t deadline_ns)
{
	r->waiting = request;
	if (!can_move(r) && (double)deadline_ns > r->clock_ns)
		let_others_move(r);
	r->waiting = NULL;
	if (request->done)
		return request->error;
	if (r->loop->broken)
		return DIST_ERR_PEER_LOST;
	return deadline_ns == DIST_TIMEOUT_NEVER ? DIST_ERR_DEADLOCK
						 : DIST_ERR_TIMEOUT;
}

void loop_meet(struct dist__transport *t)
{
	struct loop_rank *r = rank_of(t);
	struct loop *loop = r->loop;
	int n = loop->options.world_size;

	r->meeting = true;
	if (++loop->num_meeting < n) {
		let_others_move(r);
		return;
	}
	loop->num_meeting = 0;
	for (int i = 0; i < n; i++)
		loop->ranks[i].meeting = false;
}

static enum dist_error loop_wait(struct dist__transport *t,
				 struct dist__request *request,
				 int64_t deadline_ns)
{
	struct loop_rank *r = rank_of(t);
	enum dist_error error = count_call(r);
	enum dist_error ended = block(r, request, deadline_ns);

	if (request->done && request->time_ns > r->clock_ns)
		r->clock_ns = request->time_ns;
	unlink_request(request);
	count_in_flight(r, request->is_send, -1);
	free(request);
	return error == DIST_ERR_IO ? error : ended;
}

static bool loop_test(struct dist__transport *t, struct dist__request *request)
{
	return request && (request->done || rank_of(t)->loop->broken);
}

static int64_t loop_now_ns(struct dist__transport *t)
{
	return (int64_t)rank_of(t)->clock_ns;
}

static void loop_charge_reduce(struct dist__transport *t, size_t bytes)
{
	struct loop_rank *r = rank_of(t);
	const struct dist__cost *cost = r->loop->options.clock;

	if (cost)
		r->clock_ns += (double)bytes * cost->gamma_ns_per_byte;
}

static void loop_abort(struct dist__transport *t, uint32_t group)
{
	(void)group;
	rank_of(t)->loop->broken = true;
}

static void loop_charge_copy(struct dist__transport *t,
			     const struct dist__op *op, size_t bytes)
{
	(void)t;
	(void)op;
	(void)bytes;
}

static const struct dist__simulation_ops loop_simulation = {
	.charge_reduce = loop_charge_reduce,
	.charge_copy = loop_charge_copy,
};

static const struct dist__transport_ops loop_ops = {
	.isend = loop_isend,
	.irecv = loop_irecv,
	.wait = loop_wait,
	.test = loop_test,
	.now_ns = loop_now_ns,
	.simulation = &loop_simulation,
	.abort = loop_abort,
};

/* ---- running ---------------------------------------------------------- */

static void run_rank(void *arg)
{
	struct loop_rank *r = arg;
	struct loop *loop = r->loop;

	r->rank_main(&r->base, r->rank, r->arg);
	r->gone = true;
	if (r->clock_ns > loop->report.ended_ns)
		loop->report.ended_ns = r->clock_ns;
	loop->report.left_over += (size_t)(r->sends + r->receives);
	dist__own_context_switch(r->context, &loop->turns, true);
}

/* Gives each rank that can move a turn; returns whether there was one. */
static bool give_turns(struct loop *loop)
{
	bool moved = false;

	for (int i = 0; i < loop->options.world_size; i++) {
		struct loop_rank *r = &loop->ranks[i];

		if (r->gone || !can_move(r))
			continue;
		dist__own_context_switch(&loop->turns, r->context, false);
		moved = true;
	}
	return moved;
}

struct loop_report loop_run(const struct loop_options *options,
			    void (*rank_main)(struct dist__transport *transport,
					      int rank, void *arg),
			    void *arg)
{
	int n = options->world_size;
	struct loop loop = {.options = *options};

	loop.ranks = calloc((size_t)n, sizeof *loop.ranks);
	assert(loop.ranks);
	for (int i = 0; i < n; i++) {
		struct loop_rank *r = &loop.ranks[i];

		*r = (struct loop_rank){
			.base.ops = &loop_ops,
			.loop = &loop,
			.rank_main = rank_main,
			.arg = arg,
			.context = dist__own_context_new(STACK_BYTES),
			.rank = i};
		assert(r->context);
		dist__own_context_begin(r->context, run_rank, r);
	}
	while (give_turns(&loop))
		;
	loop.stuck = true;
	while (give_turns(&loop))
		;
	for (int i = 0; i < n; i++) {
		assert(loop.ranks[i].gone);
		dist__own_context_free(loop.ranks[i].context);
	}
	free(loop.ranks);
	return loop.report;
}
