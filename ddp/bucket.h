/*
 * bucket.h - cuts a list of tensors into buckets by size.
 */
#ifndef LOCKSTEP_DDP_BUCKET_H
#define LOCKSTEP_DDP_BUCKET_H

#include "lockstep/ddp.h"

/* Tensors in one bucket: num of them, the first at members[first]. */
struct dist__ddp_span {
	enum dist_dtype dtype;
	size_t first;
	size_t num;
	size_t numel;
};

/* A partition of tensors. members lists the tensors' indices, bucket by bucket.
 * Both arrays are owned. */
struct dist__ddp_partition {
	uint32_t *members;
	struct dist__ddp_span *spans;
	size_t num_spans;
};

/* Sizes at which buckets close: the first bucket of a dtype, and the others. */
struct dist__ddp_limits {
	double first_bytes;
	double rest_bytes;
};

/*
 * dist__ddp_partition_init cuts num parameters, taken in the order of the array
 * or (reverse) from its end, into buckets of one dtype each. This is the rule
 * of PyTorch's compute_bucket_assignment_by_size: one joins the open bucket of
 * its dtype, which closes when its size is then at or above the limit. Buckets
 * are in the order of closing; open ones follow, in the order of their first.
 * Errors: DIST_ERR_NO_MEMORY, and *partition is empty.
 */
enum dist_error
dist__ddp_partition_init(struct dist__ddp_partition *partition,
			 const struct dist_ddp_parameter *params, size_t num,
			 bool reverse, const struct dist__ddp_limits *limits);

/* dist__ddp_partition_release frees what partition owns. */
void dist__ddp_partition_release(struct dist__ddp_partition *partition);

#endif
