#include "coll/schedule.h"

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

/* The move of rank at a place in the row, in the direction of the run. */
static struct dist__move move_at(const struct dist__schedule *schedule,
				 int rank, int place, bool backwards)
{
	int step = backwards ? schedule->num_steps - 1 - place : place;
	struct dist__move move = schedule->move(schedule, rank, step);

	if (!backwards)
		return move;
	return (struct dist__move){.to = move.from,
				   .from = move.to,
				   .out = move.in,
				   .in = move.out};
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

/* Passes the messages of one move; in is where the one that comes goes. */
static enum dist_error pass(const struct dist__coll *coll, uint32_t step,
			    const struct dist__move *move, struct dist__span in)
{
	struct dist__span out = span_of(coll, &move->out);

	if (move->to < 0)
		return dist__recv(coll, step, move->from, in);
	if (move->from < 0)
		return dist__send(coll, step, move->to, out);
	return dist__exchange(coll, step, move->to, out, move->from, in);
}

enum dist_error dist__schedule_run(const struct dist__coll *coll,
				   const struct dist__schedule *schedule,
				   uint32_t first_step, bool backwards)
{
	size_t size = dist_dtype_size(coll->op->tensor.dtype);
	void *scratch = NULL;
	enum dist_error error = DIST_OK;

	if (backwards && schedule->num_steps > 0)
		error = dist__scratch_new(coll, schedule->longest * size,
					  &scratch);
	for (int i = 0; i < schedule->num_steps && !error; i++) {
		struct dist__move move =
			move_at(schedule, coll->rank, i, backwards);
		struct dist__span here = span_of(coll, &move.in), in = here;

		if (move.to < 0 && move.from < 0)
			continue;
		if (backwards)
			in.data = scratch;
		error = pass(coll, first_step + (uint32_t)i, &move, in);
		if (!error && backwards && move.from >= 0)
			dist__combine(coll, here, in);
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

/* Lets one step pass on all ranks: a message starts when its sender has issued
 * it and its receiver waits for it, which is when their steps before ended. */
static void time_step(const struct dist__cost *cost,
		      const struct dist__schedule *schedule, int place,
		      bool backwards, size_t element_bytes,
		      const double *before_ns, double *after_ns)
{
	for (int rank = 0; rank < schedule->world_size; rank++) {
		struct dist__move move =
			move_at(schedule, rank, place, backwards);
		double bytes = (double)(move.out.numel * element_bytes);
		double time_ns = before_ns[rank] + cost->overhead_ns;

		if (move.to < 0)
			continue;
		set_later(&time_ns, before_ns[move.to]);
		time_ns += cost->alpha_ns + bytes * cost->beta_ns_per_byte;
		set_later(&after_ns[rank], time_ns);
		set_later(&after_ns[move.to], time_ns);
	}
	for (int rank = 0; rank < schedule->world_size && backwards; rank++) {
		struct dist__move move =
			move_at(schedule, rank, place, backwards);

		if (move.from >= 0)
			after_ns[rank] += dist__cost_reduce(
				cost, (double)(move.in.numel * element_bytes));
	}
}

double dist__schedule_cost_ns(const struct dist__cost *cost,
			      const struct dist__schedule *schedule,
			      size_t element_bytes, bool backwards)
{
	size_t p = (size_t)schedule->world_size;
	double *before_ns = calloc(2 * p, sizeof *before_ns);
	double *after_ns = before_ns + p, end_ns = 0;

	if (!before_ns)
		return INFINITY;
	for (int i = 0; i < schedule->num_steps; i++) {
		time_step(cost, schedule, i, backwards, element_bytes,
			  before_ns, after_ns);
		for (size_t rank = 0; rank < p; rank++)
			before_ns[rank] = after_ns[rank];
	}
	for (size_t rank = 0; rank < p; rank++)
		set_later(&end_ns, after_ns[rank]);
	free(before_ns);
	return end_ns;
}
