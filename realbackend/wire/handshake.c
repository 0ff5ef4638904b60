/*
 * handshake.c - how two ranks make their one connection; see mesh.h for the
 * states.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "realbackend/wire/mesh.h"

/* Strangers at a time, and how long one may keep silent: an open port must not
 * cost more than this, whoever finds it. */
#define MAX_STRANGERS 256
#define HELLO_NS      ((int64_t)5 * 1000000000)
/* How long one stays at least, while more of them knock. */
#define WELCOME_NS ((int64_t)1000000000)

/* Who proves; see secret.h. */
#define DIALLER "rank that dials"
#define DIALLED "rank that is dialled"
/* The winner of a crossing is on its way; only if it dies do we dial again. */
#define REDIAL_NS ((int64_t)50 * 1000000)
/* Pause after accept() ran out of descriptors. */
#define ACCEPT_PAUSE_NS ((int64_t)100 * 1000000)

/* ---- dialling ----------------------------------------------------------- */

static void greet_peer(struct dist__mesh *mesh,
		       struct dist__connection *connection)
{
	struct dist__claim *claim = &connection->claim;

	connection->state = DIST__GREETING;
	if (mesh->secret) {
		claim->token = mesh->token;
		claim->dialler = (uint32_t)mesh->rank;
		claim->other = (uint32_t)connection->peer->rank;
	}
	if ((mesh->secret && !dist__nonce_draw(claim->dialler_nonce)) ||
	    !dist__connection_greet(mesh, connection, DIST__FRAME_HELLO,
				    mesh->secret ? claim->dialler_nonce : NULL))
		dist__peer_end(mesh, connection->peer, DIST__PEER_LOST,
			       DIST_ERR_PEER_LOST);
}

/* Keeps why the system has no connection for us, for whoever reports it. */
static void note_refusal(struct dist__mesh *mesh, int error)
{
	char limit[DIST__LIMIT_TEXT] = "";

	if (mesh->text[0])
		return;
	if (error == EMFILE)
		dist__socket_limit(mesh->world_size, limit);
	snprintf(mesh->text, sizeof mesh->text, "%.80s%s%s", strerror(error),
		 *limit ? ": " : "", limit);
}

/* The peer cannot be reached. */
static void give_up(struct dist__mesh *mesh, struct dist__peer *peer, int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case EADDRNOTAVAIL:
		note_refusal(mesh, error);
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_IO);
		break;
	default:
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_PEER_LOST);
	}
}

void dist__handshake_dial(struct dist__mesh *mesh, struct dist__peer *peer)
{
	struct dist__connection *connection;
	int fd, error;

	if (peer->state == DIST__PEER_CROSSED)
		mesh->num_crossed--;
	peer->state = DIST__PEER_DIALING;
	error = dist__socket_dial(&peer->address,
				  dist__is_neighbour(mesh, peer), &fd);
	if (error && error != EINPROGRESS) {
		give_up(mesh, peer, error);
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
		give_up(mesh, connection->peer, error);
	else
		greet_peer(mesh, connection);
}

/* ---- opening ------------------------------------------------------------ */

static void open_connection(struct dist__mesh *mesh, struct dist__peer *peer,
			    struct dist__connection *connection)
{
	if (peer->state == DIST__PEER_CROSSED)
		mesh->num_crossed--;
	if (!dist__is_neighbour(mesh, peer)) {
		dist__socket_tune_away(connection->fd);
		dist__pulse_begin(mesh, connection);
	}
	connection->state = DIST__CONNECTED;
	peer->state = DIST__PEER_OPEN;
	peer->met = true;
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

/* ---- being answered ----------------------------------------------------- */

/* Shows that we know the secret. */
static bool prove(struct dist__mesh *mesh, struct dist__connection *connection,
		  const unsigned char *nonce)
{
	struct dist__claim *claim = &connection->claim;
	unsigned char proof[DIST__PROOF_BYTES];

	if (!mesh->secret || connection->challenged)
		return false;
	connection->challenged = true;
	memcpy(claim->other_nonce, nonce, DIST__NONCE_BYTES);
	claim->role = DIALLER;
	dist__secret_prove(mesh->secret, claim, proof);
	return dist__connection_greet(mesh, connection, DIST__FRAME_PROOF,
				      proof);
}

/* Whether the rank that we dialled is one of ours, as far as we can tell. */
static bool is_ours(const struct dist__mesh *mesh,
		    struct dist__connection *connection,
		    const unsigned char *proof)
{
	if (!mesh->secret)
		return connection->frame.bytes == 0;
	connection->claim.role = DIALLED;
	return connection->challenged && connection->frame.bytes &&
	       dist__secret_holds(mesh->secret, &connection->claim, proof);
}

/* An answer to our HELLO. */
static void answered(struct dist__mesh *mesh,
		     struct dist__connection *connection,
		     const unsigned char *extra)
{
	struct dist__peer *peer = connection->peer;
	uint32_t kind = connection->frame.kind;

	if (kind == DIST__FRAME_WELCOME && is_ours(mesh, connection, extra)) {
		if (dist__is_neighbour(mesh, peer))
			connection->awaits = DIST__FRAME_OFFER;
		else
			open_connection(mesh, peer, connection);
	} else if (kind == DIST__FRAME_REFUSED) {
		dist__connection_kill(mesh, connection);
		peer->state = DIST__PEER_CROSSED;
		peer->redial_ns = dist__clock_after(REDIAL_NS);
		mesh->num_crossed++;
	} else if (kind != DIST__FRAME_CHALLENGE ||
		   !prove(mesh, connection, extra)) {
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
	    frame->seq == (uint32_t)mesh->rank ||
	    (frame->bytes != 0) != (mesh->secret != NULL))
		return NULL;
	return &mesh->peers[frame->seq];
}

/* Asks a stranger that says it is a rank to prove it. */
static bool challenge(struct dist__mesh *mesh,
		      struct dist__connection *connection,
		      const unsigned char *nonce)
{
	struct dist__claim *claim = &connection->claim;

	connection->challenged = true;
	claim->token = mesh->token;
	claim->dialler = connection->frame.seq;
	claim->other = (uint32_t)mesh->rank;
	memcpy(claim->dialler_nonce, nonce, DIST__NONCE_BYTES);
	return dist__nonce_draw(claim->other_nonce) &&
	       dist__connection_greet(mesh, connection, DIST__FRAME_CHALLENGE,
				      claim->other_nonce);
}

/* The peer whose proof has come; NULL: it is none of ours. */
static struct dist__peer *proved(const struct dist__mesh *mesh,
				 struct dist__connection *connection,
				 const unsigned char *proof)
{
	connection->claim.role = DIALLER;
	if (connection->frame.kind != DIST__FRAME_PROOF ||
	    !dist__secret_holds(mesh->secret, &connection->claim, proof))
		return NULL;
	return &mesh->peers[connection->claim.dialler];
}

static void welcome(struct dist__mesh *mesh,
		    struct dist__connection *connection,
		    struct dist__peer *peer)
{
	struct dist__connection *ours = peer->connection;
	unsigned char proof[DIST__PROOF_BYTES];

	if (mesh->secret) {
		connection->claim.role = DIALLED;
		dist__secret_prove(mesh->secret, &connection->claim, proof);
	}
	mesh->num_strangers--;
	connection->state = DIST__GREETING;
	connection->peer = peer;
	if (ours)
		dist__connection_kill(mesh, ours);
	peer->connection = connection;
	if (dist__connection_greet(mesh, connection, DIST__FRAME_WELCOME,
				   mesh->secret ? proof : NULL)) {
		if (dist__neighbour_offer(mesh, connection))
			open_connection(mesh, peer, connection);
	} else {
		dist__peer_end(mesh, peer, DIST__PEER_LOST, DIST_ERR_PEER_LOST);
	}
}

/* A stranger is known to be peer: takes its connection, unless ours wins. */
static void settle(struct dist__mesh *mesh, struct dist__connection *connection,
		   struct dist__peer *peer)
{
	bool wins = true;

	if (peer->state == DIST__PEER_DIALING ||
	    peer->state == DIST__PEER_OPEN) {
		wins = peer->state == DIST__PEER_DIALING &&
		       peer->rank < mesh->rank;
		if (!wins)
			(void)dist__connection_greet(mesh, connection,
						     DIST__FRAME_REFUSED, NULL);
	}
	if (wins && peer->state != DIST__PEER_LEFT &&
	    peer->state != DIST__PEER_LOST)
		welcome(mesh, connection, peer);
	else
		dist__connection_kill(mesh, connection);
}

static void introduced_itself(struct dist__mesh *mesh,
			      struct dist__connection *connection,
			      const unsigned char *extra)
{
	struct dist__peer *peer;

	if (connection->challenged) {
		peer = proved(mesh, connection, extra);
	} else {
		peer = introduced(mesh, &connection->frame);
		if (peer && mesh->secret) {
			if (challenge(mesh, connection, extra))
				return;
			peer = NULL;
		}
	}
	if (peer)
		settle(mesh, connection, peer);
	else
		dist__connection_kill(mesh, connection);
}

void dist__handshake_read(struct dist__mesh *mesh,
			  struct dist__connection *connection)
{
	unsigned char extra[DIST__FRAME_EXTRA];

	while (dist__connection_greeted(mesh, connection, extra)) {
		if (connection->state == DIST__STRANGER)
			introduced_itself(mesh, connection, extra);
		else if (!connection->awaits)
			answered(mesh, connection, extra);
		else if (dist__neighbour_agree(mesh, connection))
			open_connection(mesh, connection->peer, connection);
	}
}

/* The stranger that has been there the longest; NULL: none. */
static struct dist__connection *oldest_stranger(const struct dist__mesh *mesh)
{
	for (size_t i = 0; i < mesh->num_connections; i++)
		if (mesh->connections[i]->state == DIST__STRANGER)
			return mesh->connections[i];
	return NULL;
}

/* When the next stranger may be let in: 0, or a pause after the descriptors ran
 * out, or the time at which the oldest may be sent away. */
static int64_t room_ns(const struct dist__mesh *mesh)
{
	int64_t leave_ns = 0;

	if (mesh->num_strangers >= MAX_STRANGERS)
		leave_ns = oldest_stranger(mesh)->deadline_ns - HELLO_NS +
			   WELCOME_NS;
	return leave_ns > mesh->accept_ns ? leave_ns : mesh->accept_ns;
}

bool dist__handshake_accepts(const struct dist__mesh *mesh, int64_t now_ns)
{
	return room_ns(mesh) <= now_ns;
}

void dist__handshake_accept(struct dist__mesh *mesh)
{
	struct dist__connection *connection;
	int fd;

	while (room_ns(mesh) <= dist__clock_ns()) {
		fd = dist__socket_accept(mesh->listener);
		if (fd < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				mesh->accept_ns =
					dist__clock_after(ACCEPT_PAUSE_NS);
			return;
		}
		if (mesh->num_strangers >= MAX_STRANGERS)
			dist__connection_kill(mesh, oldest_stranger(mesh));
		connection =
			dist__connection_new(mesh, fd, DIST__STRANGER, NULL);
		if (!connection)
			return;
		connection->deadline_ns = dist__clock_after(HELLO_NS);
		dist__handshake_read(mesh, connection);
	}
}

/* ---- timers ------------------------------------------------------------- */

int64_t dist__handshake_timer(const struct dist__mesh *mesh)
{
	int64_t next_ns = room_ns(mesh);

	/* Past it, whoever knocks is let in: nothing to wake up for. */
	if (!next_ns || (mesh->num_strangers >= MAX_STRANGERS &&
			 next_ns <= dist__clock_ns()))
		next_ns = DIST_TIMEOUT_NEVER;

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
