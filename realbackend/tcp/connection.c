/*
 * connection.c - the bytes of one connection: frames in, frames out.
 *
 * Reading: one recvmsg() fills the rest of the payload where it belongs and,
 * behind it, the buffer with what follows; so a small message costs one system
 * call and a large one is copied once, by the kernel. Writing: header and
 * payload of several queued messages go out in one sendmsg().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/clock.h"
#include "realbackend/tcp/mesh.h"

/* Bytes a call moves at most before the other connections get their turn; and
 * the most handed to the kernel at once: writes of 128 to 256 KiB were measured
 * the fastest on loopback. */
#define TURN_BYTES  ((size_t)1 << 20)
#define WRITE_BYTES ((size_t)256 << 10)
#define WRITE_PARTS 16

struct dist__connection *dist__connection_new(struct dist__mesh *mesh, int fd,
					      enum dist__connection_state state,
					      struct dist__peer *peer)
{
	struct dist__connection *connection = calloc(1, sizeof *connection);
	size_t wanted = 2 * mesh->max_connections + 8;
	void *grown;

	if (connection && mesh->num_connections == mesh->max_connections) {
		grown = realloc(mesh->connections,
				wanted * sizeof(struct dist__connection *));
		if (grown) {
			mesh->connections = grown;
			mesh->max_connections = wanted;
		}
	}
	if (!connection || mesh->num_connections == mesh->max_connections) {
		free(connection);
		close(fd);
		return NULL;
	}
	connection->fd = fd;
	connection->state = state;
	connection->peer = peer;
	connection->deadline_ns = DIST_TIMEOUT_NEVER;
	mesh->connections[mesh->num_connections++] = connection;
	if (state == DIST__STRANGER)
		mesh->num_strangers++;
	return connection;
}

void dist__connection_kill(struct dist__mesh *mesh,
			   struct dist__connection *connection)
{
	struct dist__peer *peer = connection->peer;

	if (connection->state == DIST__DEAD)
		return;
	if (connection->state == DIST__STRANGER)
		mesh->num_strangers--;
	connection->state = DIST__DEAD;
	if (connection->held_until_ns)
		mesh->num_held--;
	connection->held_until_ns = 0;
	if (peer) {
		dist__matching_cut(mesh, connection);
		if (peer->connection == connection)
			peer->connection = NULL;
	}
	/* Also wakes whoever polls it; the number stays taken until then. */
	shutdown(connection->fd, SHUT_RDWR);
}

void dist__connections_reap(struct dist__mesh *mesh)
{
	size_t kept = 0;

	for (size_t i = 0; i < mesh->num_connections; i++) {
		struct dist__connection *connection = mesh->connections[i];

		if (connection->state != DIST__DEAD) {
			mesh->connections[kept++] = connection;
			continue;
		}
		close(connection->fd);
		free(connection);
	}
	mesh->num_connections = kept;
}

bool dist__connection_greet(const struct dist__mesh *mesh,
			    struct dist__connection *connection,
			    enum dist__frame_kind kind,
			    const unsigned char *extra)
{
	struct dist__frame frame = {.kind = kind,
				    .group = DIST__WIRE_VERSION,
				    .seq = (uint32_t)mesh->rank,
				    .step = (uint32_t)mesh->world_size,
				    .tag = -1,
				    .fingerprint = mesh->token,
				    .bytes = extra ? DIST__FRAME_EXTRA : 0};
	unsigned char whole[DIST__FRAME_BYTES + DIST__FRAME_EXTRA];
	size_t len = DIST__FRAME_BYTES + frame.bytes;
	ssize_t sent;

	dist__frame_encode(&frame, whole);
	if (extra)
		memcpy(whole + DIST__FRAME_BYTES, extra, DIST__FRAME_EXTRA);
	do
		sent = send(connection->fd, whole, len, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)len;
}

/* The connection broke, or ended without a goodbye. */
static void lose(struct dist__mesh *mesh, struct dist__connection *connection,
		 enum dist_error error)
{
	struct dist__peer *peer = connection->peer;

	if (connection->state == DIST__DEAD)
		return;
	if (peer && peer->connection == connection)
		dist__peer_end(mesh, peer, DIST__PEER_LOST, error);
	else
		dist__connection_kill(mesh, connection);
}

/* ---- reading ------------------------------------------------------------ */

static void begin_data(struct dist__mesh *mesh,
		       struct dist__connection *connection)
{
	if (!dist__matching_begin(mesh, connection))
		lose(mesh, connection, DIST_ERR_NO_MEMORY);
	else if (connection->payload_left == 0)
		dist__matching_end(mesh, connection);
}

/* Acts on a frame of an open connection whose header is in
 * connection->frame. */
static void begin_frame(struct dist__mesh *mesh,
			struct dist__connection *connection)
{
	struct dist__frame *frame = &connection->frame;
	struct dist__peer *peer = connection->peer;
	int64_t hold_ns;

	switch (frame->kind) {
	case DIST__FRAME_DATA:
		hold_ns = dist__matching_hold_ns(mesh, connection);
		if (hold_ns) {
			connection->held_until_ns = dist__clock_after(hold_ns);
			mesh->num_held++;
		} else {
			begin_data(mesh, connection);
		}
		break;
	case DIST__FRAME_ABORT:
		dist__peer_leave_group(mesh, peer, frame->group);
		break;
	case DIST__FRAME_BYE:
		dist__peer_end(mesh, peer, DIST__PEER_LEFT, DIST_ERR_PEER_LOST);
		break;
	default:
		lose(mesh, connection, DIST_ERR_IO);
	}
}

/* Accounts for n bytes of payload that are where they belong. */
static void advance(struct dist__mesh *mesh,
		    struct dist__connection *connection, size_t n)
{
	if (connection->sink)
		connection->sink += n;
	connection->payload_left -= n;
	if (n > 0 && connection->payload_left == 0)
		dist__matching_end(mesh, connection);
}

/* Acts on a frame of the handshake, which comes as a whole. false: there is
 * more of it to come. */
static bool greeted(struct dist__mesh *mesh, struct dist__connection *c)
{
	size_t extra = (size_t)c->frame.bytes;
	const unsigned char *at = c->buffer + c->begin + DIST__FRAME_BYTES;

	if (extra > DIST__FRAME_EXTRA) {
		lose(mesh, c, DIST_ERR_IO);
		return true;
	}
	if (c->end - c->begin < DIST__FRAME_BYTES + extra)
		return false;
	c->begin += DIST__FRAME_BYTES + extra;
	dist__handshake_frame(mesh, c, at);
	return true;
}

/* Looks at what lies in the buffer: payload, then headers and payloads. */
static void digest(struct dist__mesh *mesh, struct dist__connection *connection)
{
	struct dist__connection *c = connection;

	while (c->state != DIST__DEAD && !c->held_until_ns &&
	       c->begin < c->end) {
		size_t there = c->end - c->begin;

		if (c->payload_left > 0) {
			if (there > c->payload_left)
				there = c->payload_left;
			if (c->sink)
				memcpy(c->sink, c->buffer + c->begin, there);
			c->begin += there;
			advance(mesh, c, there);
			continue;
		}
		if (there < DIST__FRAME_BYTES)
			break;
		if (!dist__frame_decode(c->buffer + c->begin, &c->frame)) {
			lose(mesh, c, DIST_ERR_IO);
			return;
		}
		if (c->state != DIST__CONNECTED) {
			if (!greeted(mesh, c))
				break;
			continue;
		}
		c->begin += DIST__FRAME_BYTES;
		begin_frame(mesh, c);
	}
	if (c->begin < c->end && c->begin > 0)
		memmove(c->buffer, c->buffer + c->begin, c->end - c->begin);
	c->end -= c->begin;
	c->begin = 0;
}

/* Reads once. Returns whether there may be more at this moment. */
static bool read_once(struct dist__mesh *mesh,
		      struct dist__connection *connection, size_t *taken)
{
	struct dist__connection *c = connection;
	bool direct = c->payload_left > 0 && c->sink;
	struct iovec parts[2] = {
		{c->sink, direct ? c->payload_left : 0},
		{c->buffer + c->end, sizeof c->buffer - c->end}};
	struct msghdr header = {.msg_iov = direct ? parts : parts + 1,
				.msg_iovlen = direct ? 2 : 1};
	size_t asked = parts[0].iov_len + parts[1].iov_len, into_sink;
	ssize_t n;

	do
		n = recvmsg(c->fd, &header, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return false;
	if (n <= 0) {
		lose(mesh, c, DIST_ERR_PEER_LOST);
		return false;
	}
	*taken += (size_t)n;
	into_sink = (size_t)n < parts[0].iov_len ? (size_t)n : parts[0].iov_len;
	c->end += (size_t)n - into_sink;
	advance(mesh, c, into_sink);
	digest(mesh, c);
	return c->state != DIST__DEAD && !c->held_until_ns &&
	       (size_t)n == asked;
}

void dist__connection_read(struct dist__mesh *mesh,
			   struct dist__connection *connection)
{
	size_t taken = 0;

	if (connection->held_until_ns)
		return;
	while (read_once(mesh, connection, &taken) && taken < TURN_BYTES)
		;
}

void dist__connection_resume(struct dist__mesh *mesh,
			     struct dist__connection *connection)
{
	if (!connection->held_until_ns)
		return;
	connection->held_until_ns = 0;
	mesh->num_held--;
	mesh->stale = true;
	begin_data(mesh, connection);
	digest(mesh, connection);
}

int64_t dist__connection_timer(const struct dist__mesh *mesh)
{
	int64_t next_ns = DIST_TIMEOUT_NEVER;

	for (size_t i = 0; mesh->num_held && i < mesh->num_connections; i++) {
		int64_t until_ns = mesh->connections[i]->held_until_ns;

		if (until_ns && until_ns < next_ns)
			next_ns = until_ns;
	}
	return next_ns;
}

void dist__connection_timeouts(struct dist__mesh *mesh, int64_t now_ns)
{
	for (size_t i = 0; mesh->num_held && i < mesh->num_connections; i++) {
		struct dist__connection *connection = mesh->connections[i];

		if (connection->held_until_ns &&
		    connection->held_until_ns <= now_ns)
			dist__connection_resume(mesh, connection);
	}
}

/* ---- writing ------------------------------------------------------------ */

/* Collects the front of the queue into parts; returns how many. */
static int gather(const struct dist__peer *peer, struct iovec *parts,
		  size_t *asked)
{
	struct dist__request *request = peer->sends.first;
	int n = 0;

	*asked = 0;
	for (; request && n + 2 <= WRITE_PARTS && *asked < WRITE_BYTES;
	     request = request->next) {
		size_t written = request->written, offset = 0, left;

		if (written < DIST__FRAME_BYTES) {
			parts[n].iov_base = request->header + written;
			parts[n].iov_len = DIST__FRAME_BYTES - written;
			*asked += parts[n++].iov_len;
		} else {
			offset = written - DIST__FRAME_BYTES;
		}
		left = request->m.bytes - offset;
		if (left > WRITE_BYTES)
			left = WRITE_BYTES;
		if (left == 0)
			continue;
		parts[n].iov_base = (unsigned char *)request->m.data + offset;
		parts[n].iov_len = left;
		*asked += parts[n++].iov_len;
		if (offset + left < request->m.bytes)
			break; /* the next may only follow the whole of it */
	}
	return n;
}

/* Accounts for n bytes that the socket took. */
static void consume(struct dist__mesh *mesh, struct dist__peer *peer, size_t n)
{
	while (n > 0) {
		struct dist__request *request = peer->sends.first;
		size_t whole = DIST__FRAME_BYTES + request->m.bytes;
		size_t left = whole - request->written;

		if (n < left) {
			request->written += n;
			return;
		}
		n -= left;
		request->written = whole;
		dist__queue_remove(&peer->sends, request);
		dist__request_complete(mesh, request, DIST_OK);
	}
}

/* The peer takes nothing any more. It may have said something before that,
 * goodbye for instance: only the end of that tells what became of it. */
static void write_failed(struct dist__mesh *mesh,
			 struct dist__connection *connection)
{
	size_t taken = 0;

	do
		dist__connection_resume(mesh, connection);
	while (connection->state != DIST__DEAD &&
	       (read_once(mesh, connection, &taken) ||
		connection->held_until_ns));
	lose(mesh, connection, DIST_ERR_PEER_LOST);
}

void dist__connection_write(struct dist__mesh *mesh,
			    struct dist__connection *connection)
{
	struct dist__peer *peer = connection->peer;
	struct iovec parts[WRITE_PARTS];
	struct msghdr header = {.msg_iov = parts};
	size_t asked, total = 0;
	ssize_t n;

	while (peer->sends.first && total < TURN_BYTES) {
		header.msg_iovlen = (size_t)gather(peer, parts, &asked);
		n = sendmsg(connection->fd, &header, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0) {
			write_failed(mesh, connection);
			return;
		}
		consume(mesh, peer, (size_t)n);
		total += (size_t)n;
		if ((size_t)n < asked)
			return;
	}
}
