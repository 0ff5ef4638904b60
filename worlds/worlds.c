/* worlds.c - the one table of worlds: no other file knows them by name.
 */
#include "worlds/worlds.h"

#include <string.h>
#include <strings.h>

#include "base/refuse.h"
#include "base/spelling.h"
#include "base/yaml_keys.h"
#include "realbackend/launch/world.h"
#include "realbackend/mpi/world.h"
#include "realbackend/nccl/world.h"
#include "realbackend/seat/world.h"
#include "sim/launch.h"

static const struct dist__world *const worlds[] = {
	&dist__tcp_world,
	&dist__sim_world,
	&dist__nccl_world,
	&dist__mpi_world,
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

enum dist_error dist__world_refuse(const char *name,
				   struct dist_message *message)
{
	struct dist__spelling near = dist__spelling_of(name);
	struct dist__yaml_names names = {.used = 0};

	for (const struct dist__world *const *w = worlds; *w; w++) {
		dist__yaml_names_add(&names, (*w)->name);
		dist__spelling_offer(&near, (*w)->name, strlen((*w)->name));
	}
	return dist__refuse(message, "backend \"%.64s\": expected one of %s%s",
			    name, names.text, dist__spelling_hint(&near));
}

const struct dist__world *dist__world_of_process(const char *name)
{
	const struct dist__world *world = dist__world_find(name);

	return world == &dist__sim_world && dist__seat_is_here()
		       ? &dist__seat_world
		       : world;
}

enum dist_error dist__world_check(const struct dist__world *world,
				  struct dist_message *why)
{
	if (world->is_set_well && !world->is_set_well(why))
		return DIST_ERR_INVALID_ARGUMENT;
	return world->is_available(why) ? DIST_OK : DIST_ERR_UNAVAILABLE;
}

bool dist_is_available(void)
{
	struct dist_message why;

	for (const struct dist__world *const *w = worlds; *w; w++)
		if ((*w)->is_available(&why))
			return true;
	return false;
}

bool dist_is_backend_available(const char *backend)
{
	const struct dist__world *world =
		backend ? dist__world_find(backend) : NULL;
	struct dist_message why;

	return world && world->is_available(&why);
}
