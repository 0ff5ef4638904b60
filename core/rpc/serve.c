/*
 * serve.c - calls that other workers make here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/rpc/rpc.h"

/* ---- what a function sees ------------------------------------------- */

struct dist_rpc_bytes dist_rpc_call_input(const struct dist_rpc_call *call)
{
	return call ? call->input : (struct dist_rpc_bytes){NULL, 0};
}

int dist_rpc_call_caller(const struct dist_rpc_call *call)
{
	return call ? call->caller : -1;
}

struct dist_rpc *dist_rpc_call_rpc(const struct dist_rpc_call *call)
{
	return call ? call->rpc : NULL;
}

static enum dist_error fail(struct dist_rpc_call *call, enum dist_error error,
			    const char *words)
{
	call->error = error;
	snprintf(call->words, sizeof call->words, "%s", words);
	return error;
}

enum dist_error dist_rpc_call_reply(struct dist_rpc_call *call,
				    const void *data, size_t bytes)
{
	const struct dist_rpc_bytes value = {(void *)data, bytes};
	struct dist_rpc_bytes copy;
	enum dist_error error;

	if (!call)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!data && bytes > 0 && !call->rpc->transport->ops->simulation)
		return fail(call, DIST_ERR_UNSUPPORTED,
			    "a phantom reply outside of a simulation");
	error = dist__rpc_copy(&copy, value);
	if (error)
		return fail(call, error, "no memory for the reply");
	dist_rpc_bytes_free(&call->reply);
	call->reply = copy;
	return DIST_OK;
}

void dist_rpc_call_fail(struct dist_rpc_call *call, const char *format, ...)
{
	va_list args;

	if (!call)
		return;
	call->error = DIST_ERR_REMOTE;
	va_start(args, format);
	vsnprintf(call->words, sizeof call->words, format, args);
	va_end(args);
}

enum dist_error dist_rpc_compute(struct dist_rpc *rpc, int64_t duration_ns,
				 const char *label)
{
	struct timespec until;

	(void)label;
	if (!rpc || duration_ns < 0)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected an rpc and 0 ns or more");
	if (rpc->transport->ops->simulation)
		return rpc->transport->ops->compute(rpc->transport,
						    duration_ns);
	until = dist__clock_timespec(dist__clock_after(duration_ns));
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) !=
	       0)
		;
	return DIST_OK;
}

/* ---- life of a call -------------------------------------------------------
 */

/* A call to be served; NULL: no memory. */
static struct dist_rpc_call *call_new(struct dist_rpc *rpc, int caller,
				      const struct dist__rpc_frame *frame)
{
	struct dist_rpc_call *call = calloc(1, sizeof *call);

	if (!call)
		return NULL;
	call->rpc = rpc;
	call->caller = caller;
	call->frame = *frame;
	return call;
}

static void reply(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;
	struct dist__rpc_post post = {
		.frame = {.kind = DIST__RPC_REPLY,
			  .call = call->frame.call,
			  .error = (uint32_t) - (int)call->error}};
	struct dist_rpc_bytes bytes = call->reply;

	if (call->error)
		bytes = (struct dist_rpc_bytes){call->words,
						strlen(call->words)};
	if (call->caller == rpc->worker) {
		if (call->error && dist__rpc_copy(&bytes, bytes))
			bytes = (struct dist_rpc_bytes){NULL, 0};
		call->reply = call->error ? call->reply
					  : (struct dist_rpc_bytes){NULL, 0};
		dist__rpc_answer(rpc, &post.frame, bytes);
		return;
	}
	/* A caller that is lost has no use for it. */
	if (!dist__rpc_send(rpc, call->caller, call->frame.reply_tag, &post,
			    bytes))
		(void)dist__rpc_sent(rpc, &post, DIST_TIMEOUT_NEVER);
}

void dist__rpc_call_end(struct dist_rpc_call *call)
{
	reply(call);
	dist_rpc_bytes_free(&call->input);
	dist_rpc_bytes_free(&call->reply);
	free(call);
}

void dist_rpc_call_later(struct dist_rpc_call *call)
{
	if (call)
		*call->is_later = true;
}

void dist_rpc_call_end(struct dist_rpc_call *call)
{
	if (!call)
		return;
	dist__rpc_note_served(call);
	if (call->frame.kind == DIST__RPC_REMOTE)
		dist__rpc_value_set(call);
	dist__rpc_call_end(call);
}

/* ---- running functions ------------------------------------------------------
 */

static void run_function(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;
	const struct dist__rpc_function *function =
		dist__rpc_function_find(rpc, call->frame.function);
	bool is_later = false;

	dist__rpc_note_run(call);
	call->is_later = &is_later;
	if (function)
		function->run(function->context, call);
	else
		(void)fail(call, DIST_ERR_REMOTE, "no such function");
	dist__rpc_note_ran(rpc);
	if (!is_later)
		dist_rpc_call_end(call);
}

/* Runs call, or leaves it to a lane that is running one if there are as many
 * as may be; then those that were left to this one. */
static void run_calls(struct dist_rpc *rpc, struct dist_rpc_call *call)
{
	const struct dist__rpc_function *function =
		dist__rpc_function_find(rpc, call->frame.function);

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
		dist__rpc_join_serve(call);
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
	struct dist_rpc_call *call = call_new(rpc, rpc->worker, frame);
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

/* ---- listening ------------------------------------------------------------
 */

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
	call = call_new(rpc, from, frame);
	if (!call) {
		dist_rpc_bytes_free(&bytes);
		return;
	}
	call->input = bytes;
	if (error) {
		(void)fail(call, error, "the argument did not come");
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
		if (dist__rpc_receive(rpc, &frame, &from)) {
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
