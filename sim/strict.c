/*
 * strict.c - whether a job that ended well would have ended if sends waited for
 * their receives.
 *
 * Only lockstep check asks: a copy of the instant before the first buffered
 * send does all that follows once more.
 */
#include "sim/strict.h"

#include <stdlib.h>
#include <string.h>

#include "sim/copy.h"

/* Where ranks are processes: no copy has them. */
static const char untried[] =
	"not tried: whether it would end if no send were buffered, for a copy "
	"has no ranks that are processes; expected --p2p rendezvous for that";

void dist__sim_note_buffered(struct dist__sim_world *world)
{
	if (world->is_copy || world->has_buffered)
		return;
	world->has_buffered = true;
	if (world->wants_strict &&
	    dist__sim_copy_make(world, &world->strictness))
		world->profile.p2p.eager_below = 0;
}

char *dist__sim_warning(struct dist__sim_world *world)
{
	struct dist__sim_future future;
	const struct dist__sim_news *stuck = &future.news[DIST__SIM_STUCK];
	char *text = NULL;

	if (world->wants_strict && world->has_buffered && world->has_processes)
		return strdup(untried);
	dist__sim_copy_ask(world, &world->strictness, &future);
	if (future.board &&
	    (stuck->value == CHECK_DEADLOCK || stuck->value == CHECK_BUFFERING))
		text = check_buffering_warning(future.board);
	free(future.board);
	return text;
}
