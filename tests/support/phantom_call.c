/* phantom_call.c - a collective without contents. */
#include "tests/support/phantom_call.h"

enum dist_error phantom_call(struct dist_group *group, enum dist__op_kind kind,
			     size_t numel, size_t each, int root,
			     enum dist_reduce_op op)
{
	size_t p = (size_t)dist_get_world_size(group);
	struct dist_tensor vector = dist_tensor(NULL, numel, DIST_FLOAT32);
	struct dist_tensor part = dist_tensor(NULL, each, DIST_FLOAT32);
	struct dist_tensor parts = dist_tensor(NULL, each * p, DIST_FLOAT32);
	struct dist_tensor list[PHANTOM_RANKS], *all = NULL;

	for (size_t i = 0; i < PHANTOM_RANKS; i++)
		list[i] = part;
	if (dist_get_rank(group) == root && p <= PHANTOM_RANKS)
		all = list;
	switch (kind) {
	case DIST__ALL_REDUCE:
		return dist_all_reduce(group, vector, DIST_SUM, NULL);
	case DIST__REDUCE:
		return dist_reduce(group, vector, root, DIST_SUM, NULL);
	case DIST__BROADCAST:
		return dist_broadcast(group, vector, root, NULL);
	case DIST__ALL_GATHER:
		return dist_all_gather_single(group, parts, part, NULL);
	case DIST__REDUCE_SCATTER:
		return dist_reduce_scatter_single(group, part, parts, op, NULL);
	case DIST__ALL_TO_ALL:
		return dist_all_to_all_single(group, parts, parts, NULL, NULL,
					      NULL);
	case DIST__GATHER:
		return dist_gather(group, part, all, root, NULL);
	case DIST__SCATTER:
		return dist_scatter(group, part, all, root, NULL);
	case DIST__BARRIER:
		return dist_barrier(group, NULL);
	case DIST__MONITORED_BARRIER:
		return dist_monitored_barrier(group, DIST_TIMEOUT_OF_GROUP,
					      false);
	default:
		return DIST_ERR_INVALID_ARGUMENT;
	}
}

enum dist_error phantom_start(struct dist_group *group)
{
	const int64_t second_ns = 1000000000;
	enum dist_error error = dist_barrier(group, NULL);

	return error ? error
		     : dist_compute(group,
				    second_ns - dist_now_ns(group) % second_ns,
				    NULL);
}
