/*
 * stream.h - the communication of a data-parallel step: gradients become ready
 * one after the other during backward, and are averaged one all-reduce at a
 * time, grouped by a schedule. The caller gives the time of each all-reduce.
 */
#ifndef LOCKSTEP_MODEL_TRAINING_STREAM_H
#define LOCKSTEP_MODEL_TRAINING_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Schedules, with the names of docs/measured.md. */
enum stream_schedule {
	STREAM_LOCAL,      /* nothing is averaged */
	STREAM_ONE,        /* one_all_reduce: all of them, after backward */
	STREAM_PER_TENSOR, /* all_reduce_per_tensor */
	STREAM_BUCKETED,   /* as DDP does */
	STREAM_FUSED,      /* as Horovod does */
	STREAM_MERGED,     /* merged_by_plan, as MG-WFBP does */
	STREAM_SCHEDULES   /* their number; also: unknown */
};

struct stream_gradient {
	double ready_ns; /* not before that of the previous gradient */
	size_t bytes;
};

struct stream {
	const struct stream_gradient *gradients; /* borrowed */
	size_t num;

	/* Returns the time of an all-reduce; arg is cost_arg. */
	double (*cost_ns)(const void *arg, size_t bytes);
	const void *cost_arg;

	double first_bytes, rest_bytes; /* BUCKETED: sizes that close one */
};

/* stream_schedule_of returns the schedule called name; STREAM_SCHEDULES: not
 * modelled. */
enum stream_schedule stream_schedule_of(const char *name);

/* stream_schedule_name returns its name. */
const char *stream_schedule_name(enum stream_schedule schedule);

/* stream_overlaps returns whether the schedule averages during backward. */
bool stream_overlaps(enum stream_schedule schedule);

/* stream_num_buckets returns the number of buckets of BUCKETED. */
size_t stream_num_buckets(const struct stream *stream);

/* stream_end_ns returns the end of the last all-reduce; 0: there is none. */
double stream_end_ns(const struct stream *stream,
		     enum stream_schedule schedule);

#endif
