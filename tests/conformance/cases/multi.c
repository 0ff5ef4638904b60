/* multi.c - the calls that take several tensors: coalesced, and one a device.
 *
 * Tensor i of a coalesced case is for "rank" dst + i in the words of
 * case_value(), and of i elements more than the first. Device d of rank r
 * counts as rank r * DEVICES + d. */
#include "tests/conformance/cases/case.h"

#include <stdlib.h>

#define TENSORS 3
#define DEVICES 2
#define PARTS   (DEVICES * CONFORMANCE_MAX_WORLD)

static void release(struct dist_tensor *list, size_t num)
{
	for (size_t i = 0; i < num; i++)
		free(list[i].data);
}

/* ---- coalesced --------------------------------------------------------- */

static struct dist_tensor part(struct dist_tensor whole, int rank, size_t numel)
{
	whole.data = (char *)whole.data +
		     (size_t)rank * numel * dist_dtype_size(whole.dtype);
	whole.numel = numel;
	return whole;
}

static enum dist_error call_coalesced(struct walk *w, const struct one_case *c,
				      struct dist_tensor *ones,
				      struct dist_tensor *wholes,
				      struct dist_work **work)
{
	switch (c->call) {
	case CONFORMANCE_ALL_REDUCE:
		return dist_all_reduce_coalesced(w->group, ones, TENSORS, w->op,
						 work);
	case CONFORMANCE_BROADCAST:
		return dist_broadcast_coalesced(w->group, ones, TENSORS,
						c->root, work);
	case CONFORMANCE_ALL_GATHER:
		return dist_all_gather_single_coalesced(w->group, wholes, ones,
							TENSORS, work);
	default:
		return dist_reduce_scatter_single_coalesced(
			w->group, ones, wholes, TENSORS, w->op, work);
	}
}

static void check_coalesced(struct walk *w, const struct one_case *c,
			    const struct dist_tensor *ones,
			    const struct dist_tensor *wholes)
{
	for (int i = 0; i < TENSORS; i++) {
		if (c->call == CONFORMANCE_ALL_REDUCE)
			walk_reduced(w, ones[i], i);
		else if (c->call == CONFORMANCE_REDUCE_SCATTER)
			walk_reduced(w, ones[i], w->rank + i);
		else if (c->call == CONFORMANCE_BROADCAST)
			walk_moved(w, ones[i], c->root, i);
		else
			for (int src = 0; src < w->size; src++)
				walk_moved(w,
					   part(wholes[i], src, ones[i].numel),
					   src, i);
	}
}

enum dist_error perform_coalesced(struct walk *w, const struct one_case *c)
{
	struct dist_tensor ones[TENSORS], wholes[TENSORS];
	bool scatters = c->call == CONFORMANCE_REDUCE_SCATTER;
	struct dist_work *work = NULL;
	enum dist_error error;

	for (int i = 0; i < TENSORS; i++) {
		size_t numel = c->numel + (size_t)i;

		ones[i] = tensor_new(c, numel);
		wholes[i] = tensor_new(c, numel * (size_t)w->size);
		if (!scatters)
			case_fill(c, ones[i], w->rank, i);
		for (int dst = 0; scatters && dst < w->size; dst++)
			case_fill(c, part(wholes[i], dst, numel), w->rank,
				  dst + i);
	}
	error = call_coalesced(w, c, ones, wholes, c->async ? &work : NULL);
	error = walk_finish(error, work);
	if (!error)
		check_coalesced(w, c, ones, wholes);
	release(ones, TENSORS);
	release(wholes, TENSORS);
	return error;
}

/* ---- a tensor for each device ------------------------------------------ */

/* What the devices have one of, and what each has a part for all of. */
struct devices {
	struct dist_tensor one[DEVICES];
	struct dist_tensor parts[DEVICES][PARTS];
	const struct dist_tensor *lists[DEVICES];
};

static enum dist_error call_devices(struct walk *w, const struct one_case *c,
				    const struct devices *d,
				    struct dist_work **work)
{
	const int chosen = DEVICES - 1;

	switch (c->call) {
	case CONFORMANCE_ALL_REDUCE:
		return dist_all_reduce_multigpu(w->group, d->one, DEVICES,
						w->op, work);
	case CONFORMANCE_REDUCE:
		return dist_reduce_multigpu(w->group, d->one, DEVICES, c->root,
					    chosen, w->op, work);
	case CONFORMANCE_BROADCAST:
		return dist_broadcast_multigpu(w->group, d->one, DEVICES,
					       c->root, chosen, work);
	case CONFORMANCE_ALL_GATHER:
		return dist_all_gather_multigpu(w->group, d->lists, d->one,
						DEVICES, work);
	default:
		return dist_reduce_scatter_multigpu(w->group, d->one, d->lists,
						    DEVICES, w->op, work);
	}
}

static void check_device(struct walk *w, const struct one_case *c,
			 const struct devices *d, int device)
{
	int number = w->rank * DEVICES + device;
	bool is_root = w->rank == c->root && device == DEVICES - 1;

	if (c->call == CONFORMANCE_ALL_REDUCE)
		walk_reduced(w, d->one[device], 0);
	else if (c->call == CONFORMANCE_REDUCE_SCATTER)
		walk_reduced(w, d->one[device], number);
	else if (c->call == CONFORMANCE_BROADCAST)
		walk_moved(w, d->one[device], c->root * DEVICES + DEVICES - 1,
			   0);
	else if (c->call == CONFORMANCE_REDUCE && is_root)
		walk_reduced(w, d->one[device], 0);
	else if (c->call == CONFORMANCE_REDUCE)
		walk_moved(w, d->one[device], number, 0);
	else
		for (int src = 0; src < w->size * DEVICES; src++)
			walk_moved(w, d->parts[device][src], src, 0);
}

enum dist_error perform_devices(struct walk *w, const struct one_case *c)
{
	bool scatters = c->call == CONFORMANCE_REDUCE_SCATTER;
	int parts = w->size * DEVICES;
	struct dist_work *work = NULL;
	enum dist_error error;
	struct devices d;

	for (int i = 0; i < DEVICES; i++) {
		int number = w->rank * DEVICES + i;

		d.one[i] = tensor_new(c, c->numel);
		d.lists[i] = d.parts[i];
		if (!scatters)
			case_fill(c, d.one[i], number, 0);
		for (int dst = 0; dst < parts; dst++) {
			d.parts[i][dst] = tensor_new(c, c->numel);
			if (scatters)
				case_fill(c, d.parts[i][dst], number, dst);
		}
	}
	error = call_devices(w, c, &d, c->async ? &work : NULL);
	error = walk_finish(error, work);
	for (int i = 0; i < DEVICES; i++) {
		if (!error)
			check_device(w, c, &d, i);
		release(&d.one[i], 1);
		release(d.parts[i], (size_t)parts);
	}
	return error;
}
