/*
 * transport.c - messages between simulated ranks.
 *
 * A message of a collective is a rendezvous: the transfer starts when both ends
 * are posted and both ends complete together when it is through. The ends are
 * matched here, in the order posted in their channel, so that each end knows
 * its mate, and the engine supplies the time. Those of collectives without data
 * mostly go without calls (steps.c). Messages of the program are
 * message.c's, and so are those of a collective that fill the profile's window,
 * or go over links that have queues; and all of them in a copy in which no send
 * waits (ending.c).
 */
#include "sim/transport.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/analytic_collective.h"
#include "sim/channel.h"
#include "sim/choose.h"
#include "sim/cores.h"
#include "sim/delay_injection.h"
#include "sim/flow.h"
#include "sim/forecast.h"
#include "sim/lane.h"
#include "sim/message.h"
#include "sim/note.h"
#include "sim/progress.h"
#include "sim/request.h"
#include "sim/round.h"

/* What an unsuccessful look costs: enough that the clock goes on. While nobody
 * else can move, nothing can come of looking, and each look costs twice the one
 * before, up to LONGEST_LOOK_S, so that a rank that looks for ever reaches its
 * deadline in few steps. */
#define LOOK_S         1e-6
#define LONGEST_LOOK_S 1.0

/* So many messages at once need no memory but the stack's. */
#define FEW_REQUESTS 16

/* What is said of a message where ranks stand for others. */
#define STANDS_IN                                                              \
	"ranks stand for others, which do the same: expected messages among "  \
	"those that run alone, no groups made by their members alone, no "     \
	"monitored_barrier and no premul_sum"

static struct dist__sim_rank *rank_of(struct dist__transport *t)
{
	return (struct dist__sim_rank *)t;
}

static struct dist__sim_actor *self(void)
{
	return dist__engine->self();
}

/* ---- what stops a message ------------------------------------------- */

static enum dist_error state_of_request(const struct dist__request *r)
{
	return r->error ? r->error : dist__sim_state_of(r->rank, r->group);
}

/* ---- posting -------------------------------------------------------- */

static bool is_lost(const struct dist__sim_rank *rank, int peer, uint32_t group)
{
	const struct dist__sim_rank *other = &rank->world->ranks[peer];

	return other != rank && other->joined == rank->joined &&
	       dist__sim_has_aborted(other, group);
}

static enum dist_error check_ends(const struct dist__sim_rank *rank,
				  const struct dist__message *m)
{
	enum dist_error error = dist__sim_state_of(rank, m->group);
	bool lost = false;

	if (error)
		return error;
	if (m->peer != DIST_ANY_SOURCE)
		lost = is_lost(rank, m->peer, m->group);
	else
		for (int i = 0; i < m->members->world_size && !lost; i++)
			lost = is_lost(rank, dist__global_rank(m->members, i),
				       m->group);
	return lost ? DIST_ERR_PEER_LOST : DIST_OK;
}

static struct dist__sim_channel *channel_of(const struct dist__sim_rank *rank,
					    const struct dist__message *m,
					    bool is_send)
{
	struct dist__sim_channel key = {
		.joined = rank->joined,
		.group = m->group,
		.src = is_send ? rank->rank : m->peer,
		.dst = is_send ? m->peer : rank->rank,
	};

	return dist__sim_channel_find(rank->world, &key);
}

static struct dist__request *describe(struct dist__sim_rank *rank,
				      const struct dist__message *m,
				      bool is_send)
{
	struct dist__request *r = dist__sim_request_new(rank->world);

	if (!r)
		return NULL;
	r->rank = rank;
	r->group = m->group;
	r->bytes = m->bytes;
	r->load_bytes = dist__sim_load_bytes(rank, m);
	r->sum_bytes = dist__sim_sum_bytes(rank, m);
	r->fingerprint = m->fingerprint;
	r->seq = m->seq;
	r->step = m->step;
	r->is_send = is_send;
	r->gives_up = m->gives_up;
	if (!m->data || m->bytes == 0)
		return r;
	if (!is_send) {
		r->data = m->data;
		return r;
	}
	/* Both ends complete in the same instant, and the sender may overwrite
	 * its memory before the receiver has run: hence a copy. */
	r->copy = malloc(m->bytes);
	if (!r->copy) {
		dist__sim_request_consume(rank->world, r);
		return NULL;
	}
	memcpy(r->copy, m->data, m->bytes);
	return r;
}

/* Posts one end of a message of a collective. */
static void post_in_channel(struct dist__request *r,
			    struct dist__sim_channel *channel)
{
	r->channel = channel;
	dist__sim_match(r);
	dist__engine->post(&channel->path, r->is_send, (uint64_t)r->load_bytes,
			   &r->end, r->mate ? &r->mate->end : NULL);
}

/* Charges actor for the call that m belongs to, once. */
static void charge_call(struct dist__sim_actor *actor,
			const struct dist__message *m)
{
	uint64_t collective = ((uint64_t)m->group << 32 | m->seq) + 1;

	if (m->tag < 0 && actor->charged == collective)
		return;
	if (m->tag < 0)
		actor->charged = collective;
	actor->debt_s += actor->rank->world->call_s;
}

/* What the bytes of a send take of its core. */
static double send_copy_s(const struct dist__sim_rank *rank,
			  const struct dist__message *m)
{
	return dist__sim_copy_s(rank->world, dist__sim_load_bytes(rank, m),
				rank->world->profile.send_Bps);
}

/* Whether all who may be at the other end run; those who run make a collective
 * of messages only among themselves if they are all. */
static bool is_among_running(const struct dist__sim_world *world,
			     const struct dist__message *m)
{
	if (world->present == world->world_size)
		return true;
	if (m->tag < 0 || m->peer != DIST_ANY_SOURCE)
		return m->tag >= 0 && m->peer < world->present;
	for (int i = 0; i < m->members->world_size; i++)
		if (dist__global_rank(m->members, i) >= world->present)
			return false;
	return true;
}

/* A send is on its way while the sender's core copies it. */
static enum dist_error post(struct dist__sim_rank *rank,
			    const struct dist__message *m, bool is_send,
			    struct dist__request **request)
{
	struct dist__sim_world *world = rank->world;
	struct dist__sim_actor *actor = self();
	struct dist__sim_channel *channel = NULL;
	bool by_message = m->tag >= 0 || world->queues || world->is_loose ||
			  m->bytes >= world->profile.window_bytes;
	struct dist__request *r;
	enum dist_error error;
	double copy_s = 0;

	if (!is_among_running(world, m)) {
		if (world->may_part)
			dist__sim_part(world);
		else
			dist__sim_break(world, STANDS_IN);
		return world->end_error;
	}
	assert(m->peer < world->world_size);
	assert(m->peer >= 0 || (by_message && !is_send));
	dist__sim_note_call(rank);
	charge_call(actor, m);
	if (is_send) {
		actor->debt_s += world->overhead_s;
		copy_s = send_copy_s(rank, m);
	}
	dist__sim_delay_call(actor);
	dist__sim_pay_before(actor, copy_s);
	actor->look_s = LOOK_S;
	if (by_message && is_send)
		(void)dist__sim_has_route(world, rank->rank, m->peer);
	if (!by_message)
		channel = channel_of(rank, m, is_send);
	error = check_ends(rank, m);
	if (error)
		return error;
	r = channel || by_message ? describe(rank, m, is_send) : NULL;
	if (!r)
		return DIST_ERR_NO_MEMORY;
	if (is_send && m->tag >= 0 && m->tag <= DIST_TAG_MAX)
		r->send = dist__sim_analytic_send(rank, m);
	dist__sim_note_post(rank, m, is_send);
	if (by_message)
		dist__sim_message_post(r, m);
	else
		post_in_channel(r, channel);
	dist__sim_watch_note(rank);
	dist__sim_pass(actor, copy_s);
	*request = r;
	return DIST_OK;
}

static enum dist_error isend(struct dist__transport *t,
			     const struct dist__message *m,
			     struct dist__request **request)
{
	return post(rank_of(t), m, true, request);
}

static enum dist_error irecv(struct dist__transport *t,
			     const struct dist__message *m,
			     struct dist__request **request)
{
	return post(rank_of(t), m, false, request);
}

/* ---- waiting -------------------------------------------------------- */

/* Takes an end back from the engine without waiting for it; a transfer under
 * way is torn for both ends. */
static void withdraw(struct dist__request *r)
{
	if (!r->mate)
		dist__sim_unqueue(r);
	if (!dist__engine->cancel(&r->end) && r->mate && !r->mate->error)
		r->mate->error = DIST_ERR_PEER_LOST;
}

/* Waits for the transfer; false: it failed, or its time was up and it is torn.
 * Who had no time left when it came to wait has given up. */
static bool complete(struct dist__request *r, int64_t deadline_ns)
{
	struct dist__sim_world *world = r->rank->world;
	bool gives_up = r->gives_up || dist__sim_is_late(world, deadline_ns);
	enum dist__engine_outcome outcome;

	do
		outcome = dist__engine->wait(
			&r->end, dist__sim_seconds_until(world, deadline_ns));
	while (outcome == DIST__ENGINE_LATE &&
	       !dist__engine->has_ended(&r->end) && !gives_up &&
	       !dist__sim_time_is_up(r->rank));
	if (outcome == DIST__ENGINE_LATE)
		return dist__engine->cancel(&r->end);
	return outcome == DIST__ENGINE_DONE;
}

/* The transfer failed, or its time was up: says which, and to whom. A torn
 * transfer wakes both ends, so the own deadline tells whose it was. Who had no
 * time left when it came to wait has given up, and nobody is late. */
static enum dist_error blame(struct dist__request *r, int64_t since_ns,
			     int64_t deadline_ns)
{
	struct dist__request *mate = r->mate;
	bool late = dist__sim_is_late(r->rank->world, deadline_ns);
	enum dist_error error = r->error;

	if (!mate)
		dist__sim_unqueue(r);
	else if (!mate->error)
		mate->error = DIST_ERR_PEER_LOST;
	if (error && error != DIST_ERR_PEER_LOST)
		return error;
	if (late && since_ns < deadline_ns)
		dist__sim_note_timeout(r->rank);
	if (late)
		return DIST_ERR_TIMEOUT;
	error = state_of_request(r);
	return error ? error : DIST_ERR_PEER_LOST;
}

static enum dist_error await(struct dist__request *r, int64_t deadline_ns)
{
	struct dist__sim_world *world = r->rank->world;
	int64_t since_ns = dist__sim_now_ns(world);
	bool well;

	if (!r->mate && (!r->gives_up || world->is_patient)) {
		if (!dist__sim_block(world)) {
			withdraw(r);
			return world->end_error;
		}
		r->blocked = true;
	}
	well = complete(r, deadline_ns);
	if (r->blocked) {
		r->blocked = false;
		dist__sim_unblock(world);
	}
	if (!r->channel)
		return DIST_OK;
	if (!well)
		return blame(r, since_ns, deadline_ns);
	return state_of_request(r);
}

static enum dist_error wait_in_channel(struct dist__request *r,
				       int64_t deadline_ns)
{
	struct dist__sim_world *world = r->rank->world;
	enum dist_error error = state_of_request(r);

	if (error)
		withdraw(r);
	else
		error = await(r, deadline_ns);
	/* In the copy that lets sends go it has become a message meanwhile. */
	if (!r->channel)
		return dist__sim_message_wait(self(), r, deadline_ns);
	if (!error && r->data && r->mate->copy)
		memcpy(r->data, r->mate->copy, r->bytes);
	dist__sim_request_consume(world, r);
	return error;
}

/* What a receiver may leave uncopied until all of a message is there. */
#define LAST_PIECE 65536

/* Of copy_s, the copying of a message of so many bytes that took come_s to
 * come, what is left when it is there: a rank that has waited since then copies
 * what comes while it comes, if its core has nothing else to do. */
static double left_to_copy_s(const struct dist__sim_rank *rank, double since_s,
			     size_t bytes, double come_s, double copy_s)
{
	double last = fmin(LAST_PIECE / (double)bytes, 1);
	double idle_s = dist__sim_core_idle_s(rank, since_s);

	return copy_s - fmin(fmin(idle_s, come_s), (1 - last) * copy_s);
}

/* Waits for r; actor then owes what that takes of its core. */
static enum dist_error wait_owing(struct dist__sim_actor *actor,
				  struct dist__request *r, int64_t deadline_ns)
{
	const struct dist__sim_world *world = actor->rank->world;
	double since_s = dist__engine->now_s(), come_s = 0, copy_s = 0,
	       sum_bytes;
	enum dist_error error;
	size_t bytes;
	bool is_send;

	assert(r);
	bytes = r->bytes;
	sum_bytes = r->sum_bytes;
	is_send = r->is_send;
	if (!is_send) {
		come_s = dist__sim_copy_s(world, r->load_bytes,
					  world->profile.send_Bps);
		copy_s = dist__sim_copy_s(world, r->load_bytes,
					  world->profile.receive_Bps);
	}
	if (r->channel)
		error = wait_in_channel(r, deadline_ns);
	else
		error = dist__sim_message_wait(actor, r, deadline_ns);
	dist__sim_watch_note(actor->rank);
	if (error)
		return error;
	if (copy_s > 0)
		copy_s = left_to_copy_s(actor->rank, since_s, bytes, come_s,
					copy_s);
	if (!is_send) {
		actor->debt_s += world->receive_s + copy_s;
		actor->came_bytes = bytes;
		actor->sum_bytes = sum_bytes;
	}
	if (dist__engine->now_s() > since_s &&
	    dist__sim_core_is_shared(actor->rank))
		actor->debt_s += world->wait_s;
	return DIST_OK;
}

static enum dist_error wait(struct dist__transport *t, struct dist__request *r,
			    int64_t deadline_ns)
{
	struct dist__sim_actor *actor = self();
	double debt_s = actor->debt_s;
	enum dist_error error = wait_owing(actor, r, deadline_ns);

	(void)t;
	if (actor->debt_s > debt_s)
		dist__sim_pay(actor);
	return error;
}

/* Whether the end is in sight that wait() would return. */
static bool is_over(const struct dist__request *r)
{
	assert(r);
	if (!r->channel && r->done)
		return true;
	return state_of_request(r) ||
	       (r->mate && r->end.transfer && dist__engine->has_ended(&r->end));
}

/* ---- several at once -------------------------------------------------- */

/* Posts n of messages; stores how many were. */
static enum dist_error post_all(struct dist__sim_rank *rank,
				const struct dist__message *messages, int n,
				bool is_send, struct dist__request **requests,
				int *posted)
{
	enum dist_error error = DIST_OK;
	int i;

	for (i = 0; i < n && !error; i += !error)
		error = post(rank, &messages[i], is_send, &requests[i]);
	*posted += i;
	return error;
}

/* Waits for n requests; once something failed the others have until now. What
 * is in memory already is taken in one go. */
static enum dist_error end_all(struct dist__sim_actor *actor,
			       struct dist__request **requests, int n,
			       int64_t deadline_ns, enum dist_error error)
{
	struct dist__sim_world *world = actor->rank->world;
	bool in_one_go = world->profile.shares_memory;

	for (int i = 0; i < n; i++) {
		if (error) {
			(void)wait_owing(actor, requests[i],
					 dist__sim_now_ns(world));
			continue;
		}
		error = wait_owing(actor, requests[i], deadline_ns);
		if (error || i + 1 == n || !in_one_go ||
		    !is_over(requests[i + 1]))
			dist__sim_pay(actor);
	}
	return error;
}

static enum dist_error exchange(struct dist__transport *t,
				const struct dist__message *in, int num_in,
				const struct dist__message *out, int num_out,
				int64_t deadline_ns)
{
	struct dist__sim_rank *rank = rank_of(t);
	struct dist__sim_actor *actor = self();
	struct dist__request *few[FEW_REQUESTS] = {NULL}, **requests = few;
	int total = num_in + num_out, n = 0;
	enum dist_error error;

	if (total == 0)
		return DIST_OK;
	if (total > FEW_REQUESTS)
		requests =
			calloc((size_t)total, sizeof(struct dist__request *));
	if (!requests)
		return DIST_ERR_NO_MEMORY;
	charge_call(actor, num_in > 0 ? in : out);
	if (rank->world->profile.shares_memory) {
		/* Takes of the core what actor owes and all of out will:
		 * through memory that is no work of the system, and a rank does
		 * not leave its core before it waits. */
		const struct dist__sim_world *world = actor->rank->world;
		double work_s = actor->debt_s;

		for (int i = 0; i < num_out; i++)
			work_s += world->overhead_s +
				  send_copy_s(actor->rank, &out[i]);
		dist__sim_pass(actor, dist__sim_core_take(actor->rank, work_s) -
					      work_s);
		actor->holds = true;
	}
	error = post_all(rank, in, num_in, false, requests, &n);
	if (!error)
		error = post_all(rank, out, num_out, true, requests + n, &n);
	actor->holds = false;
	error = end_all(actor, requests, n, deadline_ns, error);
	if (requests != few)
		free(requests);
	return error;
}

static bool test(struct dist__transport *t, struct dist__request *r)
{
	struct dist__sim_world *world = rank_of(t)->world;
	struct dist__sim_actor *actor = self();

	dist__sim_delay_look(actor);
	dist__sim_note_look(world);
	if (r && !r->channel && dist__sim_choosing(world) &&
	    !state_of_request(r)) {
		if (dist__sim_look(actor, r))
			return true;
	} else if (r && is_over(r)) {
		return true;
	}
	if (world->ended)
		return false;
	if (world->movable > 1 || actor->look_s < LOOK_S)
		actor->look_s = LOOK_S;
	world->looking++;
	if (world->movable == world->looking)
		(void)dist__sim_choose(world);
	dist__engine->sleep(actor->look_s);
	dist__sim_watch_note(actor->rank);
	world->looking--;
	if (world->movable == 1 && actor->look_s < LONGEST_LOOK_S)
		actor->look_s *= 2;
	return false;
}

/* ---- the clock ------------------------------------------------------ */

static int64_t now_ns(struct dist__transport *t)
{
	dist__sim_pay(self());
	return dist__sim_now_ns(rank_of(t)->world);
}

static enum dist_error compute(struct dist__transport *t, int64_t duration_ns)
{
	struct dist__sim_world *world = rank_of(t)->world;
	struct dist__sim_actor *actor = self();

	actor->look_s = LOOK_S;
	dist__sim_pay(actor);
	if (!world->ended)
		dist__engine->sleep((double)duration_ns * 1e-9 /
				    rank_of(t)->pace);
	dist__sim_watch_note(rank_of(t));
	return world->ended ? world->end_error : DIST_OK;
}

/* What came last goes at its share. */
static void charge_reduce(struct dist__transport *t, size_t bytes)
{
	const struct dist__sim_rank *rank = rank_of(t);
	struct dist__sim_actor *actor = self();
	double load_bytes =
		actor->came_bytes == bytes ? actor->sum_bytes : (double)bytes;

	actor->came_bytes = 0;
	actor->debt_s +=
		load_bytes * rank->world->reduce_s_per_byte / rank->pace;
}

static void charge_copy(struct dist__transport *t, const struct dist__op *op,
			size_t bytes)
{
	const struct dist__sim_rank *rank = rank_of(t);

	self()->debt_s += dist__sim_copy_bytes(rank, op, bytes) *
			  rank->world->copy_s_per_byte / rank->pace;
}

/* ---- leaving -------------------------------------------------------- */

static void abort_group(struct dist__transport *t, uint32_t group)
{
	struct dist__sim_rank *rank = rank_of(t);
	struct dist__sim_world *world = rank->world;

	if (dist__sim_has_aborted(rank, group))
		return;
	if (rank->num_aborted < DIST__SIM_ABORTED)
		rank->aborted[rank->num_aborted] = group;
	rank->num_aborted++;
	dist__sim_messages_abort(rank, group);
	dist__sim_flows_abort(rank, group);
	dist__sim_analytics_abort(rank, group);
	for (size_t i = 0; i < world->channels.count; i++) {
		struct dist__sim_channel *channel = world->channels.all[i];

		if (channel->queue.first && channel->joined == rank->joined &&
		    channel->group == group &&
		    (channel->src == rank->rank || channel->dst == rank->rank))
			dist__sim_channel_fail(
				channel, channel->queue.first->rank == rank
						 ? DIST_ERR_ABORTED
						 : DIST_ERR_PEER_LOST);
	}
}

static enum dist_error free_transport(struct dist__transport *t)
{
	struct dist__sim_rank *rank = rank_of(t);

	assert(!rank->lanes);
	dist__sim_pay(&rank->actor);
	dist__sim_watch_note(rank);
	rank->attached = false;
	return DIST_OK;
}

void dist__sim_close(struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;

	dist__sim_pay(&rank->actor);
	rank->closed = true;
	dist__sim_messages_close(rank);
	for (size_t i = 0; rank->unanswered && i < world->channels.count; i++) {
		struct dist__sim_channel *channel = world->channels.all[i];

		if (channel->queue.first && channel->queue.first->rank == rank)
			dist__sim_channel_fail(channel, DIST_ERR_ABORTED);
	}
	dist__sim_flows_close(rank);
	while (rank->lanes)
		dist__sim_lanes.free(rank->lanes);
}

static const struct dist__simulation_ops simulation_ops = {
	.charge_reduce = charge_reduce,
	.charge_copy = charge_copy,
	.has_flow = dist__sim_has_flow,
	.by_messages = dist__sim_by_messages,
	.flow_join = dist__sim_flow_join,
	.flow_wait = dist__sim_flow_wait,
	.shared = dist__sim_shared,
	.is_round = dist__sim_is_round,
	.round_come = dist__sim_round_come,
	.round_over = dist__sim_round_over,
	.round_wait = dist__sim_round_wait,
	.round_leave = dist__sim_round_leave,
	.lane_over = dist__sim_lane_over,
};

const struct dist__transport_ops dist__sim_transport_ops = {
	.isend = isend,
	.irecv = irecv,
	.wait = wait,
	.exchange = exchange,
	.test = test,
	.now_ns = now_ns,
	.compute = compute,
	.lanes = &dist__sim_lanes,
	.events = &dist__sim_events,
	.simulation = &simulation_ops,
	.abort = abort_group,
	.free = free_transport,
};
