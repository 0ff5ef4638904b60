/*
 * future.c - the program's handle of a call: its life, its value, and the
 * calls that follow it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/rpc/rpc.h"

/* ---- life ----------------------------------------------------------- */

void dist__rpc_future_drop(struct dist_rpc_future *future)
{
	if (atomic_fetch_sub(&future->refs, 1) > 1)
		return;
	future->events->free(future->event);
	dist_rpc_bytes_free(&future->value);
	dist_rpc_bytes_free(&future->copy);
	free(future->message);
	free(future);
}

struct dist_rpc_future *
dist__rpc_future_new(struct dist_rpc *rpc, const struct dist__rpc_start *start)
{
	struct dist__transport *t = rpc->transport;
	int64_t timeout_ns =
		start->timeout_ns ? start->timeout_ns : rpc->timeout_ns;
	struct dist_rpc_future *future = calloc(1, sizeof *future);

	if (!future)
		return NULL;
	future->rpc = rpc;
	future->events = t->ops->events;
	future->to = start->to;
	future->on_end = start->on_end;
	future->on_end_arg = start->on_end_arg;
	future->gives_up = start->timeout_ns != 0;
	future->timeout_ns = timeout_ns;
	future->op = start->op;
	future->site = start->site;
	future->issued_ns = dist__rpc_now_ns(rpc);
	future->deadline_ns = dist__deadline_ns(future->issued_ns, timeout_ns);
	future->post.frame = (struct dist__rpc_frame){
		.kind = start->kind,
		.function = dist__rpc_hash(start->function),
		.value = start->value,
		.fork = start->fork,
	};
	snprintf(future->function, sizeof future->function, "%s",
		 start->function);
	atomic_init(&future->refs, 2); /* the table's, and the caller's */
	atomic_init(&future->done, false);
	if ((start->direct ||
	     t->ops->events->create(t, &future->event) == DIST_OK) &&
	    (start->borrows ||
	     dist__rpc_copy(&future->copy, start->bytes) == DIST_OK))
		return future;
	t->ops->events->free(future->event);
	free(future);
	return NULL;
}

void dist_rpc_future_free(struct dist_rpc_future *future)
{
	if (future)
		dist__rpc_future_drop(future);
}

void dist_rpc_bytes_free(struct dist_rpc_bytes *value)
{
	if (!value)
		return;
	free(value->data);
	*value = (struct dist_rpc_bytes){NULL, 0};
}

struct dist_rpc_bytes dist_rpc_value(const struct dist_rpc_future *future)
{
	if (!future || !atomic_load(&future->done) || future->error)
		return (struct dist_rpc_bytes){NULL, 0};
	return future->value;
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
