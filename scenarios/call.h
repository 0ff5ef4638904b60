/*
 * call.h - a collective of a workload: made, waited for, and its contents held
 * against those of pattern.h.
 */
#ifndef LOCKSTEP_SCENARIOS_CALL_H
#define LOCKSTEP_SCENARIOS_CALL_H

#include "model/llm/work.h"
#include "scenarios/training.h"

/*
 * All-reduce: in is out. All-gather: out is the whole, in this rank's part;
 * reduce-scatter the reverse. All-to-all: both have a part for each rank. Send:
 * in goes to the next rank of the group, out comes from the previous one,
 * rounds times.
 */
struct call {
	enum dist__op_kind op;
	enum dist_reduce_op reduce;
	struct lane *lane; /* NULL: a group of one rank; nothing is called */
	struct dist_tensor in, out;
	const size_t *in_parts, *out_parts; /* of an all-to-all; borrowed */
	int shift;         /* of its contents, which differs between calls */
	const char *label; /* its purpose, and a number; NULL: none; borrowed */
	size_t number;
	bool is_kept;                     /* by call_keep() */
	int rounds;                       /* of a send: rounds left of a ring */
	struct pending pending, received; /* received: of a send */
};

/* call_begin makes the call; call_finish waits for it, if it was made, and adds
 * the number of wrong elements to t->wrong; call_make does both. Errors: those
 * of the operation. */
DIST_MUST_CHECK enum dist_error call_begin(struct training *t,
					   struct call *call);
DIST_MUST_CHECK enum dist_error call_finish(struct training *t,
					    struct call *call);
DIST_MUST_CHECK enum dist_error call_make(struct training *t,
					  struct call *call);

/* call_round waits for one round of a ring and begins the next, if there is
 * one. Errors: those of the messages. */
DIST_MUST_CHECK enum dist_error call_round(struct training *t,
					   struct call *call);

/* call_in_flight returns whether the call was made and not waited for. */
bool call_in_flight(const struct call *call);

/* call_release frees what is in flight after an error. */
void call_release(struct call *call);

/* call_keep has the training fill the call before each step, outside its time,
 * check it behind, and release it. The call stays where it is. Errors:
 * NO_MEMORY. */
DIST_MUST_CHECK enum dist_error call_keep(struct training *t,
					  struct call *call);

/* calls_fill and calls_count_wrong do that for the calls that were kept. */
void calls_fill(const struct training *t);
double calls_count_wrong(const struct training *t);

/* call_part returns part r of tensor, of `parts`. */
struct dist_tensor call_part(struct dist_tensor tensor, int r, int parts);

#endif
