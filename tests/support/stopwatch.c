#include "tests/support/stopwatch.h"

const size_t stopwatch_sizes[STOPWATCH_SIZES] = {0, 1, 4, 7, 16, 4099, 1 << 20};

int stopwatch_rank(void *arg)
{
	struct stopwatch *watch = arg;
	struct dist_group *group;
	enum dist_error error = DIST_OK;

	if (dist_init_process_group(NULL, &group))
		return 1;
	for (int i = 0; i < STOPWATCH_SIZES && !error; i++) {
		int64_t now_ns;

		error = phantom_start(group);
		watch->start_ns[i] = dist_now_ns(group);
		if (!error)
			error = phantom_call(group, watch->kind,
					     stopwatch_sizes[i],
					     stopwatch_sizes[i], 0, DIST_SUM);
		now_ns = dist_now_ns(group);
		if (now_ns > watch->end_ns[i])
			watch->end_ns[i] = now_ns;
	}
	return dist_destroy_process_group(group) || error;
}
