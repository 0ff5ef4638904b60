#include "realbackend/nccl/placement.h"

#include <stdlib.h>
#include <string.h>

/* A tensor of the host and its place on the device. */
struct dist__copy {
	void *host;
	void *device;
	size_t bytes;
	bool written; /* by the operation */
};

/* What becomes of a tensor. */
enum use { READ = 1, WRITTEN = 2 };

static int use_of_tensor(const struct dist__op *op, int rank)
{
	switch (op->kind) {
	case DIST__ALL_REDUCE:
		return READ | WRITTEN;
	case DIST__REDUCE:
		return op->peer == rank ? READ | WRITTEN : READ;
	case DIST__BROADCAST:
		return op->peer == rank ? READ : WRITTEN;
	case DIST__REDUCE_SCATTER:
	case DIST__SCATTER:
	case DIST__RECV:
		return WRITTEN;
	default:
		return READ;
	}
}

/* Makes sure that tensor is on the device. */
static enum dist_error place(struct dist__placement *s,
			     struct dist_tensor *tensor, int use)
{
	struct dist__copy *copy = &s->copies[s->num_copies];
	enum dist_error error;

	copy->bytes = tensor->numel * dist_dtype_size(tensor->dtype);
	if (copy->bytes == 0 || dist__device_holds(s->device, tensor->data))
		return DIST_OK;
	copy->host = tensor->data;
	copy->written = (use & WRITTEN) != 0;
	error = dist__device_borrow(s->device, copy->bytes, &copy->device);
	if (error)
		return error;
	s->num_copies++;
	tensor->data = copy->device;
	return use & READ ? dist__device_copy(s->device, copy->device,
					      copy->host, copy->bytes)
			  : DIST_OK;
}

/* Copies num tensors of *list to lists, where they are placed, and points *list
 * there. */
static enum dist_error place_list(struct dist__placement *s,
				  const struct dist_tensor **list, size_t num,
				  struct dist_tensor *lists, int use)
{
	enum dist_error error = DIST_OK;

	if (!*list)
		return DIST_OK;
	memcpy(lists, *list, num * sizeof *lists);
	*list = lists;
	for (size_t i = 0; i < num && !error; i++)
		error = place(s, &lists[i], use);
	return error;
}

static enum dist_error place_parts(struct dist__placement *s,
				   struct dist__parts *parts,
				   struct dist_tensor *lists, int use)
{
	if (parts->count > 0 && !parts->list)
		return place(s, &parts->whole, use);
	return place_list(s, &parts->list, (size_t)parts->count, lists, use);
}

static enum dist_error place_bundle(struct dist__placement *s,
				    const struct dist__op *op, int rank)
{
	struct dist__bundle *b = &s->sides.bundle;
	enum dist_error error;
	int use = READ;

	/* With outputs of its own it only reads what goes in. */
	if (!b->out)
		use = use_of_tensor(op, rank);
	error = place_list(s, &b->in, b->num, s->lists, use);
	if (!error)
		error = place_list(s, &b->out, b->num, s->lists + b->num,
				   WRITTEN);
	return error;
}

enum dist_error dist__placement_enter(struct dist__placement *s,
				      const struct dist__op *op, int rank)
{
	const struct dist__sides *sides = dist__op_sides(op);
	size_t parts = (size_t)sides->in.count + (size_t)sides->out.count;
	size_t most = 1 + parts + 2 * sides->bundle.num;
	enum dist_error error;

	s->tensor = op->tensor;
	s->sides = *sides;
	s->num_copies = 0;
	s->lists = calloc(most, sizeof *s->lists);
	s->copies = calloc(most, sizeof *s->copies);
	if (!s->lists || !s->copies)
		return DIST_ERR_NO_MEMORY;
	if (sides->bundle.kind)
		return place_bundle(s, op, rank);
	error = place(s, &s->tensor, use_of_tensor(op, rank));
	if (!error)
		error = place_parts(s, &s->sides.in, s->lists, READ);
	if (!error)
		error = place_parts(s, &s->sides.out,
				    s->lists + sides->in.count, WRITTEN);
	return error;
}

enum dist_error dist__placement_results(const struct dist__placement *s)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < s->num_copies && !error; i++)
		if (s->copies[i].written)
			error = dist__device_copy(s->device, s->copies[i].host,
						  s->copies[i].device,
						  s->copies[i].bytes);
	return error;
}

void dist__placement_leave(struct dist__placement *s)
{
	for (size_t i = 0; i < s->num_copies; i++)
		dist__device_return(s->device, s->copies[i].device);
	free(s->lists);
	free(s->copies);
	s->lists = NULL;
	s->copies = NULL;
	s->num_copies = 0;
}
