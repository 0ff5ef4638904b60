/* step.c - one micro-batch: copies gradients to buckets, averages, copies back.
 */
#include "ddp/state.h"

#include <string.h>

/* Starts the averages of the buckets that are full and next in turn. */
static enum dist_error launch(struct dist_ddp *ddp,
			      const struct dist__ddp_site *site)
{
	while (ddp->num_launched < ddp->partition.num_spans) {
		enum dist_error error;

		if (ddp->buckets[ddp->num_launched].missing > 0)
			break;
		error = dist__ddp_reduce_bucket(ddp, site, ddp->num_launched);
		if (error)
			return error;
		ddp->num_launched++;
	}
	return DIST_OK;
}

/* Copies gradient index into its bucket, or (back) out of it. */
static void copy_gradient(struct dist_ddp *ddp, size_t index, bool back)
{
	const struct dist_tensor *g = &ddp->params[index].gradient;
	const struct dist__ddp_slot *slot = &ddp->slots[index];
	size_t bytes = g->numel * dist_dtype_size(g->dtype);
	char *data = ddp->buckets[slot->bucket].data;

	if (!data || bytes == 0 || ddp->views)
		return;
	if (back)
		memcpy(g->data, data + slot->offset_bytes, bytes);
	else
		memcpy(data + slot->offset_bytes, g->data, bytes);
}

static void put_gradient(struct dist_ddp *ddp, size_t index)
{
	copy_gradient(ddp, index, false);
	ddp->buckets[ddp->slots[index].bucket].missing--;
}

/* What comes before the first gradient of a micro-batch. */
static enum dist_error begin(struct dist_ddp *ddp,
			     const struct dist__ddp_site *site)
{
	enum dist_error error;

	if (ddp->place.begun || !ddp->join.on)
		error = DIST_OK;
	else
		error = dist__ddp_announce(ddp, site);
	ddp->place.begun |= !error;
	return error;
}

enum dist_error(dist_ddp_gradient_ready)(struct dist_ddp *ddp, size_t index)
{
	const char *call = "ddp_gradient_ready";
	struct dist__ddp_site site;
	struct dist__ddp_slot *slot;
	enum dist_error error;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	site = dist__ddp_enter(ddp);
	if (index >= ddp->num)
		return dist__ddp_refuse(ddp, &site, call,
					"no parameter %zu: there are %zu",
					index, ddp->num);
	slot = &ddp->slots[index];
	if (slot->ready)
		return dist__ddp_refuse(ddp, &site, call,
					"the gradient of parameter %zu "
					"(%.200s) was marked ready twice in "
					"one micro-batch",
					index, dist__ddp_name(ddp, index));
	if (ddp->graph_known && !slot->in_graph)
		return dist__ddp_refuse(ddp, &site, call,
					"the graph is not static: parameter "
					"%zu (%.200s) has a gradient, of which "
					"the first micro-batch had none",
					index, dist__ddp_name(ddp, index));
	error = begin(ddp, &site);
	if (error)
		return error;
	slot->ready = true;
	ddp->used[index] = 1;
	if (ddp->place.no_sync)
		return DIST_OK;
	put_gradient(ddp, index);
	/* What a static graph uses is known at the end of the first one. */
	return ddp->static_graph && !ddp->graph_known ? DIST_OK
						      : launch(ddp, &site);
}

/* Waits for every bucket under way, also after one has failed: their memory is
 * ours again only then. Returns the first error. */
static enum dist_error wait_buckets(struct dist_ddp *ddp,
				    const struct dist__ddp_site *site)
{
	enum dist_error first = DIST_OK;
	size_t b;

	for (b = 0; b < ddp->num_launched; b++) {
		struct dist__ddp_bucket *bucket = &ddp->buckets[b];
		enum dist_error error =
			(dist_work_wait)(dist_work_at(bucket->work, site->file,
						      site->line),
					 DIST_TIMEOUT_OF_GROUP);

		if (!error)
			dist__ddp_restore_bucket(ddp, b);
		else if (!first)
			first = dist__ddp_failed(ddp, bucket->text, error);
		dist_work_free(bucket->work);
		bucket->work = NULL;
	}
	return first;
}

enum dist_error dist__ddp_average(struct dist_ddp *ddp,
				  const struct dist__ddp_site *site)
{
	enum dist_error error = launch(ddp, site);
	enum dist_error waited;

	if (!error && ddp->find_unused)
		error = dist__ddp_share_used(ddp, site);
	waited = wait_buckets(ddp, site);
	return error ? error : waited;
}

/* Averages the gradients; those not marked count with what they hold. */
static enum dist_error average(struct dist_ddp *ddp,
			       const struct dist__ddp_site *site)
{
	enum dist_error error;
	size_t i;

	for (i = 0; i < ddp->num; i++) {
		struct dist__ddp_slot *slot = &ddp->slots[i];

		slot->averaged = !ddp->graph_known || slot->in_graph;
		if (slot->averaged && !slot->ready)
			put_gradient(ddp, i);
	}
	error = dist__ddp_average(ddp, site);
	for (i = 0; !error && i < ddp->num; i++)
		if (ddp->slots[i].averaged)
			copy_gradient(ddp, i, true);
	return error;
}

enum dist_error(dist_ddp_finish)(struct dist_ddp *ddp)
{
	struct dist__ddp_place *place;
	struct dist__ddp_site site;
	enum dist_error error;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	place = &ddp->place;
	site = dist__ddp_enter(ddp);
	error = begin(ddp, &site);
	if (!error)
		error = dist__ddp_check_used(ddp, &site);
	if (error)
		return error;
	if (!place->no_sync)
		error = average(ddp, &site);
	if (!error)
		error = dist__ddp_announced(ddp, &site);
	dist__ddp_empty(ddp);
	place->in_step++;
	place->averages += !place->no_sync;
	place->unaveraged = place->no_sync ? place->unaveraged + 1 : 0;
	place->no_sync = false;
	place->begun = false;
	return error;
}
