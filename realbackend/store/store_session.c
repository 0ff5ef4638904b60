#include "realbackend/store/store_session.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* For a request to be whole, from its first byte (or the accept) on. */
#define REQUEST_NS ((int64_t)10 * 1000000000)
/* Room is made as the bytes come, not as the header promises. */
#define STEP_BYTES ((size_t)64 << 10)

struct dist__session *dist__session_new(int fd, size_t limit)
{
	struct dist__session *session = calloc(1, sizeof *session);

	if (!session) {
		close(fd);
		return NULL;
	}
	session->fd = fd;
	session->rank = session->ticket = -1;
	session->limit = limit;
	session->accepted_ns = dist__clock_ns();
	session->deadline_ns = session->accepted_ns + REQUEST_NS;
	return session;
}

void dist__session_free(struct dist__session *session)
{
	close(session->fd);
	dist__parcel_release(&session->request);
	dist__parcel_release(&session->reply);
	free(session);
}

/* Bytes still missing from the request; SIZE_MAX: it is none. */
static size_t missing(const struct dist__session *session)
{
	size_t wanted = dist__parcel_wanted(&session->request, session->limit);

	return wanted ? wanted - session->request.len : SIZE_MAX;
}

void dist__session_admit(struct dist__session *session)
{
	session->known = true;
	session->limit = DIST__PARCEL_MAX_REQUEST;
}

bool dist__session_whole(const struct dist__session *session)
{
	return session->request.len >= DIST__PARCEL_HEADER &&
	       missing(session) == 0;
}

bool dist__session_read(struct dist__session *session)
{
	struct dist__parcel *in = &session->request;
	size_t left;
	ssize_t n;

	while (!dist__session_whole(session)) {
		left = missing(session);
		if (left > STEP_BYTES)
			left = STEP_BYTES;
		if (!dist__parcel_reserve(in, in->len + left))
			return false;
		n = recv(session->fd, in->data + in->len, left, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		if (n == 0)
			return false;
		if (session->deadline_ns == DIST_TIMEOUT_NEVER)
			session->deadline_ns = dist__clock_after(REQUEST_NS);
		in->len += (size_t)n;
		if (missing(session) == SIZE_MAX)
			return false;
	}
	/* More, before our answer? That is not how clients of ours speak; nor
	 * do they go on after hanging up. */
	return session->reply.len == 0 && !session->waiting &&
	       dist__parcel_valid(in);
}

bool dist__session_write(struct dist__session *session)
{
	struct dist__parcel *out = &session->reply;
	ssize_t n;

	while (session->replied < out->len) {
		n = send(session->fd, out->data + session->replied,
			 out->len - session->replied, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		session->replied += (size_t)n;
	}
	dist__parcel_release(out);
	session->replied = 0;
	if (session->known)
		session->deadline_ns = DIST_TIMEOUT_NEVER;
	return true;
}

bool dist__session_reply(struct dist__session *session,
			 struct dist__parcel *reply)
{
	session->waiting = false;
	session->request.len = 0;
	session->reply = *reply;
	session->replied = 0;
	if (session->known)
		session->deadline_ns = dist__clock_after(REQUEST_NS);
	if (reply->failed)
		return false;
	return dist__session_write(session);
}
