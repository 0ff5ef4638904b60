/* owner.c - whose a group is: simulated ranks share the memory of a process. */
#include "core/group.h"

static struct dist_group **own(void)
{
	const struct dist__world *world = dist__world_here();

	return world && world->own ? world->own() : NULL;
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
