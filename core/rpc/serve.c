/*
 * serve.c - serves calls: the functions that there are, the lanes that listen
 * for calls and run them, and rounds of a shutdown.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "core/rpc/state.h"

/* ---- functions ------------------------------------------------------ */

static const struct dist__rpc_function *find_function(struct dist_rpc *rpc,
						      uint64_t hash)
{
	const struct dist__rpc_function *function;

	dist__rpc_lock(rpc);
	function = rpc->functions;
	while (function && function->hash != hash)
		function = function->next;
	dist__rpc_unlock(rpc);
	return function;
}

enum dist_error dist_rpc_register(struct dist_rpc *rpc, const char *name,
				  dist_rpc_function *function, void *context)
{
	size_t length = name ? strnlen(name, DIST_RPC_NAME) : 0;
	struct dist__rpc_function *fresh;

	if (!rpc || !function || length == 0 || length == DIST_RPC_NAME)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected an rpc, a name of 1 to %d "
				      "bytes and a function",
				      DIST_RPC_NAME - 1);
	if (find_function(rpc, dist__rpc_hash(name)))
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "there is a function called %s", name);
	fresh = calloc(1, sizeof *fresh);
	if (!fresh)
		return dist__rpc_fail(DIST_ERR_NO_MEMORY, "no memory");
	memcpy(fresh->name, name, length);
	fresh->hash = dist__rpc_hash(name);
	fresh->run = function;
	fresh->context = context;
	dist__rpc_lock(rpc);
	fresh->next = rpc->functions;
	rpc->functions = fresh;
	dist__rpc_unlock(rpc);
	return DIST_OK;
}

/* ---- running functions ------------------------------------------------------
 */

void dist_rpc_call_end(struct dist_rpc_call *call)
{
	if (!call)
		return;
	dist__rpc_note_served(call);
	if (call->frame.kind == DIST__RPC_REMOTE)
		dist__rpc_value_set(call);
	dist__rpc_call_end(call);
}

/* On the way of pthread_exit() out of a function, over the frames of what
 * serves, which goes on. */
static void leave_thread(jmp_buf **way_out)
{
	if (*way_out)
		longjmp(**way_out, 1);
}

static void enter_function(const struct dist__rpc_function *function,
			   struct dist_rpc_call *call)
{
	jmp_buf way_out;
	jmp_buf *inside __attribute__((cleanup(leave_thread))) = NULL;

	if (setjmp(way_out)) {
		inside = NULL;
		dist_rpc_call_fail(call, "it called pthread_exit()");
		return;
	}
	inside = &way_out;
	function->run(function->context, call);
	inside = NULL;
}

static void run_function(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;
	const struct dist__rpc_function *function =
		find_function(rpc, call->frame.function);
	bool is_later = false;

	dist__rpc_note_run(call);
	call->is_later = &is_later;
	if (function)
		enter_function(function, call);
	else
		(void)dist__rpc_call_refuse(call, DIST_ERR_REMOTE,
					    "no such function");
	dist__rpc_note_ran(rpc);
	if (!is_later)
		dist_rpc_call_end(call);
}

/* Runs call, or leaves it to a lane that is running one if there are as many
 * as may be; then those that were left to this one. */
static void run_calls(struct dist_rpc *rpc, struct dist_rpc_call *call)
{
	const struct dist__rpc_function *function =
		find_function(rpc, call->frame.function);

	dist__rpc_note_come(call, function ? function->name : "");
	dist__rpc_lock(rpc);
	call->next = NULL;
	*rpc->backlog_end = call;
	rpc->backlog_end = &call->next;
	while (rpc->running < rpc->max_running && (call = rpc->backlog)) {
		rpc->backlog = call->next;
		if (!rpc->backlog)
			rpc->backlog_end = &rpc->backlog;
		rpc->running++;
		dist__rpc_unlock(rpc);
		run_function(call);
		dist__rpc_lock(rpc);
		rpc->running--;
	}
	dist__rpc_unlock(rpc);
}

/* Answers the JOINs that are here, if all are, or some never will be. */
static void answer_joined(struct dist_rpc *rpc)
{
	struct dist_rpc_call *joined = NULL, *next;
	enum dist_error error;
	int64_t sum = 0;

	dist__rpc_lock(rpc);
	error = rpc->num_lost > 0 ? DIST_ERR_PEER_LOST : DIST_OK;
	if (error || rpc->num_joined == rpc->num_workers) {
		joined = rpc->joined;
		rpc->joined = NULL;
		rpc->num_joined = 0;
	}
	dist__rpc_unlock(rpc);
	for (next = joined; next; next = next->next)
		sum += *(const int64_t *)next->input.data;
	for (; joined; joined = next) {
		next = joined->next;
		(void)dist_rpc_call_reply(joined, &sum, sizeof sum);
		joined->error = error;
		dist__rpc_call_end(joined);
	}
}

/* Serves a JOIN when all workers have sent it: the reply is the sum of their
 * counts. Takes ownership of call. */
static void serve_join(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;

	dist__rpc_lock(rpc);
	call->next = rpc->joined;
	rpc->joined = call;
	rpc->num_joined++;
	dist__rpc_unlock(rpc);
	answer_joined(rpc);
}

static void serve(struct dist_rpc *rpc, struct dist_rpc_call *call)
{
	if (call->frame.kind == DIST__RPC_CALL) {
		run_calls(rpc, call);
	} else if (call->frame.kind == DIST__RPC_REMOTE) {
		call->error = dist__rpc_value_begin(rpc, &call->frame);
		if (call->error)
			dist__rpc_call_end(call);
		else
			run_calls(rpc, call);
	} else if (call->frame.kind == DIST__RPC_JOIN) {
		serve_join(call);
	} else {
		dist__rpc_value_serve(call);
	}
}

static void serve_spawned(struct dist_rpc *rpc, void *arg)
{
	serve(rpc, arg);
}

enum dist_error dist__rpc_serve_own(struct dist_rpc *rpc,
				    const struct dist__rpc_frame *frame,
				    struct dist_rpc_bytes input)
{
	struct dist_rpc_call *call =
		dist__rpc_call_new(rpc, rpc->worker, frame);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (call) {
		call->input = input;
		error = dist__rpc_spawn(rpc, serve_spawned, call);
	}
	if (error) {
		dist_rpc_bytes_free(&input);
		free(call);
	}
	return error;
}

/* ---- listening ---------------------------------------------------- */

/* The workers that are not lost, in *members, if some are; the list is to be
 * freed. Returns how many are lost. */
static unsigned find_living(struct dist_rpc *rpc, struct dist__members *members,
			    int **list)
{
	unsigned lost;
	int n = 0;

	*members = rpc->group->members;
	*list = NULL;
	dist__rpc_lock(rpc);
	lost = rpc->num_lost;
	if (lost > 0)
		*list = malloc((size_t)rpc->num_workers * sizeof **list);
	for (int i = 0; *list && i < rpc->num_workers; i++) {
		if (rpc->lost[i])
			continue;
		if (i == rpc->worker)
			members->rank = n;
		(*list)[n++] = dist__global_rank(&rpc->group->members, i);
	}
	dist__rpc_unlock(rpc);
	if (*list) {
		members->ranks = *list;
		members->world_size = n;
	}
	return lost;
}

/* Asks every worker that is not known to be lost whether it is. */
static void find_lost(struct dist_rpc *rpc)
{
	for (int to = 0; to < rpc->num_workers; to++) {
		struct dist__rpc_post post = {.frame.kind = DIST__RPC_NOTHING};
		bool known = to == rpc->worker;

		dist__rpc_lock(rpc);
		known |= rpc->lost[to];
		dist__rpc_unlock(rpc);
		if (known)
			continue;
		if (!dist__rpc_send(rpc, to, 0, &post,
				    (struct dist_rpc_bytes){NULL, 0}) &&
		    !dist__rpc_sent(rpc, &post, DIST_TIMEOUT_NEVER))
			continue;
		/* Calls to it fail, and so do shutdown rounds that need it. */
		dist__rpc_lock(rpc);
		rpc->num_lost += !rpc->lost[to];
		rpc->lost[to] = true;
		dist__rpc_unlock(rpc);
		dist__rpc_calls_fail(rpc, to, DIST_ERR_PEER_LOST);
		answer_joined(rpc);
	}
}

/* Whether there is somebody to hear once more, after a worker was lost of which
 * `lost` did not tell. */
static bool goes_on(struct dist_rpc *rpc, unsigned lost)
{
	bool news, ending;

	dist__rpc_lock(rpc);
	news = rpc->num_lost != lost;
	ending = rpc->ending;
	dist__rpc_unlock(rpc);
	if (ending)
		dist__rpc_calls_fail(rpc, -1, DIST_ERR_PEER_LOST);
	else if (!news)
		find_lost(rpc);
	dist__rpc_lock(rpc);
	news = rpc->num_lost != lost && !rpc->ending &&
	       rpc->num_lost + 1 < (unsigned)rpc->num_workers;
	dist__rpc_unlock(rpc);
	return news;
}

static enum dist_error receive_any(struct dist_rpc *rpc,
				   const struct dist__members *members,
				   struct dist__rpc_frame *frame, int *source)
{
	struct dist__transport *t = rpc->transport;
	struct dist__message m = {.peer = DIST_ANY_SOURCE,
				  .group = rpc->message_group,
				  .data = frame,
				  .bytes = sizeof *frame,
				  .buffered = true,
				  .members = members,
				  .idles = true,
				  .source = source};
	struct dist__request *request;
	enum dist_error error = t->ops->irecv(t, &m, &request);

	return error ? error : t->ops->wait(t, request, DIST_TIMEOUT_NEVER);
}

/* Waits for a frame from any worker that is not lost, and stores the worker in
 * *from. Errors: those of irecv and wait. */
static enum dist_error receive(struct dist_rpc *rpc,
			       struct dist__rpc_frame *frame, int *from)
{
	struct dist__members members;
	enum dist_error error;
	unsigned lost;
	int *list, source = -1;

	do {
		lost = find_living(rpc, &members, &list);
		error = receive_any(rpc, &members, frame, &source);
		free(list);
	} while (error == DIST_ERR_PEER_LOST && goes_on(rpc, lost));
	if (!error)
		*from = rpc->worker_of[source];
	return error;
}

/* Does what a frame asks for. Errors: of receiving what belongs to it. */
static void handle(struct dist_rpc *rpc, int from,
		   const struct dist__rpc_frame *frame)
{
	struct dist_rpc_bytes bytes;
	struct dist_rpc_call *call;
	enum dist_error error;

	if (frame->kind == DIST__RPC_NOTHING)
		return;
	error = dist__rpc_receive_body(rpc, from, frame, &bytes);
	if (frame->kind == DIST__RPC_REPLY) {
		struct dist__rpc_frame failed = *frame;

		if (error)
			failed.error = (uint32_t) - (int)error;
		dist__rpc_answer(rpc, &failed, bytes);
		return;
	}
	call = dist__rpc_call_new(rpc, from, frame);
	if (!call) {
		dist_rpc_bytes_free(&bytes);
		return;
	}
	call->input = bytes;
	if (error) {
		(void)dist__rpc_call_refuse(call, error,
					    "the argument did not come");
		dist__rpc_call_end(call);
	} else {
		serve(rpc, call);
	}
}

/* Sees that another lane listens while this one is at work; whether it does. */
static bool is_replaced(struct dist_rpc *rpc)
{
	bool needed;

	dist__rpc_lock(rpc);
	needed = --rpc->listeners == 0 && !rpc->ending;
	rpc->listeners += needed;
	dist__rpc_unlock(rpc);
	if (!needed || !dist__rpc_spawn(rpc, dist__rpc_listen, NULL))
		return true;
	dist__rpc_lock(rpc);
	rpc->listeners--;
	dist__rpc_unlock(rpc);
	return false;
}

void dist__rpc_listen(struct dist_rpc *rpc, void *unused)
{
	struct dist__rpc_frame frame;
	bool goes_on = true;
	int from;

	(void)unused;
	while (goes_on) {
		if (receive(rpc, &frame, &from)) {
			dist__rpc_lock(rpc);
			rpc->listeners--;
			dist__rpc_unlock(rpc);
			return;
		}
		(void)is_replaced(rpc);
		handle(rpc, from, &frame);
		/* Two are enough to take turns without waking a third. */
		dist__rpc_lock(rpc);
		goes_on = rpc->listeners < 2;
		rpc->listeners += goes_on;
		dist__rpc_unlock(rpc);
	}
}
