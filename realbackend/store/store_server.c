/*
 * store_server.c - one thread, one poll loop, never blocking on a client.
 *
 * A request that cannot be answered yet stays in its session and is tried again
 * after every change. Rank 0 gets the roster last: when it continues, and maybe
 * ends, the replies to all other ranks were sent.
 *
 * Strangers cannot exhaust the job: there are at most MAX_STRANGERS, each of
 * bounded size. If more connect, the oldest is dropped, unless it has only just
 * come: a rank sends at once, and connects again after it was dropped.
 */
#include "realbackend/store/store_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wait.h"
#include "realbackend/store/store_service.h"
#include "realbackend/wire/socket.h"

#define MAX_SESSIONS  4096
#define MAX_STRANGERS 256
/* How long a stranger stays at least, while more of them knock. */
#define WELCOME_NS ((int64_t)200 * 1000000)
/* Pause after accept() ran out of descriptors... */
#define PAUSE_NS ((int64_t)100 * 1000000)
/* ...and how long it may go on so while ranks are missing. */
#define CROWDED_NS ((int64_t)1000000000)
/* How long rank 0 stays, after the rendezvous failed, to tell those who have
 * not come yet. */
#define LINGER_NS ((int64_t)1000000000)

struct dist__store_server {
	int listener;
	int wake;  /* an event: stop */
	int spare; /* given up to tell who finds no room; -1: it has been */
	pthread_t thread;
	struct dist__service service;
	int64_t failed_ns; /* when the rendezvous failed; 0: it has not */
	int64_t accept_ns;
	int64_t crowded_ns; /* since when accept() has no descriptor; 0: has */
	struct dist__session **sessions; /* room for MAX_SESSIONS */
	size_t num_sessions;             /* oldest first */
	size_t num_strangers;            /* among them */
	struct pollfd *fds;              /* wake, listener, sessions */
};

static void drop(struct dist__store_server *server, size_t i)
{
	struct dist__session *session = server->sessions[i];

	if (!session->known)
		server->num_strangers--;
	if (session->joined)
		dist__roster_leave(&server->service.roster, session->rank);
	dist__service_forget(&server->service, session);
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
	       server->service.failures_sent >=
		       server->service.roster.world_size - 1 ||
	       now_ns >= server->failed_ns + LINGER_NS;
}

static void answer_joins(struct dist__store_server *server)
{
	int64_t now_ns = dist__clock_ns();

	if (server->service.roster.failure.text[0] && !server->failed_ns)
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
}

/* ---- the loop ----------------------------------------------------------- */

/* The stranger that has been there the longest. There is one. */
static size_t oldest_stranger(const struct dist__store_server *server)
{
	size_t i = 0;

	while (!server->sessions[i] || server->sessions[i]->known)
		i++;
	return i;
}

/* When the next stranger may be let in: a time that has passed, or the time at
 * which the oldest may be sent away. */
static int64_t room_ns(const struct dist__store_server *server)
{
	const struct dist__session *oldest;

	if (server->num_sessions == MAX_SESSIONS)
		return DIST_TIMEOUT_NEVER;
	if (server->num_strangers < MAX_STRANGERS)
		return server->accept_ns;
	oldest = server->sessions[oldest_stranger(server)];
	return oldest->accepted_ns + WELCOME_NS > server->accept_ns
		       ? oldest->accepted_ns + WELCOME_NS
		       : server->accept_ns;
}

/* The system has no descriptor for who knocks. If all are held by ranks, the
 * others can never come. */
static void refuse(struct dist__store_server *server)
{
	int64_t now_ns = dist__clock_ns();

	server->accept_ns = now_ns + PAUSE_NS;
	if (!server->crowded_ns)
		server->crowded_ns = now_ns;
	if (now_ns - server->crowded_ns <= CROWDED_NS ||
	    server->num_strangers > 0 || server->spare < 0)
		return;
	dist__roster_crowded(&server->service.roster);
	close(server->spare);
	server->spare = -1;
}

static void accept_all(struct dist__store_server *server)
{
	struct dist__session *session;
	int fd;

	while (room_ns(server) <= dist__clock_ns()) {
		fd = dist__socket_accept(server->listener);
		if (fd < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				refuse(server);
			return;
		}
		server->crowded_ns = 0;
		if (server->num_strangers == MAX_STRANGERS)
			drop(server, oldest_stranger(server));
		session = dist__session_new(
			fd, dist__service_limit(&server->service));
		if (!session)
			return;
		server->sessions[server->num_sessions++] = session;
		server->num_strangers++;
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
	int64_t accept_ns = room_ns(server), now_ns = dist__clock_ns();
	bool room = accept_ns <= now_ns;
	int64_t until_ns = room ? DIST_TIMEOUT_NEVER : accept_ns;

	if (server->failed_ns && server->failed_ns + LINGER_NS > now_ns)
		until_ns = server->failed_ns + LINGER_NS;
	server->fds[0] = (struct pollfd){.fd = server->wake, .events = POLLIN};
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

/* Sees to a session that poll() reported. */
static void attend(struct dist__store_server *server, size_t i)
{
	struct dist__session *session = server->sessions[i];
	bool keep, known = session->known;

	if (session->reply.len)
		keep = dist__session_write(session);
	else
		keep = dist__session_read(session);
	if (keep && !session->waiting && dist__session_whole(session))
		keep = dist__service_request(&server->service, session);
	if (session->known && !known)
		server->num_strangers--;
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
		if (server->service.changed) {
			/* Tries again what waits for keys. */
			server->service.changed = false;
			for (size_t i = 0; i < server->num_sessions; i++) {
				struct dist__session *session =
					server->sessions[i];

				if (session && session->waiting &&
				    !dist__service_is_join(session) &&
				    !dist__service_retry(&server->service,
							 session))
					drop(server, i);
			}
		}
		answer_joins(server);
		compact(server);
	}
}

/* ---- life --------------------------------------------------------------- */

static void release(struct dist__store_server *server)
{
	for (size_t i = 0; i < server->num_sessions; i++)
		dist__session_free(server->sessions[i]);
	if (server->wake >= 0)
		close(server->wake);
	if (server->spare >= 0)
		close(server->spare);
	close(server->listener);
	dist__service_release(&server->service);
	free(server->sessions);
	free(server->fds);
	free(server);
}

/* Lets the leader in, by the way that is its own. */
static enum dist_error admit_leader(struct dist__store_server *server, int fd)
{
	struct dist__session *session = NULL;

	if (!server->sessions || !dist__socket_prepare(fd))
		close(fd);
	else
		session = dist__session_new(fd, DIST__PARCEL_MAX_REQUEST);
	if (!session)
		return DIST_ERR_NO_MEMORY;
	session->ticket = 0;
	session->deadline_ns = DIST_TIMEOUT_NEVER;
	dist__session_admit(session);
	server->sessions[server->num_sessions++] = session;
	return DIST_OK;
}

enum dist_error dist__store_server_start(int listener,
					 struct dist__store_server **server)
{
	return dist__store_server_lead(listener, NULL, server);
}

enum dist_error dist__store_server_lead(int listener,
					const struct dist__store_agents *agents,
					struct dist__store_server **server)
{
	struct dist__store_server *fresh = calloc(1, sizeof *fresh);
	enum dist_error error;

	if (!fresh) {
		if (agents)
			close(agents->leader);
		close(listener);
		return DIST_ERR_NO_MEMORY;
	}
	fresh->listener = listener;
	fresh->wake = eventfd(0, EFD_CLOEXEC);
	fresh->spare = fcntl(fresh->wake, F_DUPFD_CLOEXEC, 0);
	error = dist__service_init(&fresh->service,
				   agents ? agents->run : NULL);
	fresh->sessions = calloc(MAX_SESSIONS, sizeof *fresh->sessions);
	if (agents && admit_leader(fresh, agents->leader))
		error = DIST_ERR_NO_MEMORY;
	fresh->fds = calloc(MAX_SESSIONS + 2, sizeof *fresh->fds);
	if (!error && (!fresh->sessions || !fresh->fds))
		error = DIST_ERR_NO_MEMORY;
	if (!error && (fresh->spare < 0 ||
		       !dist__thread_start(&fresh->thread, run, fresh)))
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
	if (!server)
		return;
	(void)eventfd_write(server->wake, 1);
	pthread_join(server->thread, NULL);
	release(server);
}
