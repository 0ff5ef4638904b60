/*
 * store_server.c - one thread, one poll loop, never blocking on a client.
 *
 * A request that cannot be answered yet stays in its session and is tried again
 * whenever something changed. Rank 0 gets the roster last: when it goes on, and
 * perhaps ends, every other rank's answer is on its way.
 */
#include "realbackend/tcp/store_server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "realbackend/tcp/clock.h"
#include "realbackend/tcp/service.h"
#include "realbackend/tcp/socket.h"

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
	struct dist__service service;
	int64_t failed_ns; /* when the rendezvous failed; 0: it has not */
	int64_t accept_ns;
	struct dist__session **sessions; /* room for MAX_SESSIONS */
	size_t num_sessions;
	struct pollfd *fds; /* wake, listener, sessions */
};

static void drop(struct dist__store_server *server, size_t i)
{
	struct dist__session *session = server->sessions[i];

	if (session->joined)
		dist__roster_leave(&server->service.roster, session->rank);
	dist__session_free(session);
	server->sessions[i] = NULL;
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
	return server->service.roster.complete ||
	       server->service.told >= server->service.roster.world_size - 1 ||
	       now_ns >= server->failed_ns + LINGER_NS;
}

static void answer_joins(struct dist__store_server *server)
{
	int64_t now_ns = dist__clock_ns();

	if (server->service.roster.failure[0] && !server->failed_ns)
		server->failed_ns = now_ns;
	if (!server->service.roster.complete && !server->failed_ns)
		return;
	for (int zero = 0; zero < 2; zero++) {
		if (zero && !others_know(server, now_ns))
			return;
		for (size_t i = 0; i < server->num_sessions; i++) {
			struct dist__session *session = server->sessions[i];

			if (session && dist__service_is_join(session) &&
			    (zero || session->rank > 0) &&
			    !dist__service_reply_join(&server->service,
						      session))
				drop(server, i);
		}
	}
}

/* Tries again what waits for keys. */
static void retry_waiting(struct dist__store_server *server)
{
	server->service.changed = false;
	for (size_t i = 0; i < server->num_sessions; i++) {
		struct dist__session *session = server->sessions[i];

		if (session && session->waiting &&
		    !dist__service_is_join(session) &&
		    !dist__service_retry(&server->service, session))
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
		if (dist__service_is_join(session)) {
			dist__roster_late(&server->service.roster);
			/* Its own deadline has done its work. */
			session->deadline_ns = DIST_TIMEOUT_NEVER;
			/* Those who are not here by now need no waiting. */
			if (!server->failed_ns)
				server->failed_ns = now_ns - LINGER_NS;
		} else if (!session->waiting ||
			   !dist__service_reply(session, DIST_ERR_TIMEOUT,
						NULL)) {
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
		keep = dist__service_request(&server->service, session);
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
		if (server->service.changed)
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
	dist__service_release(&server->service);
	free(server->sessions);
	free(server->fds);
	free(server);
}

static bool open_pipe(struct dist__store_server *server)
{
	return pipe(server->wake) == 0 &&
	       dist__socket_cloexec(server->wake[0], true) &&
	       dist__socket_cloexec(server->wake[1], true);
}

/* Deaf to signals: those are for the program's own threads. */
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
	enum dist_error error;

	if (!fresh) {
		close(listener);
		return DIST_ERR_NO_MEMORY;
	}
	fresh->listener = listener;
	fresh->wake[0] = fresh->wake[1] = -1;
	error = dist__service_init(&fresh->service);
	fresh->sessions = calloc(MAX_SESSIONS, sizeof *fresh->sessions);
	fresh->fds = calloc(MAX_SESSIONS + 2, sizeof *fresh->fds);
	if (!error && (!fresh->sessions || !fresh->fds))
		error = DIST_ERR_NO_MEMORY;
	if (!error && (!open_pipe(fresh) || !start_thread(fresh)))
		error = DIST_ERR_IO;
	if (error) {
		release(fresh);
		return error;
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
