/*
 * group.h - a group over a library that has its own collectives: what its
 * ranks agree about, and the operations on their way through it. Private to
 * realbackend/.
 *
 * Nothing here waits for a peer or for the library: an operation goes on when
 * somebody looks (dist__agreed_look), which is the rank's thread while it waits
 * and a thread of ours while it does not. Whoever looks holds the mutex, and
 * the library is called under it alone.
 */
#ifndef LOCKSTEP_AGREE_GROUP_H
#define LOCKSTEP_AGREE_GROUP_H

#include <pthread.h>

#include "realbackend/agree/control.h"

/* How often the peers are asked whether they are still there. */
#define DIST__WATCH_NS ((int64_t)1000000)

enum dist__task_state {
	DIST__TASK_AGREEING, /* with those concerned */
	DIST__TASK_AGREED,
	DIST__TASK_RUNNING /* the library has it */
};

/* What the receiver of a message answers. */
struct dist__grant {
	uint64_t number;         /* the library's: which message this is */
	unsigned char more[128]; /* and what else it has to tell */
};

/* An operation on its way: what a library's own struct of one begins with. */
struct dist__task {
	struct dist__task *next;
	struct dist__op *op;
	enum dist__task_state state;

	struct dist__agreement agreement; /* collectives */

	int peer;          /* point to point: the other's group rank */
	int source;        /* its global rank, once from any is known */
	uint32_t question; /* its number among the sender's */
	bool is_granted;   /* the receiver's */
	struct dist__grant grant;
	struct dist__request *ask, *answer;
};

/* What a look along the line knows of the collectives that it has passed. */
struct dist__line {
	bool agreeing; /* one has not agreed yet */
	bool held;     /* one has not been launched yet */
};

struct dist__agreed;

/* What differs between libraries. All are called with the mutex held, but for
 * use, compute and close; errors end the group, its text says more. NULL where
 * there is nothing to do. */
struct dist__library_ops {
	size_t task_bytes;  /* of its struct of a task */
	size_t grant_bytes; /* of struct dist__grant that travel */

	/* Its operations move only while it is asked about them: who waits for
	 * them does not sleep. */
	bool must_be_asked;

	/* The calling thread is another than the one that made the group. */
	void (*use)(struct dist__agreed *g);

	/* No thread but the rank's may call the library: while the rank waits
	 * it goes on with its other groups by this. */
	void (*beside)(struct dist__agreed *g);

	/* Looks for errors from behind. */
	enum dist_error (*poll)(struct dist__agreed *g);

	/* Fills a new task but for what begins it. */
	void (*task_begin)(struct dist__agreed *g, struct dist__task *task);

	/* A collective is about to be agreed upon: whether the rank is for
	 * blocking in the library until it is through. The agreement's vote
	 * tells launch whether all are. NULL: it is not. */
	bool (*may_block)(struct dist__agreed *g,
			  const struct dist__task *task);

	/* The receiver of a message, whose peer is known, fills the grant. */
	enum dist_error (*grant)(struct dist__agreed *g,
				 struct dist__task *task);

	/* Either end has the grant. */
	enum dist_error (*granted)(struct dist__agreed *g,
				   struct dist__task *task);

	/* Goes on with what an operation of several devices of each rank, which
	 * is agreed upon, needs before it can be launched: *ready. NULL: these
	 * go by messages. */
	enum dist_error (*devices)(struct dist__agreed *g,
				   struct dist__task *task, bool *ready);

	/* Whether an operation that is agreed upon may be launched. NULL: once
	 * the collectives before it are. */
	bool (*may_launch)(const struct dist__task *task,
			   const struct dist__line *line);

	/* Launches it, unless there is nothing to move: *ended. */
	enum dist_error (*launch)(struct dist__agreed *g,
				  struct dist__task *task, bool *ended);

	/* Looks whether it is through. */
	enum dist_error (*run)(struct dist__agreed *g, struct dist__task *task,
			       bool *ended);

	/* Frees what the task holds of the library. */
	void (*task_end)(struct dist__agreed *g, struct dist__task *task);

	/* Lets go of what is in flight, whose memory goes back to callers. */
	void (*abort)(struct dist__agreed *g);

	/* dist_compute() on the library's device; false: it has none. */
	bool (*compute)(struct dist__agreed *g, int64_t duration_ns,
			enum dist_error *error);

	/* Frees what the group holds, with the others if it has not failed. */
	void (*close)(struct dist__agreed *g);
};

/* What a library's own struct of a group begins with. */
struct dist__agreed {
	struct dist__backend base;
	const struct dist__library_ops *library;
	const struct dist__members *members;
	struct dist__control control;
	int64_t timeout_ns;
	/* For what the library does not have: a monitored barrier, several
	 * devices. */
	struct dist__backend *messages;

	pthread_mutex_t mutex;          /* guards what follows */
	uint32_t questions;             /* asked so far */
	struct dist__request **watches; /* one a rank */
	int64_t watched_ns;
	struct dist__task *tasks; /* in order of issue */
	bool is_running;          /* the library had one at the last look */
	enum dist_error failed;   /* what ended the group */
	struct dist_message text;

	pthread_t maker;       /* the thread that made the group */
	pthread_cond_t needed; /* to the thread */
	pthread_t thread;
	bool started, stopping;
	unsigned waiting; /* of the rank's threads: they look themselves */
};

/* ---- backend.c --------------------------------------------------------- */

/* dist__agreed_init makes *g, zeroed, a back end of the members without the
 * library's part. Errors: NO_MEMORY; dist__agreed_free() must follow either
 * way. */
enum dist_error dist__agreed_init(struct dist__agreed *g,
				  const struct dist__library_ops *library,
				  const struct dist__place *place,
				  const struct dist__members *members);

/* dist__agreed_free is the back end's free. */
void dist__agreed_free(struct dist__agreed *g);

/* ---- group.c ----------------------------------------------------------- */

/* dist__agreed_watch begins to watch the members, who need not have begun.
 * Errors: the transport's. */
enum dist_error dist__agreed_watch(struct dist__agreed *g);

/* dist__agreed_poll looks for errors of the library and of the peers. */
enum dist_error dist__agreed_poll(struct dist__agreed *g, int64_t now_ns);

/* dist__agreed_unwatch lets them go. */
void dist__agreed_unwatch(struct dist__agreed *g);

/* dist__agreed_meet meets the members at a point in the group's life, beside
 * all operations. Errors: TIMEOUT, the transport's. */
enum dist_error dist__agreed_meet(struct dist__agreed *g, uint32_t step,
				  int64_t deadline_ns);

/* dist__agreed_look goes on with everything; returns whether anything moved. */
bool dist__agreed_look(struct dist__agreed *g);

/* dist__agreed_fail ends the group: culprit, if any, with error, everything
 * else in flight with ABORTED. Idempotent. */
void dist__agreed_fail(struct dist__agreed *g, struct dist__task *culprit,
		       enum dist_error error);

static inline int64_t dist__agreed_now_ns(const struct dist__agreed *g)
{
	struct dist__transport *t = g->control.transport;

	return t->ops->now_ns(t);
}

/* dist__agreed_deadline_ns is the end of the group's timeout from now on. */
int64_t dist__agreed_deadline_ns(const struct dist__agreed *g);

/* ---- task.c ------------------------------------------------------------ */

/* dist__task_new puts op in the line; NULL: no memory. */
struct dist__task *dist__task_new(struct dist__agreed *g, struct dist__op *op);

/* dist__task_look goes on with task; *ended says whether it is through. Errors:
 * those of the op. */
enum dist_error dist__task_look(struct dist__agreed *g, struct dist__task *task,
				struct dist__line *line, bool *moved,
				bool *ended);

/* dist__task_end takes task out of the line, finishes its op, frees it. */
void dist__task_end(struct dist__agreed *g, struct dist__task *task,
		    enum dist_error error);

/* ---- match.c ----------------------------------------------------------- */

/* dist__match_ask begins to match a point-to-point task with the peer's;
 * dist__match_look goes on, *agreed says whether both have the grant. Errors:
 * the transport's, the library's, NO_MEMORY. */
enum dist_error dist__match_ask(struct dist__agreed *g,
				struct dist__task *task);
enum dist_error dist__match_look(struct dist__agreed *g,
				 struct dist__task *task, bool *agreed);

#endif
