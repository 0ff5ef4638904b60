/* join_count.c - counts the ranks that have inputs left; each rank announces it
 * with its micro-batch. */
#include "ddp/state.h"

#include <stdio.h>

static const char *const count_label = "ddp's count of ranks with inputs left";

int dist__ddp_remaining(const struct dist_ddp *ddp)
{
	return ddp->join.counts[0];
}

enum dist_error dist__ddp_count(struct dist_ddp *ddp,
				const struct dist__ddp_site *site,
				struct dist_work **work)
{
	enum dist_error error =
		(dist_all_reduce)(dist__ddp_at_call(ddp, site, count_label),
				  dist_tensor(ddp->join.counts, 2, DIST_INT32),
				  DIST_SUM, work);

	return error ? dist__ddp_failed(ddp, count_label, error) : DIST_OK;
}

enum dist_error dist__ddp_end_early(struct dist_ddp *ddp)
{
	ddp->join.ended = true;
	snprintf(ddp->message.text, sizeof ddp->message.text,
		 "only %d of %d ranks have inputs left",
		 dist__ddp_remaining(ddp), dist_get_world_size(ddp->group));
	return DIST_ERR_PEER_LOST;
}

enum dist_error dist__ddp_announce(struct dist_ddp *ddp,
				   const struct dist__ddp_site *site)
{
	struct dist__ddp_join *join = &ddp->join;
	enum dist_error error;

	if (join->ended)
		return dist__ddp_end_early(ddp);
	join->counts[0] = 1;
	join->counts[1] = !ddp->place.no_sync;
	error = dist__ddp_count(ddp, site, &join->work);
	if (error || !join->options.throw_on_early_termination)
		return error;
	error = dist__ddp_announced(ddp, site);
	if (!error &&
	    dist__ddp_remaining(ddp) < dist_get_world_size(ddp->group))
		error = dist__ddp_end_early(ddp);
	return error;
}

enum dist_error dist__ddp_announced(struct dist_ddp *ddp,
				    const struct dist__ddp_site *site)
{
	struct dist_work *work = ddp->join.work;
	enum dist_error error;

	if (!work)
		return DIST_OK;
	error = (dist_work_wait)(dist_work_at(work, site->file, site->line),
				 DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	ddp->join.work = NULL;
	return error ? dist__ddp_failed(ddp, count_label, error) : DIST_OK;
}

enum dist_error dist__ddp_divisor(struct dist_ddp *ddp,
				  const struct dist__ddp_site *site,
				  int *divisor)
{
	enum dist_error error;

	*divisor = dist_get_world_size(ddp->group);
	if (!ddp->join.on || !ddp->join.options.divide_by_remaining)
		return DIST_OK;
	error = dist__ddp_announced(ddp, site);
	if (!error)
		*divisor = dist__ddp_remaining(ddp);
	return error;
}
