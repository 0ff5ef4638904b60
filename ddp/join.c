/*
 * join.c - uneven inputs: ranks without inputs take part in the collectives of
 * the others, with zeros, until no rank has any.
 *
 *	rank 0	announce 2   average	announce 1   average	announce 0
 *	rank 1	announce 2   average	join_end: 1  zeros	0
 *
 * The idea, and the end, are those of PyTorch's Join: a rank that had inputs
 * longest gives its parameters to all.
 */
#include "ddp/state.h"

#include <string.h>

/* Refuses a call within a micro-batch, and where a join has begun or has not,
 * as the call wants it. */
static enum dist_error check_state(struct dist_ddp *ddp,
				   const struct dist__ddp_site *site,
				   const char *call, bool on)
{
	if (ddp->join.on != on)
		return dist__ddp_refuse(
			ddp, site, call,
			on ? "not begun: expected ddp_join_begin first"
			   : "already begun: expected ddp_join_end first");
	return ddp->place.begun
		       ? dist__ddp_refuse(ddp, site, call,
					  "a micro-batch has begun: expected "
					  "ddp_finish first")
		       : DIST_OK;
}

enum dist_error(dist_ddp_join_begin)(
	struct dist_ddp *ddp, const struct dist_ddp_join_options *options)
{
	struct dist__ddp_site site;
	enum dist_error error;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	site = dist__ddp_enter(ddp);
	error = check_state(ddp, &site, "ddp_join_begin", false);
	if (error)
		return error;
	ddp->join = (struct dist__ddp_join){.on = true};
	if (options)
		ddp->join.options = *options;
	return DIST_OK;
}

/* Takes part in a micro-batch of the others, with zeros. */
static enum dist_error shadow(struct dist_ddp *ddp,
			      const struct dist__ddp_site *site)
{
	enum dist_error error;
	size_t b;

	for (b = 0; b < ddp->partition.num_spans; b++) {
		const struct dist__ddp_span *span = &ddp->partition.spans[b];
		struct dist__ddp_bucket *bucket = &ddp->buckets[b];

		bucket->missing = 0;
		if (bucket->data)
			memset(bucket->data, 0,
			       span->numel * dist_dtype_size(span->dtype));
	}
	memset(ddp->used, 0, ddp->num * sizeof *ddp->used);
	error = dist__ddp_average(ddp, site);
	dist__ddp_empty(ddp);
	ddp->place.averages++;
	return error;
}

/* Shadows the others until all inputs have ended. *last: this rank is one of
 * those that had inputs longest. */
static enum dist_error shadow_all(struct dist_ddp *ddp,
				  const struct dist__ddp_site *site, bool *last)
{
	struct dist__ddp_join *join = &ddp->join;
	enum dist_error error;

	join->shadows = true;
	for (*last = true;; *last = false) {
		join->counts[0] = join->counts[1] = 0;
		error = dist__ddp_count(ddp, site, NULL);
		if (error || dist__ddp_remaining(ddp) == 0)
			return error;
		if (join->options.throw_on_early_termination)
			return dist__ddp_end_early(ddp);
		if (join->counts[1] > 0)
			error = shadow(ddp, site);
		if (error)
			return error;
	}
}

/* Gives all ranks the parameters of the last that had inputs, and the number of
 * its steps. */
static enum dist_error level(struct dist_ddp *ddp,
			     const struct dist__ddp_site *site, bool last)
{
	const char *what = "ddp's choice of the rank that had inputs longest";
	int64_t most[2] = {last ? dist_get_rank(ddp->group) : -1,
			   (int64_t)ddp->place.steps};
	enum dist_error error;

	error = (dist_all_reduce)(dist__ddp_at_call(ddp, site, what),
				  dist_tensor(most, 2, DIST_INT64), DIST_MAX,
				  NULL);
	if (error)
		return dist__ddp_failed(ddp, what, error);
	ddp->place.steps = (uint64_t)most[1];
	ddp->place.steps_told = most[1] > 0;
	return dist__ddp_broadcast(ddp, site, (int)most[0]);
}

enum dist_error(dist_ddp_join_end)(struct dist_ddp *ddp)
{
	struct dist__ddp_site site;
	enum dist_error error;
	bool last;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	site = dist__ddp_enter(ddp);
	error = check_state(ddp, &site, "ddp_join_end", true);
	if (error)
		return error;
	if (ddp->join.ended) {
		error = dist__ddp_end_early(ddp);
	} else {
		error = shadow_all(ddp, &site, &last);
		if (!error)
			error = level(ddp, &site, last);
	}
	ddp->join.on = false;
	return error;
}
