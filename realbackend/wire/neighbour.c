/*
 * neighbour.c - connections between ranks of one machine: how they agree to
 * share memory, and wake each other.
 */
#include <errno.h>
#include <sys/socket.h>

#include "realbackend/wire/mesh.h"

bool dist__is_neighbour(const struct dist__mesh *mesh,
			const struct dist__peer *peer)
{
	return dist__address_same_host(&peer->address,
				       &mesh->peers[mesh->rank].address);
}

/* ---- coming to share ---------------------------------------------------- */

bool dist__neighbour_offer(struct dist__mesh *mesh,
			   struct dist__connection *connection)
{
	struct dist__peer *peer = connection->peer;
	struct dist__shared_offer memory = {.pid = 0};
	struct dist__frame frame = {.kind = DIST__FRAME_OFFER, .tag = -1};

	if (!dist__is_neighbour(mesh, peer))
		return true;
	if (mesh->shares)
		connection->shared = dist__shared_new(connection->fd,
						      mesh->crowded, &memory);
	frame.group = memory.pid;
	frame.seq = memory.fd;
	frame.fingerprint = memory.nonce;
	if (peer->state == DIST__PEER_CROSSED)
		mesh->num_crossed--;
	peer->state = DIST__PEER_DIALING;
	connection->awaits = DIST__FRAME_ANSWER;
	if (!dist__connection_say(connection, &frame))
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_PEER_LOST);
	return false;
}

/* Goes on from the neighbour's OFFER; false: the connection is broken. */
static bool answer(struct dist__mesh *mesh, struct dist__connection *connection)
{
	const struct dist__frame *frame = &connection->frame;
	struct dist__shared_offer memory = {
		.pid = frame->group,
		.fd = frame->seq,
		.nonce = frame->fingerprint,
	};
	struct dist__frame reply = {.kind = DIST__FRAME_ANSWER, .tag = -1};

	if (mesh->shares)
		connection->shared = dist__shared_open(connection->fd,
						       mesh->crowded, &memory);
	reply.group = connection->shared != NULL;
	return dist__connection_say(connection, &reply);
}

bool dist__neighbour_agree(struct dist__mesh *mesh,
			   struct dist__connection *connection)
{
	const struct dist__frame *frame = &connection->frame;
	enum dist_error error = DIST_OK;

	if (frame->kind != connection->awaits ||
	    (frame->kind == DIST__FRAME_ANSWER && frame->group &&
	     !connection->shared))
		error = DIST_ERR_IO;
	else if (frame->kind == DIST__FRAME_OFFER)
		error = answer(mesh, connection) ? DIST_OK : DIST_ERR_PEER_LOST;
	else if (frame->group)
		dist__shared_settled(connection->shared);
	else {
		dist__shared_free(connection->shared);
		connection->shared = NULL;
	}
	if (error)
		dist__peer_end(mesh, connection->peer, DIST__PEER_LOST, error);
	return !error;
}

/* ---- the bell ----------------------------------------------------------- */

static bool is_ready(const struct dist__connection *connection)
{
	const struct dist__connection *c = connection;

	return dist__connection_shares(c) &&
	       ((!c->held_until_ns &&
		 (c->remote || dist__shared_has(c->shared))) ||
		(c->peer->sends.first && dist__shared_has_room(c->shared)));
}

void dist__connection_bell(struct dist__mesh *mesh,
			   struct dist__connection *connection)
{
	char bytes[64];
	ssize_t n;

	do
		n = recv(connection->fd, bytes, sizeof bytes, 0);
	while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	connection->hung_up = true;
	/* What the peer sent before that is not lost. */
	dist__connection_resume(mesh, connection);
}

void dist__neighbours_serve(struct dist__mesh *mesh)
{
	for (size_t i = 0; i < mesh->num_connections; i++) {
		struct dist__connection *connection = mesh->connections[i];

		if (!is_ready(connection))
			continue;
		dist__connection_read(mesh, connection);
		if (connection->state == DIST__CONNECTED)
			dist__connection_write(mesh, connection);
	}
}

void dist__neighbours_write(struct dist__mesh *mesh)
{
	mesh->stuck = false;
	for (size_t i = 0; i < mesh->num_connections; i++) {
		struct dist__connection *c = mesh->connections[i];

		if (!dist__connection_shares(c) || !c->peer->sends.first)
			continue;
		if (dist__shared_has_room(c->shared))
			dist__connection_write(mesh, c);
		else
			mesh->stuck = true;
	}
}

bool dist__neighbours_sleep(const struct dist__mesh *mesh)
{
	bool some = false, quiet = true;

	for (size_t i = 0; i < mesh->num_connections; i++) {
		if (!dist__connection_shares(mesh->connections[i]))
			continue;
		dist__shared_sleep(mesh->connections[i]->shared);
		some = true;
	}
	if (!some)
		return true;
	dist__shared_asleep();
	for (size_t i = 0; i < mesh->num_connections && quiet; i++)
		quiet = !dist__connection_shares(mesh->connections[i]) ||
			!is_ready(mesh->connections[i]);
	return quiet;
}

void dist__neighbours_wake(const struct dist__mesh *mesh)
{
	for (size_t i = 0; i < mesh->num_connections; i++)
		if (dist__connection_shares(mesh->connections[i]))
			dist__shared_wake(mesh->connections[i]->shared);
}
