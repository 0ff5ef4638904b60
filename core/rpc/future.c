/*
 * future.c - calls that this worker has made: their futures, and the table in
 * which a call is until its reply has come or can never come. It stays there
 * after its deadline: the callee may still run it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "core/rpc/state.h"

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

struct dist_rpc_bytes dist_rpc_value(const struct dist_rpc_future *future)
{
	if (!future || !atomic_load(&future->done) || future->error)
		return (struct dist_rpc_bytes){NULL, 0};
	return future->value;
}

/* ---- the table ------------------------------------------------------------
 */

static struct dist_rpc_future **bucket_of(struct dist_rpc *rpc, uint32_t number)
{
	return &rpc->calls[number % DIST__RPC_BUCKETS];
}

enum dist_error dist__rpc_enter(struct dist_rpc *rpc,
				struct dist_rpc_future *future)
{
	struct dist_rpc_future **bucket;
	enum dist_error error = DIST_OK;

	dist__rpc_lock(rpc);
	if (rpc->closing)
		error = DIST_ERR_ABORTED;
	else if (rpc->lost[future->to])
		error = DIST_ERR_PEER_LOST;
	if (!error) {
		/* What REMOTE leaves goes by the number of the call. */
		future->number = future->post.frame.kind == DIST__RPC_REMOTE
					 ? future->post.frame.value.number
					 : ++rpc->issued;
		future->post.frame.call = future->number;
		bucket = bucket_of(rpc, future->number);
		future->next = *bucket;
		*bucket = future;
		rpc->outstanding++;
	}
	dist__rpc_unlock(rpc);
	return error;
}

/* Takes a call out of the table; NULL: it is in there no more. Locked. */
static struct dist_rpc_future *leave(struct dist_rpc *rpc, uint32_t number)
{
	struct dist_rpc_future **link = bucket_of(rpc, number), *future;

	while (*link && (*link)->number != number)
		link = &(*link)->next;
	future = *link;
	if (future)
		*link = future->next;
	return future;
}

/* ---- the end ----------------------------------------------------------------
 */

static void say(struct dist_rpc_future *future, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct dist_rpc_future *future, const char *format, ...)
{
	va_list args;

	if (!future->message)
		future->message = calloc(1, sizeof *future->message);
	if (!future->message)
		return;
	va_start(args, format);
	vsnprintf(future->message->text, sizeof future->message->text, format,
		  args);
	va_end(args);
}

bool dist__rpc_settle(struct dist_rpc_future *future, enum dist_error error,
		      struct dist_rpc_bytes *value, const char *words)
{
	struct dist_rpc *rpc = future->rpc;
	bool first;

	dist__rpc_lock(rpc);
	first = !atomic_load(&future->done);
	if (first) {
		future->error = error;
		if (error) {
			/* Says what became of the call; words are the callee's,
			 * or NULL. */
			const char *who = future->rpc->names[future->to];

			say(future, "%s%s%s: %s", who,
			    *future->function ? ": " : "", future->function,
			    words ? words : dist_error_string(error));
		} else if (value)
			future->value = *value;
		if (!error && value)
			*value = (struct dist_rpc_bytes){NULL, 0};
		atomic_store(&future->done, true);
	}
	dist__rpc_unlock(rpc);
	if (value)
		dist_rpc_bytes_free(value);
	if (first && future->event)
		rpc->transport->ops->events->set(future->event);
	return first;
}

bool dist__rpc_take_post(struct dist_rpc_future *future,
			 enum dist__rpc_progress next)
{
	bool taken;

	dist__rpc_lock(future->rpc);
	taken = future->progress == DIST__RPC_SENT;
	future->progress = next;
	dist__rpc_unlock(future->rpc);
	return taken;
}

/* A call that has left the table ends; its reference there with it. */
static void finish(struct dist_rpc_future *future, enum dist_error error,
		   struct dist_rpc_bytes *value, const char *words)
{
	struct dist_rpc *rpc = future->rpc;

	if (dist__rpc_take_post(future, DIST__RPC_ENDED))
		(void)dist__rpc_sent(rpc, &future->post, DIST_TIMEOUT_NEVER);
	(void)dist__rpc_settle(future, error, value, words);
	dist__rpc_note_end(future);
	if (future->on_end)
		future->on_end(future, future->on_end_arg);
	dist__rpc_future_drop(future);
	dist__rpc_rest(rpc);
}

void dist__rpc_answer(struct dist_rpc *rpc, const struct dist__rpc_frame *frame,
		      struct dist_rpc_bytes value)
{
	struct dist_rpc_future *future;
	char words[256];

	dist__rpc_lock(rpc);
	future = leave(rpc, frame->call);
	dist__rpc_unlock(rpc);
	if (!future) {
		dist_rpc_bytes_free(&value);
		return;
	}
	if (!frame->error) {
		finish(future, DIST_OK, &value, NULL);
		return;
	}
	snprintf(words, sizeof words, "%.*s", (int)value.bytes,
		 value.data ? (const char *)value.data : "");
	dist_rpc_bytes_free(&value);
	finish(future, (enum dist_error) - (int)frame->error, NULL,
	       *words ? words : NULL);
}

void dist__rpc_calls_fail(struct dist_rpc *rpc, int to, enum dist_error error)
{
	struct dist_rpc_future *future, **link;

	for (int i = 0; i < DIST__RPC_BUCKETS;) {
		dist__rpc_lock(rpc);
		link = &rpc->calls[i];
		while (*link && to >= 0 && (*link)->to != to)
			link = &(*link)->next;
		future = *link;
		if (future)
			*link = future->next;
		dist__rpc_unlock(rpc);
		if (future)
			finish(future, error, NULL, NULL);
		else
			i++;
	}
}

bool dist__rpc_take_back(struct dist_rpc *rpc, struct dist_rpc_future *future)
{
	bool there;

	dist__rpc_lock(rpc);
	there = leave(rpc, future->number) != NULL;
	dist__rpc_unlock(rpc);
	if (!there)
		return false;
	dist__rpc_future_drop(future);
	dist__rpc_rest(rpc);
	return true;
}

/* ---- what may call ------------------------------------------------ */

void dist__rpc_busy(struct dist_rpc *rpc)
{
	dist__rpc_lock(rpc);
	rpc->outstanding++;
	dist__rpc_unlock(rpc);
}

void dist__rpc_rest(struct dist_rpc *rpc)
{
	struct dist__event *quiet = NULL;

	dist__rpc_lock(rpc);
	if (--rpc->outstanding == 0 && rpc->asks_quiet) {
		quiet = rpc->quiets->event;
		rpc->asks_quiet = false;
	}
	dist__rpc_unlock(rpc);
	if (quiet)
		rpc->transport->ops->events->set(quiet);
}
