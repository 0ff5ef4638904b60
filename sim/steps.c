/*
 * steps.c - collectives without data, message by message, by ranks that are
 * data: to go through the steps (core/flow.h) none of them needs a stack.
 *
 * Those of an all-to-all whose ranks know their own parts only may have data,
 * which goes along.
 *
 * A rank that has come posts what it receives in a step, then what it sends,
 * and goes on to the next step when both are through and it has reduced what
 * came. A message starts when both its ends are posted. So it takes the same
 * time as where each rank is an actor that does this by calls (transport.c),
 * which have data, or rates, windows and cores.
 *
 * Who is through, or has failed, hears of it from one actor for all: what it
 * does then may begin the next collective.
 */
#include "sim/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/channel.h"
#include "sim/progress.h"

#define SHORTEST_S 1e-9 /* what an actor sleeps at least */

#define VARIES SIZE_MAX /* parts differ in length */

/* What a rank does next. */
enum turn { BEGINS, RECEIVES, SENDS, WAITS };

struct dist__sim_walker {
	struct dist__flow_meeting *meeting;
	struct dist__sim_walker *next;   /* of those that are out, or fail */
	const struct dist__sides *sides; /* its parts; NULL: hop() says all */
	size_t in_numel, out_numel;      /* of each part of a side; VARIES */
	struct dist__engine_path path;   /* to whom it sends */
	struct dist__engine_end end;     /* of what it sends */
	size_t bytes;                    /* of that */
	double debt_s;                   /* processor time used, to pass yet */
	int step, to, from;              /* group ranks; -1: nobody */
	int path_to;                     /* where path leads, if it is open */
	uint32_t host;                   /* where it sits */
	enum dist_error error;           /* when it is out; or known before */
	uint8_t parts; /* of the step, posted and not through */
	uint8_t turn;
	bool is_in;           /* has come, and is not out */
	bool has_data;        /* what it sends */
	bool sends, receives; /* posted, and the other end is not */
	bool reduced;         /* what it sends, by who receives it */
};

static int number_of(const struct dist__sim_walker *w)
{
	return (int)(w - w->meeting->walkers);
}

static struct dist__sim_guest *guest_of(const struct dist__sim_walker *w)
{
	return &w->meeting->guests[number_of(w)];
}

static struct dist__sim_walker *peer(const struct dist__sim_walker *w,
				     int number)
{
	/* Who fails holds the meeting, released or not.
	 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return &w->meeting->walkers[number];
}

/* ---- whether there are any -------------------------------------------------
 */

bool dist__sim_has_steps(const struct dist__sim_world *world,
			 const struct dist__flow *flow)
{
	/* Of one with a root, a rank may be through before others come if its
	 * sends are buffered: ending.c looks into channels for those. */
	bool steps = dist__engine->pass && !world->plan && !world->log &&
		     !world->may_part && flow->is_exact && flow->root < 0;

	/* What goes by its ranks' own parts may have data, which nobody else
	 * is to touch where memory is watched, or that of another process. */
	return steps && !(flow->is_own && (world->debug || world->has_seats));
}

enum dist_error dist__sim_steps_open(struct dist__flow_meeting *meeting,
				     const struct dist__members *members)
{
	struct dist__flow *flow = &meeting->flow;
	enum dist_error error = flow->ops->open(flow);

	if (!error)
		meeting->walkers = calloc((size_t)meeting->size,
					  sizeof meeting->walkers[0]);
	if (!error && !meeting->walkers)
		error = DIST_ERR_NO_MEMORY;
	for (int i = 0; !error && i < meeting->size; i++)
		meeting->walkers[i].host =
			dist__platform_seat(meeting->world->platform,
					    dist__global_rank(members, i));
	if (error && flow->ops->close)
		flow->ops->close(flow);
	return error;
}

void dist__sim_steps_close(struct dist__flow_meeting *meeting)
{
	if (meeting->flow.ops->close)
		meeting->flow.ops->close(&meeting->flow);
	free(meeting->walkers);
	meeting->walkers = NULL;
}

/* A meeting is there for those that are in or about to hear that they are out,
 * for what they pay, and for their messages. */
void dist__sim_steps_release(struct dist__flow_meeting *meeting)
{
	if (--meeting->uses > 0)
		return;
	dist__sim_meeting_unlink(meeting);
	dist__sim_steps_close(meeting);
	free(meeting);
}

/* ---- leaving ---------------------------------------------------------------
 */

/* Tells those that are out. */
static void usher(void *arg)
{
	struct dist__sim_actor *actor = arg;
	struct dist__sim_world *world = actor->rank->world;
	struct dist__sim_flows *flows = world->flows;
	struct dist__sim_walker *w;

	while ((w = flows->first_out) != NULL) {
		struct dist__flow_meeting *meeting = w->meeting;
		struct dist__sim_guest *guest = guest_of(w);

		flows->first_out = w->next;
		actor->rank = guest->rank;
		dist__sim_flow_over(guest, w->error);
		dist__sim_steps_release(meeting);
	}
	flows->has_usher = false;
	(void)dist__sim_block(world);
}

static void let_out(struct dist__sim_walker *w, enum dist_error error)
{
	struct dist__sim_world *world = w->meeting->world;
	struct dist__sim_flows *flows = world->flows;
	struct dist__sim_rank *rank = guest_of(w)->rank;

	w->is_in = w->sends = w->receives = false;
	w->error = error;
	w->next = NULL;
	if (flows->first_out)
		flows->last_out->next = w;
	else
		flows->first_out = w;
	flows->last_out = w;
	if (flows->has_usher)
		return;
	flows->has_usher = true;
	flows->usher = (struct dist__sim_actor){.rank = rank};
	dist__sim_unblock(world);
	dist__engine->spawn(dist__platform_seat(world->platform, rank->rank), 0,
			    usher, &flows->usher);
}

/* ---- failing ---------------------------------------------------------------
 */

static void add_failing(struct dist__sim_walker **failing,
			struct dist__sim_walker *w, enum dist_error error)
{
	if (!w->is_in)
		return;
	w->is_in = false;
	w->error = error;
	w->next = *failing;
	*failing = w;
}

/* Takes back what w sends, if it is on its way. */
static bool tear(struct dist__sim_walker *w)
{
	if (!w->end.transfer)
		return false;
	(void)dist__engine->cancel(&w->end);
	(void)dist__sim_block(w->meeting->world);
	dist__sim_steps_release(w->meeting);
	return true;
}

/* Who fails gives up its messages, and so fails who is at their other end. */
static void fail(struct dist__sim_walker *first, enum dist_error error)
{
	struct dist__flow_meeting *meeting = first->meeting;
	struct dist__sim_walker *failing = NULL, *w, *sender;

	meeting->uses++;
	add_failing(&failing, first, error);
	while ((w = failing) != NULL) {
		failing = w->next;
		let_out(w, w->error);
		if (w->turn == BEGINS)
			continue;
		if (w->to >= 0 && tear(w))
			add_failing(&failing, peer(w, w->to),
				    DIST_ERR_PEER_LOST);
		if (w->from < 0)
			continue;
		sender = peer(w, w->from);
		if (sender->to == number_of(w) && tear(sender))
			add_failing(&failing, sender, DIST_ERR_PEER_LOST);
	}
	dist__sim_steps_release(meeting);
}

/* Why w cannot post a message with a rank of the group. */
static enum dist_error why_not(const struct dist__sim_walker *w, int number)
{
	const struct dist__sim_guest *guest = guest_of(w);
	const struct dist__sim_rank *rank = guest->rank, *other;
	const struct dist__sim_world *world = w->meeting->world;
	uint32_t group = w->meeting->group;

	if (!world->ended && !world->flows->has_losses)
		return DIST_OK;
	other = &world->ranks[dist__global_rank(guest->seat->members, number)];

	if (other->joined == rank->joined &&
	    dist__sim_has_aborted(other, group))
		return DIST_ERR_PEER_LOST;
	return dist__sim_state_of(rank, group);
}

/* ---- steps -----------------------------------------------------------------
 */

static void go_on(struct dist__sim_walker *w);

static void wake(void *arg)
{
	struct dist__sim_walker *w = arg;
	struct dist__flow_meeting *meeting = w->meeting;

	if (w->is_in)
		go_on(w);
	(void)dist__sim_block(meeting->world);
	dist__sim_steps_release(meeting);
}

/* Lets time pass for w; it goes on then. */
static void pay(struct dist__sim_walker *w, double time_s)
{
	w->meeting->uses++;
	dist__sim_unblock(w->meeting->world);
	dist__engine->at(dist__engine->now_s() + fmax(time_s, SHORTEST_S), wake,
			 w);
}

static void end_part(struct dist__sim_walker *w)
{
	if (--w->parts > 0 || w->turn != WAITS || !w->is_in)
		return;
	if (w->error) {
		fail(w, w->error);
		return;
	}
	w->step++;
	w->turn = BEGINS;
	go_on(w);
}

/* Both have parts of the same length. */
static void hand_over(const struct dist__sim_walker *sender,
		      const struct dist__sim_walker *receiver)
{
	struct dist_tensor from, to;

	if (!sender->has_data)
		return;
	from = dist__part(&sender->sides->in, number_of(receiver));
	to = dist__part(&receiver->sides->out, number_of(sender));
	if (from.data && to.data && from.numel > 0)
		memcpy(to.data, from.data,
		       from.numel * dist_dtype_size(from.dtype));
}

/* What sender sent is there, or has failed. */
static void come(void *arg, bool well)
{
	struct dist__sim_walker *sender = arg;
	struct dist__sim_walker *receiver = peer(sender, sender->to);
	struct dist__flow_meeting *meeting = sender->meeting;
	const struct dist__sim_rank *rank = guest_of(receiver)->rank;

	if (!well) {
		fail(receiver, DIST_ERR_PEER_LOST);
		fail(sender, DIST_ERR_PEER_LOST);
	} else {
		hand_over(sender, receiver);
		if (sender->reduced)
			receiver->debt_s += (double)sender->bytes *
					    rank->world->reduce_s_per_byte /
					    rank->pace;
		end_part(receiver);
		end_part(sender);
	}
	(void)dist__sim_block(meeting->world);
	dist__sim_steps_release(meeting);
}

/* The message that w waits to be met for will not be. What it receives it would
 * wait for first. */
static void fail_open(struct dist__sim_walker *w, enum dist_error error)
{
	if (w->receives || w->parts == 1) {
		fail(w, error);
		return;
	}
	w->sends = false;
	w->error = error;
	w->parts--;
}

/* The elements of each part of a side. A rank's sides lie on its own stack, far
 * from those of others: they are looked at once, not for every message. */
static size_t numel_of_each(const struct dist__parts *parts)
{
	size_t numel = dist__part_numel(parts, 0);

	for (int i = 1; i < parts->count; i++)
		if (dist__part_numel(parts, i) != numel)
			return VARIES;
	return numel;
}

static size_t in_numel(const struct dist__sim_walker *w, int to)
{
	return w->in_numel == VARIES ? dist__part_numel(&w->sides->in, to)
				     : w->in_numel;
}

static size_t out_numel(const struct dist__sim_walker *w, int from)
{
	return w->out_numel == VARIES ? dist__part_numel(&w->sides->out, from)
				      : w->out_numel;
}

/* Whether both ends of a message are as long. */
static bool agree(const struct dist__sim_walker *sender,
		  const struct dist__sim_walker *receiver)
{
	return !receiver->sides ||
	       sender->bytes == out_numel(receiver, number_of(sender)) *
					sender->meeting->flow.element_bytes;
}

static void start(struct dist__sim_walker *sender,
		  struct dist__sim_walker *receiver)
{
	if (!agree(sender, receiver)) {
		fail(receiver, DIST_ERR_MISMATCH);
		fail_open(sender, DIST_ERR_MISMATCH);
		return;
	}
	sender->sends = receiver->receives = false;
	sender->meeting->uses++;
	dist__sim_unblock(sender->meeting->world);
	dist__engine->pass(&sender->path, sender->bytes, &sender->end, come,
			   sender);
}

static bool post_receive(struct dist__sim_walker *w)
{
	struct dist__sim_walker *sender = peer(w, w->from);
	enum dist_error error = why_not(w, w->from);

	if (error) {
		fail(w, error);
		return false;
	}
	w->parts++;
	w->receives = true;
	if (sender->sends && sender->to == number_of(w))
		start(sender, w);
	return w->is_in;
}

/* Finds the way from w to whom it sends; false: there is none. */
static bool open_path(struct dist__sim_walker *w)
{
	const struct dist__sim_guest *guest = guest_of(w);

	if (w->path.state && w->path_to == w->to)
		return true;
	w->path_to = w->to;
	w->path = (struct dist__engine_path){
		.from = w->host,
		.to = peer(w, w->to)->host,
	};
	dist__engine->open_path(&w->path);
	return w->path.state ||
	       dist__sim_has_route(
		       w->meeting->world, guest->rank->rank,
		       dist__global_rank(guest->seat->members, w->to));
}

static bool post_send(struct dist__sim_walker *w)
{
	struct dist__sim_walker *receiver = peer(w, w->to);
	enum dist_error error = why_not(w, w->to);

	if (!error && !open_path(w))
		return false; /* the world has ended */
	if (error) {
		fail(w, error);
		return false;
	}
	w->parts++;
	w->sends = true;
	if (receiver->receives && receiver->from == number_of(w))
		start(w, receiver);
	return w->is_in;
}

/* Reads the next step in which w has a message; false: there is none. */
static bool read_step(struct dist__sim_walker *w)
{
	const struct dist__flow *flow = &w->meeting->flow;
	int number = number_of(w);

	for (; w->step < flow->steps; w->step++) {
		struct dist__hop hop = flow->ops->hop(flow, number, w->step);

		w->to = hop.to;
		w->bytes = hop.bytes;
		if (hop.to >= 0 && w->sides)
			w->bytes = in_numel(w, hop.to) * flow->element_bytes;
		w->reduced = hop.reduced;
		w->from = flow->ops->from
				  ? flow->ops->from(flow, number, w->step)
				  : hop.to;
		if (w->to >= 0 || w->from >= 0)
			return true;
	}
	w->debt_s += (double)guest_of(w)->last_pass_bytes *
		     w->meeting->world->reduce_s_per_byte /
		     guest_of(w)->rank->pace;
	w->to = w->from = -1;
	return false;
}

/* Does what w has to do next, until it has to wait. */
static void go_on(struct dist__sim_walker *w)
{
	double overhead_s = w->meeting->world->overhead_s, debt_s;

	if (w->turn == BEGINS) {
		(void)read_step(w);
		w->turn = RECEIVES;
		debt_s = w->debt_s;
		w->debt_s = 0;
		if (debt_s > 0) {
			pay(w, debt_s);
			return;
		}
	}
	if (w->turn == RECEIVES) {
		if (w->step == w->meeting->flow.steps) {
			let_out(w, DIST_OK);
			return;
		}
		if (w->from >= 0 && !post_receive(w))
			return;
		w->turn = SENDS;
		if (w->to >= 0 && overhead_s > 0) {
			pay(w, overhead_s);
			return;
		}
	}
	if (w->to >= 0 && !post_send(w))
		return;
	w->turn = WAITS;
	if (w->parts == 0) {
		w->parts++;
		end_part(w);
	}
}

/* ---- coming and going ------------------------------------------------------
 */

void dist__sim_steps_begin(struct dist__flow_meeting *meeting, int number)
{
	struct dist__sim_walker *w = &meeting->walkers[number];

	w->meeting = meeting;
	w->is_in = true;
	w->sides = meeting->guests[number].seat->sides;
	if (w->sides) {
		w->in_numel = numel_of_each(&w->sides->in);
		w->out_numel = numel_of_each(&w->sides->out);
	}
	w->has_data =
		w->sides && (w->sides->in.list || w->sides->in.whole.data);
	meeting->uses++;
	hand_over(w, w);
	go_on(w);
}

void dist__sim_steps_leave(struct dist__flow_meeting *meeting, int number)
{
	struct dist__sim_walker *w = &meeting->walkers[number];

	if (w->is_in)
		fail(w, DIST_ERR_TIMEOUT);
}

/* Whether w waits for that rank to post the other end of a message. */
static bool awaits(const struct dist__sim_walker *w, int rank)
{
	const struct dist__members *members = guest_of(w)->seat->members;

	return (w->sends && dist__global_rank(members, w->to) == rank) ||
	       (w->receives && dist__global_rank(members, w->from) == rank);
}

void dist__sim_steps_refuse(struct dist__flow_meeting *meeting, int rank)
{
	meeting->uses++;
	for (int i = 0; i < meeting->size; i++)
		if (meeting->walkers[i].is_in &&
		    awaits(&meeting->walkers[i], rank))
			fail(&meeting->walkers[i], DIST_ERR_MISMATCH);
	dist__sim_steps_release(meeting);
}

static void fail_those_of(struct dist__flow_meeting *meeting,
			  const struct dist__sim_rank *rank, bool is_abort)
{
	for (int i = 0; i < meeting->size; i++) {
		struct dist__sim_walker *w = &meeting->walkers[i];

		if (!w->is_in || (!w->sends && !w->receives))
			continue;
		if (guest_of(w)->rank == rank)
			fail_open(w, DIST_ERR_ABORTED);
		else if (is_abort && awaits(w, rank->rank))
			fail_open(w, DIST_ERR_PEER_LOST);
	}
}

/* A meeting may end while those in it fail. */
void dist__sim_steps_lose(struct dist__sim_rank *rank, const uint32_t *group)
{
	struct dist__sim_flows *flows = rank->world->flows;
	struct dist__flow_meeting *meeting, *next;

	flows->has_losses = true;
	for (size_t i = 0; flows->num_open && i < DIST__SIM_TABLE; i++)
		for (meeting = flows->open[i]; meeting; meeting = next) {
			next = meeting->next;
			if (!meeting->walkers)
				continue;
			meeting->uses++;
			if (meeting->joined == rank->joined &&
			    (!group || meeting->group == *group))
				fail_those_of(meeting, rank, group);
			next = meeting->next;
			dist__sim_steps_release(meeting);
		}
}

void dist__sim_steps_end(struct dist__sim_world *world, enum dist_error error)
{
	struct dist__sim_flows *flows = world->flows;
	struct dist__flow_meeting *meeting, *next;

	for (size_t i = 0; flows->num_open && i < DIST__SIM_TABLE; i++)
		for (meeting = flows->open[i]; meeting; meeting = next) {
			next = meeting->next;
			if (!meeting->walkers)
				continue;
			meeting->uses++;
			for (int j = 0; j < meeting->size; j++)
				if (meeting->walkers[j].is_in)
					fail(&meeting->walkers[j], error);
			next = meeting->next;
			dist__sim_steps_release(meeting);
		}
}
