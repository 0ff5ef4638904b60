/*
 * Sends one rank's parameters to all: those of rank 0 at the start, and after
 * uneven inputs those of a rank that had most.
 *
 * Parameters are packed, as in PyTorch (broadcast_coalesced with a buffer of
 * 250 MiB): hundreds of small messages would each cost their latency.
 */
#include "ddp/state.h"
#include "lockstep/measure.h"

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
broadcast_span(struct dist_ddp *ddp, const struct dist__ddp_site *site,
	       const struct dist__ddp_partition *partition,
	       const struct dist__ddp_span *span, int src)
{
	size_t bytes = span->numel * dist_dtype_size(span->dtype);
	struct dist_group *group;
	enum dist_error error;
	char *flat = NULL;

	if (!is_phantom(partition, span, ddp->params)) {
		flat = calloc(1, bytes);
		if (!flat)
			return DIST_ERR_NO_MEMORY;
		if (dist_get_rank(ddp->group) == src)
			copy_span(partition, span, ddp->params, flat, true);
	}
	group = dist__ddp_at_parameters(ddp, site);
	if (ddp->untimed)
		group = dist_untimed(group);
	error = (dist_broadcast)(group,
				 dist_tensor(flat, span->numel, span->dtype),
				 src, NULL);
	if (!error && flat)
		copy_span(partition, span, ddp->params, flat, false);
	free(flat);
	return error;
}

enum dist_error dist__ddp_broadcast(struct dist_ddp *ddp,
				    const struct dist__ddp_site *site, int src)
{
	const struct dist__ddp_limits limits = {BUFFER_BYTES, BUFFER_BYTES};
	struct dist__ddp_partition partition;
	enum dist_error error = dist__ddp_partition_init(
		&partition, ddp->params, ddp->num, false, &limits);

	for (size_t i = 0; !error && i < partition.num_spans; i++)
		error = broadcast_span(ddp, site, &partition,
				       &partition.spans[i], src);
	if (error)
		(void)dist__ddp_failed(ddp, "broadcast of the parameters",
				       error);
	dist__ddp_partition_release(&partition);
	return error;
}
