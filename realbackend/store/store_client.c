#include "realbackend/store/store_client.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "realbackend/store/environment.h"
#include "realbackend/wire/secret.h"

/* What the server may be late with its own "too late". */
#define GRACE_NS ((int64_t)300 * 1000000)
/* How long the server may take over what needs no waiting. */
#define PROMPT_NS ((int64_t)30 * 1000000000)
/* Without a word of the server's machine the connection fails. */
#define SILENCE_NS ((int64_t)15 * 1000000000)
/* A connect without an answer is given up and begun anew. */
#define CONNECT_NS ((int64_t)3 * 1000000000)

/* Between two attempts while the store hangs up. */
#define AGAIN_MS 5

struct dist__store {
	int fd;
	bool broken;
	int64_t prompt_ns; /* for what needs no waiting */
};

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

struct dist__store *dist__store_adopt(int fd)
{
	struct dist__store *store = malloc(sizeof *store);

	if (!store || !dist__socket_prepare(fd)) {
		free(store);
		close(fd);
		return NULL;
	}
	*store = (struct dist__store){.fd = fd, .prompt_ns = PROMPT_NS};
	return store;
}

void dist__store_patience(struct dist__store *store, int64_t prompt_ns)
{
	store->prompt_ns = prompt_ns;
}

void dist__store_free(struct dist__store *store)
{
	if (!store)
		return;
	close(store->fd);
	free(store);
}

bool dist__store_is_broken(const struct dist__store *store)
{
	return store->broken;
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

/* ---- connecting --------------------------------------------------------- */

/* One attempt; returns a connected socket, or -1 with errno. */
static int connect_once(const struct dist__address *address,
			int64_t deadline_ns)
{
	int64_t limit_ns = dist__clock_after(CONNECT_NS);
	int fd, error;

	if (limit_ns > deadline_ns)
		limit_ns = deadline_ns;
	error = dist__socket_dial(address, false, &fd);
	if (error == EINPROGRESS)
		error = await(fd, POLLOUT, limit_ns) ? dist__socket_error(fd)
						     : ETIMEDOUT;
	if (error && fd >= 0)
		close(fd);
	else if (fd >= 0)
		dist__socket_keep_alive(fd, SILENCE_NS);
	errno = error;
	return error ? -1 : fd;
}

void dist__store_explain(const struct dist__parcel *reply,
			 struct dist_message *message)
{
	struct dist__bytes why = {NULL, 0};
	size_t offset = 0;
	char text[400];

	(void)dist__parcel_next(reply, &offset, &why);
	dist__bytes_copy(why, text, sizeof text);
	snprintf(message->text, sizeof message->text, "rendezvous: %s", text);
}

/* Proves that we know secret to a store that drew challenge, and demands the
 * same of it. */
static enum dist_error prove(struct dist__store *store, const char *secret,
			     struct dist__bytes challenge, int64_t deadline_ns,
			     struct dist_message *message)
{
	struct dist__claim claim = {.role = DIST__STORE_CLIENT};
	unsigned char proof[DIST__PROOF_BYTES];
	struct dist__parcel request, reply;
	struct dist__bytes answer = {NULL, 0};
	enum dist_error error;
	size_t offset = 0;

	if (challenge.len != DIST__NONCE_BYTES ||
	    !dist__nonce_draw(claim.dialler_nonce))
		return DIST_ERR_IO;
	memcpy(claim.other_nonce, challenge.data, DIST__NONCE_BYTES);
	dist__secret_prove(secret, &claim, proof);
	dist__parcel_init(&request, DIST__STORE_PROVE, 0);
	dist__parcel_add(&request, claim.dialler_nonce, DIST__NONCE_BYTES);
	dist__parcel_add(&request, proof, sizeof proof);
	error = dist__store_call(store, &request, deadline_ns, &reply);
	dist__parcel_release(&request);
	if (error)
		return error;
	claim.role = DIST__STORE_SERVER;
	if (dist__parcel_code(&reply) == DIST__STORE_LOCKED) {
		dist__store_explain(&reply, message);
		error = DIST_ERR_RENDEZVOUS;
	} else if (!dist__parcel_next(&reply, &offset, &answer) ||
		   answer.len != DIST__PROOF_BYTES ||
		   !dist__secret_holds(secret, &claim, answer.data)) {
		snprintf(message->text, sizeof message->text,
			 "rendezvous: the store does not know LOCKSTEP_SECRET");
		error = DIST_ERR_RENDEZVOUS;
	}
	dist__parcel_release(&reply);
	return error;
}

/* What comes before the first request, where there is a secret. */
static enum dist_error introduce(struct dist__store *store, int64_t deadline_ns,
				 struct dist_message *message)
{
	struct dist__parcel request, reply;
	struct dist__bytes challenge;
	enum dist_error error;
	size_t offset = 0;
	bool failed;
	char *secret = dist__secret_copy(&failed);

	if (!secret)
		return failed ? DIST_ERR_NO_MEMORY : DIST_OK;
	dist__parcel_init(&request, DIST__STORE_HELLO, 0);
	error = dist__store_call(store, &request, deadline_ns, &reply);
	dist__parcel_release(&request);
	if (!error && dist__parcel_next(&reply, &offset, &challenge)) {
		error = prove(store, secret, challenge, deadline_ns, message);
	} else if (!error) {
		snprintf(message->text, sizeof message->text,
			 "rendezvous: this process has a LOCKSTEP_SECRET, rank "
			 "0 has none");
		error = DIST_ERR_RENDEZVOUS;
	}
	dist__parcel_release(&reply);
	free(secret);
	if (error == DIST_ERR_TIMEOUT || error == DIST_ERR_IO) {
		snprintf(message->text, sizeof message->text,
			 "rendezvous: what listens at the port of the store "
			 "hangs up or keeps silent");
		error = DIST_ERR_IO;
	}
	return error;
}

/* Dials the addresses in turn until one answers or deadline_ns has passed: it
 * returns a socket, or -1 with errno. */
static int connect_any(const struct dist__address *addresses, int n,
		       bool awaited, int64_t deadline_ns)
{
	enum { LONGEST_PAUSE_MS = 100 };
	int fd = -1, pause_ms = 1, error;

	for (;;) {
		for (int i = 0; i < n && fd < 0; i++)
			fd = connect_once(&addresses[i], deadline_ns);
		if (fd >= 0 || dist__clock_ns() >= deadline_ns ||
		    errno == EMFILE || (errno == ECONNREFUSED && !awaited))
			return fd;
		/* Nobody there to tell us when there will be: ask again. */
		error = errno;
		poll(NULL, 0, pause_ms);
		errno = error;
		pause_ms = pause_ms < LONGEST_PAUSE_MS / 2 ? 2 * pause_ms
							   : LONGEST_PAUSE_MS;
	}
}

/* errno says why. */
static enum dist_error nobody_there(const char *host, int port, bool awaited,
				    struct dist_message *message)
{
	char why[DIST__LIMIT_TEXT] = "rank 0 has not come";
	const char *what = strerror(errno);

	if (errno == EMFILE)
		dist__socket_limit(0, why);
	else if (!awaited)
		strcpy(why, "rank 0 has ended");
	snprintf(message->text, sizeof message->text,
		 "rendezvous: no store at %.200s:%d: %.80s; %s", host, port,
		 what, why);
	return DIST_ERR_RENDEZVOUS;
}

enum dist_error dist__store_connect(const char *host, int port, bool awaited,
				    int64_t deadline_ns,
				    struct dist__store **store,
				    struct dist_message *message)
{
	enum { MOST = 8 };
	struct dist__address addresses[MOST];
	int n = dist__socket_resolve(host, port, addresses, MOST, message);
	struct dist__store fresh = {.fd = -1, .prompt_ns = PROMPT_NS};
	enum dist_error error;

	if (n == 0)
		return DIST_ERR_RENDEZVOUS;
	for (;;) {
		fresh.fd = connect_any(addresses, n, awaited, deadline_ns);
		fresh.broken = false;
		if (fresh.fd < 0)
			return nobody_there(host, port, awaited, message);
		message->text[0] = '\0';
		error = introduce(&fresh, deadline_ns, message);
		if (!error)
			break;
		close(fresh.fd);
		/* Hung up on: perhaps too many are knocking at the moment. */
		if (error != DIST_ERR_IO || dist__clock_ns() >= deadline_ns)
			return error == DIST_ERR_IO ? DIST_ERR_RENDEZVOUS
						    : error;
		poll(NULL, 0, AGAIN_MS);
	}
	*store = malloc(sizeof **store);
	if (!*store) {
		close(fresh.fd);
		return DIST_ERR_NO_MEMORY;
	}
	**store = fresh;
	return DIST_OK;
}

/* ---- asking for this and that ------------------------------------------- */

static enum dist_error outcome_of(const struct dist__parcel *reply)
{
	int32_t code = dist__parcel_code(reply);

	return code > 0 ? DIST_ERR_RENDEZVOUS : (enum dist_error)code;
}

/* Calls with a timeout and takes the code of the reply for the outcome. */
static enum dist_error ask(struct dist__store *store,
			   struct dist__parcel *request, int64_t timeout_ns,
			   struct dist__parcel *reply)
{
	int64_t deadline_ns =
		dist__deadline_ns(dist__clock_after(timeout_ns), GRACE_NS);
	enum dist_error error = DIST_ERR_INVALID_ARGUMENT;

	memset(reply, 0, sizeof *reply);
	if (timeout_ns >= 0 && request->len <= DIST__PARCEL_MAX_REQUEST)
		error = dist__store_call(store, request, deadline_ns, reply);
	if (!error)
		error = outcome_of(reply);
	dist__parcel_release(request);
	if (error)
		dist__parcel_release(reply);
	return error;
}

/* Takes the one string of a reply for the answer to request. */
static enum dist_error take_answer(struct dist__store_request *request,
				   struct dist__bytes string)
{
	bool good = true;

	switch (request->op) {
	case DIST__STORE_GET:
	case DIST__STORE_COMPARE_SET:
		request->there = true;
		request->found = string;
		return dist__bytes_keep(&request->found);
	default:
		good = dist__bytes_number(string, &request->number);
		request->there = request->number != 0;
		return good ? DIST_OK : DIST_ERR_IO;
	}
}

enum dist_error dist__store_ask(struct dist__store *store,
				struct dist__store_request *request)
{
	bool waits = request->op == DIST__STORE_GET ||
		     request->op == DIST__STORE_WAIT;
	bool silent = request->op == DIST__STORE_SET ||
		      request->op == DIST__STORE_WAIT;
	struct dist__parcel parcel, reply;
	struct dist__bytes string;
	size_t offset = 0;
	enum dist_error error;
	char text[24];

	dist__parcel_init(&parcel, (int32_t)request->op,
			  waits ? request->timeout_ns : 0);
	if (request->op != DIST__STORE_NUM_KEYS)
		dist__parcel_add(&parcel, request->key.data, request->key.len);
	if (request->op == DIST__STORE_COMPARE_SET)
		dist__parcel_add(&parcel, request->expected.data,
				 request->expected.len);
	if (request->op == DIST__STORE_COMPARE_SET ||
	    request->op == DIST__STORE_SET)
		dist__parcel_add(&parcel, request->value.data,
				 request->value.len);
	snprintf(text, sizeof text, "%lld", (long long)request->number);
	if (request->op == DIST__STORE_ADD)
		dist__parcel_add_text(&parcel, text);
	error = ask(store, &parcel,
		    waits ? request->timeout_ns : store->prompt_ns, &reply);
	if (error)
		return error;
	if (!silent)
		error = dist__parcel_next(&reply, &offset, &string)
				? take_answer(request, string)
				: DIST_ERR_IO;
	dist__parcel_release(&reply);
	return error;
}

enum dist_error dist__store_set(struct dist__store *store, const char *key,
				const void *value, size_t len)
{
	return dist__store_ask(store, &(struct dist__store_request){
					      .op = DIST__STORE_SET,
					      .key = dist__bytes_text(key),
					      .value = {value, len}});
}

enum dist_error dist__store_get(struct dist__store *store, const char *key,
				int64_t timeout_ns, char **value, size_t *len)
{
	struct dist__store_request request = {.op = DIST__STORE_GET,
					      .key = dist__bytes_text(key),
					      .timeout_ns = timeout_ns};
	enum dist_error error = dist__store_ask(store, &request);

	if (error)
		return error;
	*value = (char *)request.found.data;
	*len = request.found.len;
	return DIST_OK;
}

enum dist_error dist__store_add(struct dist__store *store, const char *key,
				int64_t amount, int64_t *sum)
{
	struct dist__store_request request = {.op = DIST__STORE_ADD,
					      .key = dist__bytes_text(key),
					      .number = amount};
	enum dist_error error = dist__store_ask(store, &request);

	if (!error)
		*sum = request.number;
	return error;
}

enum dist_error dist__store_arrive(struct dist__store *store, int number,
				   int64_t timeout_ns)
{
	struct dist__parcel request, reply;
	enum dist_error error;
	char text[16];

	snprintf(text, sizeof text, "%d", number);
	dist__parcel_init(&request, DIST__STORE_ARRIVE, timeout_ns);
	dist__parcel_add_text(&request, text);
	error = ask(store, &request, timeout_ns, &reply);
	if (!error)
		dist__parcel_release(&reply);
	return error;
}

enum dist_error dist__store_enrol(struct dist__store *store, const char *run,
				  const char *report, int64_t timeout_ns,
				  int *ticket, struct dist_message *message)
{
	struct dist__parcel request, reply;
	struct dist__bytes string;
	size_t offset = 0;
	int64_t number = 0;
	enum dist_error error;

	dist__parcel_init(&request, DIST__STORE_ENROL, timeout_ns);
	dist__parcel_add_text(&request, run);
	dist__parcel_add_text(&request, report);
	error = dist__store_call(store, &request, dist__clock_after(timeout_ns),
				 &reply);
	dist__parcel_release(&request);
	if (error)
		return error;
	error = outcome_of(&reply);
	if (dist__parcel_code(&reply) == DIST__STORE_OTHER)
		snprintf(message->text, sizeof message->text,
			 "the job there is not \"%.64s\"", run);
	else if (error)
		dist__store_explain(&reply, message);
	else if (!dist__parcel_next(&reply, &offset, &string) ||
		 !dist__bytes_number(string, &number) || number < 1 ||
		 number > INT_MAX)
		error = DIST_ERR_IO;
	*ticket = (int)number;
	dist__parcel_release(&reply);
	return error;
}
