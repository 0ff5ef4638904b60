/* parts.c - the parts of an operation: address and length of each. */
#include "core/parts.h"

#include <assert.h>

size_t dist__part_numel(const struct dist__parts *parts, int rank)
{
	struct dist__chunks chunks;

	if (parts->list)
		return parts->list[rank].numel;
	if (parts->splits)
		return parts->splits[rank];
	chunks = dist__chunks_of(parts->whole.numel, parts->count);
	return chunks.base + ((size_t)rank < chunks.extra ? 1 : 0);
}

size_t dist__parts_before(const struct dist__parts *parts, int rank)
{
	struct dist__chunks chunks;
	size_t numel = 0;

	if (!parts->list && !parts->splits) {
		chunks = dist__chunks_of(parts->whole.numel, parts->count);
		return dist__chunks_numel(&chunks, rank);
	}
	for (int i = 0; i < rank; i++)
		numel += dist__part_numel(parts, i);
	return numel;
}

size_t dist__parts_longest(const struct dist__parts *parts)
{
	size_t longest = dist__part_numel(parts, 0);

	if (!parts->list && !parts->splits)
		return longest;
	for (int rank = 1; rank < parts->count; rank++)
		if (dist__part_numel(parts, rank) > longest)
			longest = dist__part_numel(parts, rank);
	return longest;
}

struct dist_tensor dist__part(const struct dist__parts *parts, int rank)
{
	struct dist_tensor part = parts->whole;
	struct dist__chunks chunks;
	size_t before;

	assert(rank >= 0 && rank < parts->count);
	if (parts->list)
		return parts->list[rank];
	if (parts->splits) {
		part.numel = parts->splits[rank];
		before = part.data ? dist__parts_before(parts, rank) : 0;
	} else { /* one division: every message of a collective comes here */
		chunks = dist__chunks_of(part.numel, parts->count);
		before = dist__chunks_numel(&chunks, rank);
		part.numel = dist__chunks_numel(&chunks, rank + 1) - before;
	}
	if (part.data)
		part.data = (char *)part.data +
			    before * dist_dtype_size(part.dtype);
	return part;
}
