/*
 * callee.c - a call as its callee has it: what its function sees and says, and
 * the reply.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/rpc/state.h"

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

enum dist_error dist__rpc_call_refuse(struct dist_rpc_call *call,
				      enum dist_error error, const char *words)
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
		return dist__rpc_call_refuse(
			call, DIST_ERR_UNSUPPORTED,
			"a phantom reply outside of a simulation");
	error = dist__rpc_copy(&copy, value);
	if (error)
		return dist__rpc_call_refuse(call, error,
					     "no memory for the reply");
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

void dist_rpc_call_later(struct dist_rpc_call *call)
{
	if (call)
		*call->is_later = true;
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

struct dist_rpc_call *dist__rpc_call_new(struct dist_rpc *rpc, int caller,
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
