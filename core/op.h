/*
 * op.h - one operation, as core describes it to a back end.
 *
 * core/dist.c validates once and builds the descriptor; everything below it
 * may trust every field (and assert, not check).
 */
#ifndef LOCKSTEP_CORE_OP_H
#define LOCKSTEP_CORE_OP_H

#include <stdatomic.h>

#include "lockstep/dist.h"

struct dist__algorithm;

enum dist__op_kind {
	DIST__ALL_REDUCE,
	DIST__REDUCE,
	DIST__BROADCAST,
	DIST__BARRIER,
	DIST__SEND,
	DIST__RECV,
	DIST__OP_KINDS
};

/* dist__op_name returns "all_reduce" and so on. */
const char *dist__op_name(enum dist__op_kind kind);

/* dist__op_from_name returns the kind named name, DIST__OP_KINDS if none. */
enum dist__op_kind dist__op_from_name(const char *name);

static inline bool dist__op_is_p2p(enum dist__op_kind kind)
{
	return kind == DIST__SEND || kind == DIST__RECV;
}

struct dist__site {
	const char *file; /* NULL: not known */
	int line;
};

/*
 * Lives on the caller's stack for a blocking call, inside a dist_work
 * otherwise. Fields up to timeout_ns are set by core and constant from submit
 * on; those below are set by the back end, once, before it marks the op done.
 */
struct dist__op {
	enum dist__op_kind kind;
	enum dist_reduce_op reduce_op;
	struct dist_tensor tensor;
	int peer;             /* root, src or dst as group rank; -1: none */
	int tag;              /* point to point; -1 for collectives */
	uint32_t seq;         /* collectives: index in the group; p2p: 0 */
	uint64_t fingerprint; /* equal on every rank that agrees */
	struct dist__site site;
	int64_t issued_ns;
	int64_t deadline_ns; /* on the rank's clock; DIST_TIMEOUT_NEVER */
	uint32_t call;       /* number of the call in the rank's records */

	const struct dist__algorithm *algorithm; /* NULL: not one of ours */
	int64_t started_ns;                      /* the back end began it */
	int64_t ended_ns;
	enum dist_error error;
	atomic_bool done; /* set last, with release order */
	void *private;    /* the back end's */

	/* Called once by dist__op_finish(), on whatever thread or actor ended
	 * the op; how the trace recorder hears of it. NULL: nobody asks. */
	void (*on_end)(struct dist__op *op, void *arg);
	void *on_end_arg;
};

static inline bool dist__op_is_done(struct dist__op *op)
{
	return atomic_load_explicit(&op->done, memory_order_acquire);
}

/* dist__op_finish sets error and ended_ns, calls on_end, marks op done. */
void dist__op_finish(struct dist__op *op, enum dist_error error,
		     int64_t now_ns);

#endif
