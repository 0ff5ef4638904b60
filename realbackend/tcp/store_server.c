/*
 * store_server.c - one thread, one poll loop, never blocking on a client.
 *
 * A request that cannot be answered yet stays in its session and is tried again
 * whenever something changed. Rank 0 gets the roster last: when it goes on, and
 * perhaps ends, every other rank's answer is on its way.
 */
#include "realbackend/tcp/store_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realbackend/tcp/clock.h"
#include "realbackend/tcp/roster.h"
#include "realbackend/tcp/session.h"
#include "realbackend/tcp/store.h"
#include "realbackend/tcp/table.h"

#define MAX_SESSIONS 4096
/* Pause after accept() ran out of descriptors. */
#define PAUSE_NS ((int64_t)100 * 1000000)
/* How long rank 0 stays, after the rendezvous failed, to tell those who have
 * not come yet. */
#define LINGER_NS ((int64_t)1000000000)

struct dist__store_server {
	int listener;
	int wake[2]; /* a byte comes: stop */
	pthread_t thread;
	struct dist__table *table;
	struct dist__roster roster;
	char token[24];
	int64_t failed_ns; /* when the rendezvous failed; 0: it has not */
	int told;          /* sessions that got the failure */
	bool changed;      /* waiting requests may be answerable now */
	int64_t accept_ns;
	struct dist__session **sessions; /* room for MAX_SESSIONS */
	size_t num_sessions;
	struct pollfd *fds; /* wake, listener, sessions */
};

static void drop(struct dist__store_server *server, size_t i)
{
	struct dist__session *session = server->sessions[i];

	if (session->joined)
		dist__roster_leave(&server->roster, session->rank);
	dist__session_free(session);
	server->sessions[i] = NULL;
}

static bool reply_code(struct dist__session *session, int32_t code,
		       const char *text)
{
	struct dist__parcel reply;

	dist__parcel_init(&reply, code, 0);
	if (text)
		dist__parcel_add_text(&reply, text);
	return dist__session_reply(session, &reply);
}

static bool reply_number(struct dist__session *session, int64_t number)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)number);
	return reply_code(session, DIST_OK, text);
}

/* ---- keys --------------------------------------------------------------- */

/* Whether every string of the request is a key that is there. */
static bool all_there(const struct dist__store_server *server,
		      const struct dist__session *session)
{
	struct dist__bytes key, value;
	size_t offset = 0;

	while (dist__parcel_next(&session->request, &offset, &key))
		if (!dist__table_get(server->table, key, &value))
			return false;
	return true;
}

static bool serve_set(struct dist__store_server *server,
		      struct dist__session *session, struct dist__bytes key,
		      struct dist__bytes value)
{
	if (!dist__table_set(server->table, key, value))
		return reply_code(session, DIST_ERR_NO_MEMORY, NULL);
	server->changed = true;
	return reply_code(session, DIST_OK, NULL);
}

static bool serve_add(struct dist__store_server *server,
		      struct dist__session *session, struct dist__bytes key,
		      struct dist__bytes amount_text)
{
	struct dist__bytes value, sum_text;
	int64_t sum = 0, amount;
	char text[24];

	if (!dist__bytes_number(amount_text, &amount) ||
	    (dist__table_get(server->table, key, &value) &&
	     !dist__bytes_number(value, &sum)))
		return reply_code(session, DIST_ERR_INVALID_ARGUMENT, NULL);
	sum = (int64_t)((uint64_t)sum + (uint64_t)amount);
	snprintf(text, sizeof text, "%lld", (long long)sum);
	sum_text = (struct dist__bytes){(unsigned char *)text, strlen(text)};
	if (!dist__table_set(server->table, key, sum_text))
		return reply_code(session, DIST_ERR_NO_MEMORY, NULL);
	server->changed = true;
	return reply_code(session, DIST_OK, text);
}

/* Answers a GET or WAIT if all keys are there; otherwise it goes on waiting. */
static bool serve_waiting(struct dist__store_server *server,
			  struct dist__session *session, struct dist__bytes key)
{
	struct dist__parcel reply;
	struct dist__bytes value;

	if (!all_there(server, session))
		return true;
	dist__parcel_init(&reply, DIST_OK, 0);
	if (dist__parcel_code(&session->request) == DIST__STORE_GET &&
	    dist__table_get(server->table, key, &value))
		dist__parcel_add(&reply, value.data, value.len);
	return dist__session_reply(session, &reply);
}

/* ---- the rendezvous ----------------------------------------------------- */

static bool serve_join(struct dist__store_server *server,
		       struct dist__session *session)
{
	struct dist__bytes strings[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	char address[DIST__ADDRESS_TEXT], text[64];
	int64_t rank, world_size;
	size_t offset = 0;

	for (int i = 0; i < 3; i++)
		if (!dist__parcel_next(&session->request, &offset, &strings[i]))
			return false;
	if (!dist__bytes_number(strings[0], &rank) ||
	    !dist__bytes_number(strings[1], &world_size) || rank < 0 ||
	    rank > INT_MAX || world_size < 0 || world_size > INT_MAX)
		return false;
	dist__bytes_copy(strings[2], address, sizeof address);
	session->rank = (int)rank;
	switch (dist__roster_join(&server->roster, (int)rank, (int)world_size,
				  address)) {
	case DIST__ROSTER_WAIT:
	case DIST__ROSTER_COMPLETE:
		session->joined = true;
		return true;
	case DIST__ROSTER_FAILED:
		return true;
	case DIST__ROSTER_AGAIN:
		return reply_code(session, DIST__STORE_AGAIN, NULL);
	case DIST__ROSTER_REFUSED:
		break;
	}
	snprintf(text, sizeof text, "a second rank %d came to a running job",
		 (int)rank);
	return reply_code(session, DIST_ERR_RENDEZVOUS, text);
}

static bool is_join(const struct dist__session *session)
{
	return session->waiting &&
	       dist__parcel_code(&session->request) == DIST__STORE_JOIN;
}

static bool reply_roster(struct dist__store_server *server,
			 struct dist__session *session)
{
	struct dist__parcel reply;

	if (server->roster.failure[0]) {
		server->told++;
		return reply_code(session, DIST_ERR_RENDEZVOUS,
				  server->roster.failure);
	}
	dist__parcel_init(&reply, DIST_OK, 0);
	dist__parcel_add_text(&reply, server->token);
	dist__roster_list(&server->roster, &reply);
	return dist__session_reply(session, &reply);
}

/* Whether rank 0 may go on: nobody else still needs its store to learn how the
 * rendezvous ended. */
static bool others_know(const struct dist__store_server *server, int64_t now_ns)
{
	for (size_t i = 0; i < server->num_sessions; i++) {
		const struct dist__session *session = server->sessions[i];

		if (session && session->rank > 0 &&
		    (session->waiting || session->reply.len))
			return false;
	}
	return server->roster.complete ||
	       server->told >= server->roster.world_size - 1 ||
	       now_ns >= server->failed_ns + LINGER_NS;
}

static void answer_joins(struct dist__store_server *server)
{
	int64_t now_ns = dist__clock_ns();

	if (server->roster.failure[0] && !server->failed_ns)
		server->failed_ns = now_ns;
	if (!server->roster.complete && !server->failed_ns)
		return;
	for (int zero = 0; zero < 2; zero++) {
		if (zero && !others_know(server, now_ns))
			return;
		for (size_t i = 0; i < server->num_sessions; i++) {
			struct dist__session *session = server->sessions[i];

			if (session && is_join(session) &&
			    (zero || session->rank > 0) &&
			    !reply_roster(server, session))
				drop(server, i);
		}
	}
}

/* ---- requests ----------------------------------------------------------- */

static bool keys_fit(const struct dist__session *session)
{
	struct dist__bytes string;
	size_t offset = 0;
	int32_t op = dist__parcel_code(&session->request);
	bool one = op == DIST__STORE_SET || op == DIST__STORE_ADD;

	while (dist__parcel_next(&session->request, &offset, &string)) {
		if (string.len > DIST__STORE_MAX_KEY)
			return false;
		if (one)
			break;
	}
	return true;
}

/* Serves a request that is whole: replies, or leaves the session waiting.
 * false: to be dropped. */
static bool serve(struct dist__store_server *server,
		  struct dist__session *session)
{
	static const int strings[] = {
		[DIST__STORE_SET] = 2,  [DIST__STORE_GET] = 1,
		[DIST__STORE_ADD] = 2,  [DIST__STORE_DELETE] = 1,
		[DIST__STORE_JOIN] = 3,
	};
	int32_t op = dist__parcel_code(&session->request);
	struct dist__bytes a = {NULL, 0}, b = {NULL, 0};
	size_t offset = 0;

	if (op < DIST__STORE_SET || op > DIST__STORE_JOIN ||
	    (strings[op] &&
	     dist__parcel_count(&session->request) != (uint32_t)strings[op]))
		return false;
	if (!keys_fit(session))
		return reply_code(session, DIST_ERR_INVALID_ARGUMENT, NULL);
	if (dist__parcel_next(&session->request, &offset, &a))
		(void)dist__parcel_next(&session->request, &offset, &b);
	session->waiting = true;
	session->deadline_ns =
		dist__clock_after(dist__parcel_timeout_ns(&session->request));
	switch ((enum dist__store_op)op) {
	case DIST__STORE_SET:
		return serve_set(server, session, a, b);
	case DIST__STORE_ADD:
		return serve_add(server, session, a, b);
	case DIST__STORE_GET:
	case DIST__STORE_WAIT:
		return serve_waiting(server, session, a);
	case DIST__STORE_CHECK:
		return reply_number(session, all_there(server, session));
	case DIST__STORE_DELETE:
		return reply_number(session,
				    dist__table_delete(server->table, a));
	case DIST__STORE_NUM_KEYS:
		return reply_number(session,
				    (int64_t)dist__table_count(server->table));
	case DIST__STORE_JOIN:
		return serve_join(server, session);
	}
	return false;
}

/* Tries again what waits for keys. */
static void retry_waiting(struct dist__store_server *server)
{
	struct dist__bytes key = {NULL, 0};

	server->changed = false;
	for (size_t i = 0; i < server->num_sessions; i++) {
		struct dist__session *session = server->sessions[i];
		size_t offset = 0;

		if (!session || !session->waiting || is_join(session))
			continue;
		(void)dist__parcel_next(&session->request, &offset, &key);
		if (!serve_waiting(server, session, key))
			drop(server, i);
	}
}

static void expire(struct dist__store_server *server)
{
	int64_t now_ns = dist__clock_ns();

	for (size_t i = 0; i < server->num_sessions; i++) {
		struct dist__session *session = server->sessions[i];

		if (!session || session->deadline_ns > now_ns)
			continue;
		if (is_join(session)) {
			dist__roster_late(&server->roster);
			/* Its own deadline has done its work. */
			session->deadline_ns = DIST_TIMEOUT_NEVER;
			/* Those who are not here by now need no waiting. */
			if (!server->failed_ns)
				server->failed_ns = now_ns - LINGER_NS;
		} else if (!session->waiting ||
			   !reply_code(session, DIST_ERR_TIMEOUT, NULL)) {
			drop(server, i);
		}
	}
	if (now_ns >= server->accept_ns)
		server->accept_ns = 0;
}

/* ---- the loop ----------------------------------------------------------- */

static void accept_all(struct dist__store_server *server)
{
	struct dist__session *session;
	int fd;

	while (server->num_sessions < MAX_SESSIONS) {
		fd = dist__socket_accept(server->listener);
		if (fd < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				server->accept_ns = dist__clock_after(PAUSE_NS);
			return;
		}
		session = dist__session_new(fd);
		if (!session)
			return;
		server->sessions[server->num_sessions++] = session;
	}
}

static void compact(struct dist__store_server *server)
{
	size_t kept = 0;

	for (size_t i = 0; i < server->num_sessions; i++)
		if (server->sessions[i])
			server->sessions[kept++] = server->sessions[i];
	server->num_sessions = kept;
}

/* Fills fds and returns when the poll must end at the latest. */
static int64_t prepare(struct dist__store_server *server)
{
	bool room = server->num_sessions < MAX_SESSIONS && !server->accept_ns;
	int64_t until_ns =
		server->accept_ns ? server->accept_ns : DIST_TIMEOUT_NEVER;

	if (server->failed_ns &&
	    server->failed_ns + LINGER_NS > dist__clock_ns())
		until_ns = server->failed_ns + LINGER_NS;
	server->fds[0] =
		(struct pollfd){.fd = server->wake[0], .events = POLLIN};
	server->fds[1] = (struct pollfd){.fd = room ? server->listener : -1,
					 .events = POLLIN};
	for (size_t i = 0; i < server->num_sessions; i++) {
		const struct dist__session *session = server->sessions[i];

		server->fds[2 + i] = (struct pollfd){
			.fd = session->fd,
			.events = session->reply.len ? POLLOUT : POLLIN};
		if (session->deadline_ns < until_ns)
			until_ns = session->deadline_ns;
	}
	return until_ns;
}

static void attend(struct dist__store_server *server, size_t i)
{
	struct dist__session *session = server->sessions[i];
	bool keep;

	if (session->reply.len)
		keep = dist__session_write(session);
	else
		keep = dist__session_read(session);
	if (keep && !session->waiting && dist__session_whole(session))
		keep = serve(server, session);
	if (!keep)
		drop(server, i);
}

static void *run(void *arg)
{
	struct dist__store_server *server = arg;
	size_t polled;
	int64_t until_ns;
	int ready;

	for (;;) {
		until_ns = prepare(server);
		polled = server->num_sessions;
		ready = poll(server->fds, (nfds_t)(2 + polled),
			     dist__clock_poll_ms(until_ns));
		if (ready > 0 && server->fds[0].revents)
			return NULL;
		for (size_t i = 0; ready > 0 && i < polled; i++)
			if (server->fds[2 + i].revents)
				attend(server, i);
		if (ready > 0 && server->fds[1].revents)
			accept_all(server);
		expire(server);
		if (server->changed)
			retry_waiting(server);
		answer_joins(server);
		compact(server);
	}
}

/* ---- life --------------------------------------------------------------- */

static void release(struct dist__store_server *server)
{
	for (size_t i = 0; i < server->num_sessions; i++)
		dist__session_free(server->sessions[i]);
	for (int i = 0; i < 2; i++)
		if (server->wake[i] >= 0)
			close(server->wake[i]);
	close(server->listener);
	dist__table_free(server->table);
	dist__roster_release(&server->roster);
	free(server->sessions);
	free(server->fds);
	free(server);
}

/* A number that strangers cannot guess, to tell them from ranks. */
static bool draw_token(char *text, size_t size)
{
	uint64_t number = 0;
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	bool drawn = fd >= 0 &&
		     read(fd, &number, sizeof number) == (ssize_t)sizeof number;

	if (fd >= 0)
		close(fd);
	snprintf(text, size, "%016llx", (unsigned long long)number);
	return drawn;
}

static bool start_thread(struct dist__store_server *server)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&server->thread, NULL, run, server) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

enum dist_error dist__store_server_start(int listener,
					 struct dist__store_server **server)
{
	struct dist__store_server *fresh = calloc(1, sizeof *fresh);
	bool open;

	if (!fresh) {
		close(listener);
		return DIST_ERR_NO_MEMORY;
	}
	fresh->listener = listener;
	fresh->wake[0] = fresh->wake[1] = -1;
	dist__roster_init(&fresh->roster);
	fresh->table = dist__table_new();
	fresh->sessions = calloc(MAX_SESSIONS, sizeof *fresh->sessions);
	fresh->fds = calloc(MAX_SESSIONS + 2, sizeof *fresh->fds);
	if (!fresh->table || !fresh->sessions || !fresh->fds) {
		release(fresh);
		return DIST_ERR_NO_MEMORY;
	}
	open = draw_token(fresh->token, sizeof fresh->token) &&
	       pipe(fresh->wake) == 0 &&
	       dist__socket_cloexec(fresh->wake[0], true) &&
	       dist__socket_cloexec(fresh->wake[1], true);
	if (!open || !start_thread(fresh)) {
		release(fresh);
		return DIST_ERR_IO;
	}
	*server = fresh;
	return DIST_OK;
}

void dist__store_server_stop(struct dist__store_server *server)
{
	ssize_t n;

	if (!server)
		return;
	do
		n = write(server->wake[1], "", 1);
	while (n < 0 && errno == EINTR);
	pthread_join(server->thread, NULL);
	release(server);
}
