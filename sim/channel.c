/*
 * channel.c - which end of a message of a collective meets which.
 *
 * Each channel is a mailbox of SimGrid. Matching is first come, first served in
 * both, and both see the ends of a channel in the same order: each end is
 * posted by one rank, and SimGrid handles the calls of one instant in the order
 * in which the actors made them. So the match found here, without a call, is
 * the match that SimGrid makes.
 */
#include "sim/channel.h"

#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/mailbox.h>

#include "base/hash.h"
#include "sim/engine/shim.h"
#include "sim/message.h"
#include "sim/progress.h"
#include "sim/request.h"

/* ---- finding -------------------------------------------------------- */

/* Mixes the key into all bits of a word. */
static uint64_t hash(const struct dist__sim_channel *key)
{
	uint64_t h = ((uint64_t)(uint32_t)key->src << 32) | (uint32_t)key->dst;

	h = (h ^ (h >> 29)) * DIST__HASH_FACTOR;
	h += ((uint64_t)key->group << 32) | key->joined;
	h = (h ^ (h >> 29)) * DIST__HASH_FACTOR;
	return h ^ (h >> 32);
}

static bool same(const struct dist__sim_channel *a,
		 const struct dist__sim_channel *b)
{
	return a->src == b->src && a->dst == b->dst && a->group == b->group &&
	       a->joined == b->joined;
}

/* Returns the place in the index where key is, or would be put. */
static uint32_t *place_of(const struct dist__sim_channels *channels,
			  const struct dist__sim_channel *key)
{
	size_t mask = channels->index_size - 1;
	size_t i = (size_t)hash(key) & mask;

	while (channels->index[i] &&
	       !same(channels->all[channels->index[i] - 1], key))
		i = (i + 1) & mask;
	return &channels->index[i];
}

/* Makes room for one more channel. */
static bool reserve(struct dist__sim_channels *channels)
{
	size_t size = channels->index_size ? 2 * channels->index_size : 1024;
	struct dist__sim_channel **all;
	uint32_t *index;

	if (2 * (channels->count + 1) <= channels->index_size)
		return true;
	all = realloc(channels->all,
		      size / 2 * sizeof(struct dist__sim_channel *));
	if (!all)
		return false;
	channels->all = all;
	index = calloc(size, sizeof *index);
	if (!index)
		return false;
	free(channels->index);
	channels->index = index;
	channels->index_size = size;
	for (size_t i = 0; i < channels->count; i++)
		*place_of(channels, all[i]) = (uint32_t)i + 1;
	return true;
}

bool dist__sim_has_route(struct dist__sim_world *world, int from, int to)
{
	sg_host_t src = dist__platform_host(world->platform, from);
	sg_host_t dst = dist__platform_host(world->platform, to);
	struct dist_message message;

	if (dist__engine_route(src, dst, NULL, NULL, NULL))
		return true;
	snprintf(message.text, sizeof message.text,
		 "%s: no route from host %s to host %s%s",
		 world->platform->path, sg_host_get_name(src),
		 sg_host_get_name(dst),
		 src == dst ? " (a loopback for its several ranks)" : "");
	dist__sim_break(world, message.text);
	return false;
}

static struct dist__sim_channel *
add_channel(struct dist__sim_world *world, const struct dist__sim_channel *key)
{
	struct dist__sim_channels *channels = &world->channels;
	struct dist__sim_channel *channel;

	if (!reserve(channels) ||
	    !dist__sim_has_route(world, key->src, key->dst))
		return NULL;
	channel = malloc(sizeof *channel);
	if (!channel)
		return NULL;
	*channel = *key;
	channel->number = channels->count;
	channels->all[channels->count++] = channel;
	*place_of(channels, key) = (uint32_t)channels->count;
	return channel;
}

struct dist__sim_channel *
dist__sim_channel_find(struct dist__sim_world *world,
		       const struct dist__sim_channel *key)
{
	struct dist__sim_channels *channels = &world->channels;
	struct dist__sim_channel *channel;
	char name[32];
	uint32_t number = 0;

	if (channels->index_size)
		number = *place_of(channels, key);
	channel = number ? channels->all[number - 1] : add_channel(world, key);
	/* Making a mailbox lets other actors run, so the channel is already
	 * in the table; whoever finds it half made asks for the same name. */
	if (channel && !channel->mailbox) {
		snprintf(name, sizeof name, "%zu", channel->number);
		channel->mailbox = sg_mailbox_by_name(name);
	}
	return channel;
}

/* ---- matching ------------------------------------------------------- */

static bool agree(const struct dist__request *a, const struct dist__request *b)
{
	return a->fingerprint == b->fingerprint && a->bytes == b->bytes &&
	       a->seq == b->seq && a->step == b->step;
}

/* An actor blocked on an unanswered request is answered. */
static void answer(struct dist__request *request)
{
	if (!request->blocked)
		return;
	request->blocked = false;
	dist__sim_unblock(request->rank->world);
}

void dist__sim_unqueue(struct dist__request *request)
{
	if (dist__sim_queue_remove(&request->channel->queue, request))
		request->rank->unanswered--;
}

void dist__sim_match(struct dist__request *request)
{
	struct dist__sim_queue *queue = &request->channel->queue;
	struct dist__request *first = queue->first;

	if (!first || first->is_send == request->is_send) {
		dist__sim_queue_append(queue, request);
		request->rank->unanswered++;
		return;
	}
	dist__sim_unqueue(first);
	first->mate = request;
	request->mate = first;
	if (!agree(request, first)) {
		request->error = DIST_ERR_MISMATCH;
		first->error = DIST_ERR_MISMATCH;
	}
	answer(first);
}

/* ---- letting requests fail ------------------------------------------ */

/*
 * SimGrid offers no way to wake an actor that waits for a message nobody will
 * send. But when the actor at the other end of a transfer ends, the waiter
 * hears of it in the same instant. So a reaper, an actor on the host of the
 * missing end, answers all unanswered requests of a channel and returns.
 */
struct dist__sim_reaper {
	struct dist__sim_reaper *next;
	struct dist__sim_world *world;
	sg_mailbox_t mailbox;
	bool sends; /* what it does: the opposite of the unanswered ones */
	size_t count;
	sg_comm_t comms[]; /* released after the simulation */
};

static void reap(int argc, char **argv)
{
	struct dist__sim_reaper *reaper = sg_actor_self_get_data();
	void **sink = &reaper->world->sink;

	(void)argc;
	(void)argv;
	for (size_t i = 0; i < reaper->count; i++)
		reaper->comms[i] =
			reaper->sends
				? sg_mailbox_put_async(reaper->mailbox, sink, 0)
				: sg_mailbox_get_async(reaper->mailbox, sink);
}

static void send_reaper(struct dist__sim_world *world,
			const struct dist__sim_channel *channel, bool sends,
			size_t count)
{
	struct dist__sim_reaper *reaper =
		calloc(1, sizeof *reaper + count * sizeof(sg_comm_t));
	int rank = sends ? channel->src : channel->dst;
	sg_actor_t actor;

	/* Without memory the waiters sleep until their deadline. */
	if (!reaper)
		return;
	reaper->world = world;
	reaper->mailbox = channel->mailbox;
	reaper->sends = sends;
	reaper->count = count;
	reaper->next = world->reapers;
	world->reapers = reaper;
	actor = sg_actor_init("reaper",
			      dist__platform_host(world->platform, rank));
	sg_actor_set_data(actor, reaper);
	sg_actor_start(actor, reap, 0, NULL);
}

/* Takes the first unanswered request off channel; its actor, if one waits, will
 * be woken. Returns whether it has to be. */
static bool take_first(struct dist__sim_channel *channel)
{
	struct dist__request *request = channel->queue.first;
	bool blocked = request->blocked || request->gives_up;

	dist__sim_unqueue(request);
	answer(request);
	return blocked;
}

void dist__sim_channel_loosen(struct dist__sim_world *world,
			      struct dist__sim_channel *channel)
{
	struct dist__request *request;
	bool blocked = false, sends = false;
	size_t count = 0;

	while ((request = channel->queue.first) != NULL) {
		blocked |= take_first(channel);
		sends = request->is_send;
		dist__sim_message_turn(request, channel);
		count++;
	}
	if (blocked)
		send_reaper(world, channel, !sends, count);
}

void dist__sim_channel_fail(struct dist__sim_world *world,
			    struct dist__sim_channel *channel,
			    enum dist_error error)
{
	bool blocked = false, sends = false;
	size_t count = 0;

	while (channel->queue.first) {
		struct dist__request *request = channel->queue.first;

		if (!request->error)
			request->error = error;
		blocked |= take_first(channel);
		sends = request->is_send;
		count++;
	}
	if (blocked)
		send_reaper(world, channel, !sends, count);
}

void dist__sim_channels_release(struct dist__sim_world *world)
{
	struct dist__sim_reaper *reaper, *next;

	for (reaper = world->reapers; reaper; reaper = next) {
		next = reaper->next;
		for (size_t i = 0; i < reaper->count; i++)
			if (reaper->comms[i])
				sg_comm_unref(reaper->comms[i]);
		free(reaper);
	}
	for (size_t i = 0; i < world->channels.count; i++)
		free(world->channels.all[i]);
	free(world->channels.all);
	free(world->channels.index);
}
