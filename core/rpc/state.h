/*
 * state.h - remote calls: messages, calls in flight, lanes that serve calls,
 * references.
 *
 * A message is a frame of fixed size and, if its bytes do not fit in there, a
 * body. Requests and replies have tag 0, on which a worker's lanes listen. The
 * lane that takes a frame makes sure that another lane listens, and then runs
 * the function or ends the call that the reply answers. So replies are taken
 * even while all worker threads wait, and lanes pass nothing to each other. In
 * a real world a thread that only waits for its call takes the reply itself:
 * that reply has its own tag.
 *
 * The mutex guards the state that several threads of the rank change. It is
 * never held in a call of the transport, where simulated actors may switch.
 *
 * Private to core/rpc/.
 */
#ifndef LOCKSTEP_CORE_RPC_STATE_H
#define LOCKSTEP_CORE_RPC_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/state.h"
#include "core/transport.h"
#include "lockstep/rpc.h"

#undef dist_destroy_process_group
#undef dist_rpc_sync
#undef dist_rpc_async
#undef dist_rpc_remote
#undef dist_rpc_wait
#undef dist_rpc_wait_all
#undef dist_rref_to_here
#undef dist_rref_local_value
#undef dist_rpc_init
#undef dist_rpc_shutdown

/* ---- messages (message.c) ------------------------------------------- */

enum dist__rpc_kind {
	DIST__RPC_REPLY,
	DIST__RPC_CALL,
	DIST__RPC_REMOTE, /* a call whose value stays at the callee */
	DIST__RPC_FETCH,  /* asks for such a value */
	DIST__RPC_FORK,   /* there is one more reference to it, */
	DIST__RPC_TAKE,   /* its worker has received that reference, */
	DIST__RPC_DROP,   /* and has given it up */
	DIST__RPC_JOIN,   /* a round of a graceful shutdown */
	DIST__RPC_NOTHING /* only finds out whether the worker is lost */
};

/* A value that references refer to, numbered by the worker that asked for it.
 */
struct dist__rpc_id {
	uint32_t worker, number;
};

/* Bytes inside a frame; a longer message has a body. */
#define DIST__RPC_SHORT 72

/* A message's head. All machines of a job have the same byte order. */
struct dist__rpc_frame {
	uint32_t kind;
	uint32_t call; /* number of a request, repeated in its reply */
	uint64_t function;
	uint64_t bytes;
	uint32_t phantom;
	uint32_t error; /* REPLY: minus the enum dist_error; bytes: message */
	uint32_t body_tag;
	uint32_t reply_tag;              /* of the reply's frame */
	struct dist__rpc_id value, fork; /* kinds about references */
	char data[DIST__RPC_SHORT];
};

/* A message that was sent: its frame, and its sends in flight. */
struct dist__rpc_post {
	struct dist__rpc_frame frame;
	struct dist__request *head, *body;
};

/* dist__rpc_send sends post->frame and bytes to a worker. The caller has set
 * kind, call and the fields of that kind. tag is 0 or the receiver's
 * dist__rpc_tag(). post and bytes stay untouched until dist__rpc_sent().
 * Errors: those of isend; then nothing is in flight. */
enum dist_error dist__rpc_send(struct dist_rpc *rpc, int to, uint32_t tag,
			       struct dist__rpc_post *post,
			       struct dist_rpc_bytes bytes);

/* dist__rpc_sent waits until post is sent, or cancels it at deadline_ns. */
enum dist_error dist__rpc_sent(struct dist_rpc *rpc,
			       struct dist__rpc_post *post,
			       int64_t deadline_ns);

/* dist__rpc_tag returns a tag that no other message to this worker has now.
 * dist__rpc_expect posts a receive of the frame with that tag from a worker.
 * Errors: those of irecv. */
uint32_t dist__rpc_tag(struct dist_rpc *rpc);
enum dist_error dist__rpc_expect(struct dist_rpc *rpc, int from, uint32_t tag,
				 struct dist__rpc_frame *frame,
				 struct dist__request **request);

/* dist__rpc_receive_body fetches the body of frame; the caller frees *bytes.
 * Errors: NO_MEMORY; those of irecv and wait. */
enum dist_error dist__rpc_receive_body(struct dist_rpc *rpc, int from,
				       const struct dist__rpc_frame *frame,
				       struct dist_rpc_bytes *bytes);

/* dist__rpc_copy stores a copy of bytes, to be freed; a phantom's copy is a
 * phantom. Errors: NO_MEMORY. */
enum dist_error dist__rpc_copy(struct dist_rpc_bytes *copy,
			       struct dist_rpc_bytes bytes);

/* ---- a worker (rpc.c) ----------------------------------------------- */

struct dist__rpc_function {
	struct dist__rpc_function *next;
	char name[DIST_RPC_NAME];
	uint64_t hash; /* of the name; unique among this worker's */
	dist_rpc_function *run;
	void *context;
};

/* A lane, and its current job. */
struct dist__rpc_helper {
	struct dist__rpc_helper *next, *next_idle;
	struct dist_rpc *rpc;
	struct dist__lane *lane;
	struct dist__job job;
	void (*run)(struct dist_rpc *rpc, void *arg);
	void *arg;
	int32_t by;      /* in the records: the call that it serves */
	unsigned claims; /* jobs that are not submitted yet */
	bool ends;       /* it gets no more jobs */
};

/* A wait for no outstanding calls. Freed with the worker: set() may be late. */
struct dist__rpc_quiet {
	struct dist__rpc_quiet *next;
	struct dist__event *event;
};

#define DIST__RPC_BUCKETS 256

struct dist_rpc {
	struct dist_group *group; /* its own, of all workers */
	struct dist__transport *transport;
	struct check_slot *slot; /* the mutex guards its remote part */
	pthread_t owner;         /* the rank's own thread */
	uint32_t message_group;  /* group id of its messages */
	int worker, num_workers;
	int *worker_of;               /* by global rank */
	char (*names)[DIST_RPC_NAME]; /* by worker */
	int max_running;
	int64_t timeout_ns;

	pthread_mutex_t mutex;
	struct dist__rpc_function *functions;
	struct dist__rpc_helper *helpers, *idle;
	bool *lost; /* by worker */
	unsigned num_lost;
	unsigned listeners; /* lanes that wait for a frame, or will */
	bool closing;       /* no call may begin */
	bool ending;        /* other workers' calls do not begin, either */
	uint32_t tags;      /* given so far */

	/* Calls of this worker. */
	struct dist_rpc_future *calls[DIST__RPC_BUCKETS]; /* by number */
	uint32_t issued;      /* last number: of calls, values and forks */
	unsigned outstanding; /* calls, and jobs that may call */
	struct dist__rpc_quiet *quiets; /* newest first */
	bool asks_quiet;                /* a thread waits for the newest */

	/* Calls of other workers. */
	int running;
	struct dist_rpc_call *backlog, **backlog_end;

	struct dist_rpc_call *joined; /* worker 0: JOINs of this round, */
	int num_joined;               /* their number */

	struct dist__rpc_value *values; /* held by this worker */
};

static inline void dist__rpc_lock(struct dist_rpc *rpc)
{
	pthread_mutex_lock(&rpc->mutex);
}

static inline void dist__rpc_unlock(struct dist_rpc *rpc)
{
	pthread_mutex_unlock(&rpc->mutex);
}

/* dist__rpc_hash returns how requests name a function. */
static inline uint64_t dist__rpc_hash(const char *name)
{
	return dist__hash_bytes(DIST__HASH_BEGIN, name, strlen(name));
}

static inline int64_t dist__rpc_now_ns(struct dist_rpc *rpc)
{
	return rpc->transport->ops->now_ns(rpc->transport);
}

/* ---- lanes (lanes.c) ------------------------------------------------ */

/* dist__rpc_spawn runs run(rpc, arg) on an idle lane, or on a new one.
 * Errors: NO_MEMORY, IO; then it will not run. */
enum dist_error dist__rpc_spawn(struct dist_rpc *rpc,
				void (*run)(struct dist_rpc *rpc, void *arg),
				void *arg);

/* dist__rpc_helper_here returns the helper on whose lane the caller runs; NULL:
 * on no lane of this rpc. */
struct dist__rpc_helper *dist__rpc_helper_here(struct dist_rpc *rpc);

/* dist__rpc_lanes_end waits until all lanes are idle, and frees them. Rank's
 * thread. */
void dist__rpc_lanes_end(struct dist_rpc *rpc);

/* ---- calls of this worker (future.c) -------------------------------- */

enum dist__rpc_progress {
	DIST__RPC_SENDING,
	DIST__RPC_SENT, /* the thread that sets ENDED frees post */
	DIST__RPC_ENDED
};

struct dist_rpc_future {
	struct dist_rpc *rpc; /* may be invalid once done */
	const struct dist__event_ops *events;
	struct dist_rpc_future *next; /* in its bucket */
	atomic_uint refs;
	uint32_t number;
	int to;
	char function[64];      /* its name, cut short */
	const char *op;         /* the API call; static */
	struct dist__site site; /* of that call */
	int64_t issued_ns;
	bool gives_up; /* timeout_ns was chosen by the program */
	int64_t timeout_ns;
	int64_t deadline_ns;
	enum dist__rpc_progress progress;
	struct dist__rpc_post post;
	struct dist_rpc_bytes copy;  /* of the bytes sent; or empty */
	struct dist__request *reply; /* for the waiter; NULL: for a lane */
	struct dist__rpc_frame reply_frame;

	/* Called once when the reply has come, or never will, unless the future
	 * has timed out before; NULL: no call. */
	void (*on_end)(struct dist_rpc_future *future, void *arg);
	void *on_end_arg;

	atomic_bool done; /* the fields below are valid */
	enum dist_error error;
	struct dist_rpc_bytes value;
	struct dist_message *message; /* of a failure; NULL: no memory */
	struct dist__event *event;    /* set when done; NULL: use reply */
};

/* A request to begin, with these fields set. */
struct dist__rpc_start {
	enum dist__rpc_kind kind;
	const char *op; /* the API call that made it; static */
	struct dist__site site;
	int to;
	const char *function; /* "": none */
	struct dist_rpc_bytes bytes;
	int64_t timeout_ns; /* 0: that of rpc */
	bool borrows; /* bytes stay until the future is done or cancelled */
	bool direct;  /* the caller will wait for the reply itself */
	struct dist__rpc_id value, fork;
	void (*on_end)(struct dist_rpc_future *future, void *arg);
	void *on_end_arg;
};

/* dist__rpc_future_new makes the future of a new call, with two references: the
 * table's and the caller's. NULL: no memory. dist__rpc_future_drop drops one
 * reference. */
struct dist_rpc_future *
dist__rpc_future_new(struct dist_rpc *rpc, const struct dist__rpc_start *start);
void dist__rpc_future_drop(struct dist_rpc_future *future);

/* dist__rpc_enter puts a new call into the table and gives it its number.
 * Errors: ABORTED, PEER_LOST. dist__rpc_take_back takes a call that did not
 * come about out again, and drops the table's reference; false: it has ended
 * otherwise meanwhile. */
enum dist_error dist__rpc_enter(struct dist_rpc *rpc,
				struct dist_rpc_future *future);
bool dist__rpc_take_back(struct dist_rpc *rpc, struct dist_rpc_future *future);

/* dist__rpc_settle ends a call for those who wait; false: it had ended before.
 * Takes ownership of *value. words: the callee's message; NULL: none. */
bool dist__rpc_settle(struct dist_rpc_future *future, enum dist_error error,
		      struct dist_rpc_bytes *value, const char *words);

/* dist__rpc_take_post returns whether the caller is to take care of what future
 * has sent; from now on its progress is next. */
bool dist__rpc_take_post(struct dist_rpc_future *future,
			 enum dist__rpc_progress next);

/* dist__rpc_answer ends the call that this reply answers; takes ownership of
 * value. */
void dist__rpc_answer(struct dist_rpc *rpc, const struct dist__rpc_frame *frame,
		      struct dist_rpc_bytes value);

/* dist__rpc_calls_fail ends all calls to a worker, -1: to all workers. */
void dist__rpc_calls_fail(struct dist_rpc *rpc, int to, enum dist_error error);

/* dist__rpc_busy adds one to what may call; dist__rpc_rest subtracts one. */
void dist__rpc_busy(struct dist_rpc *rpc);
void dist__rpc_rest(struct dist_rpc *rpc);

/* ---- their beginning, and waits for them (call.c) ------------------- */

/* dist__rpc_start sends a request and stores its future, with one reference for
 * the caller; future NULL: the caller has none. Errors: any call error. */
enum dist_error dist__rpc_start(struct dist_rpc *rpc,
				const struct dist__rpc_start *start,
				struct dist_rpc_future **future);

/* dist__rpc_end_of blocks until future is done, and returns its error. Writes
 * neither records nor the thread's error message. */
enum dist_error dist__rpc_end_of(struct dist_rpc_future *future);

/* dist__rpc_await blocks until future is done, like dist_rpc_wait(), and
 * records a wait by op at site. */
enum dist_error dist__rpc_await(struct dist_rpc_future *future, const char *op,
				struct dist__site site);

/* dist__rpc_check_request checks the arguments of the call op at site, and
 * records a refusal. Errors: INVALID_ARGUMENT, UNSUPPORTED. */
enum dist_error dist__rpc_check_request(struct dist_rpc *rpc,
					const struct dist_rpc_request *request,
					const char *op, struct dist__site site);

/* ---- calls that it serves (callee.c, serve.c) ----------------------- */

struct dist_rpc_call {
	struct dist_rpc *rpc;
	struct dist_rpc_call *next; /* in the backlog, or a value's list */
	int caller;
	struct dist__rpc_frame frame;
	struct dist_rpc_bytes input, reply;
	uint32_t place; /* index in the records */
	const char *function;
	int64_t came_ns, began_ns;
	enum dist_error error;
	char words[256]; /* the message of error */
	bool *is_later;  /* set if the call outlives its function */
};

/* dist__rpc_call_new makes a call to be served; NULL: no memory. */
struct dist_rpc_call *dist__rpc_call_new(struct dist_rpc *rpc, int caller,
					 const struct dist__rpc_frame *frame);

/* dist__rpc_call_refuse stores the error of a call, and returns it. */
enum dist_error dist__rpc_call_refuse(struct dist_rpc_call *call,
				      enum dist_error error, const char *words);

/* dist__rpc_call_end sends the reply and frees the call. */
void dist__rpc_call_end(struct dist_rpc_call *call);

/* dist__rpc_listen is the job of a lane that is counted as a listener. */
void dist__rpc_listen(struct dist_rpc *rpc, void *unused);

/* dist__rpc_serve_own serves a call of this worker to itself; takes ownership
 * of input, a copy. Errors: NO_MEMORY, IO. */
enum dist_error dist__rpc_serve_own(struct dist_rpc *rpc,
				    const struct dist__rpc_frame *frame,
				    struct dist_rpc_bytes input);

/* ---- references (rref.c, value.c) ----------------------------------- */

/* dist__rpc_value_serve serves a call of a kind about references, except
 * REMOTE. Takes ownership of call. */
void dist__rpc_value_serve(struct dist_rpc_call *call);

/* dist__rpc_value_begin notes that this worker will hold the value of a REMOTE.
 * dist__rpc_value_set stores the value, which is moved out of call's reply, or
 * call's error. */
enum dist_error dist__rpc_value_begin(struct dist_rpc *rpc,
				      const struct dist__rpc_frame *frame);
void dist__rpc_value_set(struct dist_rpc_call *call);

/* dist__rpc_values_free frees all values. */
void dist__rpc_values_free(struct dist_rpc *rpc);

struct dist__rpc_fork;

/* A value that this worker holds. */
struct dist__rpc_value {
	struct dist__rpc_value *next;
	struct dist__rpc_id id;
	bool ready; /* the fields up to bytes are valid */
	enum dist_error error;
	char words[256]; /* the message of error */
	struct dist_rpc_bytes bytes;
	struct dist__event *event; /* set when ready */
	unsigned local;            /* references of this worker */
	struct dist__rpc_fork *forks;
	bool held;                     /* by forks of other workers */
	uint32_t place;                /* held: index in the records */
	struct dist_rpc_call *waiting; /* FETCHes, until it is ready */
};

/* These are called with the mutex held.
 * dist__rpc_value_find returns the value of id, or a new one; NULL: no memory.
 */
struct dist__rpc_value *dist__rpc_value_find(struct dist_rpc *rpc,
					     struct dist__rpc_id id);

/* dist__rpc_value_note records that a fork was made, taken or dropped. Errors:
 * NO_MEMORY; INVALID_ARGUMENT (it was recorded before). */
enum dist_error dist__rpc_value_note(struct dist_rpc *rpc,
				     struct dist__rpc_value *value,
				     struct dist__rpc_id id, bool made,
				     bool taken, bool dropped);

/* dist__rpc_value_release frees value if no reference to it is left. */
void dist__rpc_value_release(struct dist_rpc *rpc,
			     struct dist__rpc_value *value);

/* ---- records (records.c) -------------------------------------------- */

/* A wait of a thread. */
struct dist__rpc_wait {
	const char *op;
	const char *function;
	int worker;             /* that serves the call; -1: all */
	struct dist__rpc_id of; /* the call; number 0: unknown */
	int64_t timeout_ns;
	bool gives_up; /* timeout_ns was chosen by the program */
	struct dist__site site;
};

/* dist__rpc_note_wait records that the calling thread blocks, and returns an
 * index for dist__rpc_note_go, which records how the wait ended. */
uint32_t dist__rpc_note_wait(struct dist_rpc *rpc,
			     const struct dist__rpc_wait *wait);
void dist__rpc_note_go(struct dist_rpc *rpc, uint32_t place,
		       enum dist_error error);

/* dist__rpc_note_end writes the end of a call of this worker to the trace.
 */
void dist__rpc_note_end(const struct dist_rpc_future *future);

/* dist__rpc_note_come records a call to be served, dist__rpc_note_run that the
 * calling lane runs its function, dist__rpc_note_ran that it has returned.
 * dist__rpc_note_served records the end of the call, also in the trace. */
void dist__rpc_note_come(struct dist_rpc_call *call, const char *function);
void dist__rpc_note_run(struct dist_rpc_call *call);
void dist__rpc_note_ran(struct dist_rpc *rpc);
void dist__rpc_note_served(struct dist_rpc_call *call);

/* dist__rpc_note_hold records a reference, and returns its index. Locked. */
uint32_t dist__rpc_note_hold(struct dist_rpc *rpc,
			     enum check_reference_kind kind, int owner,
			     const char *function, struct dist__site site);

/* ---- messages and lines (words.c) -----------------------------------------
 */

/* dist__rpc_fail stores the message of a failed call of this thread, by
 * dist__rpc_say(), and evaluates to error. */
#define dist__rpc_fail(error, ...) (dist__rpc_say(__VA_ARGS__), (error))
void dist__rpc_say(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* dist__rpc_refused records that the call op at site was refused, for the
 * reason that is the thread's last message. */
void dist__rpc_refused(struct dist_rpc *rpc, enum dist_error error,
		       const char *op, struct dist__site site);

#endif
