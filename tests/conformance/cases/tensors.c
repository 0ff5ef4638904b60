/* tensors.c - the calls on one tensor. */
#include "tests/conformance/cases/case.h"

#include <stdlib.h>

static enum dist_error call(struct walk *w, const struct one_case *c,
			    struct dist_tensor t, struct dist_work **work)
{
	switch (c->call) {
	case CONFORMANCE_ALL_REDUCE:
		return dist_all_reduce(w->group, t, w->op, work);
	case CONFORMANCE_REDUCE:
		return dist_reduce(w->group, t, c->root, w->op, work);
	case CONFORMANCE_BROADCAST:
		return dist_broadcast(w->group, t, c->root, work);
	case CONFORMANCE_MONITORED_BARRIER:
		return dist_monitored_barrier(w->group, DIST_TIMEOUT_OF_GROUP,
					      false);
	default:
		return dist_barrier(w->group, work);
	}
}

enum dist_error perform_tensor(struct walk *w, const struct one_case *c)
{
	struct dist_tensor t = tensor_new(c, c->numel);
	struct dist_work *work = NULL;
	enum dist_error error;

	case_fill(c, t, w->rank, 0);
	error = call(w, c, t, c->async ? &work : NULL);
	error = walk_finish(error, work);
	if (!case_is_legal(c))
		walk_moved(w, t, w->rank, 0);
	else if (!error && c->call == CONFORMANCE_BROADCAST)
		walk_moved(w, t, c->root, 0);
	else if (!error &&
		 (c->call == CONFORMANCE_ALL_REDUCE ||
		  (c->call == CONFORMANCE_REDUCE && c->root == w->rank)))
		walk_reduced(w, t, 0);
	free(t.data);
	return error;
}
