/* One training step: gradients into buckets, buckets averaged, and back. */
#include "ddp/state.h"

#include <stdio.h>
#include <string.h>

/* Takes the site that dist_ddp_at() noted, and clears the last message. */
static struct dist__ddp_site enter(struct dist_ddp *ddp)
{
	struct dist__ddp_site site = ddp->next_site;

	ddp->next_site.file = NULL;
	ddp->next_site.line = 0;
	ddp->message.text[0] = '\0';
	return site;
}

static const char *name_of(const struct dist_ddp *ddp, size_t index)
{
	return ddp->params[index].name ? ddp->params[index].name : "?";
}

/* Notes how bucket b failed; passes err through. */
static enum dist_error bucket_failed(struct dist_ddp *ddp, size_t b,
				     enum dist_error err)
{
	const char *words = dist_error_message(ddp->group);

	snprintf(ddp->message.text, sizeof(ddp->message.text),
		 "bucket %zu: %.400s", b,
		 *words ? words : dist_error_string(err));
	return err;
}

void dist__ddp_start_step(struct dist_ddp *ddp)
{
	size_t i;

	for (i = 0; i < ddp->num; i++)
		ddp->slots[i].ready = false;
	for (i = 0; i < ddp->partition.num_spans; i++)
		ddp->buckets[i].missing = ddp->partition.spans[i].num;
	ddp->num_launched = 0;
}

/* Starts the averages of the buckets that are full and next in turn. */
static enum dist_error launch(struct dist_ddp *ddp,
			      const struct dist__ddp_site *site)
{
	while (ddp->num_launched < ddp->partition.num_spans) {
		size_t b = ddp->num_launched;
		const struct dist__ddp_span *span = &ddp->partition.spans[b];
		struct dist__ddp_bucket *bucket = &ddp->buckets[b];
		enum dist_error err;

		if (bucket->missing > 0)
			break;
		err = (dist_all_reduce)(dist_at(ddp->group, site->file,
						site->line),
					dist_tensor(bucket->data, span->numel,
						    span->dtype),
					DIST_AVG, &bucket->work);
		if (err)
			return bucket_failed(ddp, b, err);
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

enum dist_error(dist_ddp_gradient_ready)(struct dist_ddp *ddp, size_t index)
{
	struct dist__ddp_site site;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	site = enter(ddp);
	if (index >= ddp->num) {
		snprintf(ddp->message.text, sizeof(ddp->message.text),
			 "no parameter %zu: there are %zu", index, ddp->num);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (ddp->slots[index].ready) {
		snprintf(ddp->message.text, sizeof(ddp->message.text),
			 "the gradient of parameter %zu (%.200s) was marked "
			 "ready twice in one step",
			 index, name_of(ddp, index));
		return DIST_ERR_INVALID_ARGUMENT;
	}
	copy_gradient(ddp, index, false);
	ddp->slots[index].ready = true;
	ddp->buckets[ddp->slots[index].bucket].missing--;
	return launch(ddp, &site);
}

static enum dist_error check_all_ready(struct dist_ddp *ddp)
{
	size_t i, num_missing = 0, first = 0;

	for (i = ddp->num; i-- > 0;) {
		if (ddp->slots[i].ready)
			continue;
		num_missing++;
		first = i;
	}
	if (num_missing == 0)
		return DIST_OK;
	snprintf(ddp->message.text, sizeof(ddp->message.text),
		 "the gradient of parameter %zu (%.200s) was never marked "
		 "ready in this step (%zu of %zu missing)",
		 first, name_of(ddp, first), num_missing, ddp->num);
	return DIST_ERR_INVALID_ARGUMENT;
}

/* Waits for every bucket under way, also after one has failed: their memory is
 * ours again only then. Returns the first error. */
static enum dist_error wait_buckets(struct dist_ddp *ddp,
				    const struct dist__ddp_site *site)
{
	enum dist_error first = DIST_OK;
	size_t b;

	for (b = 0; b < ddp->num_launched; b++) {
		struct dist_work *work = ddp->buckets[b].work;
		enum dist_error err =
			(dist_work_wait)(dist_work_at(work, site->file,
						      site->line),
					 DIST_TIMEOUT_OF_GROUP);

		if (err && !first)
			first = bucket_failed(ddp, b, err);
		dist_work_free(work);
		ddp->buckets[b].work = NULL;
	}
	return first;
}

enum dist_error(dist_ddp_finish)(struct dist_ddp *ddp)
{
	struct dist__ddp_site site;
	enum dist_error err;
	size_t i;

	if (!ddp)
		return DIST_ERR_INVALID_ARGUMENT;
	site = enter(ddp);
	err = check_all_ready(ddp);
	if (err)
		return err;
	/* Only a launch that failed before leaves some to launch here. */
	err = launch(ddp, &site);
	if (!err)
		err = wait_buckets(ddp, &site);
	else
		(void)wait_buckets(ddp, &site);
	for (i = 0; !err && i < ddp->num; i++)
		copy_gradient(ddp, i, true);
	dist__ddp_start_step(ddp);
	return err;
}
