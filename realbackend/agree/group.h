/*
 * group.h - a group over a library that has its own collectives: the agreement
 * of its ranks, and operations in progress. Private to realbackend/.
 *
 * Nothing here waits for a peer or for the library. Operations proceed in calls
 * of dist__agreed_look, by the rank's thread while it waits and by our own
 * thread while it does not. The caller holds the mutex, and the library is only
 * called under it.
 */
#ifndef LOCKSTEP_AGREE_GROUP_H
#define LOCKSTEP_AGREE_GROUP_H

#include <pthread.h>

#include "realbackend/agree/control.h"

/* Interval between checks that a peer is alive. */
#define DIST__WATCH_NS ((int64_t)1000000)
/* Time that operations have when a member is missed: many turns of a rank that
 * shares a processor. */
#define DIST__MISSED_NS ((int64_t)1000000000)

enum dist__task_state {
	DIST__TASK_AGREEING, /* with the ranks concerned */
	DIST__TASK_AGREED,
	DIST__TASK_RUNNING /* in the library */
};

/* The receiver's answer to the sender of a message. */
struct dist__grant {
	uint64_t number;         /* the library's number of the message */
	unsigned char more[128]; /* the library's own data */
};

/* An operation in progress; the base of a library's own struct. */
struct dist__task {
	struct dist__task *next;
	struct dist__op *op;
	enum dist__task_state state;

	struct dist__agreement agreement; /* collectives */

	int peer;          /* point to point: the other group rank */
	int source;        /* its global rank, once the message is matched */
	uint32_t question; /* the sender's number of the question */
	bool is_granted;   /* the receiver has sent the grant */
	struct dist__grant grant;
	struct dist__request *ask, *answer;
};

/* The state of the collectives before a task in the list. */
struct dist__line {
	bool agreeing; /* one has not agreed yet */
	bool held;     /* one has not been launched yet */
	bool open;     /* one has not ended yet */
};

struct dist__agreed;

/* What differs between libraries. All are called with the mutex held, except
 * use, compute and close. An error ends the group; g->text explains it. NULL:
 * nothing to do. */
struct dist__library_ops {
	size_t task_bytes;  /* size of its own struct of a task */
	size_t grant_bytes; /* bytes of struct dist__grant to send */

	/* Its operations proceed only while it is called: a thread that waits
	 * for them must not sleep. */
	bool must_be_asked;

	/* The caller is not the thread that made the group. */
	void (*use)(struct dist__agreed *g);

	/* Only the rank's thread may call the library: while the rank waits,
	 * this continues its other groups. */
	void (*beside)(struct dist__agreed *g);

	/* Looks for asynchronous errors. */
	enum dist_error (*poll)(struct dist__agreed *g);

	/* Fills the library's part of a new task. */
	void (*task_begin)(struct dist__agreed *g, struct dist__task *task);

	/* Returns whether this rank would block in the library until this
	 * collective is complete; called before the agreement, whose vote tells
	 * launch whether all would. NULL: no. */
	bool (*may_block)(struct dist__agreed *g,
			  const struct dist__task *task);

	/* The receiver of a message, with known peer, fills the grant. */
	enum dist_error (*grant)(struct dist__agreed *g,
				 struct dist__task *task);

	/* Called on both ends when they have the grant. */
	enum dist_error (*granted)(struct dist__agreed *g,
				   struct dist__task *task);

	/* Prepares an operation on several devices of each rank, which is
	 * agreed upon; *ready: it can be launched. NULL: these operations run
	 * by messages. */
	enum dist_error (*devices)(struct dist__agreed *g,
				   struct dist__task *task, bool *ready);

	/* Returns whether an operation that is agreed upon may be launched.
	 * NULL: once the collectives before it have ended, on the
	 * results of which it may work. */
	bool (*may_launch)(const struct dist__task *task,
			   const struct dist__line *line);

	/* Launches it; *ended: there is nothing to move. */
	enum dist_error (*launch)(struct dist__agreed *g,
				  struct dist__task *task, bool *ended);

	/* Stores in *ended whether it is complete. */
	enum dist_error (*run)(struct dist__agreed *g, struct dist__task *task,
			       bool *ended);

	/* Frees the library's part of the task. */
	void (*task_end)(struct dist__agreed *g, struct dist__task *task);

	/* Cancels what is in flight: its memory goes back to the callers. */
	void (*abort)(struct dist__agreed *g);

	/* dist_compute() on the library's device; false: it has none. */
	bool (*compute)(struct dist__agreed *g, int64_t duration_ns,
			enum dist_error *error);

	/* Frees the group, together with the others if it has not failed. */
	void (*close)(struct dist__agreed *g);
};

/* The base of a library's own struct of a group. */
struct dist__agreed {
	struct dist__backend base;
	const struct dist__library_ops *library;
	const struct dist__members *members;
	struct dist__control control;
	int64_t timeout_ns;
	/* For operations that the library does not have: a monitored barrier,
	 * several devices. */
	struct dist__backend *messages;

	pthread_mutex_t mutex;  /* guards the fields below */
	uint32_t questions;     /* number asked */
	uint32_t issued;        /* collectives, by this rank */
	uint32_t issued_before; /* by the rank before it, which leaves */
	bool is_left;           /* by that rank */
	struct dist__request **watches; /* one for each rank */
	int watched;                    /* the last one that was looked at */
	int64_t watched_ns;
	/* What was seen of a member that is gone or gave the group up (OK:
	 * nothing), and when. */
	enum dist_error missed;
	int64_t missed_ns;
	struct dist__task *tasks; /* in order of issue */
	bool is_running;          /* at the last look one was in the library */
	enum dist_error failed;   /* the error that ended the group */
	struct dist_message text;

	pthread_t maker;       /* the thread that made the group */
	pthread_cond_t needed; /* wakes the thread */
	pthread_t thread;
	bool started, stopping;
	unsigned waiting; /* threads of the rank that wait, and so look */
};

/* ---- backend.c --------------------------------------------------------- */

/* dist__agreed_init makes *g, zeroed, a back end of the members, without the
 * library's part. Errors: NO_MEMORY; call dist__agreed_made() in any case. */
enum dist_error dist__agreed_init(struct dist__agreed *g,
				  const struct dist__library_ops *library,
				  const struct dist__place *place,
				  const struct dist__members *members);

/* dist__agreed_explain stores why g could not be made, and returns what that
 * means to whoever asked for it: NO_MEMORY; UNAVAILABLE, the library has said
 * why (g->text); RENDEZVOUS, it has not: what names its kind of group. */
enum dist_error dist__agreed_explain(const struct dist__agreed *g,
				     enum dist_error error, const char *what,
				     struct dist_message *message);

/* dist__agreed_made ends making g: stores its back end or, after an error,
 * which it returns, fails and frees g. */
enum dist_error dist__agreed_made(struct dist__agreed *g, enum dist_error error,
				  struct dist__backend **backend);

/* ---- group.c ----------------------------------------------------------- */

/* dist__agreed_watch begins to watch the members, which may begin later.
 * Errors: the transport's. */
enum dist_error dist__agreed_watch(struct dist__agreed *g);

/* dist__agreed_poll looks for errors of the library and of the peers. */
enum dist_error dist__agreed_poll(struct dist__agreed *g, int64_t now_ns);

/* dist__agreed_unwatch ends that. */
void dist__agreed_unwatch(struct dist__agreed *g);

/* dist__agreed_part waits for all members to leave. Errors: as
 * dist__agreed_meet(). */
enum dist_error dist__agreed_part(struct dist__agreed *g, int64_t deadline_ns);

/* dist__agreed_meet waits for all members at a point of the group's life,
 * independently of operations. Errors: TIMEOUT, the transport's. */
enum dist_error dist__agreed_meet(struct dist__agreed *g, uint32_t step,
				  int64_t deadline_ns);

/* dist__agreed_look continues all operations; returns whether any proceeded.
 * When a member is missed they have a while: those that it went through end,
 * and the rank comes to the call that the member failed in, as it does over a
 * transport, where what was sent arrives. */
bool dist__agreed_look(struct dist__agreed *g);

/* dist__agreed_fail ends the group: culprit (may be NULL) with error, all other
 * operations in flight with ABORTED. Idempotent. */
void dist__agreed_fail(struct dist__agreed *g, struct dist__task *culprit,
		       enum dist_error error);

static inline int64_t dist__agreed_now_ns(const struct dist__agreed *g)
{
	struct dist__transport *t = g->control.transport;

	return t->ops->now_ns(t);
}

/* dist__agreed_deadline_ns returns now plus the group's timeout. */
int64_t dist__agreed_deadline_ns(const struct dist__agreed *g);

/* ---- task.c ------------------------------------------------------------ */

/* dist__task_new appends a task for op to the list; NULL: no memory. */
struct dist__task *dist__task_new(struct dist__agreed *g, struct dist__op *op);

/* dist__task_look continues task; *ended: it is complete. Errors: those of the
 * op. */
enum dist_error dist__task_look(struct dist__agreed *g, struct dist__task *task,
				struct dist__line *line, bool *moved,
				bool *ended);

/* dist__task_end removes task from the list, finishes its op, frees it. */
void dist__task_end(struct dist__agreed *g, struct dist__task *task,
		    enum dist_error error);

#endif
