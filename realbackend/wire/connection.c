/*
 * connection.c - the bytes of one connection: frames in, frames out.
 *
 * Reading: one recvmsg() stores the rest of the payload where it is wanted and
 * what follows in the buffer; so a small message costs one system call, and a
 * large one is copied once, by the kernel. Writing: one sendmsg() writes header
 * and payload of several queued messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/endian.h"
#include "realbackend/wire/mesh.h"

/* Bytes a call reads at most before the other connections get their turn; and
 * writes, handed to the kernel in one piece, for several take longer. */
#define READ_BYTES  ((size_t)1 << 20)
#define WRITE_BYTES ((size_t)2 << 20)
#define WRITE_PARTS 16

/* Sends a few bytes at once. */
static bool send_whole(int fd, const unsigned char *bytes, size_t len)
{
	ssize_t sent;

	do
		sent = send(fd, bytes, len, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)len;
}

bool dist__connection_say(struct dist__connection *connection,
			  const struct dist__frame *frame)
{
	unsigned char header[DIST__FRAME_BYTES];

	dist__frame_encode(frame, header);
	return send_whole(connection->fd, header, sizeof header);
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

	dist__frame_encode(&frame, whole);
	if (extra)
		memcpy(whole + DIST__FRAME_BYTES, extra, DIST__FRAME_EXTRA);
	return send_whole(connection->fd, whole,
			  DIST__FRAME_BYTES + frame.bytes);
}

/* The connection broke, or ended without a goodbye. */
static void lose(struct dist__mesh *mesh, struct dist__connection *connection,
		 enum dist_error error)
{
	struct dist__peer *peer = connection->peer;

	if (connection->state == DIST__DEAD)
		return;
	/* The program closed the socket under us: no peer did anything. */
	if (fcntl(connection->fd, F_GETFD) < 0)
		error = DIST_ERR_IO;
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
	case DIST__FRAME_TAKEN:
		if (!dist__lend_taken(mesh, peer))
			lose(mesh, connection, DIST_ERR_IO);
		break;
	case DIST__FRAME_LENT:
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

/* Accounts for n bytes of payload that are in the sink. */
static void advance(struct dist__mesh *mesh,
		    struct dist__connection *connection, size_t n)
{
	dist__sink_advance(connection, n);
	if (n > 0 && connection->payload_left == 0)
		dist__matching_end(mesh, connection);
}

/* Decodes the header at bytes, and what belongs to it. Returns their length; 0:
 * they are not there as a whole, or none of ours: the connection is lost. */
static size_t decode(struct dist__mesh *mesh, struct dist__connection *c,
		     const unsigned char *bytes, size_t len)
{
	size_t whole = DIST__FRAME_BYTES;
	bool lent;

	if (len < whole)
		return 0;
	if (!dist__frame_decode(bytes, &c->frame)) {
		lose(mesh, c, DIST_ERR_IO);
		return 0;
	}
	lent = c->frame.kind == DIST__FRAME_LENT;
	if (lent && !dist__connection_shares(c)) {
		lose(mesh, c, DIST_ERR_IO);
		return 0;
	}
	if (lent)
		whole += DIST__FRAME_ADDRESS;
	if (len < whole)
		return 0;
	c->remote = lent ? dist__get64(bytes + DIST__FRAME_BYTES) : 0;
	return whole;
}

/* Takes what there is of the payload from the front of len bytes. */
static size_t take_payload(struct dist__mesh *mesh, struct dist__connection *c,
			   const unsigned char *bytes, size_t len)
{
	size_t taken = dist__sink_put(c, bytes, len);

	if (c->payload_left == 0)
		dist__matching_end(mesh, c);
	return taken;
}

/* Whether the leader has what it waits for: what a peer that is ahead has sent
 * behind that finds its receive posted when it is looked at later, and needs no
 * room of its own. */
static bool is_served(const struct dist__mesh *mesh)
{
	return mesh->awaited && mesh->awaited->complete;
}

/* Looks at what has come: payload, then headers and payloads, all of it or
 * until the leader is served. Returns how many of the len bytes that was; the
 * others wait for more. */
static size_t digest(struct dist__mesh *mesh, struct dist__connection *c,
		     const unsigned char *bytes, size_t len, bool all)
{
	size_t done = 0, n = 1;

	while (n > 0 && done < len && c->state != DIST__DEAD &&
	       !c->held_until_ns && !c->remote &&
	       (all || done == 0 || !is_served(mesh))) {
		const unsigned char *at = bytes + done;

		if (c->payload_left > 0) {
			done += take_payload(mesh, c, at, len - done);
			continue;
		}
		n = decode(mesh, c, at, len - done);
		if (n > 0)
			begin_frame(mesh, c);
		done += n;
	}
	return done;
}

/* Digests what lies in the buffer. */
static void digest_buffer(struct dist__mesh *mesh, struct dist__connection *c)
{
	size_t done = digest(mesh, c, c->buffer, c->end, true);

	c->end -= done;
	if (done > 0 && c->end > 0)
		memmove(c->buffer, c->buffer + done, c->end);
}

bool dist__connection_greeted(struct dist__mesh *mesh,
			      struct dist__connection *c, unsigned char *extra)
{
	while (c->state == DIST__GREETING || c->state == DIST__STRANGER) {
		size_t head = decode(mesh, c, c->buffer, c->end), whole;
		ssize_t n;

		if (c->state == DIST__DEAD)
			return false;
		whole = head + (size_t)c->frame.bytes;
		if (head > 0 && c->frame.bytes > DIST__FRAME_EXTRA) {
			lose(mesh, c, DIST_ERR_IO);
			return false;
		}
		if (head > 0 && c->end >= whole) {
			memcpy(extra, c->buffer + head, whole - head);
			c->end -= whole;
			memmove(c->buffer, c->buffer + whole, c->end);
			return true;
		}
		do
			n = recv(c->fd, c->buffer + c->end,
				 sizeof c->buffer - c->end, 0);
		while (n < 0 && errno == EINTR);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return false;
		if (n <= 0) {
			lose(mesh, c, DIST_ERR_PEER_LOST);
			return false;
		}
		c->end += (size_t)n;
		mesh->moved += (size_t)n;
	}
	if (c->state == DIST__CONNECTED) {
		/* What follows on the socket of neighbours is the bell. */
		if (dist__connection_shares(c))
			c->end = 0;
		digest_buffer(mesh, c);
		dist__connection_read(mesh, c);
	}
	return false;
}

/* Digests what lies in memory, where it lies. Returns how much: nothing of a
 * frame that is there in part, or goes round the end; it has to be put
 * together. */
static size_t digest_shared(struct dist__mesh *mesh, struct dist__connection *c)
{
	const unsigned char *bytes;
	size_t len = dist__shared_peek(c->shared, &bytes);
	size_t done = digest(mesh, c, bytes, len, false);

	dist__shared_skip(c->shared, done);
	return done;
}

/* As recvmsg(), from wherever the bytes come. */
static ssize_t receive(struct dist__connection *connection,
		       struct msghdr *header)
{
	/* Asked before: the last bytes came before the end. */
	bool ended = connection->hung_up;
	ssize_t n;

	if (!dist__connection_shares(connection))
		return header->msg_iovlen == 1
			       ? recv(connection->fd, header->msg_iov->iov_base,
				      header->msg_iov->iov_len, 0)
			       : recvmsg(connection->fd, header, 0);
	n = dist__shared_take(connection->shared, header->msg_iov,
			      header->msg_iovlen);
	if (n == 0 && !ended) {
		errno = EAGAIN;
		return -1;
	}
	if (n < 0)
		errno = EIO;
	return n;
}

/* Puts what there is room for into memory, and now and then notes how long it
 * took. */
static size_t put_timed(struct dist__connection *c, const struct msghdr *header)
{
	struct dist__pace *pace = dist__shared_pace(c->shared);
	int cell = c->peer->sends.first->cell;
	int64_t from_ns;
	size_t n;

	if (cell < 0 || c->peer->sends.first->lent ||
	    !dist__pace_is_due(pace, cell, DIST__PACE_PUT))
		return dist__shared_put(c->shared, header->msg_iov,
					header->msg_iovlen);
	from_ns = dist__clock_ns();
	n = dist__shared_put(c->shared, header->msg_iov, header->msg_iovlen);
	if (n >= DIST__PACE_BYTES)
		dist__pace_note(pace, dist__shared_shown(c->shared), cell,
				DIST__PACE_PUT, n, dist__clock_ns() - from_ns);
	return n;
}

/* As sendmsg(), to wherever the bytes go. */
static ssize_t transmit(struct dist__connection *connection,
			const struct msghdr *header)
{
	size_t n;

	if (!dist__connection_shares(connection))
		return header->msg_iovlen == 1
			       ? send(connection->fd, header->msg_iov->iov_base,
				      header->msg_iov->iov_len, MSG_NOSIGNAL)
			       : sendmsg(connection->fd, header, MSG_NOSIGNAL);
	n = put_timed(connection, header);
	if (n > 0)
		return (ssize_t)n;
	errno = EAGAIN;
	return -1;
}

/* Sends TAKEN for what was lent, at once if that fits. false: no memory. */
static bool say_taken(struct dist__mesh *mesh, struct dist__connection *c)
{
	bool first = !c->peer->sends.first;

	if (first && dist__lend_say_taken(mesh, c->peer))
		return true;
	if (!dist__request_control(c->peer, DIST__FRAME_TAKEN, 0))
		return false;
	if (first)
		dist__connection_write(mesh, c);
	return true;
}

/* Fetches a turn of the lent payload that is due. Returns as read_once(). */
static bool fetch_once(struct dist__mesh *mesh, struct dist__connection *c,
		       size_t *taken)
{
	size_t n = 0;

	if (!dist__lend_fetch(c, READ_BYTES, &n)) {
		lose(mesh, c, DIST_ERR_PEER_LOST);
		return false;
	}
	*taken += n;
	c->remote += n;
	advance(mesh, c, n);
	if (c->payload_left > 0)
		return true;
	c->remote = 0;
	if (!say_taken(mesh, c))
		lose(mesh, c, DIST_ERR_NO_MEMORY);
	digest_buffer(mesh, c);
	return c->state != DIST__DEAD && !c->held_until_ns;
}

/* How many bytes to read into the buffer. What comes through memory is looked
 * at where it lies, except a header that goes round the end: no more than that
 * leaves memory before it is wanted. */
static size_t buffer_room(const struct dist__connection *c)
{
	size_t whole = DIST__FRAME_BYTES;

	if (!dist__connection_shares(c))
		return sizeof c->buffer - c->end;
	if (c->sink)
		return 0;
	return (c->end < whole ? whole : whole + DIST__FRAME_ADDRESS) - c->end;
}

/* Reads once. Returns whether there may be more at this moment. */
static bool read_once(struct dist__mesh *mesh,
		      struct dist__connection *connection, size_t *taken)
{
	struct dist__connection *c = connection;
	size_t direct = c->sink ? dist__sink_room(c) : 0, digested = 0;
	size_t asked, into_sink;
	struct iovec parts[2] = {{c->sink, direct},
				 {c->buffer + c->end, buffer_room(c)}};
	struct msghdr header = {.msg_iov = direct ? parts : parts + 1,
				.msg_iovlen = direct ? 2 : 1};
	ssize_t n;

	if (c->remote)
		return fetch_once(mesh, c, taken);
	/* What is to be combined is so where it lies. */
	if ((!direct || c->stage) && c->end == 0 && dist__connection_shares(c))
		digested = digest_shared(mesh, c);
	*taken += digested;
	if (digested > 0)
		return c->state != DIST__DEAD && !c->held_until_ns &&
		       (c->remote || c->payload_left > 0);
	/* The stage fills up first: what follows it goes there, too. */
	if (direct && direct < c->payload_left)
		parts[1].iov_len = 0;
	asked = parts[0].iov_len + parts[1].iov_len;
	do
		n = receive(c, &header);
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
	digest_buffer(mesh, c);
	return c->state != DIST__DEAD && !c->held_until_ns &&
	       ((size_t)n == asked || c->remote);
}

/* As read_once, and now and then notes how long it took what it read. */
static bool read_timed(struct dist__mesh *mesh, struct dist__connection *c,
		       size_t *taken)
{
	int cell = c->receive && c->shared ? c->receive->cell : -1;
	enum dist__pace_kind kind =
		c->remote ? DIST__PACE_READ : DIST__PACE_TAKE;
	size_t before = *taken;
	int64_t from_ns;
	bool more;

	if (cell < 0 || c->payload_left < DIST__PACE_BYTES ||
	    !dist__pace_is_due(dist__shared_pace(c->shared), cell, kind))
		return read_once(mesh, c, taken);
	from_ns = dist__clock_ns();
	more = read_once(mesh, c, taken);
	if (c->state == DIST__CONNECTED && *taken - before >= DIST__PACE_BYTES)
		dist__pace_note(dist__shared_pace(c->shared),
				dist__shared_shown(c->shared), cell, kind,
				*taken - before, dist__clock_ns() - from_ns);
	return more;
}

void dist__connection_read(struct dist__mesh *mesh,
			   struct dist__connection *connection)
{
	size_t taken = 0;

	/* Who spins asks often: nothing has come, as far as memory tells. */
	if (connection->held_until_ns ||
	    (dist__connection_shares(connection) && !connection->remote &&
	     !connection->hung_up && !dist__shared_has(connection->shared)))
		return;
	while (read_timed(mesh, connection, &taken) && taken < READ_BYTES &&
	       !is_served(mesh))
		;
	mesh->moved += taken;
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
	digest_buffer(mesh, connection);
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

/* What follows the header from where the payload lies. */
static size_t body_bytes(const struct dist__request *request)
{
	bool apart = !request->lent && request->m.bytes > DIST__SHORT_BYTES;

	return apart ? request->m.bytes : 0;
}

/* Collects the front of the queue into parts; returns how many. */
static int gather(const struct dist__mesh *mesh,
		  const struct dist__connection *connection,
		  struct iovec *parts, size_t *asked)
{
	struct dist__request *request = connection->peer->sends.first;
	int n = 0;

	*asked = 0;
	for (; request && n + 2 <= WRITE_PARTS && *asked < WRITE_BYTES;
	     request = request->next) {
		size_t written = request->written, offset = 0, left;

		if (written == 0)
			dist__lend(mesh, connection, request);
		if (written < request->head) {
			parts[n].iov_base = request->header + written;
			parts[n].iov_len = request->head - written;
			*asked += parts[n++].iov_len;
		} else {
			offset = written - request->head;
		}
		left = body_bytes(request) - offset;
		if (left > WRITE_BYTES)
			left = WRITE_BYTES;
		if (left == 0)
			continue;
		parts[n].iov_base = (unsigned char *)request->m.data + offset;
		parts[n].iov_len = left;
		*asked += parts[n++].iov_len;
		if (offset + left < body_bytes(request))
			break; /* the next may only follow the whole of it */
	}
	return n;
}

/* Accounts for n bytes that the socket took. */
static void consume(struct dist__mesh *mesh, struct dist__peer *peer, size_t n)
{
	while (n > 0) {
		struct dist__request *request = peer->sends.first;
		size_t whole = request->head + body_bytes(request);
		size_t left = whole - request->written;

		if (n < left) {
			request->written += n;
			return;
		}
		n -= left;
		request->written = whole;
		dist__queue_remove(&peer->sends, request);
		if (request->lent)
			dist__queue_append(&peer->lent, request);
		else
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

/* Writes until the queue is empty, there is no room, or it was enough. */
static void write_turn(struct dist__mesh *mesh,
		       struct dist__connection *connection)
{
	struct dist__peer *peer = connection->peer;
	struct iovec parts[WRITE_PARTS];
	struct msghdr header = {.msg_iov = parts};
	size_t asked, total = 0;
	ssize_t n;

	while (peer->sends.first && total < WRITE_BYTES) {
		header.msg_iovlen =
			(size_t)gather(mesh, connection, parts, &asked);
		n = transmit(connection, &header);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0) {
			write_failed(mesh, connection);
			return;
		}
		consume(mesh, peer, (size_t)n);
		mesh->moved += (size_t)n;
		total += (size_t)n;
		if ((size_t)n < asked)
			return;
	}
}

void dist__connection_write(struct dist__mesh *mesh,
			    struct dist__connection *connection)
{
	write_turn(mesh, connection);
	if (dist__connection_shares(connection) &&
	    connection->peer->sends.first)
		mesh->stuck = true;
}
