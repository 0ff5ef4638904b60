#include "scenarios/sweep.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/measure.h"
#include "scenarios/rank.h"
#include "base/statistics.h"
#include "scenarios/sweep_call.h"
#include "lockstep/dist.h"
#include "lockstep/device.h"

/* ---- caches ------------------------------------------------------------ */

/* Memory that fills the caches when it is copied. */
struct caches {
	struct dist_group *group;
	size_t bytes;
	void *host, *device;
};

/* More than the caches of most processors and devices: the L2 of an H100 holds
 * 50 MB (NVIDIA H100 Tensor Core GPU Architecture, 2022). Also for machines
 * that do not tell how large their last level is. */
#define AT_LEAST ((size_t)64 << 20)

static size_t bytes_to_fill(void)
{
	long last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);

	if (last_level > 0 && (size_t)last_level * 2 > AT_LEAST)
		return (size_t)last_level * 2;
	return AT_LEAST;
}

/* caches_init allocates memory as large as the caches, on the host and on the
 * device. Errors: NO_MEMORY, IO. caches_release frees it, before the group is
 * destroyed; a zeroed struct is allowed. */
static enum dist_error caches_init(struct caches *caches,
				   struct dist_group *group)
{
	*caches = (struct caches){.group = group, .bytes = bytes_to_fill()};
	caches->host = malloc(caches->bytes);
	if (!caches->host)
		return DIST_ERR_NO_MEMORY;
	/* Pages that nothing was written to would all be one page of zeros. */
	memset(caches->host, 1, caches->bytes);
	return dist_device_alloc(group, caches->bytes, &caches->device);
}

/* caches_empty replaces the contents of the caches by that memory. Errors: IO.
 */
static enum dist_error caches_empty(const struct caches *caches)
{
	return dist_device_copy(caches->group, caches->device, caches->host,
				caches->bytes);
}

/* Until the agreed start, as barriers: all ranks must have heard of it. */
#define WINDOW 4

/* Before the start ranks do not sleep: a processor wakes up late, and slow. */
#define SPIN_NS ((int64_t)500 * 1000)

/* One rank's sweep. */
struct sweeper {
	const struct sweep *job;
	struct dist_group *group;
	bool simulated;
	struct sweep_call call;
	struct caches caches; /* all zeros: of a warm sweep */
	double *time_us;      /* one an iteration */
	const char *doing;
};

/*
 * Waits for an instant that all ranks agree on, which takes a clock that they
 * share: out of a real barrier ranks come up to a message apart. Hunold and
 * Carpen-Amarie, "Reproducible MPI Benchmarking is Still Not as Easy as You
 * Think", IEEE Trans. on Parallel and Distributed Systems 27(12), 2016.
 * barrier_ns: what a barrier took; *now_ns becomes that instant.
 */
static enum dist_error start_together(struct sweeper *s, int64_t barrier_ns,
				      int64_t *now_ns)
{
	int64_t start_ns = *now_ns + WINDOW * barrier_ns, left_ns;
	enum dist_error error =
		dist_all_reduce(s->group, dist_tensor(&start_ns, 1, DIST_INT64),
				DIST_MAX, NULL);

	while (!error && (left_ns = start_ns - dist_now_ns(s->group)) > 0)
		if (left_ns > SPIN_NS)
			error = dist_compute(s->group, left_ns - SPIN_NS,
					     "start");
		else
			sched_yield();
	*now_ns = start_ns;
	return error;
}

/* Runs the calls of one iteration; stores the time by call. */
static enum dist_error run_calls(struct sweeper *s, double *time_us)
{
	const struct sweep *job = s->job;
	enum dist_error error = DIST_OK;
	int64_t came_ns, start_ns;

	if (job->cold)
		error = caches_empty(&s->caches);
	came_ns = dist_now_ns(s->group);
	if (!error)
		error = dist_barrier(dist_untimed(s->group), NULL);
	start_ns = dist_now_ns(s->group);
	if (!error && job->together && !s->simulated)
		error = start_together(s, start_ns - came_ns, &start_ns);
	for (int i = 0; !error && i < job->calls; i++)
		error = sweep_call_run(&s->call);
	*time_us =
		(double)(dist_now_ns(s->group) - start_ns) / 1e3 / job->calls;
	return error;
}

/* Rank 0 has the times of those that the job asks for. */
static enum dist_error average(struct sweeper *s)
{
	static const enum dist_reduce_op ops[] = {
		[SWEEP_ALL_RANKS] = DIST_AVG,
		[SWEEP_FASTEST_RANK] = DIST_MIN,
		[SWEEP_SLOWEST_RANK] = DIST_MAX,
	};
	const struct sweep *job = s->job;

	if (job->average == SWEEP_FIRST_RANK)
		return DIST_OK;
	return dist_all_reduce(
		dist_untimed(s->group),
		dist_tensor(s->time_us, (size_t)job->iterations, DIST_FLOAT64),
		ops[job->average], NULL);
}

/* Runs the warm-up and the timed calls of one size. */
static enum dist_error time_size(struct sweeper *s, size_t numel)
{
	const struct sweep *job = s->job;
	enum dist_error error;
	double ignored;

	/* Zeros stay zeros under every operation, however often repeated. */
	error = sweep_call_clear(&s->call, numel);
	for (int i = -job->warmup; !error && i < job->iterations; i++)
		error = run_calls(s, i < 0 ? &ignored : &s->time_us[i]);
	return error ? error : average(s);
}

/* Runs one call on known values; rank 0 then has all ranks' wrong elements. */
static enum dist_error check_size(struct sweeper *s, size_t numel,
				  int64_t *wrong)
{
	enum dist_error error;

	*wrong = -1;
	if (!s->job->check)
		return DIST_OK;
	error = sweep_call_fill(&s->call, numel);
	if (!error)
		error = sweep_call_run(&s->call);
	if (!error)
		error = sweep_call_check(&s->call, numel, wrong);
	if (error)
		return error;
	return dist_reduce(dist_untimed(s->group),
			   dist_tensor(wrong, 1, DIST_INT64), 0, DIST_SUM,
			   NULL);
}

static struct sweep_row make_row(struct sweeper *s, size_t numel, int64_t wrong)
{
	const struct sweep *job = s->job;
	struct dist__sample sample =
		dist__sample_of(s->time_us, (size_t)job->iterations);
	struct sweep_row row = {
		.numel = numel,
		.bytes = sweep_call_bytes(&s->call, numel),
		.time_us = sample.median,
		.min_us = sample.min,
		.low_quartile_us = sample.low_quartile,
		.high_quartile_us = sample.high_quartile,
		.max_us = sample.max,
		.wrong = wrong,
	};

	/* Bytes per microsecond, a thousandth of GB/s. */
	if (row.time_us > 0)
		row.algbw_GBps = (double)row.bytes / row.time_us / 1e3;
	row.busbw_GBps = row.algbw_GBps *
			 collective_bus_factor(job->collective,
					       dist_get_world_size(s->group));
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
	if (job->rows && (fwrite(row, sizeof *row, 1, job->rows) != 1 ||
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

	if (job->step_bytes)
		return max - bytes < job->step_bytes ? max + 1
						     : bytes + job->step_bytes;
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
	enum dist_error error = DIST_OK;

	while (!error && bytes <= job->max_bytes) {
		size_t numel = sweep_call_numel(&s->call, bytes);
		struct sweep_row row;
		int64_t wrong = -1;

		sweep_call_set(&s->call, numel);
		s->doing = sweep_name(job->collective);
		error = time_size(s, numel);
		if (!error)
			error = check_size(s, numel, &wrong);
		if (error)
			break;
		row = make_row(s, numel, wrong);
		*wrong_seen |= wrong > 0;
		s->doing = "writing the results";
		error = put_row(s, &row);
		bytes = next_size(job, bytes);
	}
	return error;
}

static enum dist_error allocate(struct sweeper *s)
{
	const struct sweep *job = s->job;
	enum dist_error error;

	s->doing = "allocating the buffers";
	s->time_us = calloc((size_t)job->iterations, sizeof *s->time_us);
	if (!s->time_us)
		return DIST_ERR_NO_MEMORY;
	s->simulated = strcmp(dist_get_backend(s->group), "sim") == 0;
	error = sweep_call_init(&s->call, job, s->group,
				s->simulated && !job->check);
	if (!error && job->cold)
		error = caches_init(&s->caches, s->group);
	return error;
}

int sweep_rank(void *arg)
{
	struct sweeper s = {.job = arg};
	const struct sweep *job = arg;
	bool wrong_seen = false;
	enum dist_error error;
	int status;

	if (rank_join(&s.group))
		return 1;
	error = allocate(&s);
	if (!error && job->out && dist_get_rank(s.group) == 0)
		sweep_print_header(job->out, job, dist_get_world_size(s.group),
				   dist_get_backend(s.group));
	if (!error)
		error = sweep_sizes(&s, &wrong_seen);
	if (s.caches.device)
		dist_device_free(s.caches.group, s.caches.device);
	free(s.caches.host);
	sweep_call_release(&s.call);
	status = rank_leave(s.group, s.doing, error);
	free(s.time_us);
	return status || wrong_seen;
}
