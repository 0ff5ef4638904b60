/*
 * message.c - the messages of the program itself, point to point, and those of
 * collectives that their sender does not wait for.
 *
 * A message goes to the office of its addressee (sent), arrives there
 * (arrived), and meets a receive. An eager message is carried first and arrives
 * when it is through: its sender does not wait for it. Any other arrives at
 * once and is carried when it has met its receive, for which its sender waits.
 * Either way the engine carries it, and says when it is through.
 *
 * A collective's are the segments of a stream, and what one connection carries
 * it carries one after the other; other connections share links with it. Where
 * links have queues, all messages are given to those at once (queues.c).
 *
 * Who meets whom is settled once nobody can do anything more in an instant, so
 * that the order in which the ranks ran does not show: messages as they
 * arrived, in one instant by the sender's rank, each to the receive posted
 * first that it fits. Messages of one sender, group and tag arrive as sent,
 * even if a short one overtakes a long one on the way.
 */
#include "sim/message.h"

#include <string.h>

#include "sim/forecast.h"
#include "sim/note.h"
#include "sim/progress.h"
#include "sim/queues.h"
#include "sim/request.h"

static struct dist__sim_rank *addressee(const struct dist__request *message)
{
	return &message->rank->world->ranks[message->peer];
}

/* ---- the end of a request --------------------------------------------- */

static void release(struct dist__request *r)
{
	if (r->consumed && r->over && !r->carried)
		dist__sim_request_free(r->rank->world, r);
}

/* Ends the call of r's owner, who may have gone on long ago. */
static void end(struct dist__request *r, enum dist_error error)
{
	if (!r->done)
		r->error = error;
	r->done = true;
	dist__sim_note_done(r->rank->world, r);
}

/* Lets the owner of r, which has ended, go on. Other actors may run meanwhile,
 * and nothing is where it was but r, which is here until it is over. */
static void wake(struct dist__request *r)
{
	if (r->gate)
		dist__sim_gate_open(r->rank->world, r->gate);
	r->over = true;
	release(r);
}

static void deliver(struct dist__request *message, enum dist_error error)
{
	struct dist__request *receive = message->mate;

	message->mate = NULL;
	end(message, error);
	if (receive) {
		if (!error && receive->data && message->copy)
			memcpy(receive->data, message->copy, receive->bytes);
		receive->mate = NULL;
		end(receive, error);
		wake(receive);
	}
	wake(message);
}

/* ---- carrying --------------------------------------------------------- */

static void arrive(struct dist__request *message);
static void carry_first(const struct dist__request *like);

static void carry_on(void *arg, bool well)
{
	dist__sim_message_come(arg, well);
}

void dist__sim_message_come(struct dist__request *message, bool well)
{
	struct dist__sim_world *world = message->rank->world;
	struct dist__request line;

	message->carried = false;
	line = *message;
	if (message->over)
		release(message);
	else if (well && message->eager)
		arrive(message);
	else
		deliver(message, well ? DIST_OK : DIST_ERR_PEER_LOST);
	if (well && line.tag < 0 && !world->queues)
		carry_first(&line);
	(void)dist__sim_block(world);
}

static void set_out(void *arg)
{
	struct dist__request *message = arg;
	const struct dist__platform *platform = message->rank->world->platform;
	struct dist__engine_transfer load = {
		.from = dist__platform_seat(platform, message->rank->rank),
		.to = dist__platform_seat(platform, message->peer),
		.bytes = (uint64_t)message->load_bytes,
	};

	if (message->send.transfer_s > 0) {
		load.bytes =
			(uint64_t)(message->load_bytes * message->send.load);
		load.most_Bps = (double)load.bytes / message->send.transfer_s;
	}
	dist__engine->carry(&load, carry_on, message);
}

static void carry(struct dist__request *message)
{
	struct dist__sim_world *world = message->rank->world;

	message->carried = true;
	dist__sim_unblock(world);
	if (world->queues && dist__sim_queues_send(world->queues, message))
		return;
	if (message->send.start_s > 0)
		dist__engine->at(dist__engine->now_s() + message->send.start_s,
				 set_out, message);
	else
		set_out(message);
}

/* Of one sender, to one addressee, of one tag: what arrives as sent. */
static bool same_line(const struct dist__request *a,
		      const struct dist__request *b)
{
	return a->rank == b->rank && a->group == b->group && a->tag == b->tag &&
	       a->joined == b->joined;
}

/* Carries the first message on its way that is in line with like, which need
 * not be one any more. */
static void carry_first(const struct dist__request *like)
{
	struct dist__request *first = addressee(like)->sent.first;

	while (first && !same_line(first, like))
		first = first->next;
	if (first && !first->carried)
		carry(first);
}

/* ---- meeting ---------------------------------------------------------- */

static bool fits(const struct dist__request *receive,
		 const struct dist__request *message)
{
	return (receive->peer == message->rank->rank ||
		receive->peer == DIST_ANY_SOURCE) &&
	       receive->group == message->group &&
	       receive->tag == message->tag &&
	       receive->joined == message->joined;
}

struct dist__request *
dist__sim_message_receive(const struct dist__request *message)
{
	struct dist__request *receive = addressee(message)->receives.first;

	while (receive && !fits(receive, message))
		receive = receive->next;
	return receive;
}

static void take(struct dist__request *message, struct dist__request *receive)
{
	struct dist__sim_rank *rank = receive->rank;

	dist__sim_queue_remove(&rank->arrived, message);
	dist__sim_queue_remove(&rank->receives, receive);
	message->mate = receive;
	receive->mate = message;
	if (receive->peer == DIST_ANY_SOURCE)
		*receive->source = message->rank->rank;
	if (message->fingerprint != receive->fingerprint ||
	    message->bytes != receive->bytes || message->seq != receive->seq ||
	    message->step != receive->step)
		deliver(message, DIST_ERR_MISMATCH);
	else if (message->eager)
		deliver(message, DIST_OK);
	else
		carry(message);
}

static void settle(struct dist__sim_rank *rank)
{
	struct dist__request *message = rank->arrived.first, *next, *receive;

	for (; message && rank->receives.first; message = next) {
		next = message->next;
		receive = dist__sim_message_receive(message);
		if (receive && (receive->peer != DIST_ANY_SOURCE ||
				!dist__sim_choosing(rank->world)))
			take(message, receive);
	}
}

void dist__sim_message_take(struct dist__request *message,
			    struct dist__request *receive)
{
	struct dist__sim_rank *rank = receive->rank;

	take(message, receive);
	settle(rank);
}

static void settle_all(void *arg)
{
	struct dist__sim_world *world = arg;
	struct dist__sim_rank *rank;

	while ((rank = world->unsettled) != NULL) {
		world->unsettled = rank->next_unsettled;
		rank->unsettled = false;
		settle(rank);
	}
	(void)dist__sim_block(world);
}

static void settle_later(struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;
	bool first = !world->unsettled;

	if (rank->unsettled)
		return;
	rank->unsettled = true;
	rank->next_unsettled = world->unsettled;
	world->unsettled = rank;
	if (!first)
		return;
	dist__sim_unblock(world);
	dist__engine->at(dist__engine->now_s(), settle_all, world);
}

/* Puts a message among those that have arrived. */
static void file(struct dist__sim_queue *arrived, struct dist__request *message,
		 int64_t now_ns)
{
	struct dist__request *before = arrived->last;

	message->there_ns = now_ns;
	while (before && before->there_ns >= now_ns &&
	       before->rank->rank > message->rank->rank)
		before = before->before;
	dist__sim_queue_insert(arrived, before, message);
}

/* message is there, and so are those now that waited for it alone. */
static void arrive(struct dist__request *message)
{
	struct dist__sim_rank *to = addressee(message);
	struct dist__request *at = to->sent.first, *next;
	int64_t now_ns = dist__sim_now_ns(to->world);

	message->there = true;
	for (; at; at = next) {
		next = at->next;
		if (!same_line(at, message))
			continue;
		if (!at->there)
			break;
		dist__sim_queue_remove(&to->sent, at);
		file(&to->arrived, at, now_ns);
		dist__sim_note_message(to->world, at);
	}
	settle_later(to);
}

/* ---- posting and waiting ---------------------------------------------- */

/* Whether the send of m ends when it is posted. Where links have queues, those
 * order what a connection takes on, and one that has a window takes on all. */
static bool is_eager(const struct dist__sim_world *world,
		     const struct dist__message *m)
{
	const struct dist__profile *profile = &world->profile;

	if (world->is_loose || m->buffered)
		return true;
	if (m->tag >= 0)
		return m->bytes < profile->p2p.eager_below;
	return m->bytes >= profile->window_bytes ||
	       (world->queues && profile->window_bytes < SIZE_MAX);
}

void dist__sim_message_post(struct dist__request *r,
			    const struct dist__message *m)
{
	struct dist__sim_world *world = r->rank->world;

	r->rank->wrote = true;
	r->joined = r->rank->joined;
	r->peer = m->peer;
	r->tag = m->tag;
	r->call = world->board->slots[r->rank->rank].calls;
	if (!r->is_send) {
		if (m->peer == DIST_ANY_SOURCE)
			r->number = r->rank->num_any++;
		r->members = m->members;
		r->source = m->source;
		dist__sim_queue_append(&r->rank->receives, r);
		if (r->rank->arrived.first)
			settle_later(r->rank);
		return;
	}
	/* In the copy that comes of this no message of the program is eager. */
	if (m->tag >= 0 && is_eager(world, m) && !m->buffered)
		dist__sim_note_buffered(world);
	r->eager = r->done = is_eager(world, m);
	dist__sim_queue_append(&addressee(r)->sent, r);
	if (!r->eager)
		arrive(r);
	else if (m->tag >= 0 || world->queues)
		carry(r);
	else
		carry_first(r);
}

void dist__sim_message_turn(struct dist__request *r,
			    const struct dist__sim_channel *channel)
{
	r->channel = NULL;
	r->rank->wrote = true;
	r->joined = channel->joined;
	r->peer = r->is_send ? channel->dst : channel->src;
	r->tag = -1;
	if (!r->is_send) {
		dist__sim_queue_append(&r->rank->receives, r);
		return;
	}
	r->eager = r->done = true;
	dist__sim_queue_append(&addressee(r)->sent, r);
	carry_first(r);
}

/* Parts r, whose owner has given up, from the office and from its mate. */
static void take_back(struct dist__request *r)
{
	struct dist__request *mate = r->mate;

	if (!mate) {
		/* Nobody meets it in the office any more. */
		struct dist__sim_rank *to = r->is_send ? addressee(r) : r->rank;

		if (!r->is_send)
			dist__sim_queue_remove(&to->receives, r);
		else if (!dist__sim_queue_remove(&to->sent, r))
			dist__sim_queue_remove(&to->arrived, r);
	}
	r->mate = NULL;
	r->over = true;
	if (!mate)
		return;
	mate->mate = NULL;
	end(mate, DIST_ERR_PEER_LOST);
	wake(mate);
}

enum dist_error dist__sim_message_wait(struct dist__sim_actor *actor,
				       struct dist__request *r,
				       int64_t deadline_ns)
{
	struct dist__sim_world *world = r->rank->world;
	enum dist_error error;
	bool late;

	r->gate = &actor->gate;
	while (!r->done && !world->ended &&
	       !(dist__sim_is_late(world, deadline_ns) &&
		 dist__sim_time_is_up(r->rank)))
		dist__sim_gate_wait(world, r->gate, deadline_ns);
	r->gate = NULL;
	error = r->done ? r->error : world->end_error;
	/* A mate that gave up in this very instant had the same deadline. */
	late = !world->ended && dist__sim_is_late(world, deadline_ns);
	if (late && (!r->done || error == DIST_ERR_PEER_LOST)) {
		dist__sim_note_timeout(r->rank);
		error = DIST_ERR_TIMEOUT;
	}
	r->consumed = true;
	if (!r->done)
		take_back(r);
	release(r);
	return error;
}

/* ---- failing ---------------------------------------------------------- */

/* Ends those of queue for which why() has an error, and moves them to failed.
 */
static void fail_queue(struct dist__sim_queue *queue,
		       enum dist_error (*why)(const struct dist__request *r,
					      const void *arg),
		       const void *arg, struct dist__sim_queue *failed)
{
	struct dist__request *r = queue->first, *next;
	enum dist_error error;

	for (; r; r = next) {
		next = r->next;
		error = why(r, arg);
		if (!error)
			continue;
		dist__sim_queue_remove(queue, r);
		dist__sim_queue_append(failed, r);
		end(r, error);
	}
}

static void fail_all(struct dist__sim_world *world,
		     enum dist_error (*why)(const struct dist__request *r,
					    const void *arg),
		     const void *arg)
{
	struct dist__sim_queue failed = {NULL, NULL};
	struct dist__request *r, *next;

	for (int i = 0; i < world->present; i++) {
		struct dist__sim_rank *rank = &world->ranks[i];

		fail_queue(&rank->sent, why, arg, &failed);
		fail_queue(&rank->arrived, why, arg, &failed);
		fail_queue(&rank->receives, why, arg, &failed);
	}
	for (r = failed.first; r; r = next) {
		next = r->next;
		wake(r);
	}
}

struct aborted {
	const struct dist__sim_rank *rank;
	uint32_t group;
};

static enum dist_error why_aborted(const struct dist__request *r,
				   const void *arg)
{
	const struct aborted *aborted = arg;

	if (r->group != aborted->group || r->joined != aborted->rank->joined)
		return DIST_OK;
	if (r->rank == aborted->rank)
		return DIST_ERR_ABORTED;
	if (r->peer == aborted->rank->rank ||
	    (r->peer == DIST_ANY_SOURCE &&
	     dist__group_rank(r->members, aborted->rank->rank) >= 0))
		return DIST_ERR_PEER_LOST;
	return DIST_OK;
}

void dist__sim_messages_abort(struct dist__sim_rank *rank, uint32_t group)
{
	struct aborted aborted = {rank, group};

	fail_all(rank->world, why_aborted, &aborted);
}

static enum dist_error why_closed(const struct dist__request *r,
				  const void *arg)
{
	return r->rank == arg && !r->eager ? DIST_ERR_ABORTED : DIST_OK;
}

void dist__sim_messages_close(struct dist__sim_rank *rank)
{
	if (rank->wrote)
		fail_all(rank->world, why_closed, rank);
}

static enum dist_error why_ended(const struct dist__request *r, const void *arg)
{
	(void)r;
	return *(const enum dist_error *)arg;
}

void dist__sim_messages_end(struct dist__sim_world *world,
			    enum dist_error error)
{
	fail_all(world, why_ended, &error);
}
