/*
 * handshake.c - how two ranks come by their one connection; see mesh.h for the
 * states.
 */
#include <errno.h>

#include "realbackend/tcp/clock.h"
#include "realbackend/tcp/mesh.h"

/* Strangers at a time, and how long one may keep silent: an open port must not
 * cost more than this, whoever finds it. */
#define MAX_STRANGERS 256
#define HELLO_NS      ((int64_t)5 * 1000000000)
/* The winner of a crossing is on its way; only if it dies do we dial again. */
#define REDIAL_NS ((int64_t)50 * 1000000)
/* Pause after accept() ran out of descriptors. */
#define ACCEPT_PAUSE_NS ((int64_t)100 * 1000000)

/* ---- dialling ----------------------------------------------------------- */

static void greet_peer(struct dist__mesh *mesh,
		       struct dist__connection *connection)
{
	connection->state = DIST__GREETING;
	if (!dist__connection_greet(mesh, connection, DIST__FRAME_HELLO))
		dist__peer_end(mesh, connection->peer, DIST__PEER_LOST,
			       DIST_ERR_PEER_LOST);
}

static enum dist_error dial_error(int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case EADDRNOTAVAIL:
		return DIST_ERR_IO;
	default:
		return DIST_ERR_PEER_LOST;
	}
}

void dist__handshake_dial(struct dist__mesh *mesh, struct dist__peer *peer)
{
	struct dist__connection *connection;
	int fd, error;

	if (peer->state == DIST__PEER_CROSSED)
		mesh->num_crossed--;
	peer->state = DIST__PEER_DIALING;
	error = dist__socket_dial(&peer->address, &fd);
	if (error && error != EINPROGRESS) {
		dist__peer_end(mesh, peer, DIST__PEER_LOST, dial_error(error));
		return;
	}
	connection = dist__connection_new(mesh, fd, DIST__CONNECTING, peer);
	if (!connection) {
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_NO_MEMORY);
		return;
	}
	peer->connection = connection;
	if (!error)
		greet_peer(mesh, connection);
}

void dist__handshake_connected(struct dist__mesh *mesh,
			       struct dist__connection *connection)
{
	int error = dist__socket_error(connection->fd);

	if (error)
		dist__peer_end(mesh, connection->peer, DIST__PEER_LOST,
			       dial_error(error));
	else
		greet_peer(mesh, connection);
}

/* ---- opening ------------------------------------------------------------ */

static void open_peer(struct dist__mesh *mesh, struct dist__peer *peer,
		      struct dist__connection *connection)
{
	if (peer->state == DIST__PEER_CROSSED)
		mesh->num_crossed--;
	connection->state = DIST__CONNECTED;
	peer->state = DIST__PEER_OPEN;
	peer->connection = connection;
	for (size_t i = 0; i < mesh->num_groups; i++)
		if (mesh->groups[i].aborted &&
		    !dist__request_control(peer, DIST__FRAME_ABORT,
					   mesh->groups[i].id)) {
			dist__peer_end(mesh, peer, DIST__PEER_LOST,
				       DIST_ERR_NO_MEMORY);
			return;
		}
	dist__connection_write(mesh, connection);
}

/* An answer to our HELLO. */
static void answered(struct dist__mesh *mesh,
		     struct dist__connection *connection)
{
	struct dist__peer *peer = connection->peer;

	if (connection->frame.kind == DIST__FRAME_WELCOME) {
		open_peer(mesh, peer, connection);
	} else if (connection->frame.kind == DIST__FRAME_REFUSED) {
		dist__connection_kill(mesh, connection);
		peer->state = DIST__PEER_CROSSED;
		peer->redial_ns = dist__clock_after(REDIAL_NS);
		mesh->num_crossed++;
	} else {
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_IO);
	}
}

/* ---- being dialled ------------------------------------------------------ */

/* The peer that says HELLO; NULL: it is none of this job. */
static struct dist__peer *introduced(const struct dist__mesh *mesh,
				     const struct dist__frame *frame)
{
	if (frame->kind != DIST__FRAME_HELLO ||
	    frame->group != DIST__WIRE_VERSION ||
	    frame->fingerprint != mesh->token ||
	    frame->step != (uint32_t)mesh->world_size ||
	    frame->seq >= (uint32_t)mesh->world_size ||
	    frame->seq == (uint32_t)mesh->rank)
		return NULL;
	return &mesh->peers[frame->seq];
}

static void welcome(struct dist__mesh *mesh,
		    struct dist__connection *connection,
		    struct dist__peer *peer)
{
	struct dist__connection *ours = peer->connection;

	mesh->num_strangers--;
	connection->state = DIST__GREETING;
	connection->peer = peer;
	if (ours)
		dist__connection_kill(mesh, ours);
	peer->connection = connection;
	if (dist__connection_greet(mesh, connection, DIST__FRAME_WELCOME))
		open_peer(mesh, peer, connection);
	else
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_PEER_LOST);
}

static void introduced_itself(struct dist__mesh *mesh,
			      struct dist__connection *connection)
{
	struct dist__peer *peer = introduced(mesh, &connection->frame);
	bool wins = true;

	if (peer && (peer->state == DIST__PEER_DIALING ||
		     peer->state == DIST__PEER_OPEN)) {
		wins = peer->state == DIST__PEER_DIALING &&
		       peer->rank < mesh->rank;
		if (!wins)
			(void)dist__connection_greet(mesh, connection,
						     DIST__FRAME_REFUSED);
	}
	if (peer && wins && peer->state != DIST__PEER_LEFT &&
	    peer->state != DIST__PEER_LOST)
		welcome(mesh, connection, peer);
	else
		dist__connection_kill(mesh, connection);
}

void dist__handshake_frame(struct dist__mesh *mesh,
			   struct dist__connection *connection)
{
	if (connection->state == DIST__STRANGER)
		introduced_itself(mesh, connection);
	else
		answered(mesh, connection);
}

bool dist__handshake_accepts(const struct dist__mesh *mesh, int64_t now_ns)
{
	return mesh->num_strangers < MAX_STRANGERS && now_ns >= mesh->accept_ns;
}

void dist__handshake_accept(struct dist__mesh *mesh)
{
	struct dist__connection *connection;
	int fd;

	while (mesh->num_strangers < MAX_STRANGERS) {
		fd = dist__socket_accept(mesh->listener);
		if (fd < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				mesh->accept_ns =
					dist__clock_after(ACCEPT_PAUSE_NS);
			return;
		}
		connection =
			dist__connection_new(mesh, fd, DIST__STRANGER, NULL);
		if (!connection)
			return;
		connection->deadline_ns = dist__clock_after(HELLO_NS);
		dist__connection_read(mesh, connection);
	}
}

/* ---- timers ------------------------------------------------------------- */

int64_t dist__handshake_timer(const struct dist__mesh *mesh)
{
	int64_t next_ns =
		mesh->accept_ns ? mesh->accept_ns : DIST_TIMEOUT_NEVER;

	for (size_t i = 0; mesh->num_strangers && i < mesh->num_connections;
	     i++)
		if (mesh->connections[i]->state == DIST__STRANGER &&
		    mesh->connections[i]->deadline_ns < next_ns)
			next_ns = mesh->connections[i]->deadline_ns;
	for (int r = 0; mesh->num_crossed && r < mesh->world_size; r++)
		if (mesh->peers[r].state == DIST__PEER_CROSSED &&
		    mesh->peers[r].redial_ns < next_ns)
			next_ns = mesh->peers[r].redial_ns;
	return next_ns;
}

void dist__handshake_timeouts(struct dist__mesh *mesh, int64_t now_ns)
{
	if (now_ns >= mesh->accept_ns)
		mesh->accept_ns = 0;
	for (size_t i = 0; mesh->num_strangers && i < mesh->num_connections;
	     i++)
		if (mesh->connections[i]->state == DIST__STRANGER &&
		    mesh->connections[i]->deadline_ns <= now_ns)
			dist__connection_kill(mesh, mesh->connections[i]);
	for (int r = 0; mesh->num_crossed && r < mesh->world_size; r++)
		if (mesh->peers[r].state == DIST__PEER_CROSSED &&
		    mesh->peers[r].redial_ns <= now_ns)
			dist__handshake_dial(mesh, &mesh->peers[r]);
}
