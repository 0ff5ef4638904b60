/* parts.c - the calls in which ranks have a part for each other. */
#include "tests/conformance/cases/case.h"

#include <stdlib.h>

/* Parts with their memory, one a rank. */
struct side {
	bool here; /* this rank has the side */
	bool is_list;
	struct dist_tensor whole;
	struct dist_tensor list[CONFORMANCE_MAX_WORLD];
	size_t splits[CONFORMANCE_MAX_WORLD];
};

/* The elements that pass from src to dst; but of an all-gather what src has,
 * of a reduce-scatter what dst gets. */
static size_t length(const struct one_case *c, int src, int dst)
{
	if (!case_is_uneven(c))
		return c->numel;
	if (c->call == CONFORMANCE_ALL_GATHER)
		return c->numel * ((size_t)src % 3);
	if (c->call == CONFORMANCE_REDUCE_SCATTER)
		return c->numel * ((size_t)(dst + 1) % 3);
	return c->numel * (size_t)((src + 2 * dst) % 4);
}

static struct dist_tensor part_of(const struct side *side, int rank)
{
	struct dist_tensor part = side->whole;
	size_t before = 0;

	if (side->is_list)
		return side->list[rank];
	for (int i = 0; i < rank; i++)
		before += side->splits[i];
	part.numel = side->splits[rank];
	part.data = (char *)part.data + before * dist_dtype_size(part.dtype);
	return part;
}

/* Makes the parts that the rank sends, with what it has for each, or
 * receives. */
static void side_init(struct side *side, const struct walk *w, bool sends)
{
	const struct one_case *c = w->c;
	size_t numel = 0;

	side->here = true;
	side->is_list = case_is_list(c);
	for (int i = 0; i < w->size; i++) {
		side->splits[i] =
			sends ? length(c, w->rank, i) : length(c, i, w->rank);
		numel += side->splits[i];
		if (side->is_list)
			side->list[i] = tensor_new(c, side->splits[i]);
	}
	if (!side->is_list)
		side->whole = tensor_new(c, numel);
	for (int i = 0; sends && i < w->size; i++)
		case_fill(c, part_of(side, i), w->rank, i);
}

static void side_release(struct side *side, int size)
{
	for (int i = 0; side->here && side->is_list && i < size; i++)
		free(side->list[i].data);
	if (side->here && !side->is_list)
		free(side->whole.data);
}

static enum dist_error call(struct walk *w, const struct one_case *c,
			    struct dist_tensor one, struct side *in,
			    struct side *out, struct dist_work **work)
{
	bool uneven = case_is_uneven(c);

	switch (c->call) {
	case CONFORMANCE_ALL_GATHER:
		return out->is_list
			       ? dist_all_gather(w->group, out->list, one, work)
			       : dist_all_gather_single(w->group, out->whole,
							one, work);
	case CONFORMANCE_REDUCE_SCATTER:
		return in->is_list ? dist_reduce_scatter(w->group, one,
							 in->list, w->op, work)
				   : dist_reduce_scatter_single(w->group, one,
								in->whole,
								w->op, work);
	case CONFORMANCE_ALL_TO_ALL:
		return in->is_list ? dist_all_to_all(w->group, out->list,
						     in->list, work)
				   : dist_all_to_all_single(
					     w->group, out->whole, in->whole,
					     uneven ? out->splits : NULL,
					     uneven ? in->splits : NULL, work);
	case CONFORMANCE_GATHER:
		return dist_gather(w->group, one, out->here ? out->list : NULL,
				   c->root, work);
	default:
		return dist_scatter(w->group, one, in->here ? in->list : NULL,
				    c->root, work);
	}
}

/* Looks at what came, in the parts or in the one tensor. */
static void check(struct walk *w, const struct one_case *c,
		  struct dist_tensor one, const struct side *out)
{
	bool to_all = c->call == CONFORMANCE_ALL_TO_ALL;

	for (int src = 0; out->here && src < w->size; src++)
		walk_moved(w, part_of(out, src), src, to_all ? w->rank : 0);
	if (c->call == CONFORMANCE_REDUCE_SCATTER)
		walk_reduced(w, one, w->rank);
	else if (c->call == CONFORMANCE_SCATTER)
		walk_moved(w, one, c->root, w->rank);
}

static bool has_in(const struct walk *w, const struct one_case *c)
{
	return c->call == CONFORMANCE_REDUCE_SCATTER ||
	       c->call == CONFORMANCE_ALL_TO_ALL ||
	       (c->call == CONFORMANCE_SCATTER && c->root == w->rank);
}

static bool has_out(const struct walk *w, const struct one_case *c)
{
	return c->call == CONFORMANCE_ALL_GATHER ||
	       c->call == CONFORMANCE_ALL_TO_ALL ||
	       (c->call == CONFORMANCE_GATHER && c->root == w->rank);
}

enum dist_error perform_parts(struct walk *w, const struct one_case *c)
{
	struct side in = {.here = false}, out = {.here = false};
	struct dist_tensor one = {NULL, 0, c->dtype};
	bool has_one = c->call != CONFORMANCE_ALL_TO_ALL, owns;
	struct dist_work *work = NULL;
	enum dist_error error;

	if (has_in(w, c))
		side_init(&in, w, true);
	if (has_out(w, c))
		side_init(&out, w, false);
	owns = has_one && !(case_is_in_place(c) && (in.here || out.here));
	if (owns)
		one = tensor_new(c, length(c, w->rank, w->rank));
	else if (has_one)
		one = part_of(in.here ? &in : &out, w->rank);
	if (c->call == CONFORMANCE_ALL_GATHER || c->call == CONFORMANCE_GATHER)
		case_fill(c, one, w->rank, 0);
	error = call(w, c, one, &in, &out, c->async ? &work : NULL);
	error = walk_finish(error, work);
	if (!error)
		check(w, c, one, &out);
	if (owns)
		free(one.data);
	side_release(&in, w->size);
	side_release(&out, w->size);
	return error;
}
