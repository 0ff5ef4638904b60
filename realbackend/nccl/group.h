/*
 * group.h - a group on NCCL: its communicators, and the operations on their
 * way through them. Private to realbackend/nccl/.
 *
 * Nothing here waits for a peer or for the device: an operation goes on when
 * somebody looks (dist__nccl_look), which is the rank's thread while it waits
 * and a thread of ours while it does not. Whoever looks holds the mutex, and
 * all calls of NCCL are made under it.
 */
#ifndef LOCKSTEP_NCCL_GROUP_H
#define LOCKSTEP_NCCL_GROUP_H

#include <pthread.h>

#include "realbackend/nccl/control.h"
#include "realbackend/nccl/launch.h"
#include "realbackend/nccl/sharing.h"

/* How often the peers are asked whether they are still there. */
#define DIST__WATCH_NS ((int64_t)1000000)

/*
 * One direction between two ranks: a communicator of two, made for the first
 * message. NCCL runs what is sent on one communicator strictly in order and
 * knows no tags; with a wire for each direction, and on it the order in which
 * the receiver takes messages, no two messages can wait for each other.
 */
struct dist__wire {
	struct dist__communicator communicator; /* receiver 0, sender 1 */
	bool begun;
	struct dist__nccl_id id;
	uint64_t granted;  /* by the receiver */
	uint64_t launched; /* in the order granted */
};

/* What the receiver of a message answers. */
struct dist__grant {
	uint64_t number; /* on the wire: 0, 1, ... */
	struct dist__nccl_id id;
};

enum dist__task_state {
	DIST__TASK_AGREEING, /* with those concerned */
	DIST__TASK_AGREED,
	DIST__TASK_LAUNCHED, /* NCCL is still enqueuing it */
	DIST__TASK_RUNNING   /* the event stands behind it in the stream */
};

/* An operation on its way. */
struct dist__task {
	struct dist__task *next;
	struct dist__op *op;
	enum dist__task_state state;
	struct dist__communicator *communicator;
	struct dist__placement placement;
	struct CUevent_st *event; /* NULL: not yet */

	struct dist__agreement agreement; /* collectives */

	struct dist__wire *wire; /* point to point; NULL: not known yet */
	int peer;                /* point to point: the other's group rank */
	int source;              /* its global rank, once from any is known */
	uint32_t question;       /* its number among the sender's */
	struct dist__grant grant;
	struct dist__request *ask, *answer;
};

struct dist__nccl_group {
	struct dist__backend base;
	const struct dist__device *device;
	const struct dist__members *members;
	struct dist__control control;
	struct dist__caller caller;
	int64_t timeout_ns;
	struct dist__sharers sharers;
	/* For what NCCL does not have and that carries no tensor. */
	struct dist__backend *messages;

	pthread_mutex_t mutex; /* guards what follows */
	struct dist__communicator communicator;
	struct dist__wire **wires; /* to and from each rank; NULL: unused */
	uint32_t questions;        /* asked so far */
	/* Of the default group: those of groups that are gone. */
	struct dist__communicator *inherited;
	int num_inherited;
	struct dist__request **watches; /* one a rank */
	int64_t watched_ns;
	struct dist__task *tasks; /* in order of issue */
	enum dist_error failed;   /* what ended the group */
	struct dist_message text;

	pthread_t maker;       /* the thread that made the group */
	pthread_cond_t needed; /* to the thread */
	pthread_t thread;
	bool started, stopping;
	unsigned waiting; /* of the rank's threads: they look themselves */
};

/* ---- group.c ----------------------------------------------------------- */

/* dist__nccl_open makes the communicator with all members. Errors: those of
 * backend_new in core/backend.h. On failure the others do not know yet:
 * dist__nccl_fail() tells them. dist__nccl_close() must follow either way. */
enum dist_error dist__nccl_open(struct dist__nccl_group *g,
				int64_t deadline_ns);

/* dist__nccl_look goes on with everything; returns whether anything moved. */
bool dist__nccl_look(struct dist__nccl_group *g);

/* dist__nccl_fail ends the group: culprit, if any, with error, everything
 * else in flight with ABORTED. Idempotent. */
void dist__nccl_fail(struct dist__nccl_group *g, struct dist__task *culprit,
		     enum dist_error error);

/*
 * dist__nccl_close frees what the group holds. The default group parts from its
 * members first, unless it failed: NCCL wants a communicator flushed and freed
 * by all together. A rank that destroys another group waits for nobody, so its
 * communicators go on to the default group.
 */
void dist__nccl_close(struct dist__nccl_group *g);

static inline int64_t dist__nccl_now_ns(const struct dist__nccl_group *g)
{
	struct dist__transport *t = g->control.transport;

	return t->ops->now_ns(t);
}

/* ---- task.c ------------------------------------------------------------ */

/* dist__task_new puts op in the line; NULL: no memory. */
struct dist__task *dist__task_new(struct dist__nccl_group *g,
				  struct dist__op *op);

/* What a look along the line knows of the collectives that it has passed. */
struct dist__line {
	bool agreeing; /* one has not agreed yet */
	bool held;     /* one has not been launched yet */
};

/* dist__task_look goes on with task; *ended says whether it is through. Errors:
 * those of the op. */
enum dist_error dist__task_look(struct dist__nccl_group *g,
				struct dist__task *task,
				struct dist__line *line, bool *moved,
				bool *ended);

/* dist__task_end takes task out of the line, finishes its op, frees it. */
void dist__task_end(struct dist__nccl_group *g, struct dist__task *task,
		    enum dist_error error);

/* ---- wire.c ------------------------------------------------------------ */

/* dist__wire_ask begins to match a point-to-point task with the peer's;
 * dist__wire_look goes on, *agreed says whether it has a number on its wire.
 * Errors: the transport's, IO, NO_MEMORY. */
enum dist_error dist__wire_ask(struct dist__nccl_group *g,
			       struct dist__task *task);
enum dist_error dist__wire_look(struct dist__nccl_group *g,
				struct dist__task *task, bool *agreed);

#endif
