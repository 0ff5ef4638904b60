#include "scenarios/sweep.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/measure.h"
#include "scenarios/rank.h"
#include "base/statistics.h"
#include "scenarios/pattern.h"
#include "lockstep/dist.h"
#include "lockstep/device.h"

/* ---- the call ----------------------------------------------------------- */

/* The call that a sweep times: its buffers, inputs and expected outputs. As in
 * nccl-tests, the size of a call with a part for each rank is that of all parts
 * together, and a call is in place if it can be. */
struct call {
	const struct sweep *job;
	struct dist_group *group;
	int rank, world_size;
	void *data;  /* of the device; NULL: phantom */
	void *apart; /* the output of calls that are not in place */
	void *host;  /* the host's copy of device data */

	/* Set by call_set(): a part for each rank (the first is the
	 * tensor of a call without parts); this rank's part; all parts
	 * together. */
	struct dist_tensor *list;
	struct dist_tensor own, all;
	struct dist_tensor other, all_other; /* of apart: one part, and all */
};

/* Whether the input, the output is a part for each rank. */
static bool has_parts_in(enum collective collective)
{
	return collective == COLLECTIVE_REDUCE_SCATTER ||
	       collective == COLLECTIVE_ALL_TO_ALL ||
	       collective == COLLECTIVE_SCATTER;
}

static bool has_parts_out(enum collective collective)
{
	return collective == COLLECTIVE_ALL_GATHER ||
	       collective == COLLECTIVE_ALL_TO_ALL ||
	       collective == COLLECTIVE_GATHER;
}

static bool has_parts(enum collective collective)
{
	return has_parts_in(collective) || has_parts_out(collective);
}

static struct pattern pattern_of(const struct call *call)
{
	return (struct pattern){
		.reduces = sweep_reduces(call->job->collective),
		.op = call->job->op,
		.dtype = call->job->dtype,
		.world_size = call->world_size,
	};
}

/* The part numbered i of numel elements each. */
static struct dist_tensor part(const struct call *call, void *data,
			       size_t numel, int i)
{
	enum dist_dtype dtype = call->job->dtype;
	size_t before = (size_t)i * numel * dist_dtype_size(dtype);

	return dist_tensor(data ? (char *)data + before : NULL, numel, dtype);
}

/* All parts as one tensor. */
static struct dist_tensor whole(const struct call *call, void *data,
				size_t numel)
{
	return dist_tensor(data, numel * (size_t)call->world_size,
			   call->job->dtype);
}

static enum dist_error call_allocate(struct call *call, size_t bytes)
{
	bool apart = !sweep_is_in_place(call->job->collective);
	enum dist_error error;

	call->host = malloc(bytes);
	if (!call->host)
		return DIST_ERR_NO_MEMORY;
	error = dist_device_alloc(call->group, bytes, &call->data);
	if (!error && apart)
		error = dist_device_alloc(call->group, bytes, &call->apart);
	return error;
}

/* Allocates the memory, without elements for phantoms. Errors: NO_MEMORY, IO.
 */
static enum dist_error call_init(struct call *call, const struct sweep *job,
				 struct dist_group *group, bool phantom)
{
	*call = (struct call){
		.job = job,
		.group = group,
		.rank = dist_get_rank(group),
		.world_size = dist_get_world_size(group),
	};
	call->list = calloc((size_t)call->world_size, sizeof *call->list);
	if (!call->list)
		return DIST_ERR_NO_MEMORY;
	return phantom ? DIST_OK
		       : call_allocate(call,
				       job->max_bytes ? job->max_bytes : 1);
}

/* Before the group is destroyed. */
static void call_release(struct call *call)
{
	dist_device_free(call->group, call->data);
	dist_device_free(call->group, call->apart);
	free(call->host);
	free(call->list);
}

/* The number of elements of a call of `bytes`, in the tensor or in each part.
 */
static size_t call_numel(const struct call *call, size_t bytes)
{
	size_t numel = bytes / dist_dtype_size(call->job->dtype);

	return has_parts(call->job->collective)
		       ? numel / (size_t)call->world_size
		       : numel;
}

/* The size of a call of numel elements. */
static size_t call_bytes(const struct call *call, size_t numel)
{
	size_t bytes = numel * dist_dtype_size(call->job->dtype);

	return has_parts(call->job->collective)
		       ? bytes * (size_t)call->world_size
		       : bytes;
}

/* ---- calling ----------------------------------------------------------- */

/* Prepares the tensors of the next calls, of numel elements, as a program would
 * have them. */
static void call_set(struct call *call, size_t numel)
{
	int parts = has_parts(call->job->collective) ? call->world_size : 1;

	for (int i = 0; i < parts; i++)
		call->list[i] = part(call, call->data, numel, i);
	call->own = call->list[parts > 1 ? call->rank : 0];
	call->other = part(call, call->apart, numel, 0);
	call->all = whole(call, call->data, numel);
	call->all_other = whole(call, call->apart, numel);
}

/* To the next rank, from the previous one, at the same time. */
static enum dist_error sendrecv(const struct call *call)
{
	int next = (call->rank + 1) % call->world_size;
	int previous = (call->rank + call->world_size - 1) % call->world_size;
	struct dist_work *work;
	enum dist_error error, received;

	error = dist_irecv(call->group, call->other, previous, 0, &work);
	if (error)
		return error;
	error = dist_send(call->group, call->list[0], next, 0);
	received = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error ? error : received;
}

/* Makes a call and waits for it. */
static enum dist_error call_run(const struct call *call)
{
	const struct sweep *job = call->job;
	struct dist_group *group = call->group;
	const struct dist_tensor *list =
		call->rank == job->root ? call->list : NULL;

	switch (job->collective) {
	case COLLECTIVE_ALL_REDUCE:
		return dist_all_reduce(group, call->list[0], job->op, NULL);
	case COLLECTIVE_BROADCAST:
		return dist_broadcast(group, call->list[0], job->root, NULL);
	case COLLECTIVE_REDUCE:
		return dist_reduce(group, call->list[0], job->root, job->op,
				   NULL);
	case COLLECTIVE_ALL_GATHER:
		return dist_all_gather_single(group, call->all, call->own,
					      NULL);
	case COLLECTIVE_REDUCE_SCATTER:
		return dist_reduce_scatter_single(group, call->own, call->all,
						  job->op, NULL);
	case COLLECTIVE_GATHER:
		return dist_gather(group, call->own, list, job->root, NULL);
	case COLLECTIVE_SCATTER:
		return dist_scatter(group, call->own, list, job->root, NULL);
	case COLLECTIVE_ALL_TO_ALL:
		return dist_all_to_all_single(group, call->all_other, call->all,
					      NULL, NULL, NULL);
	default:
		return sendrecv(call);
	}
}

/* ---- known values ------------------------------------------------------ */

static enum dist_error put(const struct call *call, size_t numel)
{
	return dist_device_copy(call->group, call->data, call->host,
				call_bytes(call, numel));
}

/* Fills the input with zeros. Errors: those of dist_device_copy. */
static enum dist_error call_clear(const struct call *call, size_t numel)
{
	if (!call->data)
		return DIST_OK;
	memset(call->host, 0, call_bytes(call, numel));
	return put(call, numel);
}

/* The same with known values. */
static enum dist_error call_fill(const struct call *call, size_t numel)
{
	struct pattern pattern = pattern_of(call);
	enum collective collective = call->job->collective;
	int own = has_parts_out(collective) ? call->rank : 0;

	for (int i = 0; i < call->world_size && has_parts_in(collective); i++)
		pattern_fill(&pattern, part(call, call->host, numel, i),
			     call->rank, i);
	if (!has_parts_in(collective))
		pattern_fill(&pattern, part(call, call->host, numel, own),
			     call->rank, 0);
	return put(call, numel);
}

/* The elements of the output, now on the host, that are wrong. */
static int64_t count_wrong(const struct call *call, size_t numel)
{
	struct pattern pattern = pattern_of(call);
	enum collective collective = call->job->collective;
	int own = has_parts_in(collective) ? call->rank : 0;
	int src = call->job->root;
	int64_t wrong = 0;

	if (collective == COLLECTIVE_SENDRECV)
		src = (call->rank + call->world_size - 1) % call->world_size;
	if (!has_parts_out(collective))
		return pattern_count_wrong(
			&pattern, part(call, call->host, numel, own), src, own);
	for (int i = 0; i < call->world_size; i++)
		wrong += pattern_count_wrong(
			&pattern, part(call, call->host, numel, i), i, own);
	return wrong;
}

/* Stores in *wrong the number of wrong elements in this rank's output. */
static enum dist_error call_check(const struct call *call, size_t numel,
				  int64_t *wrong)
{
	enum collective collective = call->job->collective;
	bool rooted = collective == COLLECTIVE_REDUCE ||
		      collective == COLLECTIVE_GATHER;
	enum dist_error error;

	*wrong = 0;
	if (rooted && call->rank != call->job->root)
		return DIST_OK;
	error = dist_device_copy(call->group, call->host,
				 sweep_is_in_place(collective) ? call->data
							       : call->apart,
				 call_bytes(call, numel));
	if (!error)
		*wrong = count_wrong(call, numel);
	return error;
}

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

/* ---- the sweep ---------------------------------------------------------- */

/* Until the agreed start, as barriers: all ranks must have heard of it. */
#define WINDOW 4

/* Before the start ranks do not sleep: a processor wakes up late, and slow. */
#define SPIN_NS ((int64_t)500 * 1000)

/* One rank's sweep. */
struct sweeper {
	const struct sweep *job;
	struct dist_group *group;
	bool simulated;
	struct call call;
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
		error = call_run(&s->call);
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
	error = call_clear(&s->call, numel);
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
	error = call_fill(&s->call, numel);
	if (!error)
		error = call_run(&s->call);
	if (!error)
		error = call_check(&s->call, numel, wrong);
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
		.bytes = call_bytes(&s->call, numel),
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
		size_t numel = call_numel(&s->call, bytes);
		struct sweep_row row;
		int64_t wrong = -1;

		call_set(&s->call, numel);
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
	error = call_init(&s->call, job, s->group, s->simulated && !job->check);
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
	call_release(&s.call);
	status = rank_leave(s.group, s.doing, error);
	free(s.time_us);
	return status || wrong_seen;
}
