/*
 * records.c - writes remote calls into the rank's records and its trace.
 */
#include <stdio.h>

#include "core/rpc/state.h"

static int global_of(const struct dist_rpc *rpc, int worker)
{
	return dist__global_rank(&rpc->group->members, worker);
}

/* Whose thread calls. */
static int32_t caller(struct dist_rpc *rpc)
{
	const struct dist__rpc_helper *helper = dist__rpc_helper_here(rpc);

	if (helper)
		return helper->by;
	return pthread_equal(pthread_self(), rpc->owner) ? CHECK_BY_OWN
							 : CHECK_BY_OTHER;
}

/* ---- waits ---------------------------------------------------------- */

uint32_t dist__rpc_note_wait(struct dist_rpc *rpc,
			     const struct dist__rpc_wait *wait)
{
	struct check_rpc_wait record = {
		.by = caller(rpc),
		.worker = global_of(rpc, wait->worker),
		.caller = global_of(rpc, (int)wait->of.worker),
		.call = wait->of.number,
		.since_ns = dist__rpc_now_ns(rpc),
		.gives_up = wait->gives_up,
		.timeout_ns = wait->timeout_ns == DIST_TIMEOUT_NEVER
				      ? 0
				      : wait->timeout_ns};
	uint32_t place;

	snprintf(record.op, sizeof record.op, "%s", wait->op);
	snprintf(record.function, sizeof record.function, "%.*s",
		 CHECK_RPC_NAME - 1, wait->function);
	check_site_set(&record.site, wait->site.file, wait->site.line);
	dist__rpc_lock(rpc);
	place = check_rpc_wait(rpc->slot, &record);
	dist__rpc_unlock(rpc);
	return place;
}

void dist__rpc_note_go(struct dist_rpc *rpc, uint32_t place,
		       enum dist_error error)
{
	int64_t now_ns = dist__rpc_now_ns(rpc);

	dist__rpc_lock(rpc);
	check_rpc_wait_end(rpc->slot, place,
			   error == DIST_ERR_REMOTE ? DIST_OK : error, now_ns);
	dist__rpc_unlock(rpc);
}

void dist__rpc_note_end(const struct dist_rpc_future *future)
{
	const struct dist_rpc *rpc = future->rpc;
	struct dist__recorder *recorder = rpc->group->place.recorder;
	int64_t now_ns = dist__rpc_now_ns(future->rpc);

	if (!recorder || !future->op)
		return;
	recorder->remote(recorder, &(struct dist__remote_span){
					   .rank = global_of(rpc, rpc->worker),
					   .other = global_of(rpc, future->to),
					   .call = future->number,
					   .op = future->op,
					   .function = future->function,
					   .issued_ns = future->issued_ns,
					   .started_ns = future->issued_ns,
					   .ended_ns = now_ns,
					   .file = future->site.file,
					   .line = future->site.line,
					   .error = future->error});
}

/* ---- calls that are served ------------------------------------------ */

void dist__rpc_note_come(struct dist_rpc_call *call, const char *function)
{
	struct dist_rpc *rpc = call->rpc;
	int64_t now_ns = dist__rpc_now_ns(rpc);

	call->function = function;
	call->came_ns = now_ns;
	dist__rpc_lock(rpc);
	call->place = check_rpc_queue(rpc->slot, global_of(rpc, call->caller),
				      call->frame.call, function, now_ns);
	dist__rpc_unlock(rpc);
}

void dist__rpc_note_run(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;
	struct dist__rpc_helper *helper = dist__rpc_helper_here(rpc);
	int64_t now_ns = dist__rpc_now_ns(rpc);

	call->began_ns = now_ns;
	dist__rpc_lock(rpc);
	if (helper)
		helper->by = (int32_t)call->place;
	check_rpc_run(rpc->slot, call->place, now_ns);
	dist__rpc_unlock(rpc);
}

void dist__rpc_note_ran(struct dist_rpc *rpc)
{
	struct dist__rpc_helper *helper = dist__rpc_helper_here(rpc);

	dist__rpc_lock(rpc);
	if (helper)
		helper->by = CHECK_BY_OTHER;
	dist__rpc_unlock(rpc);
}

void dist__rpc_note_served(struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = call->rpc;
	struct dist__recorder *recorder = rpc->group->place.recorder;
	const struct dist__remote_span span = {
		.rank = global_of(rpc, rpc->worker),
		.other = global_of(rpc, call->caller),
		.served = true,
		.call = call->frame.call,
		.op = "serve",
		.function = call->function,
		.issued_ns = call->came_ns,
		.started_ns = call->began_ns,
		.ended_ns = dist__rpc_now_ns(rpc),
		.error = call->error};

	dist__rpc_lock(rpc);
	check_rpc_served(rpc->slot, call->place);
	dist__rpc_unlock(rpc);
	if (recorder)
		recorder->remote(recorder, &span);
}

/* ---- references ----------------------------------------------------- */

uint32_t dist__rpc_note_hold(struct dist_rpc *rpc,
			     enum check_reference_kind kind, int owner,
			     const char *function, struct dist__site site)
{
	struct check_reference reference = {.kind = kind,
					    .owner = global_of(rpc, owner)};

	snprintf(reference.function, sizeof reference.function, "%.*s",
		 CHECK_RPC_NAME - 1, function);
	check_site_set(&reference.site, site.file, site.line);
	return check_rpc_hold(rpc->slot, &reference);
}
