/*
 * pingpong - half the round trip between ranks 0 and 1, by message size; the
 * other ranks wait at the barrier. The unit of every fit: latency from the
 * small sizes, bandwidth from the large ones.
 */
#include "scenarios/scenario.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"
#include "base/statistics.h"

struct options {
	size_t max_bytes;
	int iterations;
};

/* One message there and one back, as seen from rank 0. */
static enum dist_error round_trip(struct dist_group *group,
				  struct dist_tensor tensor)
{
	int rank = dist_get_rank(group);
	enum dist_error error;

	if (rank == 0) {
		error = dist_send(group, tensor, 1, 0);
		return error ? error : dist_recv(group, tensor, 1, 0);
	}
	error = dist_recv(group, tensor, 0, 0);
	return error ? error : dist_send(group, tensor, 0, 0);
}

/* Times one size; half_ns has room for all iterations. The first round trip
 * opens the connection and is not counted. */
static enum dist_error measure(struct dist_group *group, size_t bytes,
			       void *data, int iterations, double *half_ns)
{
	struct dist_tensor tensor = dist_tensor(data, bytes / 4, DIST_FLOAT32);
	bool plays = dist_get_rank(group) < 2;
	enum dist_error error = DIST_OK;

	for (int i = -1; !error && plays && i < iterations; i++) {
		int64_t start_ns = dist_now_ns(group);

		error = round_trip(group, tensor);
		if (i >= 0)
			half_ns[i] =
				(double)(dist_now_ns(group) - start_ns) / 2;
	}
	return error ? error : dist_barrier(group, NULL);
}

static enum dist_error sweep(struct dist_group *group,
			     const struct options *options, void *data,
			     double *half_ns)
{
	bool prints = dist_get_rank(group) == 0;
	enum dist_error error = DIST_OK;
	size_t bytes;

	if (prints)
		printf("# half round trip over %s, %d iterations\n"
		       "#%11s %12s %12s %12s %10s\n#%11s %12s %12s %12s %10s\n",
		       dist_get_backend(group), options->iterations, "size",
		       "median", "min", "max", "bandwidth", "(B)", "(us)",
		       "(us)", "(us)", "(GB/s)");
	for (bytes = 4; !error && bytes <= options->max_bytes; bytes *= 2) {
		error = measure(group, bytes, data, options->iterations,
				half_ns);
		if (!error && prints) {
			struct dist__sample s = dist__sample_of(
				half_ns, (size_t)options->iterations);

			printf("%12zu %12.2f %12.2f %12.2f %10.3f\n", bytes,
			       s.median / 1e3, s.min / 1e3, s.max / 1e3,
			       (double)bytes / s.median);
		}
	}
	return error;
}

static int rank_main(void *arg)
{
	const struct options *options = arg;
	struct dist_group *group;
	const char *doing = "pingpong";
	enum dist_error error = DIST_ERR_NO_MEMORY;
	double *half_ns = NULL;
	void *data = NULL;

	if (rank_join(&group))
		return 1;
	half_ns = calloc((size_t)options->iterations, sizeof *half_ns);
	data = calloc(1, options->max_bytes);
	if (dist_get_world_size(group) < 2) {
		doing = "pingpong needs two ranks";
		error = DIST_ERR_INVALID_ARGUMENT;
	} else if (half_ns && data) {
		error = sweep(group, options, data, half_ns);
	}
	free(half_ns);
	free(data);
	return rank_leave(group, doing, error);
}

static const struct option options_table[] = {
	{"maxbytes", OPTION_SIZE, offsetof(struct options, max_bytes), "SIZE",
	 .help = "largest message", .usual = "4M", .letter = 'e', .min = 4},
	{"iters", OPTION_COUNT, offsetof(struct options, iterations), "N",
	 .help = "round trips per size", .usual = "20", .letter = 'n',
	 .min = 1},
	{.name = NULL}};
static const struct manual manual = {
	.examples = {"lockstep run --nproc-per-node 2 pingpong -e 1M"},
	.groups = GROUPS({.options = options_table})};

int pingpong_main(int argc, char **argv)
{
	struct options options = {.max_bytes = 4 << 20, .iterations = 20};
	int status;

	if (!arguments_parse(&manual, &argc, (const char **)argv, &options,
			     &status))
		return status;
	return dist_launch(NULL, rank_main, &options);
}
