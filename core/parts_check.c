/* parts_check.c - checks the parts of one call against each other. */
#include "core/capability.h"
#include "core/state.h"

/* The check of one call. */
struct checker {
	struct dist_group *group;
	const struct dist__op *op;
	const char *name; /* of the op */
	bool real;        /* some tensor has bytes */
	bool phantom;     /* some tensor has elements without bytes */
};

/* A side of the op, by the caller's name for it. */
struct side {
	const struct dist__parts *parts;
	const char *name;
};

static void note(struct checker *c, struct dist_tensor tensor)
{
	c->real |= tensor.numel > 0 && tensor.data;
	c->phantom |= tensor.numel > 0 && !tensor.data;
}

/* One tensor of a side, of which the side has so many elements in all. */
static enum dist_error check_one(struct checker *c, struct side side,
				 struct dist_tensor tensor, size_t *numel)
{
	enum dist_dtype dtype = c->op->tensor.dtype;
	size_t most = (size_t)PTRDIFF_MAX / dist_dtype_size(dtype);

	if (tensor.dtype != dtype)
		return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s is of dtype %s: expected %s, as the "
				  "other tensors",
				  c->name, side.name,
				  dist_dtype_name(tensor.dtype),
				  dist_dtype_name(dtype));
	if (tensor.numel > most - *numel)
		return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s: numel %zu is more than memory holds "
				  "(a negative number?)",
				  c->name, side.name, tensor.numel);
	*numel += tensor.numel;
	note(c, tensor);
	return DIST_OK;
}

static enum dist_error check_splits(struct checker *c, struct side side)
{
	const struct dist__parts *parts = side.parts;
	size_t left = parts->whole.numel;

	if (!parts->splits && left % (size_t)parts->count != 0)
		return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s has %zu elements: expected a "
				  "multiple of the %d ranks",
				  c->name, side.name, left, parts->count);
	for (int rank = 0; parts->splits && rank < parts->count; rank++) {
		if (parts->splits[rank] > left)
			return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
					  "%s: the splits of %s are more than "
					  "its %zu elements",
					  c->name, side.name,
					  parts->whole.numel);
		left -= parts->splits[rank];
	}
	if (parts->splits && left > 0)
		return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: the splits of %s leave %zu of its %zu "
				  "elements over",
				  c->name, side.name, left, parts->whole.numel);
	return DIST_OK;
}

static enum dist_error check_side(struct checker *c, struct side side)
{
	const struct dist__parts *parts = side.parts;
	enum dist_error error = DIST_OK;
	size_t numel = 0;

	if (parts->count == 0)
		return DIST_OK;
	for (int rank = 0; parts->list && rank < parts->count && !error; rank++)
		error = check_one(c, side, parts->list[rank], &numel);
	if (parts->list)
		return error;
	error = check_one(c, side, parts->whole, &numel);
	return error ? error : check_splits(c, side);
}

/* What a part that belongs to numel elements of the rank itself must hold. */
static enum dist_error check_length(struct checker *c, struct side side,
				    int rank, size_t numel)
{
	size_t got = dist__part(side.parts, rank).numel;

	if (got == numel)
		return DIST_OK;
	return dist__fail(
		c->group, DIST_ERR_INVALID_ARGUMENT,
		"%s: the part of rank %d in %s has %zu elements: expected %zu",
		c->name, rank, side.name, got, numel);
}

/* The rank's own part is as long as what it has one of; with a root, all are.
 */
static enum dist_error check_lengths(struct checker *c, struct side side)
{
	const struct dist__op *op = c->op;
	size_t numel = op->tensor.numel;
	enum dist_error error = DIST_OK;
	int own = c->group->members.rank;

	if (side.parts->count == 0)
		return DIST_OK;
	if (op->kind == DIST__ALL_TO_ALL)
		numel = dist__part(&op->sides->in, own).numel;
	if (op->kind != DIST__GATHER && op->kind != DIST__SCATTER)
		return check_length(c, side, own, numel);
	for (int rank = 0; rank < side.parts->count && !error; rank++)
		error = check_length(c, side, rank, numel);
	return error;
}

static bool overlap(struct dist_tensor a, struct dist_tensor b)
{
	uintptr_t x = (uintptr_t)a.data, y = (uintptr_t)b.data;
	size_t size = dist_dtype_size(a.dtype);

	if (!a.data || !b.data || a.numel == 0 || b.numel == 0)
		return false;
	return x < y + b.numel * size && y < x + a.numel * size;
}

/* Whether tensor meets a part other than own; own may be the same memory, but
 * not half of it. own < 0: no part may. */
static bool meets(const struct dist__parts *parts, struct dist_tensor tensor,
		  int own)
{
	if (own >= 0 && parts->count > 0 &&
	    dist__part(parts, own).data == tensor.data)
		return false;
	if (!parts->list)
		return overlap(parts->whole, tensor);
	for (int rank = 0; rank < parts->count; rank++)
		if (overlap(parts->list[rank], tensor))
			return true;
	return false;
}

static enum dist_error check_overlap(struct checker *c)
{
	const struct dist__op *op = c->op;
	const struct dist__parts *in = &op->sides->in, *out = &op->sides->out;
	bool found = false;

	if (op->kind != DIST__ALL_TO_ALL) {
		int own = c->group->members.rank;

		found = meets(in, op->tensor, own) ||
			meets(out, op->tensor, own);
	} else if (in->list) {
		for (int i = 0; i < in->count && c->real && !found; i++)
			found = meets(out, in->list[i], -1);
	} else {
		found = meets(out, in->whole, -1);
	}
	if (!found)
		return DIST_OK;
	return dist__fail(c->group, DIST_ERR_INVALID_ARGUMENT,
			  "%s: in and out overlap: expected memory apart%s",
			  c->name,
			  op->kind == DIST__ALL_TO_ALL
				  ? ""
				  : ", or the rank's own part for both");
}

static enum dist_error check_phantoms(struct checker *c)
{
	if (c->phantom &&
	    !dist__world_has(c->group->world, DIST__NEEDS_PHANTOMS))
		return dist__fail(c->group, DIST_ERR_UNSUPPORTED,
				  "%s: a tensor without data (phantom) needs a "
				  "simulated world, this one is %s",
				  c->name, c->group->world->name);
	if (c->phantom && c->real)
		return dist__fail(
			c->group, DIST_ERR_INVALID_ARGUMENT,
			"%s: some tensors are without data (phantoms), some "
			"are not: expected all alike",
			c->name);
	return DIST_OK;
}

enum dist_error dist__parts_check(struct dist_group *group, struct dist__op *op)
{
	struct checker c = {
		.group = group, .op = op, .name = dist__op_name(op->kind)};
	const struct dist__sides *sides = dist__op_sides(op);
	struct side in = {&sides->in, "in"}, out = {&sides->out, "out"};
	size_t most = (size_t)PTRDIFF_MAX / (size_t)group->members.world_size;
	enum dist_error error;

	note(&c, op->tensor);
	op->phantom = c.phantom;
	if (op->kind < DIST__ALL_GATHER || op->kind > DIST__SCATTER)
		return DIST_OK;
	if (op->tensor.numel > most / dist_dtype_size(op->tensor.dtype))
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: numel %zu is more than memory holds for "
				  "all ranks (a negative number?)",
				  c.name, op->tensor.numel);
	error = check_side(&c, in);
	if (!error)
		error = check_side(&c, out);
	if (!error)
		error = check_lengths(&c, in);
	if (!error)
		error = check_lengths(&c, out);
	if (!error)
		error = check_phantoms(&c);
	if (!error)
		error = check_overlap(&c);
	op->phantom = c.phantom;
	return error;
}
