/* lend.c - sends to a neighbour whose payload it reads from where it lies. */
#include "base/endian.h"
#include "realbackend/wire/mesh.h"

/* A send of the program ends without its receiver, so its memory cannot wait
 * for that. */
void dist__lend(const struct dist__mesh *mesh,
		const struct dist__connection *connection,
		struct dist__request *request)
{
	const struct dist__message *m = &request->m;
	struct dist__shared *shared = connection->shared;
	struct dist__frame frame;

	if (request->kind != DIST__REQUEST_SEND || request->cell < 0 ||
	    !dist__connection_shares(connection) ||
	    !dist__shared_lends(shared) ||
	    !dist__pace_lends(dist__shared_pace(shared),
			      dist__shared_all_shown(shared), m, request->cell,
			      mesh->crowded))
		return;
	frame = dist__frame_of(m, DIST__FRAME_LENT);
	request->lent = true;
	dist__frame_encode(&frame, request->header);
	dist__put64(request->header + DIST__FRAME_BYTES,
		    (uint64_t)(uintptr_t)m->data);
	request->head = DIST__FRAME_BYTES + DIST__FRAME_ADDRESS;
}

bool dist__lend_fetch(const struct dist__connection *connection, size_t most,
		      size_t *fetched)
{
	*fetched = dist__sink_room(connection);
	if (!connection->sink)
		return true;
	if (*fetched > most)
		*fetched = most;
	return dist__shared_read(connection->shared, connection->sink,
				 connection->remote, *fetched);
}

bool dist__lend_say_taken(struct dist__mesh *mesh, struct dist__peer *peer)
{
	const struct dist__frame frame = {.kind = DIST__FRAME_TAKEN, .tag = -1};
	struct dist__shared *shared = peer->connection->shared;
	unsigned char *place = dist__shared_place(shared, DIST__FRAME_BYTES);

	if (!place)
		return false;
	dist__frame_encode(&frame, place);
	dist__shared_placed(shared, DIST__FRAME_BYTES);
	mesh->moved += DIST__FRAME_BYTES;
	return true;
}

bool dist__lend_taken(struct dist__mesh *mesh, struct dist__peer *peer)
{
	struct dist__request *request = peer->lent.first;

	if (!request)
		return false;
	dist__queue_remove(&peer->lent, request);
	dist__request_complete(mesh, request, DIST_OK);
	return true;
}
