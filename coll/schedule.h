/*
 * schedule.h - a collective as a timetable: who passes which elements of the
 * vector to whom at each step. Private to coll/.
 *
 * What is pipelined keeps every rank busy with one message in and one out at a
 * time, most of them in the middle of a long row of equal steps. Written down
 * as functions of rank and step, such a row is run by one loop and timed by
 * another, and run backwards, with the messages turned round, it makes a reduce
 * of a broadcast.
 */
#ifndef LOCKSTEP_COLL_SCHEDULE_H
#define LOCKSTEP_COLL_SCHEDULE_H

#include "coll/pattern.h"

/* Elements of the vector that one message carries. */
struct dist__slice {
	size_t first;
	size_t numel;
};

/* One end of a message. */
struct dist__move {
	int peer; /* group rank at the other end; -1: there is no message */
	struct dist__slice slice;
};

struct dist__schedule {
	int world_size;
	int num_steps;
	size_t longest; /* elements of the longest message */
	/* From step `steady` on to before steady_end, each step has the
	 * messages of the one two before, of other segments; both 0: never. */
	int steady, steady_end;

	/* What goes out of rank, and what comes in, in step, from 0: both at
	 * the same time. What goes out of one must come in at the other. */
	struct dist__move (*out)(const struct dist__schedule *schedule,
				 int rank, int step);
	struct dist__move (*in)(const struct dist__schedule *schedule, int rank,
				int step);
};

/* dist__move_none is no message. */
static inline struct dist__move dist__move_none(void)
{
	return (struct dist__move){.peer = -1};
}

/*
 * dist__segments_of cuts a vector of numel elements into *count segments of
 * segment_bytes at most (0: DIST__SEGMENT_BYTES), an element being more than
 * nothing: at least `least` of them, but none empty, or one for an empty
 * vector. *count stays far below INT_MAX / 4.
 */
struct dist__chunks dist__segments_of(size_t numel, size_t element_bytes,
				      size_t segment_bytes, int least,
				      int *count);

/* dist__segment returns the elements of segment i. */
struct dist__slice dist__segment(const struct dist__chunks *segments, int i);

/*
 * dist__schedule_run runs this rank's part on the op's tensor, its messages
 * numbered from first_step; backwards: from the last step to the first, with
 * out and in exchanged, and all that comes in reduced. Scratch memory: one
 * segment, where anything is reduced. Errors: those of the transport;
 * NO_MEMORY.
 */
enum dist_error dist__schedule_run(const struct dist__coll *coll,
				   const struct dist__schedule *schedule,
				   uint32_t first_step, bool backwards);

/* dist__schedule_hop returns what rank sends in the step at a place in the row
 * of a run, in its direction. */
struct dist__hop dist__schedule_hop(const struct dist__schedule *schedule,
				    size_t element_bytes, int rank, int place,
				    bool backwards);

/* dist__schedule_from returns from whom rank receives there; -1: nobody. */
int dist__schedule_from(const struct dist__schedule *schedule, int rank,
			int place, bool backwards);

/*
 * dist__schedule_cost_ns returns when the last rank ends, by the rule of
 * struct dist__cost, which it applies to every message; INFINITY if it has no
 * memory for four clocks a rank. Of many ranks and steps, the steady ones are
 * not gone through to the end once they take all ranks equally long, to 1e-4.
 */
double dist__schedule_cost_ns(const struct dist__cost *cost,
			      const struct dist__schedule *schedule,
			      size_t element_bytes, bool backwards);

#endif
