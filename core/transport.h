/*
 * transport.h - what coll/ needs of a world: point-to-point messages, a clock,
 * and lanes to run collectives on while the rank computes.
 *
 * One transport a rank; shared by all groups of the rank. Implemented by sim/
 * and realbackend/wire/. Called from the rank's own thread (or actor) and from
 * its lanes; an implementation guards itself. A slot exists only because core
 * or coll calls it.
 */
#ifndef LOCKSTEP_CORE_TRANSPORT_H
#define LOCKSTEP_CORE_TRANSPORT_H

#include "core/op.h"
#include "core/simulation.h"

/* What matches a send with a receive, and what travels. */
struct dist__message {
	int peer; /* the other end, as global rank; DIST_ANY_SOURCE: irecv only,
		   * and only with a tag of 0 or more */
	uint32_t group;       /* id of the group */
	int tag;              /* p2p: the user's tag, >= 0; collective: -1 */
	uint32_t seq;         /* collective: op->seq; p2p: 0 */
	uint32_t step;        /* collective: step in the algorithm; p2p: 0 */
	uint64_t fingerprint; /* compared at the match */
	void *data;           /* NULL: phantom, or bytes == 0 */
	size_t bytes;

	/* irecv, where ops->combines: what comes is combined with the elements
	 * at mine, as many, before it lies in data: data = mine op come where
	 * mine is data itself, else data = come op mine. NULL: nothing is. */
	const void *mine;
	enum dist_dtype dtype;
	enum dist_reduce_op reduce_op;

	/* From any source: who is in the group, borrowed until the request is
	 * consumed, and where the sender's global rank is stored at the match,
	 * whether the two agree or not. */
	const struct dist__members *members;
	int *source;

	/* The collective that it is of, borrowed by isend and irecv for their
	 * call; NULL: the program's own. */
	const struct dist__op *op;

	bool gives_up; /* who waits for it goes on once its deadline is over:
			  as long as it waits, there is no deadlock */
	bool idles; /* irecv from any source: it may come at any time or never,
		       and of several that it fits any may take it; who
		       waits for it is in nobody's way */
	bool buffered; /* in any world: isend of it ends before its receive is
			  posted */
};

/* A message in flight. Owned by the transport; wait() consumes it. */
struct dist__request;

/* A FIFO of jobs that run one after the other beside the rank's own thread. */
struct dist__lane;

/* Something that happens once, and where threads or actors of a rank wait for
 * it. */
struct dist__event;

struct dist__transport {
	const struct dist__transport_ops *ops;
	/* Ranks of one node talk through memory that they share, where the
	 * system lets them; the same on every rank. */
	bool shares_memory;
	/* The rank's own thread alone calls it, so far: it can do without a
	 * lock, and counts the calls that received a message or waited. */
	bool single;
	uint64_t waits;
};

/* dist__transport_share notes that other threads will call t: before the first
 * of them does, the program's, a lane's or one of its own. */
static inline void dist__transport_share(struct dist__transport *t)
{
	if (t->single)
		t->single = false;
}

/* Called by core and coll. */
struct dist__lane_ops {
	/* Makes a lane; the thread or actor may start later. Any thread.
	 * Errors: NO_MEMORY, IO. */
	enum dist_error (*create)(struct dist__transport *t,
				  struct dist__lane **lane);

	/* Queues job, which runs after those queued before. Any thread, one at
	 * a time. Errors: NO_MEMORY, IO; then job will not run. */
	enum dist_error (*submit)(struct dist__lane *lane,
				  struct dist__job *job);

	/*
	 * Blocks until op, which a job of this lane finishes, is done
	 * (dist__op_is_done) or the clock passes deadline_ns. Rank's thread.
	 * With DIST_TIMEOUT_NEVER it returns only once op is done.
	 * Errors: TIMEOUT, DEADLOCK (sim). Not the op's own error.
	 */
	enum dist_error (*wait)(struct dist__lane *lane, struct dist__op *op,
				int64_t deadline_ns);

	/* Wakes a wait() after its op was finished. From a job, after
	 * dist__op_finish(). Must not touch the op. */
	void (*notify)(struct dist__lane *lane);

	/* Returns the lane whose job calls; NULL: none does. */
	struct dist__lane *(*here)(struct dist__transport *t);

	/* Waits for all queued jobs, then frees. Rank's thread. NULL allowed.
	 */
	void (*free)(struct dist__lane *lane);
};

/* Called by core/rpc, on any thread. */
struct dist__event_ops {
	/* Makes an event. Errors: NO_MEMORY. */
	enum dist_error (*create)(struct dist__transport *t,
				  struct dist__event **event);

	/* Blocks until event has happened or the clock passes deadline_ns. Who
	 * gives up at its deadline is in no deadlock until then. Errors:
	 * TIMEOUT; DEADLOCK, or what else ended the world (sim). */
	enum dist_error (*wait)(struct dist__event *event, int64_t deadline_ns,
				bool gives_up);

	/* event has happened: all who wait go on. */
	void (*set)(struct dist__event *event);

	/* Nobody waits any more. NULL allowed. */
	void (*free)(struct dist__event *event);
};

/* What every world has; 14 slots at most. What only one world has is an
 * interface of its own. */
struct dist__transport_ops {
	const struct dist__lane_ops *lanes;
	const struct dist__event_ops *events;          /* NULL: it has none */
	const struct dist__simulation_ops *simulation; /* NULL: time is real */

	/* Messages are combined on receipt; else the receiver does it. */
	bool combines;

	/*
	 * Posts a send. Caller: coll, any thread. m->data stays untouched until
	 * wait() or a true test(); *m itself may go at once. Never blocks for
	 * the peer. Messages of one (peer, group, tag, seq, step) match in the
	 * order posted; different steps may be matched in any order. When a
	 * send of tag >= 0 is complete is as dist.h says of the world.
	 * Errors: PEER_LOST, ABORTED, NO_MEMORY, IO. On error no request.
	 */
	enum dist_error (*isend)(struct dist__transport *t,
				 const struct dist__message *m,
				 struct dist__request **request);

	/*
	 * Posts a receive of exactly m->bytes into m->data. As isend. From any
	 * source it matches as dist.h says of DIST_ANY_SOURCE.
	 */
	enum dist_error (*irecv)(struct dist__transport *t,
				 const struct dist__message *m,
				 struct dist__request **request);

	/*
	 * Blocks until request is complete or the clock passes deadline_ns,
	 * and consumes the request either way: after an error the transport no
	 * longer touches its memory. Caller: coll, any thread.
	 * Errors: TIMEOUT; MISMATCH (fingerprint or size differ); PEER_LOST;
	 * DEADLOCK (sim); ABORTED; IO.
	 */
	enum dist_error (*wait)(struct dist__transport *t,
				struct dist__request *request,
				int64_t deadline_ns);

	/*
	 * Receives num_in messages and sends num_out, and blocks until all are
	 * complete: irecv or isend and a wait for each, at the price of one
	 * call. in and out are NULL where there are none, and may go when it
	 * returns. The clock past deadline_ns, or one failed, the others have
	 * until now. Errors: of all three, the receives' first; NO_MEMORY.
	 * Caller: coll, any thread. NULL: what waits costs more, coll makes
	 * the calls.
	 */
	enum dist_error (*exchange)(struct dist__transport *t,
				    const struct dist__message *in, int num_in,
				    const struct dist__message *out,
				    int num_out, int64_t deadline_ns);

	/*
	 * Returns whether wait() would return at once. Does not consume. Makes
	 * progress. A NULL request is one that is never complete: a look at a
	 * lane. Any thread.
	 */
	bool (*test)(struct dist__transport *t, struct dist__request *request);

	/* The rank's clock. Any thread. Cannot fail. */
	int64_t (*now_ns)(struct dist__transport *t);

	/* Lets duration_ns pass on the rank's device. Rank's thread. */
	enum dist_error (*compute)(struct dist__transport *t,
				   int64_t duration_ns);

	/*
	 * Fails all requests of group, now and later, with ABORTED, and lets
	 * the peers know that this rank is out of it. Any thread. Idempotent.
	 */
	void (*abort)(struct dist__transport *t, uint32_t group);

	/* What the system below said when something failed, "" if nothing.
	 * Any thread. NULL: it never says anything. */
	const char *(*failure_text)(struct dist__transport *t);

	/* Says goodbye, frees the transport. Rank's thread; no lane left.
	 * MISMATCH: messages of collectives had come that the rank never took,
	 * and their sender had not given up. */
	enum dist_error (*free)(struct dist__transport *t);
};

#endif
