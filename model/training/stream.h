/*
 * stream.h - the communication of one data-parallel step: gradients become
 * ready one after the other while backward computes, and are averaged one
 * all-reduce at a time, grouped as a schedule says. What each all-reduce takes
 * is the caller's to know.
 */
#ifndef LOCKSTEP_MODEL_TRAINING_STREAM_H
#define LOCKSTEP_MODEL_TRAINING_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* By the names of docs/measured.md. */
enum stream_schedule {
	STREAM_LOCAL,      /* nothing is averaged */
	STREAM_ONE,        /* one_all_reduce: all of them, after backward */
	STREAM_PER_TENSOR, /* all_reduce_per_tensor */
	STREAM_BUCKETED,   /* as DDP does */
	STREAM_FUSED,      /* as Horovod does */
	STREAM_MERGED,     /* merged_by_plan, as MG-WFBP does */
	STREAM_SCHEDULES   /* how many there are: none of them */
};

struct stream_gradient {
	double ready_ns; /* never before the one in front of it */
	size_t bytes;
};

struct stream {
	const struct stream_gradient *gradients; /* borrowed */
	size_t num;

	/* What an all-reduce takes; arg is cost_arg. */
	double (*cost_ns)(const void *arg, size_t bytes);
	const void *cost_arg;

	double first_bytes, rest_bytes; /* BUCKETED: sizes that close one */
};

/* stream_schedule_of returns the schedule of that name; STREAM_SCHEDULES: it is
 * not modelled. */
enum stream_schedule stream_schedule_of(const char *name);

/* stream_schedule_name returns its name. */
const char *stream_schedule_name(enum stream_schedule schedule);

/* stream_overlaps returns whether the schedule averages during backward. */
bool stream_overlaps(enum stream_schedule schedule);

/* stream_num_buckets returns how many buckets BUCKETED makes. */
size_t stream_num_buckets(const struct stream *stream);

/* stream_end_ns returns when the last all-reduce is over; 0: there is none. */
double stream_end_ns(const struct stream *stream,
		     enum stream_schedule schedule);

#endif
