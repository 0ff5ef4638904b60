/*
 * schedule.h - a collective as a timetable: the elements of the vector that
 * each rank passes to another at each step. Private to coll/.
 *
 * A pipeline keeps every rank busy with one message in and one out at a time,
 * mostly in a long row of equal steps. As functions of rank and step, one loop
 * runs the pipeline, and another computes its time. Run backwards, with senders
 * and receivers exchanged, a broadcast becomes a reduce.
 */
#ifndef LOCKSTEP_COLL_SCHEDULE_H
#define LOCKSTEP_COLL_SCHEDULE_H

#include "coll/pattern.h"

/* The elements of the vector in one message. */
struct dist__slice {
	size_t first;
	size_t numel;
};

/* One end of a message. */
struct dist__move {
	int peer; /* group rank at the other end; -1: no message */
	struct dist__slice slice;
};

struct dist__schedule {
	int world_size;
	int num_steps;
	size_t longest; /* elements of the longest message */
	/* From step `steady` until before steady_end, each step has the
	 * messages of the one two before, of other segments; both 0: no such
	 * steps. */
	int steady, steady_end;

	/* The message that rank sends, and the one that it receives, in step,
	 * both at the same time. Each out() has a matching in(). */
	struct dist__move (*out)(const struct dist__schedule *schedule,
				 int rank, int step);
	struct dist__move (*in)(const struct dist__schedule *schedule, int rank,
				int step);
};

/* dist__move_none returns no message. */
static inline struct dist__move dist__move_none(void)
{
	return (struct dist__move){.peer = -1};
}

/*
 * dist__segments_of cuts a vector of numel elements into *count segments of at
 * most segment_bytes (0: DIST__SEGMENT_BYTES), but at least one element: at
 * least `least` segments, none empty; one for an empty vector. *count stays far
 * below INT_MAX / 4.
 */
struct dist__chunks dist__segments_of(size_t numel, size_t element_bytes,
				      size_t segment_bytes, int least,
				      int *count);

/* dist__segment returns the elements of segment i. */
struct dist__slice dist__segment(const struct dist__chunks *segments, int i);

/*
 * dist__schedule_run runs this rank's part on the op's tensor; its messages
 * have steps from first_step. backwards: from the last step to the first, with
 * out and in exchanged, and everything received reduced. Scratch memory: one
 * segment, if it reduces. Errors: those of the transport; NO_MEMORY.
 */
enum dist_error dist__schedule_run(const struct dist__coll *coll,
				   const struct dist__schedule *schedule,
				   uint32_t first_step, bool backwards);

/* dist__schedule_hop returns what rank sends in the place'th step of a run, in
 * the run's direction. */
struct dist__hop dist__schedule_hop(const struct dist__schedule *schedule,
				    size_t element_bytes, int rank, int place,
				    bool backwards);

/* dist__schedule_from returns the rank that rank receives from there; -1: none.
 */
int dist__schedule_from(const struct dist__schedule *schedule, int rank,
			int place, bool backwards);

/*
 * dist__schedule_cost_ns returns when the last rank ends, applying the rule of
 * struct dist__cost to every message; INFINITY without memory for four clocks a
 * rank. With many ranks and steps, it extrapolates the steady steps once they
 * take all ranks equally long, to 1e-4.
 */
double dist__schedule_cost_ns(const struct dist__cost *cost,
			      const struct dist__schedule *schedule,
			      size_t element_bytes, bool backwards);

#endif
