#include "tests/support/stopwatch.h"

const size_t stopwatch_sizes[STOPWATCH_SIZES] = {0, 1, 4, 7, 16, 4099, 1 << 20};

/* numel elements, or numel for each rank where the collective has parts. */
static enum dist_error call(struct dist_group *group, enum dist__op_kind kind,
			    size_t numel)
{
	struct dist_tensor phantom = dist_tensor(NULL, numel, DIST_FLOAT32);
	int p = dist_get_world_size(group), rank = dist_get_rank(group);
	struct dist_tensor whole =
		dist_tensor(NULL, numel * (size_t)p, DIST_FLOAT32);
	struct dist_tensor list[STOPWATCH_RANKS];

	for (int i = 0; i < p; i++)
		list[i] = phantom;
	switch (kind) {
	case DIST__ALL_REDUCE:
		return dist_all_reduce(group, phantom, DIST_SUM, NULL);
	case DIST__REDUCE:
		return dist_reduce(group, phantom, 0, DIST_SUM, NULL);
	case DIST__BROADCAST:
		return dist_broadcast(group, phantom, 0, NULL);
	case DIST__ALL_GATHER:
		return dist_all_gather_single(group, whole, phantom, NULL);
	case DIST__REDUCE_SCATTER:
		return dist_reduce_scatter_single(group, phantom, whole,
						  DIST_SUM, NULL);
	case DIST__ALL_TO_ALL:
		return dist_all_to_all_single(group, whole, whole, NULL, NULL,
					      NULL);
	case DIST__GATHER:
		return dist_gather(group, phantom, rank == 0 ? list : NULL, 0,
				   NULL);
	case DIST__SCATTER:
		return dist_scatter(group, phantom, rank == 0 ? list : NULL, 0,
				    NULL);
	case DIST__MONITORED_BARRIER:
		return dist_monitored_barrier(group, DIST_TIMEOUT_OF_GROUP,
					      false);
	default:
		return dist_barrier(group, NULL);
	}
}

/* Ranks leave a barrier at different times where their ways differ; they all go
 * on with the next second. */
static enum dist_error start_together(struct dist_group *group)
{
	const int64_t second_ns = 1000000000;
	enum dist_error error = dist_barrier(group, NULL);

	return error ? error
		     : dist_compute(group,
				    second_ns - dist_now_ns(group) % second_ns,
				    NULL);
}

int stopwatch_rank(void *arg)
{
	struct stopwatch *watch = arg;
	struct dist_group *group;
	enum dist_error error = DIST_OK;

	if (dist_init_process_group(NULL, &group))
		return 1;
	for (int i = 0; i < STOPWATCH_SIZES && !error; i++) {
		int64_t now_ns;

		error = start_together(group);
		watch->start_ns[i] = dist_now_ns(group);
		if (!error)
			error = call(group, watch->kind, stopwatch_sizes[i]);
		now_ns = dist_now_ns(group);
		if (now_ns > watch->end_ns[i])
			watch->end_ns[i] = now_ns;
	}
	return dist_destroy_process_group(group) || error;
}
