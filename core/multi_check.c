/* multi_check.c - checks the tensors of one call against each other. */
#include "base/text.h"
#include "core/state.h"

#include <stdio.h>
#include <string.h>

/* The check of one call. */
struct checker {
	struct dist_group *group;
	struct dist__op *op;
	bool real;    /* some tensor has bytes */
	bool phantom; /* some tensor has elements without bytes */
};

/* num tensors, by the caller's name for them. */
struct row {
	const char *name;
	const struct dist_tensor *list;
	size_t num;
};

static enum dist_error check_null(struct checker *c, const char *name,
				  const void *list)
{
	if (list)
		return DIST_OK;
	return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
			  "%s: %s is NULL: expected a list",
			  dist__op_name(c->op->kind), name);
}

/* Tensor i of row: of the dtype of all, and wanted elements. */
static enum dist_error check_one(struct checker *c, const struct row *row,
				 size_t i, size_t wanted)
{
	const char *name = dist__op_name(c->op->kind);
	struct dist_tensor t = row->list[i];
	enum dist_dtype dtype = c->op->tensor.dtype;

	if (t.dtype != dtype)
		return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s[%zu] is of dtype %s: expected %s, as "
				  "the other tensors",
				  name, row->name, i, dist_dtype_name(t.dtype),
				  dist_dtype_name(dtype));
	if (t.numel != wanted)
		return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s[%zu] has %zu elements: expected %zu",
				  name, row->name, i, t.numel, wanted);
	c->real |= t.numel > 0 && t.data;
	c->phantom |= t.numel > 0 && !t.data;
	return DIST_OK;
}

/* What the rank has one of a tensor or a device; sums up their elements. */
static enum dist_error check_ones(struct checker *c, const struct row *row)
{
	struct dist_tensor *sum = &c->op->tensor;
	bool devices = c->op->sides->bundle.kind == DIST__DEVICES;
	size_t most = (size_t)PTRDIFF_MAX / dist_dtype_size(sum->dtype) /
		      (size_t)c->group->members.world_size;
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < row->num && !error; i++) {
		size_t numel = row->list[devices ? 0 : i].numel;

		if (numel > most - sum->numel)
			return dist__fail(
				c->group, DIST_ERR_INVALID_ARGUMENT,
				"%s: %s[%zu]: numel %zu is more than memory "
				"holds for all ranks (a negative number?)",
				dist__op_name(c->op->kind), row->name, i,
				numel);
		error = check_one(c, row, i, numel);
		sum->numel += numel;
	}
	return error;
}

/* The other side of operations on devices: a list of parts for each. */
static enum dist_error check_lists(struct checker *c, const char *name,
				   const struct dist_tensor *const *lists,
				   size_t numel)
{
	size_t devices = c->op->sides->bundle.num;
	size_t parts = devices * (size_t)c->group->members.world_size;
	enum dist_error error = check_null(c, name, lists);

	for (size_t d = 0; d < devices && !error; d++) {
		struct row row = {name, lists[d], parts};

		error = check_null(c, name, row.list);
		for (size_t i = 0; i < parts && !error; i++)
			error = check_one(c, &row, i, numel);
	}
	return error;
}

static enum dist_error check_other_side(struct checker *c,
					const struct dist_tensor *ones)
{
	const struct dist__bundle *b = &c->op->sides->bundle;
	bool gathers = c->op->kind == DIST__ALL_GATHER;
	struct row wholes = {gathers ? "out" : "in", gathers ? b->out : b->in,
			     b->num};

	if (!gathers && c->op->kind != DIST__REDUCE_SCATTER)
		return DIST_OK;
	if (b->kind == DIST__COALESCED) {
		/* The other side of coalesced operations: parts for all ranks.
		 */
		size_t ranks = (size_t)c->group->members.world_size;
		enum dist_error error = check_null(c, wholes.name, wholes.list);

		for (size_t i = 0; i < wholes.num && !error; i++)
			error = check_one(c, &wholes, i, ranks * ones[i].numel);
		return error;
	}
	return check_lists(c, gathers ? "out_lists" : "in_lists",
			   gathers ? b->out_lists : b->in_lists, ones[0].numel);
}

static enum dist_error check_num(struct checker *c)
{
	const struct dist__bundle *b = &c->op->sides->bundle;

	if (b->num < 1 || b->num > INT32_MAX)
		return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: num is %zu: expected 1 or more",
				  dist__op_name(c->op->kind), b->num);
	if (b->chosen < 0 || (size_t)b->chosen >= b->num)
		return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: device %d: expected 0 to %zu",
				  dist__op_name(c->op->kind), b->chosen,
				  b->num - 1);
	return DIST_OK;
}

/* Says in tensor and parts how much the whole bundle is. */
static void describe(struct checker *c, const struct dist_tensor *ones)
{
	struct dist__op *op = c->op;
	struct dist__parts parts = {.count = c->group->members.world_size};

	if (op->sides->bundle.kind == DIST__DEVICES &&
	    op->kind < DIST__ALL_GATHER) /* they share one result */
		op->tensor.numel = ones[0].numel;
	parts.whole = op->tensor;
	parts.whole.numel *= (size_t)parts.count;
	if (op->kind == DIST__ALL_GATHER)
		op->sides->out = parts;
	if (op->kind == DIST__REDUCE_SCATTER)
		op->sides->in = parts;
	op->phantom = c->phantom;
}

enum dist_error dist__bundle_check(struct dist_group *group,
				   struct dist__op *op)
{
	struct checker c = {.group = group, .op = op};
	bool scatters = op->kind == DIST__REDUCE_SCATTER;
	const struct row ones = {scatters ? "out" : "in",
				 scatters ? op->sides->bundle.out
					  : op->sides->bundle.in,
				 op->sides->bundle.num};
	enum dist_error error = check_num(&c);

	if (!error)
		error = check_null(&c, ones.name, ones.list);
	if (error)
		return error;
	op->tensor = (struct dist_tensor){.dtype = ones.list[0].dtype};
	if (dist_dtype_size(op->tensor.dtype) == 0)
		return DIST_OK; /* for the check of any tensor to say */
	error = check_ones(&c, &ones);
	if (!error)
		error = check_other_side(&c, ones.list);
	if (!error && c.phantom && c.real)
		return dist__fail(
			group, DIST_ERR_INVALID_ARGUMENT,
			"%s: some tensors are without data (phantoms), some "
			"are not: expected all alike",
			dist__op_name(op->kind));
	if (!error)
		describe(&c, ones.list);
	return error;
}

/* ---- what the ranks must agree about ----------------------------------- */

static const struct dist_tensor *listed_in(const struct dist__bundle *bundle)
{
	return bundle->in ? bundle->in : bundle->out;
}

uint64_t dist__bundle_terms(const struct dist__bundle *bundle)
{
	uint64_t hash = dist__mix(DIST__HASH_BEGIN, bundle->kind);

	hash = dist__mix(hash, bundle->num);
	hash = dist__mix(hash, (uint64_t)bundle->chosen);
	for (size_t i = 0; i < bundle->num; i++)
		hash = dist__mix(hash, listed_in(bundle)[i].numel);
	return hash;
}

void dist__lengths_describe(const char *what, const struct dist_tensor *list,
			    size_t num, char *text, size_t size)
{
	snprintf(text, size, "%s", what);
	for (size_t i = 0; i < num; i++)
		if (!dist__append(text, size, "%s%zu", i ? "+" : " ",
				  list[i].numel)) {
			strcpy(text + size - 4, "...");
			return;
		}
}

void dist__bundle_describe(const struct dist__bundle *bundle, char *text,
			   size_t size)
{
	char what[40];

	if (bundle->kind == DIST__DEVICES) {
		snprintf(text, size, "%zu devices, device %d", bundle->num,
			 bundle->chosen);
		return;
	}
	snprintf(what, sizeof what, "%zu tensors of", bundle->num);
	dist__lengths_describe(what, listed_in(bundle), bundle->num, text,
			       size);
}
