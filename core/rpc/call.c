/*
 * call.c - how calls of this worker begin, are waited for, and go on in other
 * functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rpc/state.h"

/* ---- beginning ------------------------------------------------------ */

static enum dist_error send_request(struct dist_rpc *rpc,
				    struct dist_rpc_future *future,
				    const struct dist__rpc_start *start)
{
	struct dist_rpc_bytes bytes =
		start->borrows ? start->bytes : future->copy;
	enum dist_error error;
	bool ended;

	if (start->to == rpc->worker) {
		struct dist__rpc_frame frame = future->post.frame;

		if (start->borrows) {
			error = dist__rpc_copy(&bytes, start->bytes);
			if (error)
				return error;
		}
		future->copy = (struct dist_rpc_bytes){NULL, 0};
		return dist__rpc_serve_own(rpc, &frame, bytes);
	}
	if (start->direct) {
		future->post.frame.reply_tag = dist__rpc_tag(rpc);
		error = dist__rpc_expect(rpc, start->to,
					 future->post.frame.reply_tag,
					 &future->reply_frame, &future->reply);
		if (error)
			return error;
	}
	error = dist__rpc_send(rpc, start->to, 0, &future->post, bytes);
	if (error && future->reply)
		(void)rpc->transport->ops->wait(rpc->transport, future->reply,
						0);
	if (error)
		return error;
	dist__rpc_lock(rpc);
	ended = future->progress == DIST__RPC_ENDED;
	if (!ended)
		future->progress = DIST__RPC_SENT;
	dist__rpc_unlock(rpc);
	if (ended)
		(void)dist__rpc_sent(rpc, &future->post, DIST_TIMEOUT_NEVER);
	return DIST_OK;
}

enum dist_error dist__rpc_start(struct dist_rpc *rpc,
				const struct dist__rpc_start *start,
				struct dist_rpc_future **future)
{
	struct dist_rpc_future *fresh = dist__rpc_future_new(rpc, start);
	enum dist_error error;

	if (!fresh)
		return dist__rpc_fail(DIST_ERR_NO_MEMORY, "%s",
				      dist_error_string(DIST_ERR_NO_MEMORY));
	error = dist__rpc_enter(rpc, fresh);
	if (error)
		dist__rpc_future_drop(fresh);
	else
		error = send_request(rpc, fresh, start);
	if (error && fresh->number && !dist__rpc_take_back(rpc, fresh))
		error = DIST_OK;
	if (error) {
		/* What becomes of a call that did not come about; the records
		 * have it as a wait, which is over. */
		const struct dist__rpc_wait wait = {
			.op = start->op,
			.function = start->function,
			.worker = start->to,
			.of = {(uint32_t)rpc->worker, 0},
			.site = start->site};

		(void)dist__rpc_fail(error, "%s: %s", rpc->names[start->to],
				     dist_error_string(error));
		if (start->op)
			dist__rpc_note_go(rpc, dist__rpc_note_wait(rpc, &wait),
					  error);
	}
	if (error || !future)
		dist__rpc_future_drop(fresh);
	else
		*future = fresh;
	return error;
}

static enum dist_error check(const struct dist_rpc *rpc,
			     const struct dist_rpc_request *request)
{
	size_t length;

	if (!request)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a request");
	if (request->to < 0 || request->to >= rpc->num_workers)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a worker from 0 to %d, got %d",
				      rpc->num_workers - 1, request->to);
	length = request->function ? strnlen(request->function, DIST_RPC_NAME)
				   : 0;
	if (length == 0 || length == DIST_RPC_NAME)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a function's name of 1 to %d "
				      "bytes",
				      DIST_RPC_NAME - 1);
	if (request->timeout_ns < 0)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "timeout_ns is %lld: expected 0 or more",
				      (long long)request->timeout_ns);
	if (!request->data && request->bytes > 0 &&
	    !rpc->transport->ops->simulation)
		return dist__rpc_fail(DIST_ERR_UNSUPPORTED,
				      "a phantom of %zu bytes: expected data "
				      "outside of a simulation",
				      request->bytes);
	return DIST_OK;
}

enum dist_error dist__rpc_check_request(struct dist_rpc *rpc,
					const struct dist_rpc_request *request,
					const char *op, struct dist__site site)
{
	enum dist_error error;

	if (!rpc)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected an rpc");
	error = check(rpc, request);
	if (error)
		dist__rpc_refused(rpc, error, op, site);
	return error;
}

static enum dist_error begin(struct dist_rpc *rpc,
			     const struct dist_rpc_request *request,
			     struct dist__site site, bool borrows,
			     struct dist_rpc_future **future)
{
	const char *op = borrows ? "rpc_sync" : "rpc_async";
	enum dist_error error = dist__rpc_check_request(rpc, request, op, site);

	if (error)
		return error;
	return dist__rpc_start(
		rpc,
		&(struct dist__rpc_start){
			.kind = DIST__RPC_CALL,
			.op = op,
			.site = site,
			.to = request->to,
			.function = request->function,
			.bytes = {(void *)request->data, request->bytes},
			.timeout_ns = request->timeout_ns,
			.borrows = borrows,
			.direct = borrows && request->to != rpc->worker &&
				  !rpc->transport->ops->simulation},
		future);
}

enum dist_error dist_rpc_async(struct dist_rpc *rpc,
			       const struct dist_rpc_request *request,
			       struct dist_rpc_future **future)
{
	struct dist__site site = dist__call_site_take();

	if (!future)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected where to store the future");
	return begin(rpc, request, site, false, future);
}

/* ---- waiting -------------------------------------------------------- */

static enum dist_error report(const struct dist_rpc_future *future)
{
	if (!future->error)
		return DIST_OK;
	return dist__rpc_fail(future->error, "%s",
			      future->message
				      ? future->message->text
				      : dist_error_string(future->error));
}

static void take_late(struct dist_rpc *rpc, void *arg);

/* Waits for the reply of a call that gets it itself, and ends it. After a
 * TIMEOUT a lane does, for what comes later. */
static enum dist_error take_reply(struct dist_rpc_future *future,
				  int64_t deadline_ns)
{
	struct dist_rpc *rpc = future->rpc;
	struct dist__transport *t = rpc->transport;
	struct dist_rpc_bytes value;
	enum dist_error error = t->ops->wait(t, future->reply, deadline_ns);

	future->reply = NULL;
	if (!error)
		error = dist__rpc_receive_body(rpc, future->to,
					       &future->reply_frame, &value);
	if (!error) {
		dist__rpc_answer(rpc, &future->reply_frame, value);
		/* Unless that had been given up for lost meanwhile. */
		(void)dist__rpc_settle(future, DIST_ERR_PEER_LOST, NULL, NULL);
		return DIST_OK;
	}
	if (error == DIST_ERR_TIMEOUT) {
		atomic_fetch_add(&future->refs, 1);
		if (!dist__rpc_spawn(rpc, take_late, future))
			return error;
		dist__rpc_future_drop(future);
	}
	(void)dist__rpc_take_back(rpc, future);
	return error;
}

static void take_late(struct dist_rpc *rpc, void *arg)
{
	struct dist_rpc_future *future = arg;
	enum dist_error error =
		dist__rpc_expect(rpc, future->to, future->post.frame.reply_tag,
				 &future->reply_frame, &future->reply);

	if (!error)
		(void)take_reply(future, DIST_TIMEOUT_NEVER);
	else
		(void)dist__rpc_take_back(rpc, future);
	dist__rpc_future_drop(future);
}

enum dist_error dist__rpc_end_of(struct dist_rpc_future *future)
{
	enum dist_error error = DIST_OK;

	if (atomic_load(&future->done))
		return future->error;
	if (future->reply)
		error = take_reply(future, future->deadline_ns);
	else
		error = future->rpc->transport->ops->events->wait(
			future->event, future->deadline_ns, future->gives_up);
	if (error)
		(void)dist__rpc_settle(future, error, NULL, NULL);
	return future->error;
}

enum dist_error dist__rpc_await(struct dist_rpc_future *future, const char *op,
				struct dist__site site)
{
	struct dist_rpc *rpc = future->rpc;
	const struct dist__rpc_frame *frame = &future->post.frame;
	struct dist__rpc_wait wait = {.op = op,
				      .function = future->function,
				      .worker = future->to,
				      .timeout_ns = future->timeout_ns,
				      .gives_up = future->gives_up,
				      .site = site};
	enum dist_error error;
	uint32_t place;

	/* Then rpc may be gone. */
	if (atomic_load(&future->done))
		return report(future);
	wait.of = (struct dist__rpc_id){(uint32_t)rpc->worker, future->number};
	if (frame->kind == DIST__RPC_FETCH)
		wait.of = frame->value;
	/* Until it has gone on, rpc stays. */
	dist__rpc_busy(rpc);
	place = dist__rpc_note_wait(rpc, &wait);
	error = dist__rpc_end_of(future);
	dist__rpc_note_go(rpc, place, error);
	dist__rpc_rest(rpc);
	return report(future);
}

enum dist_error dist_rpc_wait(struct dist_rpc_future *future)
{
	struct dist__site site = dist__call_site_take();

	if (!future)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a future");
	return dist__rpc_await(future, "wait", site);
}

enum dist_error dist_rpc_sync(struct dist_rpc *rpc,
			      const struct dist_rpc_request *request,
			      struct dist_rpc_bytes *value)
{
	struct dist__site site = dist__call_site_take();
	struct dist_rpc_future *future;
	enum dist_error error = begin(rpc, request, site, true, &future);

	if (value)
		*value = (struct dist_rpc_bytes){NULL, 0};
	if (error)
		return error;
	error = dist__rpc_await(future, "rpc_sync", site);
	/* After a failure what the caller lent may still be on its way. */
	if (error && dist__rpc_take_post(future, DIST__RPC_ENDED))
		(void)dist__rpc_sent(rpc, &future->post, 0);
	if (!error && value) {
		*value = future->value;
		future->value = (struct dist_rpc_bytes){NULL, 0};
	}
	dist__rpc_future_drop(future);
	return error;
}

bool dist_rpc_is_done(struct dist_rpc_future *future)
{
	struct dist__transport *t;

	if (!future || atomic_load(&future->done))
		return true;
	t = future->rpc->transport;
	if (dist__rpc_now_ns(future->rpc) >= future->deadline_ns)
		(void)dist__rpc_settle(future, DIST_ERR_TIMEOUT, NULL, NULL);
	else
		(void)t->ops->test(t, NULL);
	return atomic_load(&future->done);
}

enum dist_error dist_rpc_wait_all(struct dist_rpc_future **futures, int n)
{
	enum dist_error error = DIST_OK, one;
	struct dist_message message = {""};
	struct dist__site site = dist__call_site_take();

	if (n < 0 || (n > 0 && !futures))
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected 0 or more futures");
	for (int i = 0; i < n; i++) {
		dist_call_at(site.file, site.line);
		one = dist_rpc_wait(futures[i]);
		if (one && !error) {
			error = one;
			dist_rpc_error_message(NULL, &message);
		}
	}
	return error ? dist__rpc_fail(error, "%s", message.text) : DIST_OK;
}

/* ---- then ----------------------------------------------------------- */

struct sequel {
	struct dist_rpc_future *future;
	void (*run)(void *context, struct dist_rpc_future *future);
	void *context;
};

static void run_sequel(struct dist_rpc *rpc, void *arg)
{
	struct sequel *sequel = arg;

	enum dist_error error = dist_rpc_wait(sequel->future);

	(void)error; /* the function will ask */
	sequel->run(sequel->context, sequel->future);
	dist__rpc_future_drop(sequel->future);
	free(sequel);
	dist__rpc_rest(rpc);
}

enum dist_error dist_rpc_then(struct dist_rpc_future *future,
			      void (*function)(void *context,
					       struct dist_rpc_future *future),
			      void *context)
{
	struct sequel *sequel;
	enum dist_error error;

	if (!future || !function)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a future and a function");
	sequel = malloc(sizeof *sequel);
	if (!sequel)
		return dist__rpc_fail(DIST_ERR_NO_MEMORY, "no memory");
	*sequel = (struct sequel){future, function, context};
	atomic_fetch_add(&future->refs, 1);
	dist__rpc_busy(future->rpc);
	error = dist__rpc_spawn(future->rpc, run_sequel, sequel);
	if (!error)
		return DIST_OK;
	dist__rpc_rest(future->rpc);
	dist__rpc_future_drop(future);
	free(sequel);
	return dist__rpc_fail(error, "%s", dist_error_string(error));
}
