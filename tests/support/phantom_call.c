/* phantom_call.c - a collective without contents. */
#include "tests/support/phantom_call.h"

enum dist_error phantom_call(struct dist_group *group, enum dist__op_kind kind,
			     size_t numel, size_t each, enum dist_reduce_op op)
{
	size_t p = (size_t)dist_get_world_size(group);
	struct dist_tensor vector = dist_tensor(NULL, numel, DIST_FLOAT32);
	struct dist_tensor part = dist_tensor(NULL, each, DIST_FLOAT32);
	struct dist_tensor parts = dist_tensor(NULL, each * p, DIST_FLOAT32);

	switch (kind) {
	case DIST__ALL_REDUCE:
		return dist_all_reduce(group, vector, DIST_SUM, NULL);
	case DIST__REDUCE:
		return dist_reduce(group, vector, 1, DIST_SUM, NULL);
	case DIST__BROADCAST:
		return dist_broadcast(group, vector, 1, NULL);
	case DIST__ALL_GATHER:
		return dist_all_gather_single(group, parts, part, NULL);
	case DIST__REDUCE_SCATTER:
		return dist_reduce_scatter_single(group, part, parts, op, NULL);
	default:
		return dist_all_to_all_single(group, parts, parts, NULL, NULL,
					      NULL);
	}
}
