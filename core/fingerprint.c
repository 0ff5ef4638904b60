/* fingerprint.c - what all ranks of an operation must agree about, as a hash.
 */
#include "core/group.h"
#include "base/hash.h"

/* The lengths of parts, by rank; equal ones that follow each other count as
 * one, so that parts in one tensor and in a list agree. */
static uint64_t mix_parts(uint64_t hash, const struct dist__parts *parts)
{
	size_t numel = 0;

	if (!parts->list)
		return dist__mix(dist__mix(hash, 0),
				 dist__part(parts, 0).numel);
	for (int rank = 0; rank < parts->count; rank++) {
		if (rank > 0 && parts->list[rank].numel == numel)
			continue;
		numel = parts->list[rank].numel;
		hash = dist__mix(dist__mix(hash, (uint64_t)rank), numel);
	}
	return hash;
}

/* What two ranks exchange in an all-to-all only they can compare, by the size
 * of the message. */
uint64_t dist__fingerprint(const struct dist__op *op, int world_size,
			   const struct dist__label *label)
{
	const struct dist__bundle *bundle = &dist__op_sides(op)->bundle;
	uint64_t hash = DIST__HASH_BEGIN;
	bool p2p = dist__op_is_p2p(op->kind);

	hash = dist__mix(hash, p2p ? DIST__SEND : op->kind);
	if (op->kind == DIST__ALL_GATHER)
		hash = mix_parts(hash, &op->sides->out);
	else if (op->kind == DIST__REDUCE_SCATTER)
		hash = mix_parts(hash, &op->sides->in);
	else if (op->kind != DIST__ALL_TO_ALL)
		hash = dist__mix(hash, dist__op_numel(op, world_size));
	hash = dist__mix(hash, op->tensor.dtype);
	hash = dist__mix(hash, op->reduce_op);
	if (op->purpose)
		hash = dist__mix(hash, op->purpose->terms);
	if (bundle->kind)
		hash = dist__mix(hash, dist__bundle_terms(bundle));
	if (label->terms && !p2p)
		hash = dist__mix(hash, label->terms);
	return dist__mix(hash, p2p ? 0 : (uint64_t)op->peer);
}
