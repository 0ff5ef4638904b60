/*
 * quick.c - short messages of collectives between neighbours.
 *
 * A message that only needs to be copied into memory, or that is there already
 * or within a moment, is passed in less time than it takes to make a request,
 * queue it, wait for it and take it out again. All other cases are left to
 * requests.
 */
#include <string.h>

#include "core/backend.h"
#include "realbackend/wire/mesh.h"
#include "realbackend/wire/progress.h"

/* A payload that takes about as long to copy as a request to live. */
#define QUICK_BYTES ((size_t)4 << 10)

/* The connection that m is to be passed on; NULL: by a request. */
static struct dist__connection *connection_for(struct dist__mesh *mesh,
					       const struct dist__message *m)
{
	const struct dist__peer *peer;
	const struct dist__group_state *group;

	if (m->tag >= 0 || m->bytes > QUICK_BYTES)
		return NULL;
	peer = &mesh->peers[m->peer];
	if (peer->state != DIST__PEER_OPEN || peer->num_left_groups > 0 ||
	    !dist__connection_shares(peer->connection))
		return NULL;
	group = dist__matching_enter(mesh, m);
	return !group || group->aborted || group->mismatch ? NULL
							   : peer->connection;
}

bool dist__quick_send(struct dist__mesh *mesh, const struct dist__message *m)
{
	const struct dist__frame frame = dist__frame_of(m, DIST__FRAME_DATA);
	struct dist__connection *c = connection_for(mesh, m);
	size_t whole = DIST__FRAME_BYTES + m->bytes;
	unsigned char *place = NULL;

	if (c && !c->peer->sends.first)
		place = dist__shared_place(c->shared, whole);
	if (!place)
		return false;
	dist__frame_encode(&frame, place);
	if (m->bytes > 0)
		memcpy(place + DIST__FRAME_BYTES, m->data, m->bytes);
	dist__shared_placed(c->shared, whole);
	mesh->moved += whole;
	return true;
}

/* Whether the next bytes on c are the front of a frame, and no receive came
 * before. */
static bool is_next(const struct dist__mesh *mesh,
		    const struct dist__connection *c)
{
	const struct dist__peer *peer = c->peer;

	return !peer->receives.first && !peer->unexpected &&
	       !mesh->any_receives.first && c->payload_left == 0 &&
	       c->end == 0 && !c->held_until_ns && !c->remote;
}

/* Takes m from c if it lies there: in the next len bytes. */
static bool take(struct dist__mesh *mesh, struct dist__connection *c,
		 const struct dist__message *m, const unsigned char *bytes,
		 size_t len)
{
	const struct dist__frame frame = dist__frame_of(m, DIST__FRAME_DATA);
	size_t whole = DIST__FRAME_BYTES + m->bytes;

	if (len < whole || !dist__frame_is(bytes, &frame) ||
	    !dist__sink_pour(m, bytes + DIST__FRAME_BYTES))
		return false;
	dist__shared_skip(c->shared, whole);
	mesh->moved += whole;
	return true;
}

/* Looks so many times for what comes on c; returns how many bytes of it there
 * are, and stores where. */
static size_t await(struct dist__connection *c, unsigned looks,
		    const unsigned char **bytes)
{
	size_t len;

	while ((len = dist__shared_peek(c->shared, bytes)) == 0)
		if (--looks == 0)
			return 0;
	return len;
}

/* What a look for messages found. */
struct found {
	uint64_t missing; /* by the bit of their number */
	bool odd;         /* one of them has to be received by a request */
};

/* Takes those of the missing messages that lie there. */
static void look(struct dist__mesh *mesh, const struct dist__message *messages,
		 struct found *found)
{
	unsigned looks = dist__progress_looks(mesh->progress);

	for (uint64_t left = found->missing; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		struct dist__connection *c = connection_for(mesh, &messages[i]);
		const unsigned char *bytes;
		size_t len;

		if (!c || !is_next(mesh, c)) {
			found->odd = true;
			continue;
		}
		len = await(c, looks, &bytes);
		if (len == 0)
			continue;
		if (take(mesh, c, &messages[i], bytes, len))
			found->missing &= ~(UINT64_C(1) << i);
		else
			found->odd = true;
	}
}

uint64_t dist__quick_receive(struct dist__mesh *mesh,
			     const struct dist__message *messages, int n)
{
	struct found found = {.missing =
				      ~UINT64_C(0) >> (DIST__QUICK_MOST - n)};
	unsigned turns = 0;

	/* What comes may wait for what goes. */
	do
		look(mesh, messages, &found);
	while (found.missing && !found.odd && !mesh->stuck &&
	       dist__progress_linger(mesh->progress, &turns));
	return found.missing;
}
