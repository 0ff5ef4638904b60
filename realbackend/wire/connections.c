/* connections.c - makes, shuts down and frees the connections of a mesh. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "realbackend/wire/mesh.h"

struct dist__connection *dist__connection_new(struct dist__mesh *mesh, int fd,
					      enum dist__connection_state state,
					      struct dist__peer *peer)
{
	struct dist__connection *connection = calloc(1, sizeof *connection);

	if (!connection ||
	    !dist__array_add(&mesh->connections, &mesh->num_connections,
			     &connection, sizeof(struct dist__connection *))) {
		free(connection);
		close(fd);
		return NULL;
	}
	connection->fd = fd;
	connection->state = state;
	connection->peer = peer;
	connection->deadline_ns = DIST_TIMEOUT_NEVER;
	if (state == DIST__STRANGER)
		mesh->num_strangers++;
	return connection;
}

void dist__connection_kill(struct dist__mesh *mesh,
			   struct dist__connection *connection)
{
	struct dist__peer *peer = connection->peer;

	if (connection->state == DIST__DEAD)
		return;
	if (connection->state == DIST__STRANGER)
		mesh->num_strangers--;
	connection->state = DIST__DEAD;
	if (connection->held_until_ns)
		mesh->num_held--;
	connection->held_until_ns = 0;
	if (connection->shared)
		dist__shared_recall(connection->shared);
	if (peer) {
		dist__matching_cut(mesh, connection);
		if (peer->connection == connection)
			peer->connection = NULL;
	}
	/* Also wakes whoever polls it; the number stays taken until then. */
	shutdown(connection->fd, SHUT_RDWR);
}

void dist__connections_reap(struct dist__mesh *mesh)
{
	size_t kept = 0;

	for (size_t i = 0; i < mesh->num_connections; i++) {
		struct dist__connection *connection = mesh->connections[i];

		if (connection->state != DIST__DEAD) {
			mesh->connections[kept++] = connection;
			continue;
		}
		close(connection->fd);
		dist__shared_free(connection->shared);
		free(connection);
	}
	mesh->num_connections = kept;
}
