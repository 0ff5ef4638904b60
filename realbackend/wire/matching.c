/*
 * matching.c - matches arriving messages with posted receives.
 *
 * A message matches the first receive posted for its peer, or for any, and for
 * its group, tag, seq and step. Before that, collectives are compared by group
 * and seq alone: a different fingerprint means that the ranks are not in the
 * same operation, whatever the step, and none of its bytes may be used as
 * data.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "core/backend.h"
#include "realbackend/wire/mesh.h"

/* From this length on, or lent, a message that nobody has posted a receive for
 * is left where it is for a while: making room for it and copying it once more
 * would take about as long as its way here. */
#define HOLD_BYTES       ((uint64_t)64 << 10)
#define HOLD_NS          ((int64_t)1000000)
#define HOLD_NS_PER_BYTE 1

static bool same_key(const struct dist__message *m,
		     const struct dist__frame *frame)
{
	return m->group == frame->group && m->tag == frame->tag &&
	       m->seq == frame->seq && m->step == frame->step;
}

/* Whether the contents may differ as little as the key does. */
static bool agrees(const struct dist__message *m,
		   const struct dist__frame *frame)
{
	return m->fingerprint == frame->fingerprint &&
	       m->bytes == (size_t)frame->bytes;
}

/* Whether frame belongs to the collective that this rank is in, and was sent
 * by a rank that is in another one. */
static bool contradicts(const struct dist__group_state *group,
			const struct dist__frame *frame)
{
	return group->begun && frame->tag < 0 && frame->seq == group->seq &&
	       frame->group == group->id &&
	       frame->fingerprint != group->fingerprint;
}

struct dist__group_state *dist__matching_group(struct dist__mesh *mesh,
					       uint32_t id)
{
	const struct dist__group_state fresh = {.id = id};

	for (size_t i = 0; i < mesh->num_groups; i++)
		if (mesh->groups[i].id == id)
			return &mesh->groups[i];
	return dist__array_add(&mesh->groups, &mesh->num_groups, &fresh,
			       sizeof fresh);
}

/* Whether frame belongs to a later collective of group than this rank is in. */
static bool is_ahead(const struct dist__group_state *group,
		     const struct dist__frame *frame)
{
	return frame->group == group->id && frame->tag < 0 &&
	       (int32_t)(frame->seq - group->seq) > 0;
}

/* Whether what came from peer does. A peer issues the collectives of a group in
 * their order, so that nothing behind a later one counts: a peer that is far
 * ahead has many of them here. */
static bool peer_contradicts(const struct dist__peer *peer,
			     const struct dist__group_state *group)
{
	const struct dist__connection *connection = peer->connection;
	const struct dist__unexpected *message = peer->unexpected;

	if (connection && connection->held_until_ns &&
	    contradicts(group, &connection->frame))
		return true;
	while (message && !contradicts(group, &message->frame) &&
	       !is_ahead(group, &message->frame))
		message = message->next;
	return message && !is_ahead(group, &message->frame);
}

static bool is_contradicted(const struct dist__mesh *mesh,
			    const struct dist__group_state *group)
{
	for (int rank = 0; rank < mesh->world_size; rank++)
		if (peer_contradicts(&mesh->peers[rank], group))
			return true;
	return false;
}

struct dist__group_state *dist__matching_enter(struct dist__mesh *mesh,
					       const struct dist__message *m)
{
	struct dist__group_state *group = dist__matching_group(mesh, m->group);

	if (!group || m->tag >= 0 || (group->begun && group->seq == m->seq))
		return group;
	group->begun = true;
	group->seq = m->seq;
	group->fingerprint = m->fingerprint;
	group->mismatch = (mesh->num_unexpected || mesh->num_held) &&
			  is_contradicted(mesh, group);
	return group;
}

/* ---- messages that came before their receive ---------------------------- */

void dist__matching_init(struct dist__peer *peer)
{
	peer->unexpected = NULL;
	peer->unexpected_end = &peer->unexpected;
}

static struct dist__unexpected **find_unexpected(struct dist__peer *peer,
						 const struct dist__message *m)
{
	struct dist__unexpected **link = &peer->unexpected;

	while (*link && ((*link)->receiver || !same_key(m, &(*link)->frame)))
		link = &(*link)->next;
	return *link ? link : NULL;
}

static void drop_unexpected(struct dist__mesh *mesh, struct dist__peer *peer,
			    struct dist__unexpected *message)
{
	struct dist__unexpected **link = &peer->unexpected;

	while (*link != message)
		link = &(*link)->next;
	*link = message->next;
	if (!message->next)
		peer->unexpected_end = link;
	mesh->num_unexpected--;
	mesh->unexpected_bytes -= message->frame.bytes;
	free(message);
}

/* The message that came first for a receive from any source; stores whose. */
static struct dist__unexpected *
find_unexpected_of_any(struct dist__mesh *mesh, const struct dist__message *m,
		       struct dist__peer **from)
{
	struct dist__unexpected **found, *first = NULL;

	for (int rank = 0; rank < mesh->world_size; rank++) {
		found = find_unexpected(&mesh->peers[rank], m);
		if (!found || (first && first->number < (*found)->number))
			continue;
		first = *found;
		*from = &mesh->peers[rank];
	}
	return first;
}

/* From now on request, a receive from any source, is one from peer. */
static void settle_source(struct dist__request *request,
			  const struct dist__peer *peer)
{
	if (request->m.peer != DIST_ANY_SOURCE)
		return;
	request->m.peer = peer->rank;
	if (request->m.source)
		*request->m.source = peer->rank;
}

/* Hands the message over to request, now or when the rest has come. */
static void take_unexpected(struct dist__mesh *mesh, struct dist__peer *peer,
			    struct dist__unexpected *message,
			    struct dist__request *request)
{
	settle_source(request, peer);
	if (!agrees(&request->m, &message->frame)) {
		/* The message stays: a witness for the next to ask. */
		dist__request_complete(mesh, request, DIST_ERR_MISMATCH);
		return;
	}
	if (!message->complete) {
		message->receiver = request;
		return;
	}
	dist__sink_fill(&request->m, message->data);
	drop_unexpected(mesh, peer, message);
	dist__request_complete(mesh, request, DIST_OK);
}

/* Whether one more message may wait here that nobody has asked for. Where it
 * may not, its connection ends for want of memory: what follows it cannot be
 * read without it. */
static bool has_room(struct dist__mesh *mesh, const struct dist__peer *peer,
		     const struct dist__frame *frame)
{
	if (!mesh->unexpected_most ||
	    (frame->bytes <= mesh->unexpected_most &&
	     mesh->unexpected_bytes <= mesh->unexpected_most - frame->bytes))
		return true;
	if (!mesh->text[0])
		snprintf(
			mesh->text, sizeof mesh->text,
			"%" PRIu64 " MiB of messages that nobody asked for, "
			"the last from rank %d (LOCKSTEP_UNEXPECTED is %" PRIu64
			" MiB)",
			(mesh->unexpected_bytes + frame->bytes) >> 20,
			peer->rank, mesh->unexpected_most >> 20);
	return false;
}

static struct dist__unexpected *new_unexpected(struct dist__mesh *mesh,
					       struct dist__peer *peer,
					       const struct dist__frame *frame)
{
	struct dist__unexpected *message;

	if (frame->bytes > PTRDIFF_MAX - sizeof *message ||
	    !has_room(mesh, peer, frame))
		return NULL;
	message = malloc(sizeof *message + (size_t)frame->bytes);
	if (!message)
		return NULL;
	message->next = NULL;
	message->number = mesh->messages_come++;
	message->frame = *frame;
	message->receiver = NULL;
	message->complete = false;
	*peer->unexpected_end = message;
	peer->unexpected_end = &message->next;
	mesh->num_unexpected++;
	mesh->unexpected_bytes += frame->bytes;
	return message;
}

/* ---- posting ------------------------------------------------------------ */

enum dist_error dist__peer_refuses(const struct dist__peer *peer,
				   uint32_t group)
{
	if (peer->state == DIST__PEER_LEFT || peer->state == DIST__PEER_LOST)
		return peer->error;
	for (size_t i = 0; i < peer->num_left_groups; i++)
		if (peer->left_groups[i] == group)
			return DIST_ERR_PEER_LOST;
	return DIST_OK;
}

static struct dist__peer *source_of(struct dist__mesh *mesh,
				    const struct dist__message *m, int i)
{
	int rank = dist__global_rank(m->members, i);

	return rank == mesh->rank ? NULL : &mesh->peers[rank];
}

/* Why a receive from any source waits in vain, or OK. */
static enum dist_error any_refuses(struct dist__mesh *mesh,
				   const struct dist__message *m)
{
	bool somebody = false;

	for (int i = 0; i < m->members->world_size; i++) {
		const struct dist__peer *peer = source_of(mesh, m, i);

		if (!peer || peer->state == DIST__PEER_LEFT ||
		    (peer->state == DIST__PEER_LOST && !peer->met))
			continue;
		if (dist__peer_refuses(peer, m->group))
			return DIST_ERR_PEER_LOST;
		somebody = true;
	}
	return somebody ? DIST_OK : DIST_ERR_PEER_LOST;
}

void dist__matching_any_lost(struct dist__mesh *mesh)
{
	struct dist__request *request = mesh->any_receives.first, *next;
	enum dist_error refusal;

	for (; request; request = next) {
		next = request->next;
		refusal = any_refuses(mesh, &request->m);
		if (!refusal)
			continue;
		dist__queue_remove(&mesh->any_receives, request);
		dist__request_complete(mesh, request, refusal);
	}
}

bool dist__matching_post(struct dist__mesh *mesh, struct dist__request *request)
{
	struct dist__peer *peer = NULL;
	struct dist__unexpected *message;
	struct dist__group_state *group;
	struct dist__unexpected **found;
	enum dist_error refusal;

	request->number = mesh->receives_posted++;
	if (request->m.peer == DIST_ANY_SOURCE) {
		message = find_unexpected_of_any(mesh, &request->m, &peer);
		if (message)
			take_unexpected(mesh, peer, message, request);
		else
			dist__queue_append(&mesh->any_receives, request);
		return !message;
	}
	peer = &mesh->peers[request->m.peer];
	group = dist__matching_group(mesh, request->m.group);
	assert(group); /* made by dist__matching_enter() */
	if (group->mismatch && request->m.tag < 0) {
		dist__request_complete(mesh, request, DIST_ERR_MISMATCH);
		return false;
	}
	found = find_unexpected(peer, &request->m);
	if (found) {
		take_unexpected(mesh, peer, *found, request);
		return false;
	}
	refusal = dist__peer_refuses(peer, request->m.group);
	if (refusal) {
		dist__request_complete(mesh, request, refusal);
		return false;
	}
	dist__queue_append(&peer->receives, request);
	return true;
}

/* ---- arriving ----------------------------------------------------------- */

/* Fails every receive of the collective that group is in. */
static void fail_collective(struct dist__mesh *mesh,
			    const struct dist__group_state *group)
{
	struct dist__request *request, *next;

	for (int rank = 0; rank < mesh->world_size; rank++) {
		struct dist__queue *queue = &mesh->peers[rank].receives;

		for (request = queue->first; request; request = next) {
			next = request->next;
			if (request->m.group != group->id ||
			    request->m.tag >= 0 || request->m.seq != group->seq)
				continue;
			dist__queue_remove(queue, request);
			dist__request_complete(mesh, request,
					       DIST_ERR_MISMATCH);
		}
	}
}

static struct dist__request *find_in(const struct dist__queue *queue,
				     const struct dist__frame *frame)
{
	struct dist__request *request = queue->first;

	while (request && !same_key(&request->m, frame))
		request = request->next;
	return request;
}

/* The receive from any source that frame is for: the first, but of idle ones
 * that which the polling thread waits for. */
static struct dist__request *find_any(const struct dist__mesh *mesh,
				      const struct dist__frame *frame)
{
	struct dist__request *first = find_in(&mesh->any_receives, frame);
	struct dist__request *request = first;

	if (!first || !first->m.idles)
		return first;
	while (request && request != mesh->awaited)
		request = request->next;
	return request && same_key(&request->m, frame) ? request : first;
}

/* Takes the receive out of its queue that was posted first for frame; NULL:
 * there is none. */
static struct dist__request *take_receive(struct dist__mesh *mesh,
					  struct dist__peer *peer,
					  const struct dist__frame *frame)
{
	struct dist__request *named = find_in(&peer->receives, frame);
	struct dist__request *any = find_any(mesh, frame);

	if (any && (!named || any->number < named->number)) {
		dist__queue_remove(&mesh->any_receives, any);
		settle_source(any, peer);
		return any;
	}
	if (named)
		dist__queue_remove(&peer->receives, named);
	return named;
}

int64_t dist__matching_hold_ns(struct dist__mesh *mesh,
			       struct dist__connection *connection)
{
	const struct dist__frame *frame = &connection->frame;
	struct dist__group_state *group;

	if ((frame->bytes < HOLD_BYTES && frame->kind != DIST__FRAME_LENT) ||
	    connection->peer->receives.first || mesh->any_receives.first)
		return 0;
	group = dist__matching_group(mesh, frame->group);
	if (!group || group->aborted || contradicts(group, frame))
		return 0;
	return HOLD_NS + (int64_t)frame->bytes * HOLD_NS_PER_BYTE;
}

bool dist__matching_begin(struct dist__mesh *mesh,
			  struct dist__connection *connection)
{
	struct dist__peer *peer = connection->peer;
	struct dist__frame *frame = &connection->frame;
	struct dist__group_state *group;
	struct dist__request *request;

	connection->sink = NULL;
	connection->payload_left = (size_t)frame->bytes;
	group = dist__matching_group(mesh, frame->group);
	if (!group)
		return false;
	if (group->aborted)
		return true;
	if (contradicts(group, frame)) {
		group->mismatch = true;
		fail_collective(mesh, group);
	}
	request = take_receive(mesh, peer, frame);
	if (request) {
		if (agrees(&request->m, frame))
			return dist__sink_open(mesh, connection, request);
		dist__request_complete(mesh, request, DIST_ERR_MISMATCH);
	}
	connection->message = new_unexpected(mesh, peer, frame);
	if (!connection->message)
		return false;
	connection->sink = connection->message->data;
	return true;
}

void dist__matching_end(struct dist__mesh *mesh,
			struct dist__connection *connection)
{
	struct dist__request *request = connection->receive;
	struct dist__unexpected *message = connection->message;

	dist__sink_close(mesh, connection);
	connection->message = NULL;
	if (request)
		dist__request_complete(mesh, request, DIST_OK);
	if (!message)
		return;
	message->complete = true;
	request = message->receiver;
	message->receiver = NULL;
	if (request)
		take_unexpected(mesh, connection->peer, message, request);
}

/* ---- taking back -------------------------------------------------------- */

void dist__matching_withdraw(struct dist__mesh *mesh,
			     struct dist__request *request)
{
	struct dist__connection *connection;
	struct dist__unexpected *message;
	struct dist__peer *peer;

	if (dist__queue_remove(&mesh->any_receives, request))
		return;
	peer = &mesh->peers[request->m.peer];
	connection = peer->connection;
	message = peer->unexpected;
	if (dist__queue_remove(&peer->receives, request))
		return;
	if (connection && connection->receive == request) {
		/* The rest of the payload is read and thrown away. */
		connection->receive = NULL;
		connection->sink = NULL;
		return;
	}
	while (message && message->receiver != request)
		message = message->next;
	assert(message);
	if (message)
		message->receiver = NULL;
}

void dist__matching_cut(struct dist__mesh *mesh,
			struct dist__connection *connection)
{
	struct dist__request *request = connection->receive;
	struct dist__unexpected *message = connection->message;
	struct dist__peer *peer = connection->peer;

	dist__sink_close(mesh, connection);
	connection->message = NULL;
	connection->payload_left = 0;
	if (message) {
		request = message->receiver;
		drop_unexpected(mesh, peer, message);
	}
	if (request)
		dist__request_complete(mesh, request, DIST_ERR_PEER_LOST);
}

/* Whether a message of peer is of a collective that nobody here has called;
 * but not if peer gave up there, or is gone. */
static bool is_missed(const struct dist__peer *peer,
		      const struct dist__unexpected *message)
{
	if (message->frame.tag >= 0 || message->receiver)
		return false;
	for (size_t i = 0; i < peer->num_left_groups; i++)
		if (peer->left_groups[i] == message->frame.group)
			return false;
	return peer->state != DIST__PEER_LOST;
}

bool dist__matching_untaken(const struct dist__mesh *mesh)
{
	for (int rank = 0; rank < mesh->world_size; rank++) {
		const struct dist__peer *peer = &mesh->peers[rank];
		const struct dist__unexpected *message = peer->unexpected;

		for (; message; message = message->next)
			if (is_missed(peer, message))
				return true;
	}
	return false;
}

void dist__matching_free(struct dist__mesh *mesh)
{
	for (int rank = 0; rank < mesh->world_size; rank++) {
		struct dist__peer *peer = &mesh->peers[rank];

		while (peer->unexpected)
			drop_unexpected(mesh, peer, peer->unexpected);
	}
	free(mesh->spare_stage);
}
