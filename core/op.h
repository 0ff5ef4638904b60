/*
 * op.h - one operation, as core describes it to a back end.
 *
 * core/dist.c builds the descriptor, core/submit.c validates it once;
 * everything below it may trust every field (and assert, not check).
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
	DIST__DEVICES    /* each rank has so many devices, a tensor each */
};

struct dist__bundle {
	enum dist__bundle_kind kind;
	int chosen; /* DEVICES: the root's device */
	size_t num; /* tensors, or devices of the rank */
	/* What goes in; of all_reduce, reduce and broadcast what comes out
	 * too. Of a reduce_scatter over devices: in_lists. */
	const struct dist_tensor *in;
	/* Of all_gather and reduce_scatter what comes out; of an all_gather
	 * over devices: out_lists. */
	const struct dist_tensor *out;
	/* A list for each device, of a tensor for each device of each rank. */
	const struct dist_tensor *const *in_lists;
	const struct dist_tensor *const *out_lists;
};

/* What an operation has besides one tensor. Most have nothing: a rank may have
 * many of those in flight, so they do not make room for it. */
struct dist__sides {
	/* What the rank has a part for each rank of: the input of
	 * reduce_scatter, all_to_all and, on the root, scatter; the output of
	 * all_gather, all_to_all and, on the root, gather. */
	struct dist__parts in;
	struct dist__parts out;
	/* When it has a kind, tensor and parts say how much there is and of
	 * which dtype; the data is in the bundle's tensors. */
	struct dist__bundle bundle;
};

struct dist__site {
	const char *file; /* NULL: not known */
	int line;
};

/* A call of the API that is made of a collective of another name, and what all
 * ranks must agree about in it besides. */
struct dist__purpose {
	const char *name; /* of the call; lives for ever */
	uint64_t terms;   /* a hash of what must be agreed about */
	char text[48];    /* the same for a reader, cut short */
};

/* One job of a lane; owned by the caller, must outlive its run. */
struct dist__job {
	void (*run)(void *arg);
	void *arg;
	/* Of a job that joins a flow: run() does not block, anybody may call
	 * it, and the job is not done before lane_over(). */
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
		double factor; /* PREMUL_SUM: times what this rank puts in */
		/* MONITORED_BARRIER: a flag for each rank, the caller's, that
		 * is set for those that did not come; with wait_all not only
		 * for the first. */
		bool *missing;
	};
	/* What the rank has one of: the input of all_gather and gather, the
	 * output of reduce_scatter and scatter. Of all_to_all only dtype. */
	struct dist_tensor tensor;
	/* Lives as long as the op; NULL: nothing of the kind. Never NULL from
	 * ALL_GATHER to SCATTER; of other kinds ask dist__op_sides(). */
	struct dist__sides *sides;
	bool wait_all;
	bool untimed; /* for the measurement: takes no simulated time */
	bool phantom; /* there are elements, and no bytes of them */
	bool lone;    /* the rank waits in it, and has no other thread */
	int peer; /* root, src or dst as group rank; -1: none, or any source */
	int tag;  /* point to point; -1 for collectives */
	uint32_t seq;         /* collectives: index in the group; p2p: 0 */
	uint64_t fingerprint; /* equal on every rank that agrees */
	struct dist__site site, from;
	int64_t issued_ns;
	/* On the rank's clock; DIST_TIMEOUT_NEVER. Of a request, that is not
	 * yet submitted: from the call on; 0: the group's. */
	int64_t deadline_ns;
	struct dist__buffer_check *watch; /* core's; NULL: none */
	uint32_t call;                    /* its number in the rank's records */

	int source; /* receives: whose message, as group rank; or -1 */
	/* NULL: not one of ours. Before the back end has it: that of a call
	 * like it, or NULL. */
	const struct dist__algorithm *algorithm;
	const char *link;   /* that made it take longer than links of its own
			     * would, lives for ever; NULL: none, or not known */
	int64_t started_ns; /* the back end began it */
	int64_t ended_ns;
	enum dist_error error;
	atomic_bool done;     /* set last, with release order */
	void *private;        /* the back end's */
	struct dist__job job; /* the same, of a collective that is on a lane */

	/* Called once by dist__op_finish(), on whatever thread or actor ended
	 * the op; how the trace recorder hears of it. NULL: nobody asks. */
	void (*on_end)(struct dist__op *op, void *arg);
	void *on_end_arg;
};

/* dist__op_called returns the name of the call that op was made by. */
static inline const char *dist__op_called(const struct dist__op *op)
{
	return op->purpose ? op->purpose->name : dist__op_name(op->kind);
}

/* dist__no_sides are those of an op that has none. */
extern const struct dist__sides dist__no_sides;

/* dist__op_sides returns what op has besides its tensor, of any kind. */
static inline const struct dist__sides *
dist__op_sides(const struct dist__op *op)
{
	return op->sides ? op->sides : &dist__no_sides;
}

/* dist__op_numel returns the elements that op is about: of its tensor, or of
 * the parts of all world_size ranks together. The same on every rank, but for
 * all_to_all, where it is what the rank sends. */
size_t dist__op_numel(const struct dist__op *op, int world_size);

/* dist__op_is_any returns whether op receives from any source. */
static inline bool dist__op_is_any(const struct dist__op *op)
{
	return op->kind == DIST__RECV && op->peer == DIST_ANY_SOURCE;
}

/* dist__op_timeout_ns returns how long op, which was submitted, may take. */
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

/* dist__op_begin is how the back end says that a collective begins: those of
 * its group before it are done. On any thread or actor. */
void dist__op_begin(struct dist__op *op);

/* dist__op_finish sets error and ended_ns, calls on_end, marks op done. */
void dist__op_finish(struct dist__op *op, enum dist_error error,
		     int64_t now_ns);

#endif
