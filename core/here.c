/*
 * here.c - the world of this process's ranks, and the rank that a group belongs
 * to: simulated ranks share the memory of a process.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "check/record.h"
#include "core/state.h"

/* A process is one rank, or runs one simulation, at a time. */
static const struct dist__world *_Atomic entered;

/* Whether a simulation was the last that ran here, and is over. */
static bool is_over;

/* Whether this thread is that of the process' rank, and no other may use its
 * records. */
static _Thread_local bool is_the_ranks;

/* Whether this process is a copy of the one that entered. */
static bool is_copied;

static void note_copy(void)
{
	is_copied = atomic_load(&entered) != NULL;
}

static __attribute__((constructor)) void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, note_copy);
}

bool dist__is_copied(void)
{
	return is_copied;
}

void dist__copy_joins(void)
{
	is_copied = false;
}

const struct dist__world *dist__world_enter(const struct dist__world *world)
{
	const struct dist__world *before = atomic_exchange(&entered, world);

	dist__copy_joins();
	is_the_ranks = world != NULL;
	is_over = !world && before && before->in_process;
	return before;
}

const struct dist__world *dist__world_here(void)
{
	const struct dist__world *world = atomic_load(&entered);

	return world && world->in_process ? world : NULL;
}

void dist__records_share(void)
{
	is_the_ranks = false;
}

struct check_slot *dist__records_own(void)
{
	bool own = is_the_ranks || dist__world_here();

	return own && !is_copied ? dist__records_here() : NULL;
}

struct check_slot *dist__records_here(void)
{
	const struct dist__world *world = atomic_load(&entered);

	return world && world->records ? world->records() : NULL;
}

void dist__records_miss(int rank)
{
	struct check_slot *slot = dist__records_here();

	if (slot && !slot->missed)
		slot->missed = (uint32_t)rank + 1;
}

static struct dist_group **own(void)
{
	const struct dist__world *world = dist__world_here();

	return world ? world->own() : NULL;
}

void dist__own_set(struct dist_group *group)
{
	struct dist_group **place = own();

	if (place)
		*place = group;
}

/* Where the process is one rank: the groups that it destroyed last. Their
 * memory is kept, so that a call on one of them is refused. */
#define RETIRED 16
static struct dist_group *_Atomic retired[RETIRED];
static atomic_uint num_retired;

void dist__group_retire(struct dist_group *group)
{
	unsigned place = atomic_fetch_add(&num_retired, 1) % RETIRED;

	group->retired = true;
	free(own() ? group : atomic_exchange(&retired[place], group));
}

bool dist__is_own(const struct dist_group *group)
{
	struct dist_group **place = own();
	const struct dist_group *other;

	if (is_copied || is_over)
		return false;
	if (!place)
		return !group->retired;
	if (group == *place)
		return true;
	other = *place ? (*place)->subs : NULL;
	while (other && other != group)
		other = other->next;
	return other != NULL;
}
