#include "coll/schedule.h"
#include "coll/profile.h"

#include <math.h>
#include <stdlib.h>

/* More segments than this are no use to anyone, and steps must be counted. */
#define MOST_SEGMENTS (1 << 24)

struct dist__chunks dist__segments_of(size_t numel, size_t element_bytes,
				      size_t segment_bytes, int least,
				      int *count)
{
	size_t bytes = segment_bytes ? segment_bytes : DIST__SEGMENT_BYTES;
	size_t longest = bytes > element_bytes ? bytes / element_bytes : 1;
	size_t number = numel / longest + (numel % longest != 0);

	if (number < (size_t)least)
		number = (size_t)least;
	if (number > numel)
		number = numel ? numel : 1;
	*count = number < MOST_SEGMENTS ? (int)number : MOST_SEGMENTS;
	return dist__chunks_of(numel, *count);
}

struct dist__slice dist__segment(const struct dist__chunks *segments, int i)
{
	size_t first = dist__chunks_numel(segments, i);

	return (struct dist__slice){
		.first = first,
		.numel = dist__chunks_numel(segments, i + 1) - first,
	};
}

/* The step at a place in the row of a run. */
static int step_at(const struct dist__schedule *schedule, int place,
		   bool backwards)
{
	return backwards ? schedule->num_steps - 1 - place : place;
}

/* What goes out of rank there, and what comes in, in the run's direction. */
static struct dist__move out_at(const struct dist__schedule *schedule, int rank,
				int place, bool backwards)
{
	int step = step_at(schedule, place, backwards);

	return backwards ? schedule->in(schedule, rank, step)
			 : schedule->out(schedule, rank, step);
}

static struct dist__move in_at(const struct dist__schedule *schedule, int rank,
			       int place, bool backwards)
{
	int step = step_at(schedule, place, backwards);

	return backwards ? schedule->out(schedule, rank, step)
			 : schedule->in(schedule, rank, step);
}

struct dist__hop dist__schedule_hop(const struct dist__schedule *schedule,
				    size_t element_bytes, int rank, int place,
				    bool backwards)
{
	struct dist__move out = out_at(schedule, rank, place, backwards);

	return (struct dist__hop){
		.to = out.peer,
		.bytes = out.slice.numel * element_bytes,
		.reduced = backwards,
	};
}

int dist__schedule_from(const struct dist__schedule *schedule, int rank,
			int place, bool backwards)
{
	return in_at(schedule, rank, place, backwards).peer;
}

/* ---- running ---------------------------------------------------------- */

static struct dist__span span_of(const struct dist__coll *coll,
				 const struct dist__slice *slice)
{
	const struct dist_tensor *tensor = &coll->op->tensor;
	size_t size = dist_dtype_size(tensor->dtype);
	char *data = tensor->data;

	return (struct dist__span){
		.data = data ? data + slice->first * size : NULL,
		.bytes = slice->numel * size,
	};
}

/* Passes the messages of one step. */
static enum dist_error pass(const struct dist__coll *coll, uint32_t step,
			    const struct dist__move *out,
			    const struct dist__move *in)
{
	struct dist__span there = span_of(coll, &out->slice);
	struct dist__span here = span_of(coll, &in->slice);

	if (out->peer < 0)
		return dist__recv(coll, step, in->peer, here);
	if (in->peer < 0)
		return dist__send(coll, step, out->peer, there);
	return dist__exchange(coll, step, out->peer, there, in->peer, here);
}

/* As pass; what comes is added up. */
static enum dist_error pass_sum(const struct dist__coll *coll, uint32_t step,
				const struct dist__move *out,
				const struct dist__move *in, void *scratch)
{
	struct dist__span here = span_of(coll, &in->slice);
	struct dist__addition theirs = {here, here, scratch};

	if (in->peer < 0)
		return pass(coll, step, out, in);
	if (out->peer < 0)
		return dist__recv_sum(coll, step, in->peer, &theirs);
	return dist__exchange_sum(coll, step, out->peer,
				  span_of(coll, &out->slice), in->peer,
				  &theirs);
}

enum dist_error dist__schedule_run(const struct dist__coll *coll,
				   const struct dist__schedule *schedule,
				   uint32_t first_step, bool backwards)
{
	size_t size = dist_dtype_size(coll->op->tensor.dtype);
	void *scratch = NULL;
	enum dist_error error = DIST_OK;

	if (backwards && schedule->num_steps > 0)
		error = dist__sum_scratch_new(coll, schedule->longest * size,
					      &scratch);
	for (int i = 0; i < schedule->num_steps && !error; i++) {
		uint32_t step = first_step + (uint32_t)i;
		struct dist__move out =
			out_at(schedule, coll->rank, i, backwards);
		struct dist__move in =
			in_at(schedule, coll->rank, i, backwards);

		if (out.peer < 0 && in.peer < 0)
			continue;
		error = backwards ? pass_sum(coll, step, &out, &in, scratch)
				  : pass(coll, step, &out, &in);
	}
	free(scratch);
	return error;
}

/* ---- timing ----------------------------------------------------------- */

static void set_later(double *clock_ns, double time_ns)
{
	if (time_ns > *clock_ns)
		*clock_ns = time_ns;
}

/* Times of every rank: when its steps so far end, and this one; and what it
 * reduces in this one takes. */
struct clocks {
	double *before_ns, *after_ns, *reduce_ns;
};

/* Lets one step pass on all ranks: a message starts when its sender has issued
 * it and its receiver waits for it, which is when their steps before ended.
 * Each is found once, where it comes in when not turned round. */
static void time_step(const struct dist__cost *cost,
		      const struct dist__schedule *schedule, int place,
		      bool backwards, size_t element_bytes,
		      struct clocks *clocks)
{
	int step = step_at(schedule, place, backwards);

	for (int rank = 0; rank < schedule->world_size; rank++) {
		struct dist__move in = schedule->in(schedule, rank, step);
		int src = backwards ? rank : in.peer;
		int dst = backwards ? in.peer : rank;
		double bytes = (double)(in.slice.numel * element_bytes);
		double time_ns;

		if (in.peer < 0)
			continue;
		time_ns = clocks->before_ns[src] + cost->overhead_ns;
		set_later(&time_ns, clocks->before_ns[dst]);
		time_ns += cost->alpha_ns + bytes * cost->beta_ns_per_byte;
		set_later(&clocks->after_ns[src], time_ns);
		set_later(&clocks->after_ns[dst], time_ns);
		if (backwards)
			clocks->reduce_ns[dst] = dist__cost_reduce(cost, bytes);
	}
	for (int rank = 0; rank < schedule->world_size; rank++) {
		clocks->after_ns[rank] += clocks->reduce_ns[rank];
		clocks->before_ns[rank] = clocks->after_ns[rank];
		clocks->reduce_ns[rank] = 0;
	}
}

/* More ranks times steps than that take seconds. */
#define MANY ((size_t)1 << 24)

/* The steps left to leave out after the one at place, if the two up to it have
 * taken all ranks equally long: they would all go on like that. past_ns, the
 * clocks two steps ago, becomes those of now. */
static int skip(const struct dist__schedule *schedule, int place,
		bool backwards, struct clocks *clocks, double *past_ns)
{
	int steps = schedule->num_steps, pairs;
	int first = backwards ? steps - schedule->steady_end : schedule->steady;
	int end = backwards ? steps - schedule->steady : schedule->steady_end;
	double least_ns = INFINITY, most_ns = 0;

	if (place % 2 == 0 || place < first || place >= end - 2)
		return 0;
	for (int rank = 0; rank < schedule->world_size; rank++) {
		double took_ns = clocks->before_ns[rank] - past_ns[rank];

		least_ns = took_ns < least_ns ? took_ns : least_ns;
		set_later(&most_ns, took_ns);
		past_ns[rank] = clocks->before_ns[rank];
	}
	if (most_ns - least_ns > 1e-4 * most_ns || place < first + 2)
		return 0;
	pairs = (end - 1 - place) / 2;
	for (int rank = 0; rank < schedule->world_size; rank++) {
		clocks->before_ns[rank] += pairs * most_ns;
		clocks->after_ns[rank] = clocks->before_ns[rank];
	}
	return 2 * pairs;
}

double dist__schedule_cost_ns(const struct dist__cost *cost,
			      const struct dist__schedule *schedule,
			      size_t element_bytes, bool backwards)
{
	size_t p = (size_t)schedule->world_size;
	double *memory = calloc(4 * p, sizeof *memory), end_ns = 0;
	struct clocks clocks = {memory, memory + p, memory + 2 * p};

	if (!memory)
		return INFINITY;
	for (int i = 0; i < schedule->num_steps; i++) {
		time_step(cost, schedule, i, backwards, element_bytes, &clocks);
		if (p * (size_t)schedule->num_steps > MANY)
			i += skip(schedule, i, backwards, &clocks,
				  memory + 3 * p);
	}
	for (size_t rank = 0; rank < p; rank++)
		set_later(&end_ns, clocks.after_ns[rank]);
	free(memory);
	return end_ns;
}
