/*
 * op.h - one operation, as core describes it to a back end.
 *
 * core/dist.c builds the descriptor, core/submit.c validates it once; all code
 * below may rely on every field (and assert, not check).
 */
#ifndef LOCKSTEP_CORE_OP_H
#define LOCKSTEP_CORE_OP_H

#include <stdatomic.h>

#include "core/parts.h"
#include "lockstep/dist.h"

struct dist__algorithm;
struct dist__buffer_check;

enum dist__op_kind {
	DIST__ALL_REDUCE,
	DIST__REDUCE,
	DIST__BROADCAST,
	DIST__BARRIER,
	DIST__MONITORED_BARRIER,
	DIST__ALL_GATHER,
	DIST__REDUCE_SCATTER,
	DIST__ALL_TO_ALL,
	DIST__GATHER,
	DIST__SCATTER,
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

static inline bool dist__op_reduces(enum dist__op_kind kind)
{
	return kind == DIST__ALL_REDUCE || kind == DIST__REDUCE ||
	       kind == DIST__REDUCE_SCATTER;
}

/* Several tensors in one operation, of one dtype. The lists are the caller's,
 * borrowed until the op is done. */
enum dist__bundle_kind {
	DIST__NO_BUNDLE,
	DIST__COALESCED, /* as many operations, done as one */
	DIST__DEVICES    /* one tensor for each device of each rank */
};

struct dist__bundle {
	enum dist__bundle_kind kind;
	int chosen; /* DEVICES: the root's device */
	size_t num; /* tensors, or devices of the rank */
	/* Inputs; of all_reduce, reduce and broadcast also the outputs. Of a
	 * reduce_scatter over devices: in_lists. */
	const struct dist_tensor *in;
	/* Outputs of all_gather and reduce_scatter; of an all_gather over
	 * devices: out_lists. */
	const struct dist_tensor *out;
	/* For each device a list with a tensor for each device of each rank. */
	const struct dist_tensor *const *in_lists;
	const struct dist_tensor *const *out_lists;
};

/* What an operation has besides one tensor. Most operations have none of it,
 * and a rank may have many in flight, so it is stored separately. */
struct dist__sides {
	/* Inputs or outputs with a part for each rank. in: reduce_scatter,
	 * all_to_all and, on the root, scatter. out: all_gather, all_to_all
	 * and, on the root, gather. */
	struct dist__parts in;
	struct dist__parts out;
	/* If it has a kind, tensor and parts give only length and dtype; the
	 * data is in the bundle's tensors. */
	struct dist__bundle bundle;
};

struct dist__site {
	const char *file; /* NULL: not known */
	int line;
};

/* A call of the API that runs a collective of another name, and what all ranks
 * must agree about in it besides. */
struct dist__purpose {
	const char *name; /* of the call; static */
	uint64_t terms;   /* hash of what the ranks must agree about */
	char text[48];    /* the same as text, cut short */
};

/* One job of a lane; owned by the caller, must outlive its run. */
struct dist__job {
	void (*run)(void *arg);
	void *arg;
	/* The job joins a flow: run() does not block, any thread may call it,
	 * and the job is done only at lane_over(). */
	bool is_flow;
	struct dist__job *next; /* the lane's */
};

/*
 * Lives on the caller's stack for a blocking call, inside a dist_work
 * otherwise. Fields up to call are set by core and constant from submit
 * on; those below are set by the back end, once, before it marks the op done.
 */
struct dist__op {
	enum dist__op_kind kind;
	enum dist_reduce_op reduce_op;
	const struct dist__purpose *purpose; /* borrowed; NULL: itself */
	union {
		double factor; /* PREMUL_SUM: multiplies this rank's input */
		/* MONITORED_BARRIER: the caller's flags, by rank: set for the
		 * first rank that did not come, with wait_all for all such
		 * ranks. */
		bool *missing;
	};
	/* The input of all_gather and gather, the output of reduce_scatter and
	 * scatter, which have no parts. Of all_to_all only dtype. */
	struct dist_tensor tensor;
	/* Lives as long as the op. Never NULL from ALL_GATHER to SCATTER; else
	 * NULL if there is none: use dist__op_sides(). */
	struct dist__sides *sides;
	bool wait_all;
	bool untimed; /* takes no simulated time, for measurements */
	bool phantom; /* its tensors have elements but no data */
	bool lone;    /* the rank blocks in it and has no other thread */
	int peer; /* root, src or dst as group rank; -1: none, or any source */
	int tag;  /* point to point; collectives: -1 */
	uint32_t seq;         /* collectives: index in the group; p2p: 0 */
	uint64_t fingerprint; /* equal on all ranks that agree */
	struct dist__site site, from;
	int64_t issued_ns;
	/* On the rank's clock, or DIST_TIMEOUT_NEVER. Before submission: the
	 * time from the call on; 0: the group's timeout. */
	int64_t deadline_ns;
	struct dist__buffer_check *watch; /* core's; NULL: none */
	uint32_t call;                    /* number in the rank's records */
	uint32_t index; /* there: of it, in its group or kind */

	int source; /* receives: sender of the message, as group rank; or -1 */
	/* NULL: a library's. Before the back end sets it: the algorithm of an
	 * earlier call like this one, or NULL. */
	const struct dist__algorithm *algorithm;
	const char *link;   /* the shared link that slowed it down; static;
			     * NULL: none, or not known */
	int64_t started_ns; /* the back end began it */
	int64_t ended_ns;
	enum dist_error error;
	atomic_bool done;     /* set last, with release order */
	void *private;        /* the back end's */
	struct dist__job job; /* the back end's, for a collective on a lane */

	/* Called once by dist__op_finish(), on the thread or actor that ends
	 * the op; the trace recorder uses it. NULL: nothing is called. */
	void (*on_end)(struct dist__op *op, void *arg);
	void *on_end_arg;
};

/* dist__op_called returns the name of the API call that made op. */
static inline const char *dist__op_called(const struct dist__op *op)
{
	return op->purpose ? op->purpose->name : dist__op_name(op->kind);
}

/* dist__no_sides has no parts and no bundle. */
extern const struct dist__sides dist__no_sides;

/* dist__op_sides returns the sides of op, dist__no_sides if it has none. */
static inline const struct dist__sides *
dist__op_sides(const struct dist__op *op)
{
	return op->sides ? op->sides : &dist__no_sides;
}

/* dist__op_numel returns the elements of op's tensor, or of the parts of all
 * world_size ranks together. The same on every rank, except for all_to_all: the
 * elements that the rank sends. */
size_t dist__op_numel(const struct dist__op *op, int world_size);

/* dist__op_is_any returns whether op receives from any source. */
static inline bool dist__op_is_any(const struct dist__op *op)
{
	return op->kind == DIST__RECV && op->peer == DIST_ANY_SOURCE;
}

/* dist__op_timeout_ns returns the timeout of op, which was submitted. */
static inline int64_t dist__op_timeout_ns(const struct dist__op *op)
{
	return op->deadline_ns == DIST_TIMEOUT_NEVER
		       ? DIST_TIMEOUT_NEVER
		       : op->deadline_ns - op->issued_ns;
}

static inline bool dist__op_is_done(struct dist__op *op)
{
	return atomic_load_explicit(&op->done, memory_order_acquire);
}

/* dist__op_begin is called by the back end when a collective begins: the
 * earlier ones of its group are done. On any thread or actor. */
void dist__op_begin(struct dist__op *op);

/* dist__op_finish sets error and ended_ns, calls on_end, marks op done. */
void dist__op_finish(struct dist__op *op, enum dist_error error,
		     int64_t now_ns);

#endif
