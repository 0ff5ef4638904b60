/*
 * remote.c - records a rank's remote calls.
 *
 * A concurrent reader finds an entry complete or free: its state is written
 * last and cleared first.
 */
#include "check/remote.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check/record.h"

void check_rpc_join(struct check_slot *slot, uint32_t group_id, uint32_t leader,
		    uint32_t num_worker_threads, const char *name)
{
	struct check_remote *remote = &slot->remote;

	memset(remote, 0, sizeof *remote);
	remote->group_id = group_id;
	remote->leader = leader;
	remote->limit = num_worker_threads;
	snprintf(remote->name, sizeof remote->name, "%s", name);
	atomic_thread_fence(memory_order_release);
	remote->state = CHECK_RPC_JOINED;
}

void check_rpc_end(struct check_slot *slot, enum check_rpc_state state)
{
	slot->remote.state = state;
	slot->remote.moves++;
}

/* Makes room at *state, the first member of an entry; who calls fills in the
 * rest, then sets it. */
static void clear(uint32_t *state, size_t size)
{
	*state = 0;
	atomic_thread_fence(memory_order_release);
	memset(state, 0, size);
}

static void publish(uint32_t *state, uint32_t value)
{
	atomic_thread_fence(memory_order_release);
	*state = value;
}

uint32_t check_rpc_queue(struct check_slot *slot, int32_t caller, uint64_t call,
			 const char *function, int64_t now_ns)
{
	struct check_serving *serving = slot->remote.servings;
	uint32_t place = 0;

	slot->remote.served++;
	slot->remote.moves++;
	while (place < CHECK_SERVINGS && serving[place].state)
		place++;
	if (place == CHECK_SERVINGS) {
		slot->remote.servings_unknown++;
		return CHECK_NOWHERE;
	}
	serving += place;
	clear(&serving->state, sizeof *serving);
	serving->place = place;
	serving->caller = caller;
	serving->call = call;
	serving->since_ns = now_ns;
	snprintf(serving->function, sizeof serving->function, "%s", function);
	publish(&serving->state, CHECK_SERVING_QUEUED);
	return place;
}

void check_rpc_run(struct check_slot *slot, uint32_t place, int64_t now_ns)
{
	slot->remote.moves++;
	if (place == CHECK_NOWHERE)
		return;
	slot->remote.servings[place].since_ns = now_ns;
	publish(&slot->remote.servings[place].state, CHECK_SERVING_RUNNING);
}

/* Forgets what the thread waited for before. */
static void forget_waits(struct check_slot *slot, int32_t by)
{
	for (uint32_t i = 0; i < CHECK_WAITS; i++)
		if (slot->remote.waits[i].by == by &&
		    slot->remote.waits[i].state == CHECK_WAIT_FAILED)
			slot->remote.waits[i].state = CHECK_WAIT_NONE;
}

void check_rpc_served(struct check_slot *slot, uint32_t place)
{
	slot->remote.moves++;
	if (place == CHECK_NOWHERE) {
		slot->remote.servings_unknown--;
		return;
	}
	forget_waits(slot, (int32_t)place);
	slot->remote.servings[place].state = CHECK_SERVING_NONE;
}

static bool is_waiting(const struct check_remote *remote, uint32_t place)
{
	for (uint32_t i = 0; i < CHECK_WAITS; i++)
		if (remote->waits[i].state == CHECK_WAITS_STILL &&
		    remote->waits[i].by == (int32_t)place)
			return true;
	return false;
}

bool check_rpc_runs(const struct check_slot *slot)
{
	const struct check_remote *remote = &slot->remote;

	for (uint32_t i = 0; i < CHECK_SERVINGS; i++)
		if (remote->servings[i].state == CHECK_SERVING_RUNNING &&
		    !is_waiting(remote, i))
			return true;
	return false;
}

/* Makes it a call of the rank, and returns its number. */
static uint32_t issue(struct check_slot *slot,
		      const struct check_rpc_wait *wait)
{
	struct check_call call = {.group_id = slot->remote.group_id,
				  .leader = slot->remote.leader,
				  .peer = wait->worker,
				  .peer_rank = wait->worker,
				  .tag = CHECK_TAG_RPC,
				  .issued_ns = wait->since_ns,
				  .timeout_ns = wait->timeout_ns,
				  .site = wait->site};
	uint32_t number;

	memcpy(call.op, wait->op, sizeof wait->op);
	memcpy(call.label, wait->function, sizeof wait->function);
	number = check_issue(slot, &call);
	check_wait(slot, number, NULL);
	return number;
}

uint32_t check_rpc_wait(struct check_slot *slot,
			const struct check_rpc_wait *wait)
{
	uint32_t number = wait->by == CHECK_BY_OWN ? issue(slot, wait) : 0;
	struct check_rpc_wait *to = slot->remote.waits;
	uint32_t place = wait->by != CHECK_BY_OWN; /* which has the first */

	slot->remote.moves++;
	forget_waits(slot, wait->by);
	while (place < CHECK_WAITS && to[place].state)
		place++;
	if (place == CHECK_WAITS) {
		slot->remote.waits_unknown++;
		return CHECK_NOWHERE;
	}
	to += place;
	clear(&to->state, sizeof *to);
	*to = *wait;
	to->state = CHECK_WAIT_NONE;
	to->number = number;
	to->error = 0;
	to->ended_ns = 0;
	publish(&to->state, CHECK_WAITS_STILL);
	return place;
}

void check_rpc_wait_end(struct check_slot *slot, uint32_t place, int32_t error,
			int64_t now_ns)
{
	struct check_rpc_wait *wait;

	slot->remote.moves++;
	slot->remote.failed += error != 0;
	if (place == CHECK_NOWHERE) {
		slot->remote.waits_unknown--;
		return;
	}
	wait = &slot->remote.waits[place];
	if (wait->number)
		check_end(slot, wait->number, error, now_ns);
	if (wait->number && !error)
		check_resume(slot);
	wait->error = error;
	wait->ended_ns = now_ns;
	publish(&wait->state, error ? CHECK_WAIT_FAILED : CHECK_WAIT_NONE);
}

uint32_t check_rpc_hold(struct check_slot *slot,
			const struct check_reference *reference)
{
	struct check_reference *to = slot->remote.references;
	uint32_t place = 0;

	while (place < CHECK_REFERENCES && to[place].kind)
		place++;
	if (place == CHECK_REFERENCES) {
		slot->remote.references_unknown++;
		return CHECK_NOWHERE;
	}
	to += place;
	clear(&to->kind, sizeof *to);
	*to = *reference;
	return place;
}

void check_rpc_release(struct check_slot *slot, uint32_t place)
{
	if (place == CHECK_NOWHERE)
		slot->remote.references_unknown--;
	else
		slot->remote.references[place].kind = CHECK_REFERENCE_NONE;
}
