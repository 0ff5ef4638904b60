/*
 * value.c - values that this worker holds for references, its own and others'.
 *
 * A reference of another worker is a fork, with an id of its own. The worker
 * that makes it sends FORK; the one that receives it sends TAKE, and later
 * DROP. These arrive in any order. A fork has ended when all three are here; a
 * value is freed when no fork is left, and no reference of this worker. It is
 * never freed too early: the maker drops its own reference only after the
 * answer to FORK, and the receiver after the answer to TAKE.
 *
 * A request about a value that its REMOTE has not brought yet creates the
 * value.
 */
#include "core/rpc/state.h"

#include <stdlib.h>
#include <string.h>

/* A reference of another worker. */
struct dist__rpc_fork {
	struct dist__rpc_fork *next;
	struct dist__rpc_id id;
	bool made, taken, dropped;
};

static bool same(struct dist__rpc_id a, struct dist__rpc_id b)
{
	return a.worker == b.worker && a.number == b.number;
}

/* ---- values ----------------------------------------------------------------
 */

struct dist__rpc_value *dist__rpc_value_find(struct dist_rpc *rpc,
					     struct dist__rpc_id id)
{
	struct dist__transport *t = rpc->transport;
	struct dist__rpc_value *value = rpc->values;

	while (value && !same(value->id, id))
		value = value->next;
	if (value)
		return value;
	value = calloc(1, sizeof *value);
	if (!value || t->ops->events->create(t, &value->event)) {
		free(value);
		return NULL;
	}
	value->id = id;
	value->next = rpc->values;
	rpc->values = value;
	return value;
}

static void value_free(struct dist_rpc *rpc, struct dist__rpc_value *value)
{
	struct dist__rpc_fork *fork;
	struct dist_rpc_call *call;

	while ((fork = value->forks) != NULL) {
		value->forks = fork->next;
		free(fork);
	}
	while ((call = value->waiting) != NULL) {
		value->waiting = call->next;
		dist_rpc_bytes_free(&call->input);
		free(call);
	}
	rpc->transport->ops->events->free(value->event);
	dist_rpc_bytes_free(&value->bytes);
	free(value);
}

void dist__rpc_value_release(struct dist_rpc *rpc,
			     struct dist__rpc_value *value)
{
	struct dist__rpc_value **link = &rpc->values;

	if (!value->ready || value->local > 0 || value->forks)
		return;
	while (*link != value)
		link = &(*link)->next;
	*link = value->next;
	value_free(rpc, value);
}

void dist__rpc_values_free(struct dist_rpc *rpc)
{
	struct dist__rpc_value *value;

	while ((value = rpc->values) != NULL) {
		rpc->values = value->next;
		value_free(rpc, value);
	}
}

/* ---- forks ------------------------------------------------------------------
 */

static struct dist__rpc_fork **fork_find(struct dist__rpc_value *value,
					 struct dist__rpc_id id)
{
	struct dist__rpc_fork **link = &value->forks;

	while (*link && !same((*link)->id, id))
		link = &(*link)->next;
	if (!*link) {
		*link = calloc(1, sizeof **link);
		if (*link)
			(*link)->id = id;
	}
	return link;
}

/* Tells the records whether others refer to value. */
static void note_forks(struct dist_rpc *rpc, struct dist__rpc_value *value)
{
	if (value->held == (value->forks != NULL))
		return;
	value->held = !value->held;
	if (value->held)
		value->place = dist__rpc_note_hold(
			rpc, CHECK_REFERENCE_VALUE, rpc->worker, "",
			(struct dist__site){NULL, 0});
	else
		check_rpc_release(rpc->slot, value->place);
}

enum dist_error dist__rpc_value_note(struct dist_rpc *rpc,
				     struct dist__rpc_value *value,
				     struct dist__rpc_id id, bool made,
				     bool taken, bool dropped)
{
	struct dist__rpc_fork **link = fork_find(value, id), *fork = *link;

	if (!fork)
		return DIST_ERR_NO_MEMORY;
	if ((taken && fork->taken) || (made && fork->made))
		return DIST_ERR_INVALID_ARGUMENT;
	fork->made |= made;
	fork->taken |= taken;
	fork->dropped |= dropped;
	if (fork->made && fork->taken && fork->dropped) {
		*link = fork->next;
		free(fork);
	}
	note_forks(rpc, value);
	return DIST_OK;
}

/* ---- the value itself ----------------------------------------------- */

enum dist_error dist__rpc_value_begin(struct dist_rpc *rpc,
				      const struct dist__rpc_frame *frame)
{
	struct dist__rpc_value *value;
	enum dist_error error = DIST_ERR_NO_MEMORY;

	dist__rpc_lock(rpc);
	value = dist__rpc_value_find(rpc, frame->value);
	/* One's own reference is counted already. */
	if (value)
		error = frame->value.worker == (uint32_t)rpc->worker
				? DIST_OK
				: dist__rpc_value_note(rpc, value, frame->fork,
						       true, true, false);
	dist__rpc_unlock(rpc);
	return error;
}

/* Replies to a FETCH with the value, which is there. */
static void give(struct dist_rpc *rpc, struct dist__rpc_value *value,
		 struct dist_rpc_call *call)
{
	dist__rpc_lock(rpc);
	call->error = value->error;
	if (value->error)
		memcpy(call->words, value->words, sizeof call->words);
	else
		call->error = dist__rpc_copy(&call->reply, value->bytes);
	dist__rpc_unlock(rpc);
	dist__rpc_call_end(call);
}

void dist__rpc_value_set(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;
	struct dist__rpc_value *value;
	struct dist_rpc_call *waiting, *next;

	dist__rpc_lock(rpc);
	value = dist__rpc_value_find(rpc, call->frame.value);
	if (!value) {
		dist__rpc_unlock(rpc);
		return;
	}
	value->error = call->error;
	memcpy(value->words, call->words, sizeof value->words);
	value->bytes = call->reply;
	value->ready = true;
	value->local++;
	waiting = value->waiting;
	value->waiting = NULL;
	dist__rpc_unlock(rpc);
	call->error = DIST_OK;
	call->reply = (struct dist_rpc_bytes){NULL, 0};
	rpc->transport->ops->events->set(value->event);
	for (; waiting; waiting = next) {
		next = waiting->next;
		give(rpc, value, waiting);
	}
	dist__rpc_lock(rpc);
	value->local--;
	dist__rpc_value_release(rpc, value);
	dist__rpc_unlock(rpc);
}

/* ---- serving -------------------------------------------------------- */

static void serve_fetch(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;
	struct dist__rpc_value *value;
	bool ready;

	dist__rpc_lock(rpc);
	value = dist__rpc_value_find(rpc, call->frame.value);
	ready = value && value->ready;
	if (value && !ready) {
		call->next = value->waiting;
		value->waiting = call;
	}
	dist__rpc_unlock(rpc);
	if (ready) {
		give(rpc, value, call);
	} else if (!value) {
		call->error = DIST_ERR_NO_MEMORY;
		dist__rpc_call_end(call);
	}
}

void dist__rpc_value_serve(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;
	enum dist__rpc_kind kind = call->frame.kind;
	struct dist__rpc_value *value;

	if (kind == DIST__RPC_FETCH) {
		serve_fetch(call);
		return;
	}
	dist__rpc_lock(rpc);
	value = dist__rpc_value_find(rpc, call->frame.value);
	call->error = value ? dist__rpc_value_note(rpc, value, call->frame.fork,
						   kind == DIST__RPC_FORK,
						   kind == DIST__RPC_TAKE,
						   kind == DIST__RPC_DROP)
			    : DIST_ERR_NO_MEMORY;
	if (value)
		dist__rpc_value_release(rpc, value);
	dist__rpc_unlock(rpc);
	dist__rpc_call_end(call);
}
