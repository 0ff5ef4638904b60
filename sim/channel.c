/*
 * channel.c - which end of a message of a collective meets which.
 *
 * Each channel is a path of the engine. Matching is first come, first served in
 * both, and both see the ends of a channel in the same order: each end is
 * posted by one rank, and the engine handles the calls of one instant in the
 * order in which the actors made them. So the match found here, without a call,
 * is the match that an engine would make.
 */
#include "sim/channel.h"

#include <stdlib.h>

#include "base/hash.h"
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
	const struct dist__platform *platform = world->platform;
	uint32_t src = dist__platform_seat(platform, from);
	uint32_t dst = dist__platform_seat(platform, to);
	struct dist_message message;

	if (dist__engine_way(src, dst, NULL, 0, NULL) > 0)
		return true;
	snprintf(message.text, sizeof message.text,
		 "%s: no route from host %s to host %s%s", platform->path,
		 dist__platform_host_name(platform, from),
		 dist__platform_host_name(platform, to),
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
	channel->path = (struct dist__engine_path){
		.from = dist__platform_seat(world->platform, key->src),
		.to = dist__platform_seat(world->platform, key->dst),
	};
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
	uint32_t number = 0;

	if (channels->index_size)
		number = *place_of(channels, key);
	channel = number ? channels->all[number - 1] : add_channel(world, key);
	/* Opening a path may let other actors run, so the channel is already
	 * in the table; whoever finds it half made opens the same. */
	if (channel && !channel->path.state)
		dist__engine->open_path(&channel->path);
	return channel;
}

/* ---- matching ------------------------------------------------------- */

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
	if (request->fingerprint != first->fingerprint ||
	    request->bytes != first->bytes || request->seq != first->seq ||
	    request->step != first->step) {
		request->error = DIST_ERR_MISMATCH;
		first->error = DIST_ERR_MISMATCH;
	}
	answer(first);
}

/* ---- letting requests fail ------------------------------------------ */

/* Takes the first unanswered request off channel and puts it in front of the
 * failed ones; its actor, if one waits, will be woken. Returns whether it has
 * to be. */
static bool take_first(struct dist__sim_channel *channel,
		       struct dist__engine_end **failed)
{
	struct dist__request *request = channel->queue.first;
	bool blocked = request->blocked || request->gives_up;

	dist__sim_unqueue(request);
	request->end.next = *failed;
	*failed = &request->end;
	answer(request);
	return blocked;
}

void dist__sim_channel_loosen(struct dist__sim_channel *channel)
{
	struct dist__engine_end *failed = NULL;
	struct dist__request *request;
	bool blocked = false, sends = false;

	while ((request = channel->queue.first) != NULL) {
		blocked |= take_first(channel, &failed);
		sends = request->is_send;
		dist__sim_message_turn(request, channel);
	}
	if (blocked)
		dist__engine->fail(&channel->path, sends, failed);
}

void dist__sim_channel_fail(struct dist__sim_channel *channel,
			    enum dist_error error)
{
	struct dist__engine_end *failed = NULL;
	struct dist__request *request;
	bool blocked = false, sends = false;

	while ((request = channel->queue.first) != NULL) {
		if (!request->error)
			request->error = error;
		blocked |= take_first(channel, &failed);
		sends = request->is_send;
	}
	if (blocked)
		dist__engine->fail(&channel->path, sends, failed);
}

void dist__sim_channels_release(struct dist__sim_world *world)
{
	for (size_t i = 0; i < world->channels.count; i++)
		free(world->channels.all[i]);
	free(world->channels.all);
	free(world->channels.index);
}
