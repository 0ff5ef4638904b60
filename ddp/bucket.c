#include "ddp/bucket.h"

#include <stdlib.h>
#include <string.h>

/* Where an item not yet in a closed bucket stands. */
#define OPEN SIZE_MAX

/*
 * State of the cutting. bucket_of[i] is the bucket that item i went into. A
 * bucket gets its final number when it closes, hence the detour over open[].
 */
struct cutter {
	const struct dist_ddp_parameter *params;
	size_t num;
	bool reverse;
	size_t *bucket_of;
	struct dist__ddp_span *spans;
	size_t num_spans;
	struct {
		size_t num;
		size_t numel;
		size_t first_item;
		bool after_first; /* the dtype's first bucket has closed */
	} open[DIST_NUM_DTYPES];
};

/* The k-th item in cutting order. */
static size_t item_at(const struct cutter *c, size_t k)
{
	return c->reverse ? c->num - 1 - k : k;
}

static void close_bucket(struct cutter *c, enum dist_dtype dtype)
{
	struct dist__ddp_span *span = &c->spans[c->num_spans];
	size_t i;

	span->dtype = dtype;
	span->num = c->open[dtype].num;
	span->numel = c->open[dtype].numel;
	for (i = 0; i < c->num; i++)
		if (c->bucket_of[i] == OPEN &&
		    c->params[i].parameter.dtype == dtype)
			c->bucket_of[i] = c->num_spans;
	c->num_spans++;
	c->open[dtype].num = 0;
	c->open[dtype].numel = 0;
	c->open[dtype].after_first = true;
}

/* Puts the k-th item into the open bucket of its dtype. Items not reached yet
 * must not look open: bucket_of is set here first. */
static void add_item(struct cutter *c, size_t k,
		     const struct dist__ddp_limits *limits)
{
	size_t i = item_at(c, k);
	enum dist_dtype dtype = c->params[i].parameter.dtype;
	double limit = c->open[dtype].after_first ? limits->rest_bytes
						  : limits->first_bytes;

	c->bucket_of[i] = OPEN;
	if (c->open[dtype].num == 0)
		c->open[dtype].first_item = k;
	c->open[dtype].num++;
	c->open[dtype].numel += c->params[i].parameter.numel;
	if ((double)(c->open[dtype].numel * dist_dtype_size(dtype)) >= limit)
		close_bucket(c, dtype);
}

/* Closes what is still open, the bucket with the earliest first item first. */
static void close_rest(struct cutter *c)
{
	for (;;) {
		int dtype, best = -1;

		for (dtype = 0; dtype < DIST_NUM_DTYPES; dtype++)
			if (c->open[dtype].num > 0 &&
			    (best < 0 || c->open[dtype].first_item <
						 c->open[best].first_item))
				best = dtype;
		if (best < 0)
			return;
		close_bucket(c, (enum dist_dtype)best);
	}
}

/* Lists the items bucket by bucket, inside a bucket in cutting order. */
static void list_members(const struct cutter *c, uint32_t *members)
{
	size_t next = 0, b, k;

	for (b = 0; b < c->num_spans; b++) {
		c->spans[b].first = next;
		next += c->spans[b].num;
		c->spans[b].num = 0;
	}
	for (k = 0; k < c->num; k++) {
		size_t i = item_at(c, k);
		struct dist__ddp_span *span = &c->spans[c->bucket_of[i]];

		members[span->first + span->num++] = (uint32_t)i;
	}
}

enum dist_error
dist__ddp_partition_init(struct dist__ddp_partition *partition,
			 const struct dist_ddp_parameter *params, size_t num,
			 bool reverse, const struct dist__ddp_limits *limits)
{
	struct cutter c = {.params = params, .num = num, .reverse = reverse};
	size_t k;

	memset(partition, 0, sizeof *partition);
	c.bucket_of = calloc(num + 1, sizeof *c.bucket_of);
	c.spans = calloc(num + 1, sizeof *c.spans);
	partition->members = calloc(num + 1, sizeof *partition->members);
	if (num > UINT32_MAX || !partition->members || !c.bucket_of || !c.spans)
		goto out;
	for (k = 0; k < num; k++)
		add_item(&c, k, limits);
	close_rest(&c);
	list_members(&c, partition->members);
	/* Thousands of simulated ranks keep theirs: no more than is used. */
	partition->spans = calloc(c.num_spans + 1, sizeof *c.spans);
	if (partition->spans)
		memcpy(partition->spans, c.spans,
		       c.num_spans * sizeof *c.spans);
	partition->num_spans = c.num_spans;
out:
	free(c.bucket_of);
	free(c.spans);
	if (partition->spans)
		return DIST_OK;
	dist__ddp_partition_release(partition);
	return DIST_ERR_NO_MEMORY;
}

void dist__ddp_partition_release(struct dist__ddp_partition *partition)
{
	free(partition->members);
	free(partition->spans);
	memset(partition, 0, sizeof *partition);
}
