/*
 * Averages a bucket: as it is, or by a communication hook that sends half of
 * its bytes.
 *
 * A compressed element is divided before it is rounded, as in PyTorch's
 * fp16_compress_hook: a sum of large gradients would exceed the range of
 * float16.
 */
#include "ddp/state.h"

#include "base/half.h"

static bool is_compressed(const struct dist_ddp *ddp, size_t b)
{
	return ddp->hook != DIST_DDP_ALLREDUCE &&
	       ddp->partition.spans[b].dtype == DIST_FLOAT32;
}

size_t dist__ddp_compressed_bytes(const struct dist_ddp *ddp, size_t b)
{
	return is_compressed(ddp, b)
		       ? ddp->partition.spans[b].numel * sizeof(uint16_t)
		       : 0;
}

static void compress(const struct dist_ddp *ddp, size_t b, int divisor)
{
	const float *from = ddp->buckets[b].data;
	uint16_t *to = ddp->buckets[b].compressed;
	size_t i, num = ddp->partition.spans[b].numel;

	if (!from)
		return;
	if (ddp->hook == DIST_DDP_FP16_COMPRESS)
		for (i = 0; i < num; i++)
			to[i] = dist__float16_from_float(from[i] /
							 (float)divisor);
	else
		for (i = 0; i < num; i++)
			to[i] = dist__bfloat16_from_float(from[i] /
							  (float)divisor);
}

void dist__ddp_restore_bucket(struct dist_ddp *ddp, size_t b)
{
	const uint16_t *from = ddp->buckets[b].compressed;
	float *to = ddp->buckets[b].data;
	size_t i, num = ddp->partition.spans[b].numel;

	if (!from || !to)
		return;
	if (ddp->hook == DIST_DDP_FP16_COMPRESS)
		for (i = 0; i < num; i++)
			to[i] = dist__float16_to_float(from[i]);
	else
		for (i = 0; i < num; i++)
			to[i] = dist__bfloat16_to_float(from[i]);
}

static enum dist_error reduce(struct dist_ddp *ddp,
			      const struct dist__ddp_site *site, size_t b,
			      enum dist_reduce_op op)
{
	const struct dist__ddp_span *span = &ddp->partition.spans[b];
	struct dist__ddp_bucket *bucket = &ddp->buckets[b];
	struct dist_tensor tensor =
		dist_tensor(bucket->data, span->numel, span->dtype);

	if (is_compressed(ddp, b)) {
		tensor.data = bucket->compressed;
		tensor.dtype = ddp->hook == DIST_DDP_FP16_COMPRESS
				       ? DIST_FLOAT16
				       : DIST_BFLOAT16;
	}
	return (dist_all_reduce)(dist__ddp_at_bucket(ddp, site, b), tensor, op,
				 &bucket->work);
}

enum dist_error dist__ddp_reduce_bucket(struct dist_ddp *ddp,
					const struct dist__ddp_site *site,
					size_t b)
{
	bool all, made = false;
	enum dist_reduce_op op = DIST_AVG;
	enum dist_error error;
	int divisor;

	error = dist__ddp_divisor(ddp, site, &divisor);
	if (error)
		return error;
	all = divisor == dist_get_world_size(ddp->group);
	if (is_compressed(ddp, b)) {
		compress(ddp, b, divisor);
		op = DIST_SUM;
	} else if (!all) {
		error = dist_make_premul_sum(ddp->group, 1.0 / divisor, &op);
		made = !error;
	}
	if (!error)
		error = reduce(ddp, site, b, op);
	if (made)
		(void)dist_free_premul_sum(ddp->group, op);
	return error ? dist__ddp_failed(ddp, ddp->buckets[b].text, error)
		     : DIST_OK;
}
