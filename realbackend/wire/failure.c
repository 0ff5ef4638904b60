/*
 * failure.c - requests whose peer is gone or whose group was aborted.
 *
 * The memory of a request belongs to the caller again as soon as it is
 * complete. A half-written send therefore cannot be completed without breaking
 * its connection: the peer would take the next frame for the rest. Nor can a
 * send whose memory the peer is reading.
 */

#include <stdio.h>
#include <sys/socket.h>

#include "base/array.h"
#include "core/backend.h"
#include "realbackend/wire/mesh.h"

static void fail_queue(struct dist__mesh *mesh, struct dist__queue *queue,
		       enum dist_error error)
{
	struct dist__request *request;

	while ((request = queue->first) != NULL) {
		dist__queue_remove(queue, request);
		dist__request_complete(mesh, request, error);
	}
}

/* Whether the program closed our sockets, or shut them down, or put others in
 * their place: then peers seem to be lost that are not. */
static bool has_lost_sockets(struct dist__mesh *mesh)
{
	int listens = 0;
	socklen_t len = sizeof listens;

	if (getsockopt(mesh->listener, SOL_SOCKET, SO_ACCEPTCONN, &listens,
		       &len) == 0 &&
	    listens)
		return false;
	if (!mesh->text[0])
		snprintf(mesh->text, sizeof mesh->text,
			 "the program closed Lockstep's sockets");
	return true;
}

void dist__peer_end(struct dist__mesh *mesh, struct dist__peer *peer,
		    enum dist__peer_state state, enum dist_error error)
{
	struct dist__unexpected *message;

	if (peer->state == DIST__PEER_LEFT || peer->state == DIST__PEER_LOST)
		return;
	if (state == DIST__PEER_LOST && error == DIST_ERR_PEER_LOST &&
	    has_lost_sockets(mesh))
		error = DIST_ERR_IO;
	if (peer->state == DIST__PEER_CROSSED)
		mesh->num_crossed--;
	if (state == DIST__PEER_LOST && error == DIST_ERR_PEER_LOST)
		dist__records_miss(peer->rank);
	peer->state = state;
	peer->error = error;
	if (peer->connection)
		dist__connection_kill(mesh, peer->connection);
	fail_queue(mesh, &peer->sends, error);
	fail_queue(mesh, &peer->lent, error);
	fail_queue(mesh, &peer->receives, error);
	message = peer->unexpected;
	for (; message; message = message->next) {
		if (message->receiver)
			dist__request_complete(mesh, message->receiver, error);
		message->receiver = NULL;
	}
	dist__matching_any_lost(mesh);
}

/* Takes a send back; false: it is no longer in the queue. */
static bool withdraw_send(struct dist__mesh *mesh, struct dist__peer *peer,
			  struct dist__request *request)
{
	if (!dist__queue_remove(&peer->sends, request) &&
	    !dist__queue_remove(&peer->lent, request))
		return false;
	if (request->written > 0)
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_PEER_LOST);
	return true;
}

void dist__request_withdraw(struct dist__mesh *mesh,
			    struct dist__request *request)
{
	if (request->counted)
		mesh->detached--;
	request->counted = false;
	if (request->kind == DIST__REQUEST_SEND)
		(void)withdraw_send(mesh, &mesh->peers[request->m.peer],
				    request);
	else
		dist__matching_withdraw(mesh, request);
}

/* ---- groups ------------------------------------------------------------- */

static void fail_queued_sends(struct dist__mesh *mesh, struct dist__peer *peer,
			      const struct dist__queue *sends, uint32_t group,
			      enum dist_error error)
{
	struct dist__request *request = sends->first, *next;

	for (; request; request = next) {
		next = request->next;
		if (request->m.group != group ||
		    request->kind == DIST__REQUEST_CONTROL)
			continue;
		/* Ending the peer would free what next points to. */
		if (request->written > 0)
			next = NULL;
		(void)withdraw_send(mesh, peer, request);
		dist__request_complete(mesh, request, error);
	}
}

static void fail_group_sends(struct dist__mesh *mesh, struct dist__peer *peer,
			     uint32_t group, enum dist_error error)
{
	fail_queued_sends(mesh, peer, &peer->lent, group, error);
	fail_queued_sends(mesh, peer, &peer->sends, group, error);
}

static void fail_group_queue(struct dist__mesh *mesh,
			     struct dist__queue *receives, uint32_t group,
			     enum dist_error error)
{
	struct dist__request *request = receives->first, *next;

	for (; request; request = next) {
		next = request->next;
		if (request->m.group != group)
			continue;
		dist__queue_remove(receives, request);
		dist__request_complete(mesh, request, error);
	}
}

static void fail_group_receives(struct dist__mesh *mesh,
				struct dist__peer *peer, uint32_t group,
				enum dist_error error)
{
	struct dist__connection *connection = peer->connection;
	struct dist__unexpected *message = peer->unexpected;
	struct dist__request *request;

	fail_group_queue(mesh, &peer->receives, group, error);
	request = connection ? connection->receive : NULL;
	if (request && request->m.group == group) {
		dist__matching_withdraw(mesh, request);
		dist__request_complete(mesh, request, error);
	}
	for (; message; message = message->next) {
		request = message->receiver;
		if (!request || request->m.group != group)
			continue;
		message->receiver = NULL;
		dist__request_complete(mesh, request, error);
	}
}

void dist__peer_leave_group(struct dist__mesh *mesh, struct dist__peer *peer,
			    uint32_t group)
{
	if (dist__peer_refuses(peer, group))
		return;
	if (!dist__array_add(&peer->left_groups, &peer->num_left_groups, &group,
			     sizeof group)) {
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_PEER_LOST);
		return;
	}
	fail_group_receives(mesh, peer, group, DIST_ERR_PEER_LOST);
	fail_group_sends(mesh, peer, group, DIST_ERR_PEER_LOST);
	dist__matching_any_lost(mesh);
}

void dist__mesh_abort(struct dist__mesh *mesh, uint32_t group)
{
	struct dist__group_state *state = dist__matching_group(mesh, group);

	if (state && state->aborted)
		return;
	if (state)
		state->aborted = true;
	fail_group_queue(mesh, &mesh->any_receives, group, DIST_ERR_ABORTED);
	for (int rank = 0; rank < mesh->world_size; rank++) {
		struct dist__peer *peer = &mesh->peers[rank];

		fail_group_receives(mesh, peer, group, DIST_ERR_ABORTED);
		fail_group_sends(mesh, peer, group, DIST_ERR_ABORTED);
		/* Without memory for the frame, silence would be worse. */
		if (peer->state == DIST__PEER_OPEN &&
		    !dist__request_control(peer, DIST__FRAME_ABORT, group))
			dist__peer_end(mesh, peer, DIST__PEER_LOST,
				       DIST_ERR_PEER_LOST);
	}
}
