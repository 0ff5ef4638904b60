#include "scenarios/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "scenarios/pattern.h"
#include "scenarios/rank.h"
#include "scenarios/sample.h"

/* One rank's sweep. */
struct sweeper {
	const struct sweep *job;
	struct dist_group *group;
	char *data;      /* NULL: phantom */
	double *time_us; /* one an iteration */
	const char *doing;
};

static enum dist_error call(const struct sweeper *s, size_t numel)
{
	const struct sweep *job = s->job;
	struct dist_tensor tensor = dist_tensor(s->data, numel, job->dtype);

	switch (job->collective) {
	case SWEEP_BROADCAST:
		return dist_broadcast(s->group, tensor, job->root, NULL);
	case SWEEP_REDUCE:
		return dist_reduce(s->group, tensor, job->root, job->op, NULL);
	default:
		return dist_all_reduce(s->group, tensor, job->op, NULL);
	}
}

/* Runs the warm-up and the timed calls of one size; rank 0 then has the
 * slowest rank's times. */
static enum dist_error time_size(struct sweeper *s, size_t numel)
{
	const struct sweep *job = s->job;
	enum dist_error err = DIST_OK;
	int i;

	/* Zeros stay zeros under every operation, however often repeated. */
	if (s->data)
		memset(s->data, 0, numel * dist_dtype_size(job->dtype));
	for (i = -job->warmup; !err && i < job->iterations; i++) {
		int64_t start_ns;

		err = dist_barrier(s->group, NULL);
		start_ns = dist_now_ns(s->group);
		if (!err)
			err = call(s, numel);
		if (i >= 0)
			s->time_us[i] =
				(double)(dist_now_ns(s->group) - start_ns) /
				1e3;
	}
	if (err)
		return err;
	return dist_all_reduce(
		s->group,
		dist_tensor(s->time_us, (size_t)job->iterations, DIST_FLOAT64),
		DIST_MAX, NULL);
}

/* Runs one call on known values; rank 0 then has all ranks' wrong elements. */
static enum dist_error check_size(struct sweeper *s, size_t numel,
				  int64_t *wrong)
{
	const struct sweep *job = s->job;
	const struct pattern pattern = {
		.collective = job->collective,
		.op = job->op,
		.dtype = job->dtype,
		.root = job->root,
		.rank = dist_get_rank(s->group),
		.world_size = dist_get_world_size(s->group),
	};
	enum dist_error err;

	*wrong = -1;
	if (!job->check)
		return DIST_OK;
	pattern_fill(&pattern, s->data, numel);
	err = call(s, numel);
	if (err)
		return err;
	*wrong = pattern_count_wrong(&pattern, s->data, numel);
	return dist_reduce(s->group, dist_tensor(wrong, 1, DIST_INT64), 0,
			   DIST_SUM, NULL);
}

/* What one byte of the result costs the bus: nccl-tests, PERFORMANCE.md. */
static double busbw_factor(enum sweep_collective collective, int world_size)
{
	double n = world_size;

	return collective == SWEEP_ALL_REDUCE ? 2 * (n - 1) / n : 1;
}

static struct sweep_row make_row(struct sweeper *s, size_t numel, int64_t wrong)
{
	const struct sweep *job = s->job;
	struct sample sample = sample_of(s->time_us, (size_t)job->iterations);
	struct sweep_row row = {
		.numel = numel,
		.bytes = numel * dist_dtype_size(job->dtype),
		.time_us = sample.median,
		.min_us = sample.min,
		.max_us = sample.max,
		.wrong = wrong,
	};

	/* Bytes per microsecond, a thousandth of GB/s. */
	if (row.time_us > 0)
		row.algbw_GBps = (double)row.bytes / row.time_us / 1e3;
	row.busbw_GBps =
		row.algbw_GBps *
		busbw_factor(job->collective, dist_get_world_size(s->group));
	return row;
}

/* Hands one row out, at once: a long sweep is watched as it goes. */
static enum dist_error put_row(const struct sweeper *s,
			       const struct sweep_row *row)
{
	const struct sweep *job = s->job;

	if (dist_get_rank(s->group) != 0)
		return DIST_OK;
	if (job->out) {
		sweep_print_row(job->out, job, row);
		fflush(job->out);
	}
	if (job->rows && (fwrite(row, sizeof(*row), 1, job->rows) != 1 ||
			  fflush(job->rows) != 0))
		return DIST_ERR_IO;
	return DIST_OK;
}

/* One step of the ladder of sizes, from nothing to one element; ends above the
 * largest. */
static size_t next_size(const struct sweep *job, size_t bytes)
{
	size_t max = job->max_bytes;
	double next = (double)bytes * job->factor;

	if (bytes == 0)
		next = (double)dist_dtype_size(job->dtype);
	if (next > (double)max)
		return max + 1;
	return (size_t)next > bytes ? (size_t)next : bytes + 1;
}

static enum dist_error sweep_sizes(struct sweeper *s, bool *wrong_seen)
{
	const struct sweep *job = s->job;
	size_t bytes = job->min_bytes;
	enum dist_error err = DIST_OK;

	while (!err && bytes <= job->max_bytes) {
		size_t numel = bytes / dist_dtype_size(job->dtype);
		struct sweep_row row;
		int64_t wrong = -1;

		s->doing = sweep_name(job->collective);
		err = time_size(s, numel);
		if (!err)
			err = check_size(s, numel, &wrong);
		if (err)
			break;
		row = make_row(s, numel, wrong);
		*wrong_seen |= wrong > 0;
		s->doing = "writing the results";
		err = put_row(s, &row);
		bytes = next_size(job, bytes);
	}
	return err;
}

static enum dist_error allocate(struct sweeper *s)
{
	const struct sweep *job = s->job;
	bool simulated = strcmp(dist_get_backend(s->group), "sim") == 0;

	s->doing = "allocating the buffers";
	s->time_us = calloc((size_t)job->iterations, sizeof(*s->time_us));
	if (!s->time_us)
		return DIST_ERR_NO_MEMORY;
	if (simulated && !job->check)
		return DIST_OK;
	s->data = malloc(job->max_bytes ? job->max_bytes : 1);
	return s->data ? DIST_OK : DIST_ERR_NO_MEMORY;
}

int sweep_rank(void *arg)
{
	struct sweeper s = {.job = arg};
	const struct sweep *job = arg;
	bool wrong_seen = false;
	enum dist_error err;
	int status;

	if (rank_join(&s.group))
		return 1;
	err = allocate(&s);
	if (!err && job->out && dist_get_rank(s.group) == 0)
		sweep_print_header(job->out, job, dist_get_world_size(s.group),
				   dist_get_backend(s.group));
	if (!err)
		err = sweep_sizes(&s, &wrong_seen);
	status = rank_leave(s.group, s.doing, err);
	free(s.data);
	free(s.time_us);
	return status || wrong_seen;
}
