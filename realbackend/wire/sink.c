/*
 * sink.c - stores an arriving payload: at its place, or, if it must be combined
 * with what is there, in a stage that stays in the cache, so that the received
 * elements are read again while they are near.
 */
#include <stdlib.h>
#include <string.h>

#include "core/reduce.h"
#include "realbackend/wire/mesh.h"

/* So much that a call of the system for each does not count, and so little that
 * a core's second cache holds it and what it is combined with. Whole elements
 * of any type. */
#define STAGE_BYTES ((size_t)256 << 10)

/* Puts the bytes at come, which may be changed, where they belong in the
 * message, offset bytes from its begin. */
static void combine(const struct dist__message *m, size_t offset, void *come,
		    size_t bytes)
{
	size_t numel = bytes / dist_dtype_size(m->dtype);
	char *data = (char *)m->data + offset;

	if (m->mine == m->data) {
		dist__reduce(m->dtype, m->reduce_op, data, come, numel);
		return;
	}
	dist__reduce(m->dtype, m->reduce_op, come,
		     (const char *)m->mine + offset, numel);
	memcpy(data, come, bytes);
}

void dist__sink_fill(const struct dist__message *m, void *come)
{
	if (m->bytes == 0)
		return;
	if (m->mine)
		combine(m, 0, come, m->bytes);
	else
		memcpy(m->data, come, m->bytes);
}

bool dist__sink_open(struct dist__mesh *mesh, struct dist__connection *c,
		     struct dist__request *receive)
{
	c->receive = receive;
	c->sink = receive->m.data;
	if (!receive->m.mine || receive->m.bytes == 0)
		return true;
	c->stage = mesh->spare_stage ? mesh->spare_stage : malloc(STAGE_BYTES);
	mesh->spare_stage = NULL;
	c->sink = c->stage;
	return c->stage;
}

void dist__sink_close(struct dist__mesh *mesh, struct dist__connection *c)
{
	if (mesh->spare_stage)
		free(c->stage);
	else
		mesh->spare_stage = c->stage;
	c->stage = c->sink = NULL;
	c->receive = NULL;
}

size_t dist__sink_room(const struct dist__connection *c)
{
	size_t room;

	if (!c->stage || !c->sink)
		return c->payload_left;
	room = STAGE_BYTES - (size_t)(c->sink - c->stage);
	return room < c->payload_left ? room : c->payload_left;
}

void dist__sink_advance(struct dist__connection *c, size_t bytes)
{
	const struct dist__message *m;
	size_t staged;

	c->payload_left -= bytes;
	if (!c->sink)
		return;
	c->sink += bytes;
	if (!c->stage || bytes == 0)
		return;
	m = &c->receive->m;
	staged = (size_t)(c->sink - c->stage);
	if (staged < STAGE_BYTES && c->payload_left > 0)
		return;
	combine(m, m->bytes - c->payload_left - staged, c->stage, staged);
	c->sink = c->stage;
}

/* Combines whole elements from where they lie, if they lie where elements may,
 * with those offset bytes from the begin of m; returns how many bytes of them.
 */
static size_t combine_there(const struct dist__message *m, size_t offset,
			    const unsigned char *come, size_t len)
{
	size_t element = dist_dtype_size(m->dtype), numel = len / element;
	char *data = (char *)m->data + offset;

	if ((uintptr_t)come % element != 0)
		return 0;
	if (m->mine != m->data)
		memcpy(data, come, numel * element);
	dist__reduce(m->dtype, m->reduce_op, data,
		     m->mine == m->data ? (const void *)come
					: (const char *)m->mine + offset,
		     numel);
	return numel * element;
}

bool dist__sink_pour(const struct dist__message *m, const unsigned char *come)
{
	if (m->bytes == 0)
		return true;
	if (m->mine)
		return combine_there(m, 0, come, m->bytes) > 0;
	memcpy(m->data, come, m->bytes);
	return true;
}

size_t dist__sink_put(struct dist__connection *c, const unsigned char *come,
		      size_t len)
{
	size_t room = dist__sink_room(c), done = 0;

	if (len > room)
		len = room;
	if (c->stage && c->sink == c->stage)
		done = combine_there(&c->receive->m,
				     c->receive->m.bytes - c->payload_left,
				     come, len);
	c->payload_left -= done;
	if (done > 0)
		return done;
	if (c->sink)
		memcpy(c->sink, come, len);
	dist__sink_advance(c, len);
	return len;
}
