/*
 * here.c - the world of this process's ranks, and the rank that a group belongs
 * to: simulated ranks share the memory of a process.
 */
#include <stdatomic.h>

#include "core/group.h"

/* A process is one rank, or runs one simulation, at a time. */
static const struct dist__world *_Atomic entered;

const struct dist__world *dist__world_enter(const struct dist__world *world)
{
	return atomic_exchange(&entered, world);
}

const struct dist__world *dist__world_here(void)
{
	const struct dist__world *world = atomic_load(&entered);

	return world && world->in_process ? world : NULL;
}

struct check_slot *dist__records_here(void)
{
	const struct dist__world *world = atomic_load(&entered);

	return world && world->records ? world->records() : NULL;
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

bool dist__is_own(const struct dist_group *group)
{
	struct dist_group **place = own();
	const struct dist_group *other;

	if (!place || group == *place)
		return true;
	other = *place ? (*place)->subs : NULL;
	while (other && other != group)
		other = other->next;
	return other != NULL;
}
