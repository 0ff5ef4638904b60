/*
 * rpc.h - what remote calls are made of: messages, calls in flight, lanes that
 * serve, references.
 *
 * A message is a frame of one size and, where its bytes do not fit in there, a
 * body. Requests and replies go to tag 0, where a worker's lanes listen: one
 * takes a frame, sees that another one listens, and then runs the function or
 * ends the call that the reply is of. So a reply is taken while all worker
 * threads wait, and no lane is handed anything by another. In a real world a
 * thread that only waits for its call takes the reply itself: that has a tag of
 * its own.
 *
 * The mutex guards what several threads of the rank change. It is never held
 * over a call of the transport, in which a simulated actor may let others run.
 *
 * Private to core/rpc/.
 */
#ifndef LOCKSTEP_CORE_RPC_RPC_H
#define LOCKSTEP_CORE_RPC_RPC_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/group.h"
#include "core/transport.h"
#include "lockstep/rpc.h"

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
	DIST__RPC_REMOTE, /* a call of which the value stays */
	DIST__RPC_FETCH,  /* of such a value */
	DIST__RPC_FORK,   /* there is one more reference to it, */
	DIST__RPC_TAKE,   /* that has found its worker, */
	DIST__RPC_DROP,   /* and is given up */
	DIST__RPC_JOIN,   /* a round of a graceful shutdown */
	DIST__RPC_NOTHING /* to see who is lost */
};

/* The value that references refer to: counted by the worker that asked for it.
 */
struct dist__rpc_id {
	uint32_t worker, number;
};

/* Bytes that go with a frame; longer ones are a body. */
#define DIST__RPC_SHORT 72

/* The same in all processes of a job, which run on machines of one kind. */
struct dist__rpc_frame {
	uint32_t kind;
	uint32_t call; /* of a request, and of the reply to it */
	uint64_t function;
	uint64_t bytes;
	uint32_t phantom;
	uint32_t error; /* REPLY: minus the enum dist_error; bytes: words */
	uint32_t body_tag;
	uint32_t reply_tag;              /* of the frame of the reply */
	struct dist__rpc_id value, fork; /* of the kinds about references */
	char data[DIST__RPC_SHORT];
};

/* A message that was sent: the frame and what of it is on its way. */
struct dist__rpc_post {
	struct dist__rpc_frame frame;
	struct dist__request *head, *body;
};

/* dist__rpc_send sends post->frame, of which kind, call and what is of that
 * kind are set, and bytes to a worker; tag is 0, or what dist__rpc_tag()
 * returned there. They stay untouched until
 * dist__rpc_sent(). Errors: of isend; then nothing is on its way. */
enum dist_error dist__rpc_send(struct dist_rpc *rpc, int to, uint32_t tag,
			       struct dist__rpc_post *post,
			       struct dist_rpc_bytes bytes);

/* dist__rpc_sent waits until post is sent, or takes it back at deadline_ns. */
enum dist_error dist__rpc_sent(struct dist_rpc *rpc,
			       struct dist__rpc_post *post,
			       int64_t deadline_ns);

/* dist__rpc_tag returns a tag that no other message to this worker has now.
 * dist__rpc_expect begins to receive the frame under it from a worker. Errors:
 * of irecv. */
uint32_t dist__rpc_tag(struct dist_rpc *rpc);
enum dist_error dist__rpc_expect(struct dist_rpc *rpc, int from, uint32_t tag,
				 struct dist__rpc_frame *frame,
				 struct dist__request **request);

/* dist__rpc_receive waits for a frame from any worker that is not lost, and
 * stores whose it is. Errors: of irecv and wait. */
enum dist_error dist__rpc_receive(struct dist_rpc *rpc,
				  struct dist__rpc_frame *frame, int *from);

/* dist__rpc_receive_body fetches what belongs to frame; *bytes is to be freed.
 * Errors: NO_MEMORY; of irecv and wait. */
enum dist_error dist__rpc_receive_body(struct dist_rpc *rpc, int from,
				       const struct dist__rpc_frame *frame,
				       struct dist_rpc_bytes *bytes);

/* dist__rpc_copy stores a copy of bytes, to be freed; a phantom's is one.
 * Errors: NO_MEMORY. */
enum dist_error dist__rpc_copy(struct dist_rpc_bytes *copy,
			       struct dist_rpc_bytes bytes);

/* ---- a worker (rpc.c) ----------------------------------------------- */

struct dist__rpc_function {
	struct dist__rpc_function *next;
	char name[DIST_RPC_NAME];
	uint64_t hash; /* of the name; no other's of this worker */
	dist_rpc_function *run;
	void *context;
};

/* A lane, and what it does now. */
struct dist__rpc_helper {
	struct dist__rpc_helper *next, *next_idle;
	struct dist_rpc *rpc;
	struct dist__lane *lane;
	struct dist__job job;
	void (*run)(struct dist_rpc *rpc, void *arg);
	void *arg;
	int32_t by;      /* as the records have it: which call it serves */
	unsigned claims; /* jobs that are not submitted yet */
	bool ends;       /* it gets no more */
};

/* That nothing is outstanding; kept to the end, for whom it is set. */
struct dist__rpc_quiet {
	struct dist__rpc_quiet *next;
	struct dist__event *event;
};

#define DIST__RPC_BUCKETS 256

struct dist_rpc {
	struct dist_group *group; /* its own, of all workers */
	struct dist__transport *transport;
	struct check_slot *slot; /* its remote part goes by the mutex */
	pthread_t owner;         /* the rank's own thread */
	uint32_t message_group;  /* id that its messages go under */
	int worker, num_workers;
	int *worker_of;               /* by global rank */
	char (*names)[DIST_RPC_NAME]; /* by worker */
	int max_running;
	int64_t timeout_ns;

	pthread_mutex_t mutex;
	struct dist__rpc_function *functions;
	struct dist__rpc_helper *helpers, *idle;
	bool *lost;         /* by worker */
	unsigned num_lost;  /* of them */
	unsigned listeners; /* lanes that wait for a frame, or will */
	bool closing;       /* nothing is to begin any more */
	bool ending;        /* and nobody else's begins */
	uint32_t tags;      /* given so far */

	/* Calls of this worker. */
	struct dist_rpc_future *calls[DIST__RPC_BUCKETS]; /* by number */
	uint32_t issued;      /* numbers: of calls, values and forks */
	unsigned outstanding; /* calls, and jobs that may call */
	struct dist__rpc_quiet *quiets; /* none is outstanding: newest first */
	bool asks_quiet;                /* somebody waits for that one */

	/* Calls that it serves. */
	int running;
	struct dist_rpc_call *backlog, **backlog_end;

	struct dist_rpc_call *joined; /* of worker 0: JOINs of this round, */
	int num_joined;               /* so many */

	struct dist__rpc_value *values; /* that this worker holds */
};

static inline void dist__rpc_lock(struct dist_rpc *rpc)
{
	pthread_mutex_lock(&rpc->mutex);
}

static inline void dist__rpc_unlock(struct dist_rpc *rpc)
{
	pthread_mutex_unlock(&rpc->mutex);
}

/* dist__rpc_function_find returns the function of that hash, NULL: none. */
const struct dist__rpc_function *dist__rpc_function_find(struct dist_rpc *rpc,
							 uint64_t hash);
uint64_t dist__rpc_hash(const char *name);

/* dist__rpc_join_serve serves a JOIN, once all workers have sent it: the reply
 * is the sum of their counts. Takes call over. */
void dist__rpc_join_serve(struct dist_rpc_call *call);

/* dist__rpc_lose notes that a worker is lost: calls to it fail, and rounds that
 * it does not come to. */
void dist__rpc_lose(struct dist_rpc *rpc, int worker);

/* dist__rpc_busy counts one more thing that may call; dist__rpc_rest one less.
 */
void dist__rpc_busy(struct dist_rpc *rpc);
void dist__rpc_rest(struct dist_rpc *rpc);

static inline int64_t dist__rpc_now_ns(struct dist_rpc *rpc)
{
	return rpc->transport->ops->now_ns(rpc->transport);
}

/* ---- lanes (lanes.c) ------------------------------------------------ */

/* dist__rpc_spawn runs run(rpc, arg) on a lane that is idle, or a new one.
 * Errors: NO_MEMORY, IO; then it will not run. */
enum dist_error dist__rpc_spawn(struct dist_rpc *rpc,
				void (*run)(struct dist_rpc *rpc, void *arg),
				void *arg);

/* dist__rpc_helper_here returns that whose lane the caller runs on; NULL: none
 * of this rpc's. */
struct dist__rpc_helper *dist__rpc_helper_here(struct dist_rpc *rpc);

/* dist__rpc_lanes_end waits until all lanes are idle, and frees them. Rank's
 * thread. */
void dist__rpc_lanes_end(struct dist_rpc *rpc);

/* ---- calls of this worker (call.c) ---------------------------------- */

enum dist__rpc_progress {
	DIST__RPC_SENDING,
	DIST__RPC_SENT, /* post is whose who makes it ENDED */
	DIST__RPC_ENDED
};

struct dist_rpc_future {
	struct dist_rpc *rpc; /* done: it may be gone */
	const struct dist__event_ops *events;
	struct dist_rpc_future *next; /* in its bucket */
	atomic_uint refs;
	uint32_t number;
	int to;
	char function[64];      /* its name, cut short */
	const char *op;         /* that called, lives on; */
	struct dist__site site; /* and where */
	int64_t issued_ns;
	bool gives_up; /* the program chose how long it waits: */
	int64_t timeout_ns;
	int64_t deadline_ns;
	enum dist__rpc_progress progress;
	struct dist__rpc_post post;
	struct dist_rpc_bytes copy;  /* of what is sent; or nothing */
	struct dist__request *reply; /* comes to who waits; NULL: to a lane */
	struct dist__rpc_frame reply_frame;

	/* Called once when the reply has come or never will, unless it is too
	 * late; NULL: nobody. */
	void (*on_end)(struct dist_rpc_future *future, void *arg);
	void *on_end_arg;

	atomic_bool done; /* what follows stands */
	enum dist_error error;
	struct dist_rpc_bytes value;
	struct dist_message *message; /* of a failure; NULL: no memory */
	struct dist__event *event;    /* done; NULL: reply tells */
};

/* What to begin: request, with these set. */
struct dist__rpc_start {
	enum dist__rpc_kind kind;
	const char *op; /* the call that it is of; lives on */
	struct dist__site site;
	int to;
	const char *function; /* "": none */
	struct dist_rpc_bytes bytes;
	int64_t timeout_ns; /* 0: of rpc */
	bool borrows; /* bytes stay until the future is done, or taken back */
	bool direct;  /* who calls will wait for the reply itself */
	struct dist__rpc_id value, fork;
	void (*on_end)(struct dist_rpc_future *future, void *arg);
	void *on_end_arg;
};

/* dist__rpc_start sends a request and stores its future, with one reference for
 * the caller; where that is NULL, nobody has one. Errors: any call error. */
enum dist_error dist__rpc_start(struct dist_rpc *rpc,
				const struct dist__rpc_start *start,
				struct dist_rpc_future **future);

/* dist__rpc_end_of blocks until future is done, and returns its error, without
 * a word to the records or the thread. */
enum dist_error dist__rpc_end_of(struct dist_rpc_future *future);

/* dist__rpc_await blocks until future is done, as dist_rpc_wait(), in a call
 * named op at site. */
enum dist_error dist__rpc_await(struct dist_rpc_future *future, const char *op,
				struct dist__site site);

/* dist__rpc_check_request checks the arguments of a call. Errors:
 * INVALID_ARGUMENT, UNSUPPORTED. */
enum dist_error dist__rpc_check_request(const struct dist_rpc *rpc,
					const struct dist_rpc_request *request);

/* dist__rpc_answer ends the call that a reply from a worker is of; takes over
 * what value holds. */
void dist__rpc_answer(struct dist_rpc *rpc, const struct dist__rpc_frame *frame,
		      struct dist_rpc_bytes value);

/* dist__rpc_calls_fail ends all calls to a worker, -1: to any. */
void dist__rpc_calls_fail(struct dist_rpc *rpc, int to, enum dist_error error);

/* ---- their futures (future.c) ---------------------------------------- */

/* dist__rpc_future_new makes the future of a call that is to begin, with two
 * references: the table's and the caller's. NULL: no memory.
 * dist__rpc_future_drop gives up one. */
struct dist_rpc_future *
dist__rpc_future_new(struct dist_rpc *rpc, const struct dist__rpc_start *start);
void dist__rpc_future_drop(struct dist_rpc_future *future);

/* ---- calls that it serves (serve.c) --------------------------------- */

struct dist_rpc_call {
	struct dist_rpc *rpc;
	struct dist_rpc_call *next; /* in the backlog, or of a value's */
	int caller;
	struct dist__rpc_frame frame;
	struct dist_rpc_bytes input, reply;
	uint32_t place; /* in the records */
	const char *function;
	int64_t came_ns, began_ns;
	enum dist_error error;
	char words[256]; /* with an error */
	bool *is_later;  /* it outlives its function; while that runs */
};

/* dist__rpc_listen is run by a lane that is counted as a listener. */
void dist__rpc_listen(struct dist_rpc *rpc, void *unused);

/* dist__rpc_serve_own serves a call of this worker to itself, with frame and a
 * copy of input that it takes over. Errors: NO_MEMORY, IO. */
enum dist_error dist__rpc_serve_own(struct dist_rpc *rpc,
				    const struct dist__rpc_frame *frame,
				    struct dist_rpc_bytes input);

/* dist__rpc_call_new makes a call to be served; NULL: no memory.
 * dist__rpc_call_end replies, and frees it. */
struct dist_rpc_call *dist__rpc_call_new(struct dist_rpc *rpc, int caller,
					 const struct dist__rpc_frame *frame);
void dist__rpc_call_end(struct dist_rpc_call *call);

/* ---- references (rref.c, value.c) ----------------------------------- */

/* dist__rpc_value_serve serves a call of a kind that is about references, but
 * for REMOTE. Takes call over. */
void dist__rpc_value_serve(struct dist_rpc_call *call);

/* dist__rpc_value_begin notes that the value of a REMOTE will be held here, and
 * dist__rpc_value_set what it is: call's reply, which is taken out of there, or
 * its error. */
enum dist_error dist__rpc_value_begin(struct dist_rpc *rpc,
				      const struct dist__rpc_frame *frame);
void dist__rpc_value_set(struct dist_rpc_call *call);

/* dist__rpc_values_free frees all values. */
void dist__rpc_values_free(struct dist_rpc *rpc);

/* ---- records (records.c) -------------------------------------------- */

/* What is waited for. */
struct dist__rpc_wait {
	const char *op;
	const char *function;
	int worker;             /* that serves it; -1: all */
	struct dist__rpc_id of; /* the call; number 0: unknown */
	int64_t timeout_ns;
	bool gives_up; /* the program chose that time */
	struct dist__site site;
};

/* dist__rpc_note_wait notes that the calling thread blocks, and returns a place
 * for dist__rpc_note_go, which notes how that ended. */
uint32_t dist__rpc_note_wait(struct dist_rpc *rpc,
			     const struct dist__rpc_wait *wait);
void dist__rpc_note_go(struct dist_rpc *rpc, uint32_t place,
		       enum dist_error error);

/* dist__rpc_note_end tells the trace of a call of this worker that has ended.
 */
void dist__rpc_note_end(const struct dist_rpc_future *future);

/* dist__rpc_note_come notes a call that is to be served; dist__rpc_note_run
 * that the calling lane runs its function, dist__rpc_note_ran that it has, and
 * dist__rpc_note_served that the call is to end, which the trace hears. */
void dist__rpc_note_come(struct dist_rpc_call *call, const char *function);
void dist__rpc_note_run(struct dist_rpc_call *call);
void dist__rpc_note_ran(struct dist_rpc *rpc);
void dist__rpc_note_served(struct dist_rpc_call *call);

/* dist__rpc_note_hold notes a reference, and returns its place. Locked. */
uint32_t dist__rpc_note_hold(struct dist_rpc *rpc,
			     enum check_reference_kind kind, int owner,
			     const char *function, struct dist__site site);

/* ---- words and lines (words.c) --------------------------------------------
 */

/* dist__rpc_fail notes words about a failure of a call of this thread, by
 * dist__rpc_say, and is its error. */
#define dist__rpc_fail(error, ...) (dist__rpc_say(__VA_ARGS__), (error))
void dist__rpc_say(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* dist__rpc_site_take returns where the call that is being made stands. */
struct dist__site dist__rpc_site_take(void);

#endif
