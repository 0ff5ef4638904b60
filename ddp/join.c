/*
 * Uneven inputs: ranks that have run out of them take part in the collectives
 * of the others, with zeros, until all have.
 *
 *	rank 0   announce 2   average       announce 1   average       announce
 *0 rank 1   announce 2   average       join_end: 1  zeros         0
 *
 * The idea, and what comes at the end, is that of PyTorch's Join: who had
 * inputs longest gives its parameters to all.
 */
#include "ddp/state.h"

#include <stdio.h>
#include <string.h>

static const char *const count_words = "ddp's count of ranks with inputs left";

static int remaining(const struct dist_ddp *ddp)
{
	return ddp->join.counts[0];
}

static enum dist_error count(struct dist_ddp *ddp,
			     const struct dist__ddp_site *site,
			     struct dist_work **work)
{
	enum dist_error err =
		(dist_all_reduce)(dist__ddp_at_words(ddp, site, count_words),
				  dist_tensor(ddp->join.counts, 2, DIST_INT32),
				  DIST_SUM, work);

	return err ? dist__ddp_failed(ddp, count_words, err) : DIST_OK;
}

/* Ends uneven inputs early: some rank has none left. */
static enum dist_error end_early(struct dist_ddp *ddp)
{
	ddp->join.ended = true;
	snprintf(ddp->message.text, sizeof ddp->message.text,
		 "only %d of %d ranks have inputs left", remaining(ddp),
		 dist_get_world_size(ddp->group));
	return DIST_ERR_PEER_LOST;
}

enum dist_error dist__ddp_announce(struct dist_ddp *ddp,
				   const struct dist__ddp_site *site)
{
	struct dist__ddp_join *join = &ddp->join;
	enum dist_error err;

	if (join->ended)
		return end_early(ddp);
	join->counts[0] = 1;
	join->counts[1] = !ddp->place.no_sync;
	err = count(ddp, site, &join->work);
	if (err || !join->options.throw_on_early_termination)
		return err;
	err = dist__ddp_announced(ddp, site);
	if (!err && remaining(ddp) < dist_get_world_size(ddp->group))
		err = end_early(ddp);
	return err;
}

enum dist_error dist__ddp_announced(struct dist_ddp *ddp,
				    const struct dist__ddp_site *site)
{
	struct dist_work *work = ddp->join.work;
	enum dist_error err;

	if (!work)
		return DIST_OK;
	err = (dist_work_wait)(dist_work_at(work, site->file, site->line),
			       DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	ddp->join.work = NULL;
	return err ? dist__ddp_failed(ddp, count_words, err) : DIST_OK;
}

enum dist_error dist__ddp_divisor(struct dist_ddp *ddp,
				  const struct dist__ddp_site *site,
				  int *divisor)
{
	enum dist_error err;

	*divisor = dist_get_world_size(ddp->group);
	if (!ddp->join.on || !ddp->join.options.divide_by_remaining)
		return DIST_OK;
	err = dist__ddp_announced(ddp, site);
	if (!err)
		*divisor = remaining(ddp);
	return err;
}

enum dist_error(dist_ddp_join_begin)(
	struct dist_ddp *ddp, const struct dist_ddp_join_options *options)
{
	const char *call = "ddp_join_begin";
	struct dist__ddp_site site;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	site = dist__ddp_enter(ddp);
	if (ddp->join.on)
		return dist__ddp_refuse(ddp, &site, call,
					"already begun: expected ddp_join_end "
					"first");
	if (ddp->place.begun)
		return dist__ddp_refuse(ddp, &site, call,
					"a micro-batch has begun: expected "
					"ddp_finish first");
	ddp->join = (struct dist__ddp_join){.on = true};
	if (options)
		ddp->join.options = *options;
	return DIST_OK;
}

/* Takes part in a micro-batch of the others, with zeros. */
static enum dist_error shadow(struct dist_ddp *ddp,
			      const struct dist__ddp_site *site)
{
	enum dist_error err;
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
	err = dist__ddp_average(ddp, site);
	dist__ddp_empty(ddp);
	ddp->place.averages++;
	return err;
}

/* Shadows the others until all inputs have ended. *last: this rank is one of
 * those that had inputs longest. */
static enum dist_error shadow_all(struct dist_ddp *ddp,
				  const struct dist__ddp_site *site, bool *last)
{
	struct dist__ddp_join *join = &ddp->join;
	enum dist_error err;

	join->shadows = true;
	for (*last = true;; *last = false) {
		join->counts[0] = join->counts[1] = 0;
		err = count(ddp, site, NULL);
		if (err || remaining(ddp) == 0)
			return err;
		if (join->options.throw_on_early_termination)
			return end_early(ddp);
		if (join->counts[1] > 0)
			err = shadow(ddp, site);
		if (err)
			return err;
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
	enum dist_error err;

	err = (dist_all_reduce)(dist__ddp_at_words(ddp, site, what),
				dist_tensor(most, 2, DIST_INT64), DIST_MAX,
				NULL);
	if (err)
		return dist__ddp_failed(ddp, what, err);
	ddp->place.steps = (uint64_t)most[1];
	ddp->place.steps_told = most[1] > 0;
	return dist__ddp_broadcast(ddp, site, (int)most[0]);
}

enum dist_error(dist_ddp_join_end)(struct dist_ddp *ddp)
{
	const char *call = "ddp_join_end";
	struct dist__ddp_site site;
	enum dist_error err;
	bool last;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	site = dist__ddp_enter(ddp);
	if (!ddp->join.on)
		return dist__ddp_refuse(ddp, &site, call,
					"not begun: expected ddp_join_begin "
					"first");
	if (ddp->place.begun)
		return dist__ddp_refuse(ddp, &site, call,
					"a micro-batch has begun: expected "
					"ddp_finish first");
	if (ddp->join.ended) {
		err = end_early(ddp);
	} else {
		err = shadow_all(ddp, &site, &last);
		if (!err)
			err = level(ddp, &site, last);
	}
	ddp->join.on = false;
	return err;
}
