/* Micro-batches that are accumulated, and the steps that they make up. */
#include "ddp/state.h"

#include <inttypes.h>

enum dist_error(dist_ddp_no_sync)(struct dist_ddp *ddp)
{
	struct dist__ddp_site site;
	char place[64];

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	site = dist__ddp_enter(ddp);
	if (ddp->place.begun) {
		dist__ddp_print_place(ddp, place, sizeof place);
		return dist__ddp_refuse(ddp, &site, "ddp_no_sync",
					"%s has begun: expected the call "
					"before its first gradient is marked",
					place);
	}
	ddp->place.no_sync = true;
	return DIST_OK;
}

enum dist_error(dist_ddp_optimizer_step)(struct dist_ddp *ddp)
{
	const char *call = "ddp_optimizer_step";
	struct dist__ddp_place *place;
	struct dist__ddp_site site;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	place = &ddp->place;
	site = dist__ddp_enter(ddp);
	if (place->begun)
		return dist__ddp_refuse(ddp, &site, call,
					"micro-batch %" PRIu64
					" of step %" PRIu64
					" has begun: expected ddp_finish first",
					place->in_step, place->steps);
	if (place->unaveraged > 0)
		return dist__ddp_refuse(
			ddp, &site, call,
			"the replicas would drift: step %" PRIu64
			" ends with %" PRIu64 " of its %" PRIu64
			" micro-batches accumulated under "
			"no_sync and never averaged",
			place->steps, place->unaveraged, place->in_step);
	place->steps++;
	place->steps_told = true;
	place->in_step = 0;
	return DIST_OK;
}
