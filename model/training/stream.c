#include "model/training/stream.h"

#include <math.h>
#include <string.h>

/*
 * Horovod's defaults of 2018 to 2020 (github.com/horovod/horovod,
 * horovod/common/operations.cc): what is ready is looked at every cycle, and
 * travels together up to a threshold.
 */
#define FUSED_CYCLE_NS 5e6
#define FUSED_BYTES    (64.0 * 1024 * 1024)

/* Answers how many gradients, the first of them at index i, travel together on
 * a stream that is free from free_ns on. *start_ns: the earliest start. */
typedef size_t group_function(const struct stream *stream, size_t i,
			      double free_ns, double *start_ns);

static double ready_ns(const struct stream *stream, size_t i)
{
	return stream->gradients[i].ready_ns;
}

static size_t group_all(const struct stream *stream, size_t i, double free_ns,
			double *start_ns)
{
	*start_ns = fmax(free_ns, ready_ns(stream, stream->num - 1));
	return stream->num - i;
}

static size_t group_one(const struct stream *stream, size_t i, double free_ns,
			double *start_ns)
{
	*start_ns = fmax(free_ns, ready_ns(stream, i));
	return 1;
}

/* A bucket closes at or above its size: the rule of ddp/bucket.h. */
static size_t group_bucket(const struct stream *stream, size_t i,
			   double free_ns, double *start_ns)
{
	double limit = i == 0 ? stream->first_bytes : stream->rest_bytes;
	double bytes = 0;
	size_t num = 0;

	while (i + num < stream->num && bytes < limit)
		bytes += (double)stream->gradients[i + num++].bytes;
	*start_ns = fmax(free_ns, ready_ns(stream, i + num - 1));
	return num;
}

static size_t group_fused(const struct stream *stream, size_t i, double free_ns,
			  double *start_ns)
{
	double first_ns = fmax(free_ns, ready_ns(stream, i));
	double bytes = (double)stream->gradients[i].bytes;
	size_t num = 1;

	*start_ns = ceil(first_ns / FUSED_CYCLE_NS) * FUSED_CYCLE_NS;
	for (; i + num < stream->num; num++) {
		bytes += (double)stream->gradients[i + num].bytes;
		if (bytes > FUSED_BYTES ||
		    ready_ns(stream, i + num) > *start_ns)
			break;
	}
	return num;
}

/*
 * The next gradient is waited for where that costs less than the start of an
 * all-reduce of its own: S. Shi, X. Chu, B. Li, "MG-WFBP: Efficient Data
 * Communication for Distributed Synchronous SGD Algorithms" (2019), theorem 1.
 */
static size_t group_merged(const struct stream *stream, size_t i,
			   double free_ns, double *start_ns)
{
	double startup_ns = stream->cost_ns(stream->cost_arg, sizeof(float));
	size_t num = 1;

	*start_ns = fmax(free_ns, ready_ns(stream, i));
	for (; i + num < stream->num; num++) {
		double next_ns = ready_ns(stream, i + num);

		if (next_ns >= *start_ns + startup_ns)
			break;
		*start_ns = fmax(*start_ns, next_ns);
	}
	return num;
}

static const struct {
	const char *name;
	group_function *group;
	bool overlaps;
} schedules[STREAM_SCHEDULES] = {
	[STREAM_LOCAL] = {"local", NULL, false},
	[STREAM_ONE] = {"one_all_reduce", group_all, false},
	[STREAM_PER_TENSOR] = {"all_reduce_per_tensor", group_one, true},
	[STREAM_BUCKETED] = {"bucketed", group_bucket, true},
	[STREAM_FUSED] = {"fused", group_fused, true},
	[STREAM_MERGED] = {"merged_by_plan", group_merged, true},
};

enum stream_schedule stream_schedule_of(const char *name)
{
	int i = 0;

	while (i < STREAM_SCHEDULES && strcmp(schedules[i].name, name) != 0)
		i++;
	return (enum stream_schedule)i;
}

const char *stream_schedule_name(enum stream_schedule schedule)
{
	return schedules[schedule].name;
}

bool stream_overlaps(enum stream_schedule schedule)
{
	return schedules[schedule].overlaps;
}

size_t stream_num_buckets(const struct stream *stream)
{
	size_t num = 0;
	double start_ns;

	for (size_t i = 0; i < stream->num; num++)
		i += group_bucket(stream, i, 0, &start_ns);
	return num;
}

double stream_end_ns(const struct stream *stream, enum stream_schedule schedule)
{
	double free_ns = 0;

	if (!schedules[schedule].group)
		return 0;
	for (size_t i = 0; i < stream->num;) {
		double start_ns;
		size_t num = schedules[schedule].group(stream, i, free_ns,
						       &start_ns);
		size_t bytes = 0;

		for (; num > 0; num--)
			bytes += stream->gradients[i++].bytes;
		free_ns = start_ns + stream->cost_ns(stream->cost_arg, bytes);
	}
	return free_ns;
}
