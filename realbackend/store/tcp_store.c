/*
 * tcp_store.c - the public store over TCP: a server, in the master, and
 * connections to it.
 *
 * One thread uses a connection at a time, and a thread that waits for a key
 * keeps its own: there are as many as threads used the store at once.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "base/clock.h"
#include "base/refuse.h"
#include "realbackend/store/environment.h"
#include "realbackend/store/store.h"
#include "realbackend/store/store_client.h"
#include "realbackend/store/store_server.h"

struct line {
	struct line *next;
	struct dist__store *client;
};

struct tcp_store {
	struct dist_store base;
	struct dist__store_server *server; /* NULL: not the master */
	pthread_mutex_t mutex;
	struct line *idle;
	char *host;
	int port;
};

/* ---- connections -------------------------------------------------------- */

/* Opens a line. In a simulation the master may be a rank that has not got so
 * far, and must get its turn. */
static enum dist_error dial(const struct tcp_store *tcp, int64_t timeout_ns,
			    struct line **line, struct dist_message *message)
{
	bool simulated = dist__world_here() != NULL;
	struct dist__patience patience = {.left_ns = timeout_ns};
	struct line *fresh = calloc(1, sizeof *fresh);
	enum dist_error error;

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	do
		error = dist__store_connect(
			tcp->host, tcp->port, true,
			dist__clock_after(simulated ? 0 : timeout_ns),
			&fresh->client, message);
	while (error == DIST_ERR_RENDEZVOUS && simulated &&
	       dist__patience_pause(&patience) == DIST_OK);
	if (error)
		free(fresh);
	else
		*line = fresh;
	return error;
}

static enum dist_error take(struct tcp_store *tcp, struct line **line)
{
	struct dist_message unread;

	pthread_mutex_lock(&tcp->mutex);
	*line = tcp->idle;
	if (*line)
		tcp->idle = (*line)->next;
	pthread_mutex_unlock(&tcp->mutex);
	if (*line)
		return DIST_OK;
	return dial(tcp, tcp->base.timeout_ns, line, &unread) ? DIST_ERR_IO
							      : DIST_OK;
}

static void line_free(struct line *line)
{
	dist__store_free(line->client);
	free(line);
}

/* Gives the line back, unless it broke. Returns error. */
static enum dist_error give(struct tcp_store *tcp, struct line *line,
			    enum dist_error error)
{
	if (dist__store_is_broken(line->client)) {
		line_free(line);
		return error;
	}
	pthread_mutex_lock(&tcp->mutex);
	line->next = tcp->idle;
	tcp->idle = line;
	pthread_mutex_unlock(&tcp->mutex);
	return error;
}

/* ---- using -------------------------------------------------------------- */

static enum dist_error tcp_ask(struct dist_store *store,
			       struct dist__store_request *request)
{
	struct tcp_store *tcp = (struct tcp_store *)store;
	struct line *line;
	enum dist_error error = take(tcp, &line);

	if (error)
		return error;
	error = dist__store_ask(line->client, request);
	/* Without waiting, TIMEOUT says that there is none; but for a line that
	 * is broken, where nobody answered. */
	if (request->op == DIST__STORE_GET && error == DIST_ERR_TIMEOUT &&
	    !dist__store_is_broken(line->client))
		error = DIST_OK;
	return give(tcp, line, error);
}

static bool tcp_local_host(struct dist_store *store, char *text, size_t size)
{
	struct tcp_store *tcp = (struct tcp_store *)store;
	char address[DIST__ADDRESS_TEXT];
	struct dist__address local;
	struct line *line;
	bool known;

	if (take(tcp, &line) != DIST_OK)
		return false;
	known = dist__store_local(line->client, &local);
	(void)give(tcp, line, DIST_OK);
	if (!known)
		return false;
	dist__address_format(&local, ' ', address);
	address[strcspn(address, " ")] = '\0';
	snprintf(text, size, "%s", address);
	return true;
}

/* ---- life --------------------------------------------------------------- */

static void tcp_free(struct dist_store *store)
{
	struct tcp_store *tcp = (struct tcp_store *)store;
	struct line *line;

	while ((line = tcp->idle) != NULL) {
		tcp->idle = line->next;
		line_free(line);
	}
	dist__store_server_stop(tcp->server);
	pthread_mutex_destroy(&tcp->mutex);
	free(tcp->host);
	free(tcp);
}

static const struct dist__store_kind tcp_kind = {
	.waits = true,
	.ask = tcp_ask,
	.local_host = tcp_local_host,
	.free = tcp_free,
};

int dist_tcp_store_port(const struct dist_store *store)
{
	return store && store->kind == &tcp_kind
		       ? ((const struct tcp_store *)store)->port
		       : -1;
}

static enum dist_error serve(struct tcp_store *tcp,
			     struct dist_message *message)
{
	enum dist_error error;
	int listener;

	error = dist__socket_listen(tcp->host, tcp->port, &listener, message);
	if (error)
		return error;
	tcp->port = dist__socket_port(listener);
	return dist__store_server_start(listener, &tcp->server);
}

/* Says that a user has come; the master waits for all of them. */
static enum dist_error arrive(struct tcp_store *tcp, int world_size,
			      struct dist_message *message)
{
	int number = tcp->server && !dist__world_here() ? world_size : 0;
	struct line *line;
	enum dist_error error;

	error = dial(tcp, tcp->base.timeout_ns, &line, message);
	if (error)
		return error;
	error = give(
		tcp, line,
		dist__store_arrive(line->client, number, tcp->base.timeout_ns));
	if (error == DIST_ERR_RENDEZVOUS)
		snprintf(message->text, sizeof message->text,
			 "rendezvous: the store at %.200s:%d has a "
			 "LOCKSTEP_SECRET, this process has none",
			 tcp->host, tcp->port);
	else if (error == DIST_ERR_TIMEOUT)
		snprintf(message->text, sizeof message->text,
			 "rendezvous: not all of %d users came to the store at "
			 "%.200s:%d in time",
			 world_size, tcp->host, tcp->port);
	return error;
}

static enum dist_error check(const char *host, int port, int world_size,
			     int64_t timeout_ns, struct dist_message *message)
{
	if (dist__secret_is_empty(message))
		return DIST_ERR_INVALID_ARGUMENT;
	if (host && *host && port >= 0 && port <= 65535 && world_size >= 0 &&
	    timeout_ns >= 0)
		return DIST_OK;
	return dist__refuse(
		message,
		"tcp store: host \"%.200s\", port %d, world size %d, timeout "
		"%lld ns: expected a host, a port from 0 to 65535, and 0 or "
		"more",
		host ? host : "", port, world_size, (long long)timeout_ns);
}

enum dist_error dist_tcp_store_new(const char *host, int port, int world_size,
				   bool is_master, int64_t timeout_ns,
				   struct dist_store **store,
				   struct dist_message *message)
{
	struct dist_message unread;
	struct tcp_store *tcp;
	enum dist_error error;

	if (!message)
		message = &unread;
	message->text[0] = '\0';
	error = check(host, port, world_size, timeout_ns, message);
	if (error || !store)
		return DIST_ERR_INVALID_ARGUMENT;
	tcp = calloc(1, sizeof *tcp);
	if (!tcp)
		return DIST_ERR_NO_MEMORY;
	tcp->base.kind = &tcp_kind;
	tcp->base.timeout_ns =
		timeout_ns ? timeout_ns : DIST_STORE_TIMEOUT_DEFAULT;
	tcp->base.users = world_size;
	tcp->port = port;
	tcp->host = strdup(host);
	error = tcp->host ? DIST_OK : DIST_ERR_NO_MEMORY;
	pthread_mutex_init(&tcp->mutex, NULL);
	if (!error && is_master)
		error = serve(tcp, message);
	if (!error)
		error = arrive(tcp, world_size, message);
	if (error)
		tcp_free(&tcp->base);
	else
		*store = &tcp->base;
	return error;
}
