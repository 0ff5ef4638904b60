/*
 * delay_injection.c - delays by a seed, of calls and of looks whether work is
 * complete: all of every rank a little, all of one rank, or one of one rank. A
 * right program ends as it does without.
 */
#include "sim/delay_injection.h"

#include <math.h>

#include "base/random.h"
#include "sim/actor.h"

#define SHORTEST_S 1e-6
#define LONGEST_S  0.1

/* Of the calls of a rank, those among which one is delayed alone. */
#define MOST_CALLS_LOG2 6

enum shape { ALL_CALLS, ONE_RANK, ONE_CALL, SHAPES };

/* What a draw is for. */
enum draw { LENGTH, VICTIM, RANGE, CALL };

static uint64_t draw(uint64_t seed, enum draw what)
{
	return dist__random_of(dist__random_of(seed) + (uint64_t)what);
}

/* The longest delay: all orders of magnitude are as likely. */
static double length_s(uint64_t seed)
{
	double share = (double)(draw(seed, LENGTH) >> 11) * 0x1p-53;

	return SHORTEST_S * pow(LONGEST_S / SHORTEST_S, share);
}

static bool is_call(uint64_t seed, uint32_t call)
{
	uint64_t calls = UINT64_C(1)
			 << draw(seed, RANGE) % (MOST_CALLS_LOG2 + 1);

	return call == 1 + draw(seed, CALL) % calls;
}

static double delay_s(uint64_t seed, uint32_t rank, uint32_t world_size,
		      uint32_t call)
{
	enum shape shape = (enum shape)(seed % SHAPES);
	uint64_t own = dist__random_of(dist__random_of(seed) ^
				       ((uint64_t)rank << 32 | call));

	if (shape == ALL_CALLS)
		return length_s(seed) * (double)(own >> 11) * 0x1p-53;
	if (rank != draw(seed, VICTIM) % world_size)
		return 0;
	return shape == ONE_RANK || is_call(seed, call) ? length_s(seed) : 0;
}

static void delay(struct dist__sim_actor *actor)
{
	const struct dist__sim_world *world = actor->rank->world;

	actor->debt_s += delay_s(world->plan->skew, (uint32_t)actor->rank->rank,
				 (uint32_t)world->world_size, ++actor->delays);
}

void dist__sim_delay_call(struct dist__sim_actor *actor)
{
	const struct dist__sim_world *world = actor->rank->world;
	uint32_t call = world->board->slots[actor->rank->rank].calls;

	if (!world->plan || !world->plan->skew || actor->lane ||
	    actor->call == call)
		return;
	actor->call = call;
	delay(actor);
}

void dist__sim_delay_look(struct dist__sim_actor *actor)
{
	const struct dist__sim_plan *plan = actor->rank->world->plan;

	if (!plan || !plan->skew)
		return;
	delay(actor);
	dist__sim_pay(actor);
}
