/*
 * transport.h - what coll/ needs of a world: point-to-point messages, a clock,
 * and lanes, which run collectives while the rank computes.
 *
 * A rank has one transport for all its groups. Implemented by sim/ and
 * realbackend/wire/. Called from the rank's own thread (or actor) and from its
 * lanes; an implementation does its own locking. Every slot has a caller in
 * core or coll.
 */
#ifndef LOCKSTEP_CORE_TRANSPORT_H
#define LOCKSTEP_CORE_TRANSPORT_H

#include "core/op.h"
#include "core/simulation.h"

/* A message: the fields that match a send with a receive, and the data. */
struct dist__message {
	int peer; /* the other end, as global rank; DIST_ANY_SOURCE: irecv only,
		   * with tag >= 0 */
	uint32_t group;       /* id of the group */
	int tag;              /* p2p: the user's tag, >= 0; collective: -1 */
	uint32_t seq;         /* collective: op->seq; p2p: 0 */
	uint32_t step;        /* collective: step in the algorithm; p2p: 0 */
	uint64_t fingerprint; /* compared at the match */
	void *data;           /* NULL: phantom, or bytes == 0 */
	size_t bytes;

	/* irecv, if ops->combines: data becomes the received elements combined
	 * with as many at mine: data = mine op received if mine == data, else
	 * data = received op mine. NULL: data becomes the received ones. */
	const void *mine;
	enum dist_dtype dtype;
	enum dist_reduce_op reduce_op;

	/* From any source: the members of the group, borrowed until the request
	 * is consumed, and where to store the sender's global rank at the
	 * match, also if the two sides do not agree. */
	const struct dist__members *members;
	int *source;

	/* The collective that the message belongs to, borrowed during isend or
	 * irecv; NULL: the program's own message. */
	const struct dist__op *op;

	bool gives_up; /* the rank goes on after the deadline: until then its
			  wait is no deadlock */
	bool idles;    /* irecv from any source that may never match; of several
			  such receives any may take the message; a wait for it
			  holds up no other thread */
	bool buffered; /* isend, any world: complete before its receive is
			  posted */
};

/* A message in flight. Owned by the transport; wait() frees it. */
struct dist__request;

/* A FIFO of jobs that run one after the other, beside the rank's thread. */
struct dist__lane;

/* A condition that becomes true once; threads or actors of a rank wait for it.
 */
struct dist__event;

struct dist__transport {
	const struct dist__transport_ops *ops;
	/* Ranks of a node use shared memory, if the system allows it; the same
	 * on every rank. */
	bool shares_memory;
	/* Only the rank's own thread has called it so far: it needs no lock,
	 * and counts in waits the calls that received a message or waited. */
	bool single;
	uint64_t waits;
};

/* dist__transport_share clears single. Call it before the first call by another
 * thread: the program's, a lane's or the transport's own. */
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

	/* Queues job after those queued before. Any thread, one at a time.
	 * Errors: NO_MEMORY, IO; then job will not run. */
	enum dist_error (*submit)(struct dist__lane *lane,
				  struct dist__job *job);

	/*
	 * Blocks until op, which a job of this lane finishes, is done
	 * (dist__op_is_done) or the clock passes deadline_ns; never before with
	 * DIST_TIMEOUT_NEVER. Rank's thread. Errors: TIMEOUT, DEADLOCK (sim).
	 * Not the op's own error.
	 */
	enum dist_error (*wait)(struct dist__lane *lane, struct dist__op *op,
				int64_t deadline_ns);

	/* Wakes the wait() for an op that was finished. Called by a job after
	 * dist__op_finish(). Must not use the op. */
	void (*notify)(struct dist__lane *lane);

	/* Returns the lane of the calling job; NULL: no job calls. */
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

	/* Blocks until event was set or the clock passes deadline_ns. With
	 * gives_up the wait is in no deadlock before its deadline. Errors:
	 * TIMEOUT; DEADLOCK, or the error that ended the world (sim). */
	enum dist_error (*wait)(struct dist__event *event, int64_t deadline_ns,
				bool gives_up);

	/* Sets event: all waits for it return. */
	void (*set)(struct dist__event *event);

	/* Frees event, which no thread waits for. NULL allowed. */
	void (*free)(struct dist__event *event);
};

/* What every world has; at most 14 slots. What only one world has is an
 * interface of its own. */
struct dist__transport_ops {
	const struct dist__lane_ops *lanes;
	const struct dist__event_ops *events;          /* NULL: it has none */
	const struct dist__simulation_ops *simulation; /* NULL: time is real */

	/* A receive can combine (mine); else the caller reduces. */
	bool combines;

	/*
	 * Posts a send. Caller: coll, any thread. m->data stays untouched until
	 * wait() or a true test(); *m itself may be freed at once. Never waits
	 * for the peer. Messages of one (peer, group, tag, seq, step) match in
	 * the order posted; different steps match in any order. dist.h says for
	 * each world when a send with tag >= 0 is complete.
	 * Errors: PEER_LOST, ABORTED, NO_MEMORY, IO. On error no request.
	 */
	enum dist_error (*isend)(struct dist__transport *t,
				 const struct dist__message *m,
				 struct dist__request **request);

	/*
	 * Posts a receive of exactly m->bytes into m->data. Otherwise as isend.
	 * DIST_ANY_SOURCE matches as dist.h says.
	 */
	enum dist_error (*irecv)(struct dist__transport *t,
				 const struct dist__message *m,
				 struct dist__request **request);

	/*
	 * Blocks until request is complete or the clock passes deadline_ns, and
	 * frees the request: also after an error the transport does not touch
	 * its memory again. Caller: coll, any thread.
	 * Errors: TIMEOUT; MISMATCH (fingerprint or size differ); PEER_LOST;
	 * DEADLOCK (sim); ABORTED; IO.
	 */
	enum dist_error (*wait)(struct dist__transport *t,
				struct dist__request *request,
				int64_t deadline_ns);

	/*
	 * Receives num_in messages and sends num_out, and blocks until all are
	 * complete: as irecv, isend and wait for each, in one call. in and out
	 * are NULL if there are none, and may be freed afterwards. After the
	 * deadline or a failure, messages that are not complete by then fail.
	 * Errors: of all three, those of receives first; NO_MEMORY. Caller:
	 * coll, any thread. NULL: waiting costs more than calls, and coll makes
	 * the single calls.
	 */
	enum dist_error (*exchange)(struct dist__transport *t,
				    const struct dist__message *in, int num_in,
				    const struct dist__message *out,
				    int num_out, int64_t deadline_ns);

	/*
	 * Returns whether wait() would return at once. Does not free. Makes
	 * progress. request NULL, for a look at a lane: makes progress and
	 * returns false. Any thread.
	 */
	bool (*test)(struct dist__transport *t, struct dist__request *request);

	/* The rank's clock. Any thread. Cannot fail. */
	int64_t (*now_ns)(struct dist__transport *t);

	/* Lets duration_ns pass on the rank's device. Rank's thread. */
	enum dist_error (*compute)(struct dist__transport *t,
				   int64_t duration_ns);

	/*
	 * Fails all requests of group, now and later, with ABORTED, and tells
	 * the peers that this rank has left it. Any thread. Idempotent.
	 */
	void (*abort)(struct dist__transport *t, uint32_t group);

	/* Returns the message of the system below about a failure, "" if none.
	 * Any thread. NULL: there never is one. */
	const char *(*failure_text)(struct dist__transport *t);

	/* Disconnects and frees the transport. Rank's thread; no lane is left.
	 * MISMATCH: messages of collectives arrived that the rank never
	 * received, from a sender that had not given up. */
	enum dist_error (*free)(struct dist__transport *t);
};

#endif
