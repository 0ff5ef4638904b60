#include "core/backend.h"

#include <string.h>
#include <strings.h>

/* The one table of back ends: the only place that knows them by name. */
static const struct dist__world *const worlds[] = {
	&dist__tcp_world,
	&dist__sim_world,
	&dist__nccl_world,
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

struct check_slot *dist__records_here(void)
{
	struct check_slot *slot = NULL;

	for (const struct dist__world *const *w = worlds; *w && !slot; w++)
		if ((*w)->records)
			slot = (*w)->records();
	return slot;
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

bool dist__debug_parse(enum dist__debug *level, const char *words)
{
	static const char *const levels[] = {[DIST__DEBUG_OFF] = "off",
					     [DIST__DEBUG_INFO] = "info",
					     [DIST__DEBUG_DETAIL] = "detail"};

	*level = DIST__DEBUG_OFF;
	for (int i = 0; words && i <= DIST__DEBUG_DETAIL; i++)
		if (strcmp(words, levels[i]) == 0) {
			*level = (enum dist__debug)i;
			return true;
		}
	return !words;
}
