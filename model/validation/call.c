#include "model/validation/call.h"

#include <string.h>

static enum dist__op_kind kind_of(enum collective collective)
{
	static const enum dist__op_kind kinds[] = {
		[COLLECTIVE_ALL_REDUCE] = DIST__ALL_REDUCE,
		[COLLECTIVE_ALL_GATHER] = DIST__ALL_GATHER,
		[COLLECTIVE_REDUCE_SCATTER] = DIST__REDUCE_SCATTER,
		[COLLECTIVE_ALL_TO_ALL] = DIST__ALL_TO_ALL,
		[COLLECTIVE_BROADCAST] = DIST__BROADCAST,
		[COLLECTIVE_REDUCE] = DIST__REDUCE,
		[COLLECTIVE_GATHER] = DIST__GATHER,
		[COLLECTIVE_SCATTER] = DIST__SCATTER,
		[COLLECTIVE_SENDRECV] = DIST__SEND,
	};

	return kinds[collective];
}

/* Of a type by its name; 1: not known. */
static size_t element_bytes(const char *dtype)
{
	for (int i = 0; dtype && i < DIST_NUM_DTYPES; i++)
		if (strcmp(dist_dtype_name((enum dist_dtype)i), dtype) == 0)
			return dist_dtype_size((enum dist_dtype)i);
	return 1;
}

struct library_call call_of_row(const struct collective_row *row)
{
	size_t each = element_bytes(row->dtype);

	if (row->bytes % each != 0)
		each = 1;
	return (struct library_call){
		.op = kind_of(row->collective),
		.numel = row->bytes / each,
		.element_bytes = each,
		.ranks = row->ranks,
		.algorithm = row->algorithm,
		.protocol = row->protocol,
		.version = row->version,
		.process_ranks = row->process_ranks,
		.by_torch = row->caller != NULL,
		.host = row->memory && strcmp(row->memory, "host") == 0,
	};
}
