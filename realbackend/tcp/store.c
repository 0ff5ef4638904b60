#include "realbackend/tcp/store.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realbackend/tcp/clock.h"

/* What the server may be late with its own "too late". */
#define GRACE_NS ((int64_t)300 * 1000000)
/* How long the server may take over what needs no waiting. */
#define PROMPT_NS ((int64_t)30 * 1000000000)
/* A connect without an answer is given up and begun anew. */
#define CONNECT_NS ((int64_t)3 * 1000000000)

struct dist__store {
	int fd;
	bool broken;
};

/* ---- connecting --------------------------------------------------------- */

/* Waits for events on fd; false: deadline_ns passed first. */
static bool await(int fd, short events, int64_t deadline_ns)
{
	struct pollfd polled = {.fd = fd, .events = events};
	int n;

	do
		n = poll(&polled, 1, dist__clock_poll_ms(deadline_ns));
	while ((n < 0 && errno == EINTR) ||
	       (n == 0 && dist__clock_ns() < deadline_ns));
	return n > 0;
}

/* One attempt; returns a connected socket, or -1 with errno. */
static int connect_once(const struct dist__address *address,
			int64_t deadline_ns)
{
	int64_t limit_ns = dist__clock_after(CONNECT_NS);
	int fd, error;

	if (limit_ns > deadline_ns)
		limit_ns = deadline_ns;
	error = dist__socket_dial(address, &fd);
	if (error == EINPROGRESS)
		error = await(fd, POLLOUT, limit_ns) ? dist__socket_error(fd)
						     : ETIMEDOUT;
	if (error && fd >= 0)
		close(fd);
	errno = error;
	return error ? -1 : fd;
}

enum dist_error dist__store_connect(const char *host, int port,
				    int64_t deadline_ns,
				    struct dist__store **store,
				    struct dist_message *message)
{
	enum { MOST = 8, LONGEST_PAUSE_MS = 100 };
	struct dist__address addresses[MOST];
	int n = dist__socket_resolve(host, port, addresses, MOST, message);
	int fd = -1, pause_ms = 1;

	if (n == 0)
		return DIST_ERR_RENDEZVOUS;
	for (;;) {
		for (int i = 0; i < n && fd < 0; i++)
			fd = connect_once(&addresses[i], deadline_ns);
		if (fd >= 0 || dist__clock_ns() >= deadline_ns)
			break;
		/* Nobody there to tell us when there will be: ask again. */
		poll(NULL, 0, pause_ms);
		pause_ms = pause_ms < LONGEST_PAUSE_MS / 2 ? 2 * pause_ms
							   : LONGEST_PAUSE_MS;
	}
	if (fd < 0) {
		snprintf(message->text, sizeof message->text,
			 "rendezvous: no store at %.200s:%d: %s; rank 0 has "
			 "not come",
			 host, port, strerror(errno));
		return DIST_ERR_RENDEZVOUS;
	}
	*store = calloc(1, sizeof **store);
	if (!*store) {
		close(fd);
		return DIST_ERR_NO_MEMORY;
	}
	(*store)->fd = fd;
	return DIST_OK;
}

void dist__store_free(struct dist__store *store)
{
	if (!store)
		return;
	close(store->fd);
	free(store);
}

bool dist__store_local(const struct dist__store *store,
		       struct dist__address *address)
{
	return dist__socket_local(store->fd, address);
}

/* ---- asking ------------------------------------------------------------- */

static enum dist_error send_all(int fd, const unsigned char *data, size_t len,
				int64_t deadline_ns)
{
	ssize_t n;

	while (len > 0) {
		n = send(fd, data, len, MSG_NOSIGNAL);
		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (!await(fd, POLLOUT, deadline_ns))
				return DIST_ERR_TIMEOUT;
		} else if (errno != EINTR) {
			return DIST_ERR_IO;
		}
	}
	return DIST_OK;
}

/* Reads until reply holds len bytes. */
static enum dist_error receive(int fd, struct dist__parcel *reply, size_t len,
			       int64_t deadline_ns)
{
	ssize_t n;

	if (!dist__parcel_reserve(reply, len))
		return DIST_ERR_NO_MEMORY;
	while (reply->len < len) {
		n = recv(fd, reply->data + reply->len, len - reply->len, 0);
		if (n > 0)
			reply->len += (size_t)n;
		else if (n == 0)
			return DIST_ERR_IO;
		else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (!await(fd, POLLIN, deadline_ns))
				return DIST_ERR_TIMEOUT;
		} else if (errno != EINTR) {
			return DIST_ERR_IO;
		}
	}
	return DIST_OK;
}

static enum dist_error receive_reply(int fd, struct dist__parcel *reply,
				     int64_t deadline_ns)
{
	enum dist_error error;
	size_t wanted;

	error = receive(fd, reply, DIST__PARCEL_HEADER, deadline_ns);
	if (error)
		return error;
	wanted = dist__parcel_wanted(reply, DIST__PARCEL_MAX_REPLY);
	if (wanted == 0)
		return DIST_ERR_IO;
	error = receive(fd, reply, wanted, deadline_ns);
	if (!error && !dist__parcel_valid(reply))
		return DIST_ERR_IO;
	return error;
}

enum dist_error dist__store_call(struct dist__store *store,
				 const struct dist__parcel *request,
				 int64_t deadline_ns,
				 struct dist__parcel *reply)
{
	enum dist_error error = DIST_ERR_IO;

	memset(reply, 0, sizeof *reply);
	if (request->failed)
		return DIST_ERR_NO_MEMORY;
	if (!store->broken)
		error = send_all(store->fd, request->data, request->len,
				 deadline_ns);
	if (!error)
		error = receive_reply(store->fd, reply, deadline_ns);
	if (error) {
		/* A reply still under way would answer the next question. */
		store->broken = true;
		dist__parcel_release(reply);
	}
	return error;
}

/* Calls with a timeout and takes the code of the reply for the outcome. */
static enum dist_error ask(struct dist__store *store,
			   struct dist__parcel *request, int64_t timeout_ns,
			   struct dist__parcel *reply)
{
	int64_t deadline_ns = dist__clock_after(timeout_ns);
	enum dist_error error = DIST_ERR_INVALID_ARGUMENT;

	if (deadline_ns < DIST_TIMEOUT_NEVER - GRACE_NS)
		deadline_ns += GRACE_NS;
	memset(reply, 0, sizeof *reply);
	if (timeout_ns >= 0 && request->len <= DIST__PARCEL_MAX_REQUEST)
		error = dist__store_call(store, request, deadline_ns, reply);
	if (!error)
		error = (enum dist_error)dist__parcel_code(reply);
	dist__parcel_release(request);
	if (error)
		dist__parcel_release(reply);
	return error;
}

/* As ask(), for a reply that is one number. */
static enum dist_error ask_number(struct dist__store *store,
				  struct dist__parcel *request, int64_t *number)
{
	struct dist__parcel reply;
	struct dist__bytes string;
	size_t offset = 0;
	enum dist_error error = ask(store, request, PROMPT_NS, &reply);

	if (error)
		return error;
	if (!dist__parcel_next(&reply, &offset, &string) ||
	    !dist__bytes_number(string, number))
		error = DIST_ERR_IO;
	dist__parcel_release(&reply);
	return error;
}

enum dist_error dist__store_set(struct dist__store *store, const char *key,
				const void *value, size_t len)
{
	struct dist__parcel request, reply;
	enum dist_error error;

	dist__parcel_init(&request, DIST__STORE_SET, 0);
	dist__parcel_add_text(&request, key);
	dist__parcel_add(&request, value, len);
	error = ask(store, &request, PROMPT_NS, &reply);
	if (!error)
		dist__parcel_release(&reply);
	return error;
}

enum dist_error dist__store_get(struct dist__store *store, const char *key,
				int64_t timeout_ns, char **value, size_t *len)
{
	struct dist__parcel request, reply;
	struct dist__bytes string;
	size_t offset = 0;
	enum dist_error error;
	char *copy = NULL;

	dist__parcel_init(&request, DIST__STORE_GET, timeout_ns);
	dist__parcel_add_text(&request, key);
	error = ask(store, &request, timeout_ns, &reply);
	if (error)
		return error;
	if (!dist__parcel_next(&reply, &offset, &string))
		error = DIST_ERR_IO;
	else if (!(copy = malloc(string.len + 1)))
		error = DIST_ERR_NO_MEMORY;
	if (!error) {
		memcpy(copy, string.data, string.len);
		copy[string.len] = '\0';
		*value = copy;
		*len = string.len;
	}
	dist__parcel_release(&reply);
	return error;
}

enum dist_error dist__store_add(struct dist__store *store, const char *key,
				int64_t amount, int64_t *sum)
{
	struct dist__parcel request;
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)amount);
	dist__parcel_init(&request, DIST__STORE_ADD, 0);
	dist__parcel_add_text(&request, key);
	dist__parcel_add_text(&request, text);
	return ask_number(store, &request, sum);
}

static void init_with_keys(struct dist__parcel *request, enum dist__store_op op,
			   const char *const *keys, size_t num_keys,
			   int64_t timeout_ns)
{
	dist__parcel_init(request, op, timeout_ns);
	for (size_t i = 0; i < num_keys; i++)
		dist__parcel_add_text(request, keys[i]);
}

enum dist_error dist__store_wait(struct dist__store *store,
				 const char *const *keys, size_t num_keys,
				 int64_t timeout_ns)
{
	struct dist__parcel request, reply;
	enum dist_error error;

	init_with_keys(&request, DIST__STORE_WAIT, keys, num_keys, timeout_ns);
	error = ask(store, &request, timeout_ns, &reply);
	if (!error)
		dist__parcel_release(&reply);
	return error;
}

enum dist_error dist__store_check(struct dist__store *store,
				  const char *const *keys, size_t num_keys,
				  bool *there)
{
	struct dist__parcel request;
	int64_t number;
	enum dist_error error;

	init_with_keys(&request, DIST__STORE_CHECK, keys, num_keys, 0);
	error = ask_number(store, &request, &number);
	if (!error)
		*there = number != 0;
	return error;
}

enum dist_error dist__store_delete_key(struct dist__store *store,
				       const char *key, bool *deleted)
{
	struct dist__parcel request;
	int64_t number;
	enum dist_error error;

	dist__parcel_init(&request, DIST__STORE_DELETE, 0);
	dist__parcel_add_text(&request, key);
	error = ask_number(store, &request, &number);
	if (!error)
		*deleted = number != 0;
	return error;
}

enum dist_error dist__store_num_keys(struct dist__store *store,
				     int64_t *num_keys)
{
	struct dist__parcel request;

	dist__parcel_init(&request, DIST__STORE_NUM_KEYS, 0);
	return ask_number(store, &request, num_keys);
}
