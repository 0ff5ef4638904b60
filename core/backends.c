#include "core/backend.h"

#include <strings.h>

/* The one table of back ends: the only place that knows them by name. */
static const struct dist__world *const worlds[] = {
	&dist__tcp_world,
	&dist__sim_world,
	NULL,
};

const struct dist__world *const *dist__worlds(void)
{
	return worlds;
}

const struct dist__world *dist__world_find(const char *name)
{
	for (const struct dist__world *const *w = worlds; *w; w++)
		if (strcasecmp((*w)->name, name) == 0)
			return *w;
	return NULL;
}

const struct dist__world *dist__world_here(void)
{
	for (const struct dist__world *const *w = worlds; *w; w++)
		if ((*w)->is_here && (*w)->is_here())
			return *w;
	return NULL;
}

bool dist_is_backend_available(const char *backend)
{
	const struct dist__world *world =
		backend ? dist__world_find(backend) : NULL;
	struct dist_message why;

	return world && world->is_available(&why);
}
