#include "scenarios/training.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lockstep/measure.h"
#include "scenarios/call.h"
#include "scenarios/pipeline.h"
#include "scenarios/rank.h"
#include "base/statistics.h"

struct lane *training_lane(struct training *t, struct dist_group *group)
{
	struct lane *lane = &t->lanes[t->num_lanes++];

	lane->group = group;
	return lane;
}

enum dist_error training_tensor_of(struct training *t, size_t numel,
				   enum dist_dtype dtype,
				   struct dist_tensor *tensor)
{
	void *data;

	*tensor = dist_tensor(NULL, numel, dtype);
	if (t->phantom)
		return DIST_OK;
	data = calloc(numel ? numel : 1, dist_dtype_size(dtype));
	if (!data ||
	    !dist__array_add(&t->memory, &t->num_memory, &data, sizeof data)) {
		free(data);
		return DIST_ERR_NO_MEMORY;
	}
	tensor->data = data;
	return DIST_OK;
}

enum dist_error training_tensor(struct training *t, size_t numel,
				struct dist_tensor *tensor)
{
	return training_tensor_of(t, numel, DIST_FLOAT32, tensor);
}

enum dist_error training_compute(struct training *t, int64_t duration_ns,
				 const char *label)
{
	int64_t begun_ns = dist_now_ns(t->group);
	enum dist_error error = dist_compute(
		t->group, (int64_t)(t->factor * (double)duration_ns), label);

	t->computed_ns += dist_now_ns(t->group) - begun_ns;
	return error;
}

struct dist_group *training_begin(struct training *t, struct pending *pending,
				  enum workload_call call, struct lane *lane,
				  struct dist_tensor tensor)
{
	t->calls[call].num++;
	t->calls[call].bytes += tensor.numel * dist_dtype_size(tensor.dtype);
	pending->work = NULL;
	pending->lane = lane;
	pending->begun_ns = dist_now_ns(t->group);
	return lane ? lane->group : t->group;
}

enum dist_error training_wait(struct training *t, struct pending *pending)
{
	struct wait wait = {.begun_ns = pending->begun_ns};
	enum dist_error error;

	if (!pending->work)
		return DIST_OK;
	wait.from_ns = dist_now_ns(t->group);
	error = dist_work_wait(pending->work, DIST_TIMEOUT_OF_GROUP);
	wait.to_ns = dist_now_ns(t->group);
	dist_work_free(pending->work);
	pending->work = NULL;
	if (!error && pending->lane)
		error = waits_add(&pending->lane->waits, wait);
	return error;
}

static bool is_phantom(const struct workload_job *job, struct dist_group *group)
{
	if (job->contents != WORKLOAD_AUTO)
		return job->contents == WORKLOAD_PHANTOM;
	return strcmp(dist_get_backend(group), "sim") == 0 && !job->check;
}

static enum dist_error start(struct training *t)
{
	const struct workload *workload = t->job->workload;
	struct dist__refusal refusal;
	enum dist_error error;

	t->rank = dist_get_rank(t->group);
	t->world_size = dist_get_world_size(t->group);
	t->phantom = is_phantom(t->job, t->group);
	t->computes = true;
	training_lane(t, t->group);
	t->doing = "starting";
	if (workload_check(t->job, t->world_size, &refusal)) {
		if (t->rank == 0)
			fprintf(stderr, "%s: %s\n", workload->name,
				refusal.message.text);
		/* The first rank to fail ends the others. */
		error = dist_barrier(t->group, NULL);
		return error ? error : DIST_ERR_INVALID_ARGUMENT;
	}
	t->times =
		calloc((size_t)t->job->arguments->steps + 1, sizeof *t->times);
	t->state = calloc(1, workload->state_size);
	if (!t->times || !t->state)
		return DIST_ERR_NO_MEMORY;
	return workload->start(t);
}

/* Steps begin together, so that the time of one is its own; what the check
 * costs stays outside. */
static enum dist_error train(struct training *t)
{
	const struct workload *workload = t->job->workload;
	int steps = t->job->arguments->steps;
	enum dist_error error = DIST_OK;

	for (t->step = 0; !error && t->step < steps; t->step++) {
		t->factor = pace_factor(t->job->pace, t->rank, t->step);
		t->wrong = 0;
		if (t->job->check)
			calls_fill(t);
		if (t->job->check && workload->fill)
			workload->fill(t);
		t->doing = "barrier";
		error = dist_barrier(dist_untimed(t->group), NULL);
		t->start_ns = dist_now_ns(t->group);
		if (!error)
			error = workload->step(t);
		t->times[t->step] =
			(double)(dist_now_ns(t->group) - t->start_ns);
		if (!error && t->job->check)
			t->wrong += calls_count_wrong(t);
		if (!error && t->job->check && workload->count_wrong)
			t->wrong += workload->count_wrong(t);
		t->times[steps] += t->wrong;
	}
	return error;
}

/* What the ranks that compute spent, all steps and ranks together. */
enum { COMPUTED, IDLE, SPENT, RANKS, NUM_SUMS };

/* Gives rank 0 the slowest rank's times, the worst rank's wrong elements, and
 * the sums. The same calls with and without a check: traces of both can be
 * compared. */
static enum dist_error gather(struct training *t, double sums[NUM_SUMS])
{
	size_t i, steps = (size_t)t->job->arguments->steps;
	enum dist_error error = DIST_OK;
	int64_t idle_ns = 0;

	t->doing = "gathering the times";
	for (i = 0; !error && i < t->num_lanes; i++)
		error = waits_idle(&t->lanes[i].waits, t->lanes[i].group,
				   &idle_ns);
	if (!error && t->pipeline)
		error = pipeline_idle(t, &idle_ns);
	memset(sums, 0, NUM_SUMS * sizeof *sums);
	if (t->computes) {
		sums[COMPUTED] = (double)t->computed_ns;
		sums[IDLE] = (double)idle_ns;
		for (i = 0; i < steps; i++)
			sums[SPENT] += t->times[i];
		sums[RANKS] = 1;
	}
	if (!error)
		error = dist_reduce(dist_untimed(t->group),
				    dist_tensor(sums, NUM_SUMS, DIST_FLOAT64),
				    0, DIST_SUM, NULL);
	if (!error)
		error = dist_reduce(
			dist_untimed(t->group),
			dist_tensor(t->times, steps + 1, DIST_FLOAT64), 0,
			DIST_MAX, NULL);
	return error;
}

/* The parts of a mean step: who is done before the slowest is idle. */
static void divide(const struct training *t, const double sums[NUM_SUMS],
		   struct workload_result *r)
{
	double slowest = 0, steps = t->job->arguments->steps;
	double shares = sums[RANKS] * steps;
	int64_t rest_ns;

	for (int i = 0; i < t->job->arguments->steps; i++)
		slowest += t->times[i];
	r->compute_ns = (int64_t)(sums[COMPUTED] / shares + 0.5);
	r->idle_ns =
		(int64_t)((sums[IDLE] + sums[RANKS] * slowest - sums[SPENT]) /
				  shares +
			  0.5);
	rest_ns = (int64_t)(slowest / steps + 0.5) - r->compute_ns - r->idle_ns;
	r->exposed_ns = rest_ns > 0 ? rest_ns : 0;
}

static void summarize(struct training *t, const double sums[NUM_SUMS],
		      struct workload_result *r)
{
	size_t i, steps = (size_t)t->job->arguments->steps;
	struct dist__sample s;

	memset(r, 0, sizeof *r);
	divide(t, sums, r);
	s = dist__sample_of(t->times, steps);
	r->world_size = t->world_size;
	r->step_ns = (int64_t)s.median;
	r->min_ns = (int64_t)s.min;
	r->max_ns = (int64_t)s.max;
	r->wrong = (int64_t)t->times[steps];
	for (i = 0; i < WORKLOAD_NUM_CALLS; i++) {
		r->calls[i].num = t->calls[i].num / steps;
		r->calls[i].bytes = t->calls[i].bytes / steps;
	}
	if (t->job->workload->report)
		t->job->workload->report(t, r);
}

static void report(struct training *t, const double sums[NUM_SUMS])
{
	struct workload_result result;

	if (t->rank != 0)
		return;
	summarize(t, sums, &result);
	if (t->job->out)
		workload_print(t->job, dist_get_backend(t->group), &result,
			       t->job->out);
	if (t->job->result)
		*t->job->result = result;
}

int workload_rank(void *arg)
{
	struct training t = {.job = arg};
	double sums[NUM_SUMS];
	enum dist_error error;
	int status;

	if (rank_join(&t.group))
		return 1;
	error = start(&t);
	if (!error)
		error = train(&t);
	if (!error)
		error = gather(&t, sums);
	if (!error)
		report(&t, sums);
	t.error = error;
	for (size_t i = 0; i < t.num_kept; i++)
		call_release(t.kept[i]);
	free(t.kept);
	if (t.pipeline)
		pipeline_release(t.pipeline);
	if (t.state)
		t.job->workload->stop(&t);
	/* Tensors of what is still in flight are in use until the group's end.
	 */
	status = rank_leave(t.group, t.doing, error);
	status = status || !t.times || t.times[t.job->arguments->steps] > 0;
	for (size_t i = 0; i < t.num_lanes; i++)
		waits_release(&t.lanes[i].waits);
	for (size_t i = 0; i < t.num_memory; i++)
		free(t.memory[i]);
	free(t.memory);
	free(t.state);
	free(t.times);
	return status;
}
