#include "tests/support/wire_fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockstep/store.h"
#include "realbackend/store/store_service.h"
#include "realbackend/store/store_client.h"
#include "base/random.h"

#define SECRET "sesame"

/* A parcel of a code that there is, or hardly, with strings of any kind. */
static void compose(uint64_t *state, int32_t codes, struct dist__parcel *parcel)
{
	static const char *const texts[] = {"k",   "",  "7", "-9", "x y",
					    "999", "a", "b", "1",  "2"};
	unsigned char junk[600];
	int strings = (int)(dist__random_next(state) % 5);

	for (size_t i = 0; i < sizeof junk; i++)
		junk[i] = (unsigned char)dist__random_next(state);
	dist__parcel_init(parcel,
			  (int32_t)(dist__random_next(state) % (uint64_t)codes),
			  0);
	for (int i = 0; i < strings; i++)
		if (dist__random_next(state) % 4)
			dist__parcel_add_text(
				parcel, texts[dist__random_next(state) % 10]);
		else
			dist__parcel_add(parcel, junk,
					 dist__random_next(state) %
						 sizeof junk);
}

/* Changes some bytes, most of them where lengths stand, or cuts some off. */
static void mutate(uint64_t *state, struct dist__parcel *parcel)
{
	uint64_t changes = dist__random_next(state) % 6;

	if (dist__random_next(state) % 3 == 0)
		return;
	for (uint64_t i = 0; i < changes; i++) {
		size_t at = dist__random_next(state) %
			    (dist__random_next(state) % 2 ? parcel->len : 32);

		if (at < parcel->len)
			parcel->data[at] =
				dist__random_next(state) % 2
					? (unsigned char)dist__random_next(
						  state)
					: 0xff;
	}
	if (dist__random_next(state) % 8 == 0)
		parcel->len -= dist__random_next(state) % parcel->len;
}

/* ---- a session ---------------------------------------------------------- */

/* Whether what the server answered is one parcel, if anything. */
static bool is_answer(int fd, struct dist__parcel *answer)
{
	static unsigned char bytes[1 << 16];
	ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

	*answer = (struct dist__parcel){.data = bytes,
					.len = n > 0 ? (size_t)n : 0};
	return n <= 0 || (n >= DIST__PARCEL_HEADER &&
			  dist__parcel_wanted(answer, DIST__PARCEL_MAX_REPLY) ==
				  (size_t)n &&
			  dist__parcel_valid(answer));
}

/* Says len bytes in pieces. false: the session is to be dropped. */
static bool say(uint64_t *state, int fd, struct dist__service *service,
		struct dist__session *session, const unsigned char *data,
		size_t len)
{
	bool keep = true;

	while (keep && len > 0) {
		size_t piece = 1 + dist__random_next(state) % len;
		ssize_t n = send(fd, data, piece, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
		keep = session->reply.len ? dist__session_write(session)
					  : dist__session_read(session);
		if (keep && !session->waiting && dist__session_whole(session))
			keep = dist__service_request(service, session);
	}
	return keep;
}

/* Proves to know the secret, as a client does. */
static bool introduce(uint64_t *state, int fd, struct dist__service *service,
		      struct dist__session *session)
{
	struct dist__claim claim = {.role = DIST__STORE_CLIENT};
	unsigned char proof[DIST__PROOF_BYTES];
	struct dist__parcel parcel, answer;
	struct dist__bytes nonce;
	size_t offset = 0;
	bool keep;

	dist__parcel_init(&parcel, DIST__STORE_HELLO, 0);
	keep = say(state, fd, service, session, parcel.data, parcel.len);
	dist__parcel_release(&parcel);
	if (!keep || !is_answer(fd, &answer) || answer.len == 0 ||
	    !dist__parcel_next(&answer, &offset, &nonce))
		return keep;
	memcpy(claim.other_nonce, nonce.data, DIST__NONCE_BYTES);
	dist__secret_prove(SECRET, &claim, proof);
	dist__parcel_init(&parcel, DIST__STORE_PROVE, 0);
	dist__parcel_add(&parcel, claim.dialler_nonce, DIST__NONCE_BYTES);
	dist__parcel_add(&parcel, proof, sizeof proof);
	keep = say(state, fd, service, session, parcel.data, parcel.len);
	dist__parcel_release(&parcel);
	return keep && is_answer(fd, &answer) && session->known;
}

static const char *talk(uint64_t *state, int fd, struct dist__service *service,
			struct dist__session *session)
{
	struct dist__store_request count = {.op = DIST__STORE_NUM_KEYS};
	struct dist__parcel request, answer;
	const char *failure = NULL;
	bool keep = true;

	if (service->secret && dist__random_next(state) % 2 &&
	    !introduce(state, fd, service, session))
		return "the right secret was refused";
	for (int i = 0; i < 12 && keep && !failure; i++) {
		compose(state, DIST__STORE_PROVE + 3, &request);
		mutate(state, &request);
		keep = say(state, fd, service, session, request.data,
			   request.len);
		dist__parcel_release(&request);
		if (!is_answer(fd, &answer))
			failure = "an answer that is no parcel";
		else if (session->request.max >
			 2 * (session->limit + DIST__PARCEL_HEADER))
			failure = "room for more than a request may have";
		else if (service->secret && !session->known &&
			 (dist__table_do(service->table, &count) ||
			  count.number > 0))
			failure = "a stranger changed something";
	}
	return failure;
}

const char *wire_fuzz_session(uint64_t seed)
{
	struct dist__service service;
	struct dist__session *session;
	uint64_t state = seed;
	const char *failure = "no session";
	int fds[2];

	if (dist__random_next(&state) % 2)
		setenv("LOCKSTEP_SECRET", SECRET, 1);
	else
		unsetenv("LOCKSTEP_SECRET");
	if (dist__service_init(&service, NULL) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		return "no service";
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0 &&
	    (session = dist__session_new(fds[0],
					 dist__service_limit(&service)))) {
		failure = talk(&state, fds[1], &service, session);
		dist__session_free(session);
	}
	close(fds[1]);
	dist__service_release(&service);
	return failure;
}

/* ---- a file ------------------------------------------------------------- */

const char *wire_fuzz_file(uint64_t seed, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct dist_store *store;
	uint64_t state = seed;
	enum dist_error error;
	bool written = fd >= 0;
	int64_t n;

	for (int i = 0; i < 6 && written; i++) {
		struct dist__parcel record;

		compose(&state, 6, &record);
		if (i == 5 || dist__random_next(&state) % 16 == 0)
			mutate(&state, &record);
		written = write(fd, record.data, record.len) ==
			  (ssize_t)record.len;
		dist__parcel_release(&record);
	}
	if (fd >= 0)
		close(fd);
	if (!written)
		return "no file";
	error = dist_file_store_new(path, 2, &store, NULL);
	if (error)
		return error == DIST_ERR_INVALID_ARGUMENT ||
				       error == DIST_ERR_RENDEZVOUS
			       ? NULL
			       : dist_error_string(error);
	error = dist_store_num_keys(store, &n);
	if (!error)
		error = dist_store_set(store, "k", "v", 1);
	dist_store_free(store);
	return error ? dist_error_string(error) : NULL;
}
