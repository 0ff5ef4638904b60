/*
 * The constructor's broadcast: every rank starts from rank 0's parameters.
 *
 * Parameters are packed, as PyTorch does it (broadcast_coalesced with a buffer
 * of 250 MiB): hundreds of small messages would cost their latency each.
 */
#include "ddp/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (250.0 * 1024 * 1024)

/* Copies the members of span between their parameters and the flat buffer. */
static void copy_span(const struct dist__ddp_partition *partition,
		      const struct dist__ddp_span *span,
		      const struct dist_ddp_parameter *params, char *flat,
		      bool pack)
{
	size_t i;

	for (i = 0; i < span->num; i++) {
		const struct dist_tensor *t =
			&params[partition->members[span->first + i]].parameter;
		size_t bytes = t->numel * dist_dtype_size(t->dtype);

		if (bytes == 0)
			continue;
		if (pack)
			memcpy(flat, t->data, bytes);
		else
			memcpy(t->data, flat, bytes);
		flat += bytes;
	}
}

static bool is_phantom(const struct dist__ddp_partition *partition,
		       const struct dist__ddp_span *span,
		       const struct dist_ddp_parameter *params)
{
	size_t i;

	for (i = 0; i < span->num; i++) {
		const struct dist_tensor *t =
			&params[partition->members[span->first + i]].parameter;

		if (t->numel > 0)
			return t->data == NULL;
	}
	return true;
}

static enum dist_error
broadcast_span(struct dist_group *group, const struct dist__ddp_site *site,
	       const struct dist_ddp_parameter *params,
	       const struct dist__ddp_partition *partition,
	       const struct dist__ddp_span *span)
{
	bool phantom = is_phantom(partition, span, params);
	enum dist_error err;
	char *flat = NULL;

	if (!phantom) {
		flat = malloc(span->numel * dist_dtype_size(span->dtype));
		if (!flat)
			return DIST_ERR_NO_MEMORY;
		if (dist_get_rank(group) == 0)
			copy_span(partition, span, params, flat, true);
		else
			memset(flat, 0,
			       span->numel * dist_dtype_size(span->dtype));
	}
	err = (dist_broadcast)(dist_at(group, site->file, site->line),
			       dist_tensor(flat, span->numel, span->dtype), 0,
			       NULL);
	if (!err && flat)
		copy_span(partition, span, params, flat, false);
	free(flat);
	return err;
}

enum dist_error dist__ddp_broadcast(struct dist_group *group,
				    const struct dist__ddp_site *site,
				    const struct dist_ddp_parameter *params,
				    size_t num, struct dist_message *message)
{
	const struct dist__ddp_limits limits = {BUFFER_BYTES, BUFFER_BYTES};
	struct dist__ddp_item *items = calloc(num, sizeof(*items));
	struct dist__ddp_partition partition = {0};
	enum dist_error err = DIST_ERR_NO_MEMORY;
	size_t i;

	if (!items)
		goto out;
	for (i = 0; i < num; i++) {
		items[i].numel = params[i].parameter.numel;
		items[i].dtype = params[i].parameter.dtype;
	}
	err = dist__ddp_partition_init(&partition, items, num, false, &limits);
	for (i = 0; !err && i < partition.num_spans; i++)
		err = broadcast_span(group, site, params, &partition,
				     &partition.spans[i]);
	if (err)
		snprintf(message->text, sizeof(message->text),
			 "broadcast of the parameters: %.400s",
			 *dist_error_message(group) ? dist_error_message(group)
						    : dist_error_string(err));
out:
	dist__ddp_partition_release(&partition);
	free(items);
	return err;
}
