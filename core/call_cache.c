/*
 * call_cache.c - remembers the calls of a group.
 *
 * Training repeats the same calls in each step. If a call matches an earlier
 * one in all arguments, it needs no second check, and its fingerprint and
 * record are the same. Comparing costs a fraction of checking
 * (bench/records.c).
 */
#include <stdlib.h>

#include "core/call_cache.h"

/* Calls remembered, each in the place that its line in the source gives it. */
#define PLACES 8

/* What a list holds is compared, as far as it is remembered. */
static bool is_short(const struct dist__parts *parts)
{
	return !parts->splits &&
	       (!parts->list || parts->count <= DIST__CALL_CACHE_LIST);
}

/* Splits may have changed where they lie, a label is new each time, and
 * messages are counted; simulated ranks are too many to remember much. */
static bool is_plain(const struct dist_group *group, const struct dist__op *op)
{
	const struct dist__sides *sides = op->sides;

	return !group->world->own && !group->label.text[0] &&
	       !group->label.terms && !op->purpose &&
	       !dist__op_is_p2p(op->kind) &&
	       op->kind != DIST__MONITORED_BARRIER &&
	       (unsigned)op->reduce_op < DIST_PREMUL_SUM &&
	       (!sides || (!sides->bundle.kind && is_short(&sides->in) &&
			   is_short(&sides->out)));
}

static bool same_tensor(const struct dist_tensor *a,
			const struct dist_tensor *b)
{
	return a->data == b->data && a->numel == b->numel &&
	       a->dtype == b->dtype;
}

static bool same_parts(const struct dist__call_cache_parts *a,
		       const struct dist__parts *b)
{
	int count = b->list ? b->count : 0;

	if (a->count != b->count || a->listed != count ||
	    !same_tensor(&a->whole, &b->whole))
		return false;
	for (int i = 0; i < count; i++)
		if (!same_tensor(&a->list[i], &b->list[i]))
			return false;
	return true;
}

static void set_parts(struct dist__call_cache_parts *known,
		      const struct dist__parts *parts)
{
	known->count = parts->count;
	known->whole = parts->whole;
	known->listed = parts->list ? parts->count : 0;
	for (int i = 0; i < known->listed; i++)
		known->list[i] = parts->list[i];
}

struct dist__call_cache *dist__call_cache_place(struct dist_group *group,
						const struct dist__op *op)
{
	if (group->poison || !is_plain(group, op))
		return NULL;
	/* Without memory for it everything is found out each time. */
	if (!group->call_cache)
		group->call_cache = calloc(PLACES, sizeof *group->call_cache);
	return group->call_cache
		       ? &group->call_cache[(unsigned)op->site.line % PLACES]
		       : NULL;
}

bool dist__call_cache_is(const struct dist__call_cache *known,
			 const struct dist__op *op)
{
	const struct dist__sides *sides = op->sides;

	return known->call.number && known->site.line == op->site.line &&
	       known->site.file == op->site.file &&
	       known->from.line == op->from.line &&
	       known->from.file == op->from.file && known->kind == op->kind &&
	       known->reduce_op == op->reduce_op && known->peer == op->peer &&
	       same_tensor(&known->tensor, &op->tensor) &&
	       (!sides || (same_parts(&known->in, &sides->in) &&
			   same_parts(&known->out, &sides->out)));
}

void dist__call_cache_set(struct dist__call_cache *known,
			  const struct dist__op *op,
			  const struct check_call *call)
{
	const struct dist__sides *sides = dist__op_sides(op);

	known->kind = op->kind;
	known->reduce_op = op->reduce_op;
	known->peer = op->peer;
	known->site = op->site;
	known->from = op->from;
	known->tensor = op->tensor;
	set_parts(&known->in, &sides->in);
	set_parts(&known->out, &sides->out);
	known->phantom = op->phantom;
	known->fingerprint = op->fingerprint;
	known->algorithm = NULL;
	known->call = *call;
}
