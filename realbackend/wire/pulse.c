/*
 * pulse.c - finds peers on other machines that fall silent.
 *
 * A network that is cut reports nothing. On an idle connection the kernel
 * probes by itself (SO_KEEPALIVE) and reports an error. If data is in flight,
 * the kernel repeats it for a quarter of an hour; so we ask it now and then
 * whether it still waits for an answer and has received nothing since.
 * TCP_USER_TIMEOUT does not help: it ends the connection of a peer that answers
 * but has no room, because it computes.
 */
#include "realbackend/wire/mesh.h"

/* Looks in a keep-alive time; the last one but one tells. */
#define LOOKS 4

void dist__pulse_begin(struct dist__mesh *mesh,
		       struct dist__connection *connection)
{
	if (mesh->keep_alive_ns <= 0)
		return;
	dist__socket_keep_alive(connection->fd, mesh->keep_alive_ns);
	connection->watched = true;
	/* Due at once: whoever polls learns then when to look again. */
	if (mesh->pulse_ns == DIST_TIMEOUT_NEVER)
		mesh->pulse_ns = 0;
	mesh->stale = true;
}

/* Whether nothing has come for as long as may be from a peer that owes us an
 * answer. */
static bool is_silent(const struct dist__mesh *mesh,
		      struct dist__connection *connection, int64_t now_ns)
{
	int64_t age_ns;

	if (!dist__socket_awaits(connection->fd, &age_ns)) {
		connection->quiet_since_ns = 0;
		return false;
	}
	if (!connection->quiet_since_ns ||
	    now_ns - age_ns > connection->quiet_since_ns)
		connection->quiet_since_ns = now_ns;
	return now_ns - connection->quiet_since_ns >=
	       mesh->keep_alive_ns / LOOKS * (LOOKS - 1);
}

void dist__pulse_check(struct dist__mesh *mesh, int64_t now_ns)
{
	if (now_ns < mesh->pulse_ns)
		return;
	mesh->pulse_ns = now_ns + mesh->keep_alive_ns / LOOKS;
	for (size_t i = 0; i < mesh->num_connections; i++) {
		struct dist__connection *connection = mesh->connections[i];

		if (connection->watched &&
		    connection->state == DIST__CONNECTED &&
		    is_silent(mesh, connection, now_ns))
			dist__peer_end(mesh, connection->peer, DIST__PEER_LOST,
				       DIST_ERR_PEER_LOST);
	}
}
