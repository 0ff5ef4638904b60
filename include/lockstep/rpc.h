/*
 * rpc.h - calls of functions on other ranks, and references to values there.
 *
 * Names and meanings are those of torch.distributed.rpc: workers have names;
 * rpc_sync, rpc_async and remote run a function on a worker; remote leaves the
 * value there and gives the caller a reference (RRef) to it. C has no pickle: a
 * program registers its functions by name, and arguments and values are bytes.
 * Runs over TCP and on simulated ranks of one process.
 *
 *	static void add(void *context, struct dist_rpc_call *call)
 *	{
 *		struct dist_rpc_bytes in = dist_rpc_call_input(call);
 *		const float *x = in.data;
 *		float sum = x[0] + x[1];
 *
 *		dist_rpc_call_reply(call, &sum, sizeof sum);
 *	}
 *	...
 *	const struct dist_rpc_entry functions[] = {{"add", add, NULL}};
 *	const struct dist_rpc_options options = {.functions = functions,
 *						 .num_functions = 1};
 *
 *	dist_rpc_init(group, &options, &rpc);
 *	if (rank == 0)
 *		dist_rpc_sync(rpc, &(struct dist_rpc_request){
 *				.to = 1, .function = "add",
 *				.data = x, .bytes = sizeof x}, &value);
 *	dist_rpc_shutdown(rpc, true);
 *
 * - A rank serves calls beside its own work: on threads over TCP, on actors in
 *   simulation, num_worker_threads at a time. Calls from one rank to another
 *   may run in any order and at the same time. A function protects data that it
 *   shares with the rank and with other calls. In simulation a mutex must not
 *   be held while the function waits or computes.
 * - A function may call any dist_rpc_ function except init and shutdown, and no
 *   group. Calls nest as deep as there are worker threads: when all threads of
 *   a rank wait for calls that need another thread there, that is a deadlock,
 *   and the verdict names the calls.
 * - A handle (rpc, future, reference) may be used by any thread of its rank.
 * - Every fallible call returns enum dist_error, as dist.h says.
 *   dist_rpc_error_message() explains it. A failed call does not poison the
 *   group.
 * - A phantom argument or value (data NULL, bytes above 0) is a size without
 *   bytes: simulation only, DIST_ERR_UNSUPPORTED elsewhere.
 *
 * "Any call error" below stands for: DIST_ERR_INVALID_ARGUMENT (NULL, no such
 * worker, an empty or too long name, a negative timeout), DIST_ERR_UNSUPPORTED
 * (a phantom in a real world), DIST_ERR_NO_MEMORY, DIST_ERR_TIMEOUT (it has
 * passed; the callee may still run it), DIST_ERR_REMOTE (the function failed,
 * or the callee has none of that name: the message quotes the error and the
 * worker), DIST_ERR_PEER_LOST (the callee died or has left), DIST_ERR_DEADLOCK
 * (simulation: no rank can ever move), DIST_ERR_ABORTED (the rank has shut
 * down, or the job was ended), DIST_ERR_IO.
 */
#ifndef LOCKSTEP_RPC_H
#define LOCKSTEP_RPC_H

#include "lockstep/dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rank's part in remote calls. Opaque. */
struct dist_rpc;
/* A call in flight, or its end. Opaque. */
struct dist_rpc_future;
/* A reference to a value that a worker, its owner, holds. Opaque. */
struct dist_rref;
/* A call that a function serves. Opaque; lives until the function returns, or
 * until dist_rpc_call_end(). */
struct dist_rpc_call;

/* Bytes; data NULL with bytes above 0: a phantom. */
struct dist_rpc_bytes {
	void *data;
	size_t bytes;
};

/* Bytes of a name of a worker or a function, its end included. */
#define DIST_RPC_NAME 128

/* ---- beginning and ending ------------------------------------------- */

/*
 * A function that others may call. It reads the argument of call, replies at
 * most once, and returns when it has. context is what was registered.
 */
typedef void dist_rpc_function(void *context, struct dist_rpc_call *call);

/* A function and the name that others call it by, unique in its worker. */
struct dist_rpc_entry {
	const char *name;
	dist_rpc_function *function;
	void *context;
};

/* All-zero (or a NULL pointer) means: the default. */
struct dist_rpc_options {
	const char *name; /* of this worker, unique; NULL: "worker" and the
			     rank; letters, digits, "-", "_" and ":" */
	int num_worker_threads; /* calls served at once; 0: 16, as torch */
	int64_t timeout_ns;     /* of a call; 0: 60 s, as torch;
				   DIST_TIMEOUT_NEVER */
	const struct dist_rpc_entry *functions; /* copied; registered before
						   anybody can call */
	int num_functions;
};

/*
 * dist_rpc_init makes every rank of group a worker; a worker's number is the
 * rank in group. A blocking collective of group. The caller owns *rpc until
 * dist_rpc_shutdown(); group outlives it, and may be used meanwhile by the
 * rank's own thread. Errors: any group error; DIST_ERR_INVALID_ARGUMENT also
 * for a name that is too long, has other letters or is another worker's, a
 * negative number, or a function that cannot be registered;
 * DIST_ERR_UNSUPPORTED (a world without messages of its own: nccl, simulated
 * processes).
 */
DIST_MUST_CHECK enum dist_error
dist_rpc_init(struct dist_group *group, const struct dist_rpc_options *options,
	      struct dist_rpc **rpc);

/*
 * dist_rpc_shutdown ends the rank's part and frees rpc, also on failure. With
 * graceful it waits until every worker has come here and no call is
 * outstanding anywhere; calls are served meanwhile. Without, the rank leaves at
 * once, and calls to it fail with DIST_ERR_PEER_LOST. All futures have ended
 * then, and can still be waited for, read and freed. Free references before:
 * they are invalid afterwards. Those that this rank still holds, or that others
 * hold to its values, are "left behind" in the verdict of a job that ended well
 * otherwise. rpc may be NULL. Errors: any call error; DIST_ERR_TIMEOUT after
 * the timeout of the group; DIST_ERR_INVALID_ARGUMENT also for a call in a
 * function that rpc serves or calls: then nothing is done.
 */
enum dist_error dist_rpc_shutdown(struct dist_rpc *rpc, bool graceful);

/*
 * dist_rpc_register lets other workers call function here by name from now on;
 * a call that came before fails with DIST_ERR_REMOTE. Functions in the options
 * are registered from the start. Errors: DIST_ERR_INVALID_ARGUMENT (NULL
 * function, a name that is empty, too long or in use), DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error dist_rpc_register(struct dist_rpc *rpc,
						  const char *name,
						  dist_rpc_function *function,
						  void *context);

/* dist_rpc_get_worker returns the number of the worker called name, -1: none.
 * dist_rpc_get_worker_name returns the name of a worker, which lives as long as
 * rpc; NULL: there is none. dist_rpc_get_rank returns the number of this
 * worker, dist_rpc_get_world_size how many there are. */
int dist_rpc_get_worker(const struct dist_rpc *rpc, const char *name);
const char *dist_rpc_get_worker_name(const struct dist_rpc *rpc, int worker);
int dist_rpc_get_rank(const struct dist_rpc *rpc);
int dist_rpc_get_world_size(const struct dist_rpc *rpc);

/* dist_rpc_error_message stores a sentence about the last failure of a call of
 * this thread in *message; "" if there was none. */
void dist_rpc_error_message(struct dist_rpc *rpc, struct dist_message *message);

/* ---- calling --------------------------------------------------------- */

/* What to call, and where. Strings and data are borrowed during the call that
 * takes the request. */
struct dist_rpc_request {
	int to; /* number of the worker; this one is allowed */
	const char *function;
	const void *data; /* the argument; NULL and 0 bytes: none */
	size_t bytes;
	int64_t timeout_ns; /* 0: of dist_rpc_options; DIST_TIMEOUT_NEVER */
};

/*
 * dist_rpc_sync calls a function and blocks until its value is there, which it
 * stores in *value, to be freed with dist_rpc_bytes_free(); after a failure
 * *value is {NULL, 0}. value may be NULL. Errors: any call error.
 */
DIST_MUST_CHECK enum dist_error
dist_rpc_sync(struct dist_rpc *rpc, const struct dist_rpc_request *request,
	      struct dist_rpc_bytes *value);

/* dist_rpc_async starts a call and stores its future, to be freed with
 * dist_rpc_future_free(). Errors: any call error known at once; the others come
 * from the wait. */
DIST_MUST_CHECK enum dist_error
dist_rpc_async(struct dist_rpc *rpc, const struct dist_rpc_request *request,
	       struct dist_rpc_future **future);

/* dist_rpc_bytes_free frees what value holds and clears it. */
void dist_rpc_bytes_free(struct dist_rpc_bytes *value);

/*
 * dist_rpc_wait blocks until future has ended, well or not, or the request's
 * timeout has passed since the call. Waiting again returns the same. Errors:
 * any call error.
 */
DIST_MUST_CHECK enum dist_error dist_rpc_wait(struct dist_rpc_future *future);

/* dist_rpc_is_done returns whether dist_rpc_wait() would return at once. In
 * simulation a call that returns false takes a little simulated time. */
bool dist_rpc_is_done(struct dist_rpc_future *future);

/* dist_rpc_value returns the value of a future that ended well: bytes that live
 * until the future is freed; {NULL, 0} otherwise. */
struct dist_rpc_bytes dist_rpc_value(const struct dist_rpc_future *future);

/* dist_rpc_then calls function(context, future) once, beside the rank's own
 * work, when future has ended (soon, if it already has). The future lives at
 * least until then. function must not wait for a future that is not done. The
 * functions of several futures may run at the same time, in any order.
 * Errors: DIST_ERR_INVALID_ARGUMENT, DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
dist_rpc_then(struct dist_rpc_future *future,
	      void (*function)(void *context, struct dist_rpc_future *future),
	      void *context);

/* dist_rpc_wait_all waits for n futures, 0 or more, and returns the error of
 * the first that failed, in their order. Errors: any call error. */
DIST_MUST_CHECK enum dist_error
dist_rpc_wait_all(struct dist_rpc_future **futures, int n);

/* dist_rpc_future_free frees the handle; a call in flight goes on. NULL is
 * allowed. */
void dist_rpc_future_free(struct dist_rpc_future *future);

/* ---- serving --------------------------------------------------------- */

/* The argument of the call, which lives as long as the call; the worker that
 * calls; and the rpc of this rank. */
struct dist_rpc_bytes dist_rpc_call_input(const struct dist_rpc_call *call);
int dist_rpc_call_caller(const struct dist_rpc_call *call);
struct dist_rpc *dist_rpc_call_rpc(const struct dist_rpc_call *call);

/* dist_rpc_call_reply gives the call its value, a copy of bytes at data.
 * Without it the value is empty; of several replies the last counts. Errors:
 * DIST_ERR_INVALID_ARGUMENT (NULL call); DIST_ERR_NO_MEMORY and
 * DIST_ERR_UNSUPPORTED (a phantom in a real world), with which the call fails,
 * too. */
enum dist_error dist_rpc_call_reply(struct dist_rpc_call *call,
				    const void *data, size_t bytes);

/* dist_rpc_call_fail makes the call fail with DIST_ERR_REMOTE and this text, up
 * to 255 bytes, like an exception in torch's function. */
void dist_rpc_call_fail(struct dist_rpc_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* dist_rpc_call_later keeps call beyond the return of its function, like
 * torch's async_execution. Another function or a callback then replies or lets
 * it fail, and ends it with dist_rpc_call_end(). Meanwhile the call needs no
 * worker thread. A function calls it before anything else. */
void dist_rpc_call_later(struct dist_rpc_call *call);
void dist_rpc_call_end(struct dist_rpc_call *call);

/* dist_rpc_compute lets duration_ns pass as dist_compute() does, also in a
 * function. There it is the work of one core of the worker's host: calls that
 * are served at the same time compute at the same time. Errors:
 * DIST_ERR_INVALID_ARGUMENT, DIST_ERR_ABORTED, DIST_ERR_DEADLOCK. */
DIST_MUST_CHECK enum dist_error
dist_rpc_compute(struct dist_rpc *rpc, int64_t duration_ns, const char *label);

/* ---- references ------------------------------------------------------ */

/*
 * dist_rpc_remote calls a function on a worker and leaves the value there. The
 * caller gets a reference at once, before the function has run; its owner is
 * the worker. Errors: any call error known at once; errors of the function come
 * from dist_rref_to_here().
 */
DIST_MUST_CHECK enum dist_error
dist_rpc_remote(struct dist_rpc *rpc, const struct dist_rpc_request *request,
		struct dist_rref **rref);

/* dist_rref_new makes a reference to a copy of bytes at data; this rank is the
 * owner. Errors: DIST_ERR_INVALID_ARGUMENT, DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error dist_rref_new(struct dist_rpc *rpc,
					      const void *data, size_t bytes,
					      struct dist_rref **rref);

/* dist_rref_owner returns the worker that holds the value, -1 for NULL;
 * dist_rref_is_owner whether that is this rank; dist_rref_confirmed_by_owner
 * whether the owner knows of this reference. */
int dist_rref_owner(const struct dist_rref *rref);
bool dist_rref_is_owner(const struct dist_rref *rref);
bool dist_rref_confirmed_by_owner(const struct dist_rref *rref);

/* dist_rref_to_here fetches a copy of the value and blocks until the owner has
 * it; *value and timeout_ns are as in dist_rpc_sync(). Errors: any call error,
 * and the error of the function. */
DIST_MUST_CHECK enum dist_error dist_rref_to_here(struct dist_rref *rref,
						  int64_t timeout_ns,
						  struct dist_rpc_bytes *value);

/* dist_rref_local_value blocks until the value is there, and stores where it
 * is. Only the owner calls it. The value may be changed in place; it lives as
 * long as the reference and is not freed. Errors: any call error;
 * DIST_ERR_INVALID_ARGUMENT (this rank is not the owner). */
DIST_MUST_CHECK enum dist_error
dist_rref_local_value(struct dist_rref *rref, struct dist_rpc_bytes *value);

/*
 * A reference on its way to another worker, as bytes of an argument or a value
 * (torch pickles an RRef). It counts as a reference until the receiver takes
 * it. dist_rref_fork fills *fork; dist_rref_take makes a reference from it,
 * once, on any worker. The owner counts both, and frees the value with the
 * last. Errors: any call error; take: DIST_ERR_INVALID_ARGUMENT also for bytes
 * that are no fork, or of another rpc.
 */
struct dist_rref_fork {
	uint64_t words[4];
};
DIST_MUST_CHECK enum dist_error dist_rref_fork(struct dist_rref *rref,
					       struct dist_rref_fork *fork);
DIST_MUST_CHECK enum dist_error
dist_rref_take(struct dist_rpc *rpc, const struct dist_rref_fork *fork,
	       struct dist_rref **rref);

/* dist_rref_free frees the reference. NULL is allowed. */
void dist_rref_free(struct dist_rref *rref);

/* ---- source lines ---------------------------------------------------- */

/* The macros below put dist_call_at() before every call that can fail or wait;
 * (dist_rpc_wait)(future) calls without it. */
#define dist_rpc_sync(...)    (DIST_CALL_HERE, (dist_rpc_sync)(__VA_ARGS__))
#define dist_rpc_async(...)   (DIST_CALL_HERE, (dist_rpc_async)(__VA_ARGS__))
#define dist_rpc_remote(...)  (DIST_CALL_HERE, (dist_rpc_remote)(__VA_ARGS__))
#define dist_rpc_wait(future) (DIST_CALL_HERE, (dist_rpc_wait)(future))
#define dist_rpc_wait_all(...)                                                 \
	(DIST_CALL_HERE, (dist_rpc_wait_all)(__VA_ARGS__))
#define dist_rref_to_here(...)                                                 \
	(DIST_CALL_HERE, (dist_rref_to_here)(__VA_ARGS__))
#define dist_rref_local_value(...)                                             \
	(DIST_CALL_HERE, (dist_rref_local_value)(__VA_ARGS__))
#define dist_rpc_init(...) (DIST_CALL_HERE, (dist_rpc_init)(__VA_ARGS__))
#define dist_rpc_shutdown(...)                                                 \
	(DIST_CALL_HERE, (dist_rpc_shutdown)(__VA_ARGS__))

#ifdef __cplusplus
}
#endif

#endif
