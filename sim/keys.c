/*
 * keys.c - ranks that wait for a key of a store on the clock of the simulation,
 * or ask for it again and again.
 */
#include "sim/keys.h"

#include "lockstep/store.h"
#include "sim/note.h"
#include "sim/progress.h"
#include "sim/run.h"
#include "sim/watch.h"
#include "sim/forecast.h"

/* Pauses of a rank that polls a store; the longest is shorter than timeouts. */
#define SHORTEST_POLL_NS ((int64_t)1000)
#define LONGEST_POLL_NS  ((int64_t)100 * 1000000)

struct dist__sim_rank *dist__sim_caller(void)
{
	struct dist__sim_actor *actor =
		dist__sim_running() ? dist__engine->self() : NULL;

	return actor ? actor->rank : NULL;
}

enum dist_error dist__sim_pause(int64_t duration_ns)
{
	struct dist__transport *transport = &dist__sim_caller()->transport;

	dist__sim_note_look(dist__sim_caller()->world);
	return transport->ops->compute(transport, duration_ns);
}

enum dist_error dist__sim_await_key(uint64_t key, int64_t duration_ns,
				    bool gives_up)
{
	struct dist__sim_rank *rank = dist__sim_caller();
	struct dist__sim_world *world = rank->world;
	int64_t now_ns = dist__sim_now_ns(world);
	int64_t deadline_ns = duration_ns < INT64_MAX - now_ns
				      ? now_ns + duration_ns
				      : DIST_TIMEOUT_NEVER;

	dist__sim_note_look(world);
	rank->awaited = key;
	rank->awaits_key = true;
	do
		dist__sim_gate_wait(world, &rank->actor.gate, deadline_ns);
	while (rank->awaits_key && !world->ended &&
	       (!dist__sim_is_late(world, deadline_ns) ||
		(!gives_up && !dist__sim_time_is_up(rank))));
	dist__sim_watch_note(rank);
	if (world->ended)
		return world->end_error;
	if (!rank->awaits_key)
		return DIST_OK;
	rank->awaits_key = false;
	return DIST_ERR_TIMEOUT;
}

/* Asking once costs no time. */
enum dist_error dist__sim_ask_again(uint64_t key)
{
	struct dist__sim_rank *rank = dist__sim_caller();
	uint32_t calls = rank->world->board->slots[rank->rank].calls;
	int64_t pause_ns = rank->polled_ns / 8;

	if (rank->polled != key || rank->polled_after != calls) {
		rank->polled = key;
		rank->polled_after = calls;
		rank->polled_ns = 0;
		return DIST_OK;
	}
	if (rank->polled_ns >= DIST_STORE_TIMEOUT_DEFAULT)
		return DIST_ERR_TIMEOUT;
	if (pause_ns < SHORTEST_POLL_NS)
		pause_ns = SHORTEST_POLL_NS;
	if (pause_ns > LONGEST_POLL_NS)
		pause_ns = LONGEST_POLL_NS;
	rank->polled_ns += pause_ns;
	return dist__sim_pause(pause_ns);
}

/* Who is awoken looks for the key itself. */
void dist__sim_has_stored(uint64_t key)
{
	struct dist__sim_world *world = dist__sim_caller()->world;

	for (int i = 0; i < world->present; i++) {
		struct dist__sim_rank *rank = &world->ranks[i];

		if (!rank->awaits_key || rank->awaited != key)
			continue;
		rank->awaits_key = false;
		dist__sim_gate_open(world, &rank->actor.gate);
	}
}
