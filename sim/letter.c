/*
 * letter.c - the messages of the program itself, point to point, and those of
 * collectives that their sender does not wait for.
 *
 * A letter goes to the office of its addressee (sent), arrives there (arrived),
 * and meets a receive. An eager letter is carried first and arrives when it is
 * through: its sender does not wait for it. Any other arrives at once and is
 * carried when it has met its receive, for which its sender waits. Either way
 * carrying is an actor of its own that SimGrid gives the time it takes.
 *
 * A collective's are the segments of a stream, and what one connection carries
 * it carries one after the other; other connections share links with it. Where
 * links have queues, all letters are given to those at once (queues.c).
 *
 * Who meets whom is settled once nobody can do anything more in an instant, so
 * that the order in which SimGrid ran the ranks does not show: letters as they
 * arrived, in one instant by the sender's rank, each to the receive posted
 * first that it fits. Letters of one sender, group and tag arrive as sent, even
 * if a short one overtakes a long one on the way.
 */
#include "sim/world.h"

#include <string.h>

#include <simgrid/actor.h>

#include "sim/engine_shim.h"
#include "sim/queues.h"

static struct dist__sim_rank *addressee(const struct dist__request *letter)
{
	return &letter->rank->world->ranks[letter->peer];
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

static void deliver(struct dist__request *letter, enum dist_error error)
{
	struct dist__request *receive = letter->mate;

	letter->mate = NULL;
	end(letter, error);
	if (receive) {
		if (!error && receive->data && letter->copy)
			memcpy(receive->data, letter->copy, receive->bytes);
		receive->mate = NULL;
		end(receive, error);
		wake(receive);
	}
	wake(letter);
}

/* ---- carrying --------------------------------------------------------- */

static void arrive(struct dist__request *letter);
static void carry_first(const struct dist__request *like);

static void carry_on(int argc, char **argv)
{
	struct dist__request *letter = sg_actor_self_get_data();
	struct dist__sim_world *world = letter->rank->world;
	bool well;

	(void)argc;
	(void)argv;
	well = dist__engine_transfer(
		dist__platform_host(world->platform, letter->rank->rank),
		dist__platform_host(world->platform, letter->peer),
		(uint64_t)letter->load_bytes);
	dist__sim_letter_come(letter, well);
}

void dist__sim_letter_come(struct dist__request *letter, bool well)
{
	struct dist__sim_world *world = letter->rank->world;
	struct dist__request line;

	letter->carried = false;
	line = *letter;
	if (letter->over)
		release(letter);
	else if (well && letter->eager)
		arrive(letter);
	else
		deliver(letter, well ? DIST_OK : DIST_ERR_PEER_LOST);
	if (well && line.tag < 0 && !world->queues)
		carry_first(&line);
	(void)dist__sim_block(world);
}

static void carry(struct dist__request *letter)
{
	struct dist__sim_world *world = letter->rank->world;
	sg_actor_t actor;

	letter->carried = true;
	dist__sim_unblock(world);
	if (world->queues && dist__sim_queues_send(world->queues, letter))
		return;
	actor = sg_actor_init(
		"carrier",
		dist__platform_host(world->platform, letter->rank->rank));
	sg_actor_set_data(actor, letter);
	sg_actor_start(actor, carry_on, 0, NULL);
}

/* Of one sender, to one addressee, of one tag: what arrives as sent. */
static bool same_line(const struct dist__request *a,
		      const struct dist__request *b)
{
	return a->rank == b->rank && a->group == b->group && a->tag == b->tag &&
	       a->joined == b->joined;
}

/* Carries the first letter on its way that is in line with like, which need not
 * be one any more. */
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
		 const struct dist__request *letter)
{
	return (receive->peer == letter->rank->rank ||
		receive->peer == DIST_ANY_SOURCE) &&
	       receive->group == letter->group && receive->tag == letter->tag &&
	       receive->joined == letter->joined;
}

static void meet(struct dist__request *letter, struct dist__request *receive)
{
	letter->mate = receive;
	receive->mate = letter;
	if (receive->peer == DIST_ANY_SOURCE)
		*receive->source = letter->rank->rank;
	if (letter->fingerprint != receive->fingerprint ||
	    letter->bytes != receive->bytes || letter->seq != receive->seq ||
	    letter->step != receive->step)
		deliver(letter, DIST_ERR_MISMATCH);
	else if (letter->eager)
		deliver(letter, DIST_OK);
	else
		carry(letter);
}

struct dist__request *
dist__sim_letter_receive(const struct dist__request *letter)
{
	struct dist__request *receive = addressee(letter)->receives.first;

	while (receive && !fits(receive, letter))
		receive = receive->next;
	return receive;
}

/* Whether what receive takes is chosen later. */
static bool is_chosen(const struct dist__request *receive)
{
	return receive->peer == DIST_ANY_SOURCE &&
	       dist__sim_choosing(receive->rank->world);
}

static void take(struct dist__request *letter, struct dist__request *receive)
{
	struct dist__sim_rank *rank = receive->rank;

	dist__sim_queue_remove(&rank->arrived, letter);
	dist__sim_queue_remove(&rank->receives, receive);
	meet(letter, receive);
}

static void settle(struct dist__sim_rank *rank)
{
	struct dist__request *letter = rank->arrived.first, *next, *receive;

	for (; letter; letter = next) {
		next = letter->next;
		receive = dist__sim_letter_receive(letter);
		if (receive && !is_chosen(receive))
			take(letter, receive);
	}
}

void dist__sim_letter_take(struct dist__request *letter,
			   struct dist__request *receive)
{
	struct dist__sim_rank *rank = receive->rank;

	take(letter, receive);
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
	dist__engine_at_end_of_instant(settle_all, world);
}

/* Puts a letter among those that have arrived. */
static void file(struct dist__sim_queue *arrived, struct dist__request *letter,
		 int64_t now_ns)
{
	struct dist__request **link = &arrived->first;

	letter->there_ns = now_ns;
	while (*link && ((*link)->there_ns < now_ns ||
			 (*link)->rank->rank <= letter->rank->rank))
		link = &(*link)->next;
	letter->next = *link;
	*link = letter;
	if (!letter->next)
		arrived->last = letter;
}

/* letter is there, and so are those now that waited for it alone. */
static void arrive(struct dist__request *letter)
{
	struct dist__sim_rank *to = addressee(letter);
	struct dist__request *at = to->sent.first, *next;
	int64_t now_ns = dist__sim_now_ns(to->world);

	letter->there = true;
	for (; at; at = next) {
		next = at->next;
		if (!same_line(at, letter))
			continue;
		if (!at->there)
			break;
		dist__sim_queue_remove(&to->sent, at);
		file(&to->arrived, at, now_ns);
		dist__sim_note_letter(to->world, at);
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

	if (m->tag >= 0)
		return m->bytes < profile->p2p.eager_below;
	return m->bytes >= profile->window_bytes ||
	       (world->queues && profile->window_bytes < SIZE_MAX);
}

void dist__sim_letter_post(struct dist__request *r,
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
	if (m->tag >= 0 && is_eager(world, m))
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

/* Takes r out of the office: nobody meets it any more. */
static void unqueue(struct dist__request *r)
{
	struct dist__sim_rank *to = r->is_send ? addressee(r) : r->rank;

	if (!r->is_send)
		dist__sim_queue_remove(&to->receives, r);
	else if (!dist__sim_queue_remove(&to->sent, r))
		dist__sim_queue_remove(&to->arrived, r);
}

/* Parts r, whose owner has given up, from the office and from its mate. */
static void take_back(struct dist__request *r)
{
	struct dist__request *mate = r->mate;

	if (!mate)
		unqueue(r);
	r->mate = NULL;
	r->over = true;
	if (!mate)
		return;
	mate->mate = NULL;
	end(mate, DIST_ERR_PEER_LOST);
	wake(mate);
}

enum dist_error dist__sim_letter_wait(struct dist__sim_actor *actor,
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

void dist__sim_letters_abort(struct dist__sim_rank *rank, uint32_t group)
{
	struct aborted aborted = {rank, group};

	fail_all(rank->world, why_aborted, &aborted);
}

static enum dist_error why_closed(const struct dist__request *r,
				  const void *arg)
{
	return r->rank == arg && !r->eager ? DIST_ERR_ABORTED : DIST_OK;
}

void dist__sim_letters_close(struct dist__sim_rank *rank)
{
	if (rank->wrote)
		fail_all(rank->world, why_closed, rank);
}

static enum dist_error why_ended(const struct dist__request *r, const void *arg)
{
	(void)r;
	return *(const enum dist_error *)arg;
}

void dist__sim_letters_end(struct dist__sim_world *world, enum dist_error error)
{
	fail_all(world, why_ended, &error);
}
