/*
 * rref.c - references of this worker, to values here (value.c) or elsewhere.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "core/rpc/state.h"

struct dist_rref {
	struct dist_rpc *rpc;
	int owner;
	struct dist__rpc_id id, fork;
	struct dist__rpc_value *value; /* on the owner; else NULL */
	unsigned pending; /* requests about it that are not answered */
	bool confirmed;   /* the owner knows of it */
	bool refused;     /* or will not hear of it */
	bool freed;       /* the program has done with it */
	char function[CHECK_RPC_NAME]; /* that the value is of; "": none */
	uint32_t place;                /* in the records */
};

/* ---- life ----------------------------------------------------------- */

static struct dist__rpc_id id_new(struct dist_rpc *rpc)
{
	struct dist__rpc_id id = {.worker = (uint32_t)rpc->worker};

	dist__rpc_lock(rpc);
	id.number = ++rpc->issued;
	dist__rpc_unlock(rpc);
	return id;
}

/* function is what its value is of, "" when not known. */
static struct dist_rref *rref_new(struct dist_rpc *rpc, int owner,
				  const char *function, struct dist__site site)
{
	struct dist_rref *rref = calloc(1, sizeof *rref);

	if (!rref)
		return NULL;
	rref->rpc = rpc;
	rref->owner = owner;
	snprintf(rref->function, sizeof rref->function, "%.*s",
		 CHECK_RPC_NAME - 1, function);
	dist__rpc_lock(rpc);
	rref->place = dist__rpc_note_hold(rpc, CHECK_REFERENCE_HANDLE, owner,
					  function, site);
	dist__rpc_unlock(rpc);
	return rref;
}

/* The program has no use for rref any more. */
static void release(struct dist_rref *rref)
{
	dist__rpc_lock(rref->rpc);
	check_rpc_release(rref->rpc->slot, rref->place);
	dist__rpc_unlock(rref->rpc);
}

/* rref did not come about. */
static void rref_drop(struct dist_rref *rref)
{
	release(rref);
	free(rref);
}

/* Makes rref, of a value of this worker, count. */
static enum dist_error attach(struct dist_rref *rref)
{
	dist__rpc_lock(rref->rpc);
	rref->value = dist__rpc_value_find(rref->rpc, rref->id);
	if (rref->value)
		rref->value->local++;
	rref->confirmed = true;
	dist__rpc_unlock(rref->rpc);
	return rref->value ? DIST_OK : DIST_ERR_NO_MEMORY;
}

/* Tells the owner something about rref; no answer is waited for. */
static enum dist_error tell(struct dist_rref *rref, enum dist__rpc_kind kind,
			    struct dist__rpc_id fork,
			    void (*on_end)(struct dist_rpc_future *, void *))
{
	return dist__rpc_start(
		rref->rpc,
		&(struct dist__rpc_start){.kind = kind,
					  .to = rref->owner,
					  .function = "",
					  .timeout_ns = DIST_TIMEOUT_NEVER,
					  .value = rref->id,
					  .fork = fork,
					  .on_end = on_end,
					  .on_end_arg = rref},
		NULL);
}

/* The last thing that is done with a reference to a value elsewhere. */
static void give_up(struct dist_rref *rref)
{
	if (!rref->refused)
		(void)tell(rref, DIST__RPC_DROP, rref->fork, NULL);
	free(rref);
}

/* One request about rref is answered. */
static void settle(struct dist_rref *rref, enum dist_error error, bool own)
{
	bool over;

	dist__rpc_lock(rref->rpc);
	if (own) {
		rref->confirmed = !error;
		rref->refused = error != DIST_OK;
	}
	over = --rref->pending == 0 && rref->freed;
	dist__rpc_unlock(rref->rpc);
	if (over)
		give_up(rref);
}

static void on_confirmed(struct dist_rpc_future *future, void *arg)
{
	settle(arg, future->error, true);
}

static void on_forked(struct dist_rpc_future *future, void *arg)
{
	(void)future;
	settle(arg, DIST_OK, false);
}

void dist_rref_free(struct dist_rref *rref)
{
	bool over;

	if (!rref)
		return;
	release(rref);
	if (rref->value) {
		dist__rpc_lock(rref->rpc);
		rref->value->local--;
		dist__rpc_value_release(rref->rpc, rref->value);
		dist__rpc_unlock(rref->rpc);
		free(rref);
		return;
	}
	dist__rpc_lock(rref->rpc);
	rref->freed = true;
	over = rref->pending == 0;
	dist__rpc_unlock(rref->rpc);
	if (over)
		give_up(rref);
}

/* ---- making --------------------------------------------------------- */

static enum dist_error no_memory(void)
{
	return dist__rpc_fail(DIST_ERR_NO_MEMORY, "%s",
			      dist_error_string(DIST_ERR_NO_MEMORY));
}

enum dist_error dist_rpc_remote(struct dist_rpc *rpc,
				const struct dist_rpc_request *request,
				struct dist_rref **rref)
{
	struct dist__site site = dist__call_site_take();
	enum dist_error error =
		dist__rpc_check_request(rpc, request, "remote", site);
	struct dist__rpc_start start;
	struct dist_rref *fresh;

	if (!error && !rref)
		error = dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				       "expected where to store the reference");
	if (error)
		return error;
	fresh = rref_new(rpc, request->to, request->function, site);
	if (!fresh)
		return no_memory();
	fresh->id = fresh->fork = id_new(rpc);
	start = (struct dist__rpc_start){
		.kind = DIST__RPC_REMOTE,
		.op = "remote",
		.site = site,
		.to = request->to,
		.function = request->function,
		.bytes = {(void *)request->data, request->bytes},
		.timeout_ns = request->timeout_ns,
		.value = fresh->id,
		.fork = fresh->fork};
	if (request->to == rpc->worker) {
		error = attach(fresh);
	} else {
		fresh->pending = 1;
		start.on_end = on_confirmed;
		start.on_end_arg = fresh;
	}
	if (!error)
		error = dist__rpc_start(rpc, &start, NULL);
	/* What nobody knows of need not be given up. */
	if (error && fresh->value)
		fresh->value->ready = true;
	else if (error) {
		fresh->pending = 0;
		fresh->refused = true;
	}
	if (!error)
		*rref = fresh;
	else
		dist_rref_free(fresh);
	return error;
}

enum dist_error dist_rref_new(struct dist_rpc *rpc, const void *data,
			      size_t bytes, struct dist_rref **rref)
{
	const struct dist_rpc_bytes value = {(void *)data, bytes};
	struct dist_rpc_bytes copy;
	struct dist_rref *fresh;

	if (!rpc || !rref ||
	    (!data && bytes > 0 && !rpc->transport->ops->simulation))
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected an rpc, bytes and where to "
				      "store the reference");
	if (dist__rpc_copy(&copy, value))
		return no_memory();
	fresh = rref_new(rpc, rpc->worker, "", dist__call_site_take());
	if (!fresh) {
		dist_rpc_bytes_free(&copy);
		return no_memory();
	}
	fresh->id = id_new(rpc);
	if (attach(fresh)) {
		dist_rpc_bytes_free(&copy);
		rref_drop(fresh);
		return no_memory();
	}
	dist__rpc_lock(rpc);
	fresh->value->bytes = copy;
	fresh->value->ready = true;
	dist__rpc_unlock(rpc);
	rpc->transport->ops->events->set(fresh->value->event);
	*rref = fresh;
	return DIST_OK;
}

/* ---- asking --------------------------------------------------------- */

int dist_rref_owner(const struct dist_rref *rref)
{
	return rref ? rref->owner : -1;
}

bool dist_rref_is_owner(const struct dist_rref *rref)
{
	return rref && rref->owner == rref->rpc->worker;
}

bool dist_rref_confirmed_by_owner(const struct dist_rref *rref)
{
	bool confirmed;

	if (!rref)
		return false;
	dist__rpc_lock(rref->rpc);
	confirmed = rref->confirmed;
	dist__rpc_unlock(rref->rpc);
	return confirmed;
}

/* Blocks until the value of rref, which is of this worker, is there. */
static enum dist_error await(struct dist_rref *rref, int64_t timeout_ns,
			     const char *op, struct dist__site site)
{
	struct dist_rpc *rpc = rref->rpc;
	int64_t now_ns = dist__rpc_now_ns(rpc);
	bool gives_up = timeout_ns != 0;
	enum dist_error error;
	struct dist__rpc_wait wait = {.op = op,
				      .function = rref->function,
				      .worker = rpc->worker,
				      .of = rref->id,
				      .gives_up = gives_up,
				      .site = site};
	uint32_t place;

	if (!timeout_ns)
		timeout_ns = rpc->timeout_ns;
	wait.timeout_ns = timeout_ns;
	place = dist__rpc_note_wait(rpc, &wait);
	error = rpc->transport->ops->events->wait(
		rref->value->event, dist__deadline_ns(now_ns, timeout_ns),
		gives_up);
	dist__rpc_note_go(rpc, place, error);
	if (error)
		return dist__rpc_fail(error, "%s: %s", rpc->names[rpc->worker],
				      dist_error_string(error));
	if (rref->value->error)
		return dist__rpc_fail(rref->value->error, "%s: %s",
				      rpc->names[rpc->worker],
				      rref->value->words);
	return DIST_OK;
}

enum dist_error dist_rref_local_value(struct dist_rref *rref,
				      struct dist_rpc_bytes *value)
{
	enum dist_error error;

	struct dist__site site = dist__call_site_take();

	if (!rref || !value || !rref->value)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a reference that its owner "
				      "holds, and where to store the value");
	error = await(rref, 0, "local_value", site);
	if (!error)
		*value = rref->value->bytes;
	return error;
}

enum dist_error dist_rref_to_here(struct dist_rref *rref, int64_t timeout_ns,
				  struct dist_rpc_bytes *value)
{
	struct dist__site site = dist__call_site_take();
	struct dist_rpc_future *future;
	enum dist_error error;

	if (!rref || !value || timeout_ns < 0)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a reference, where to store "
				      "its value, and a timeout of 0 or more");
	*value = (struct dist_rpc_bytes){NULL, 0};
	if (rref->value) {
		error = await(rref, timeout_ns, "to_here", site);
		return error ? error
			     : dist__rpc_copy(value, rref->value->bytes);
	}
	error = dist__rpc_start(
		rref->rpc,
		&(struct dist__rpc_start){.kind = DIST__RPC_FETCH,
					  .op = "to_here",
					  .site = site,
					  .to = rref->owner,
					  .function = rref->function,
					  .timeout_ns = timeout_ns,
					  .value = rref->id},
		&future);
	if (error)
		return error;
	error = dist__rpc_await(future, "to_here", site);
	if (!error) {
		*value = future->value;
		future->value = (struct dist_rpc_bytes){NULL, 0};
	}
	dist_rpc_future_free(future);
	return error;
}

/* ---- forks ---------------------------------------------------------- */

#define FORK_MAGIC UINT64_C(0x6c73667200000000)

static uint64_t word_of(struct dist__rpc_id id)
{
	return (uint64_t)id.worker << 32 | id.number;
}

static struct dist__rpc_id id_of(uint64_t word)
{
	return (struct dist__rpc_id){(uint32_t)(word >> 32), (uint32_t)word};
}

enum dist_error dist_rref_fork(struct dist_rref *rref,
			       struct dist_rref_fork *fork)
{
	struct dist__rpc_id id;
	enum dist_error error;

	if (!rref || !fork)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a reference and a fork");
	id = id_new(rref->rpc);
	dist__rpc_lock(rref->rpc);
	if (rref->value)
		error = dist__rpc_value_note(rref->rpc, rref->value, id, true,
					     false, false);
	else
		error = DIST_OK;
	rref->pending += !rref->value;
	dist__rpc_unlock(rref->rpc);
	if (!error && !rref->value) {
		error = tell(rref, DIST__RPC_FORK, id, on_forked);
		if (error)
			settle(rref, DIST_OK, false);
	}
	if (error)
		return error;
	*fork = (struct dist_rref_fork){{FORK_MAGIC | rref->rpc->message_group,
					 (uint64_t)rref->owner,
					 word_of(rref->id), word_of(id)}};
	return DIST_OK;
}

/* Makes of a fork, of a value of this worker, a reference that counts. */
static enum dist_error take_here(struct dist_rref *rref)
{
	enum dist_error error = attach(rref);

	if (error)
		return error;
	dist__rpc_lock(rref->rpc);
	error = dist__rpc_value_note(rref->rpc, rref->value, rref->fork, false,
				     true, true);
	if (error)
		rref->value->local--;
	dist__rpc_unlock(rref->rpc);
	return error;
}

enum dist_error dist_rref_take(struct dist_rpc *rpc,
			       const struct dist_rref_fork *fork,
			       struct dist_rref **rref)
{
	struct dist_rref *fresh;
	enum dist_error error;

	struct dist__site site = dist__call_site_take();

	if (!rpc || !fork || !rref ||
	    fork->words[0] != (FORK_MAGIC | rpc->message_group) ||
	    fork->words[1] >= (uint64_t)rpc->num_workers)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a fork of a reference of this "
				      "rpc");
	fresh = rref_new(rpc, (int)fork->words[1], "", site);
	if (!fresh)
		return no_memory();
	fresh->id = id_of(fork->words[2]);
	fresh->fork = id_of(fork->words[3]);
	if (fresh->owner == rpc->worker) {
		error = take_here(fresh);
	} else {
		fresh->pending = 1;
		error = tell(fresh, DIST__RPC_TAKE, fresh->fork, on_confirmed);
	}
	if (error) {
		rref_drop(fresh);
		return error;
	}
	*rref = fresh;
	return DIST_OK;
}
