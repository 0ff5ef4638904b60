#include "trace/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ranks -------------------------------------------------------- */

static int world_size(const struct dist__trace *trace)
{
	return trace->world_size ? trace->world_size : (int)trace->num_ranks;
}

/* Writes to reason which rank of its own world trace does not know. */
static void find_missing(const struct dist__trace *trace, const char *which,
			 char *reason, size_t size)
{
	int i, known = (int)trace->num_ranks;

	/* A trace of one rank, as PyTorch's profiler writes them. */
	if (!trace->world_size)
		return;
	for (i = 0; i < known && trace->ranks[i] == i; i++)
		;
	if (i < trace->world_size)
		snprintf(reason, size,
			 "the %s trace tells nothing of rank %d (of %d)", which,
			 i, trace->world_size);
}

static void compare_ranks(const struct dist__trace *predicted,
			  const struct dist__trace *measured, char *reason,
			  size_t size)
{
	if (world_size(predicted) != world_size(measured)) {
		snprintf(reason, size,
			 "the world sizes differ: predicted %d, measured %d",
			 world_size(predicted), world_size(measured));
		return;
	}
	find_missing(predicted, "predicted", reason, size);
	if (!*reason)
		find_missing(measured, "measured", reason, size);
}

/* ---- the calls -------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return !a || !b || strcmp(a, b) == 0;
}

static bool same_number(int a, int b)
{
	return a < 0 || b < 0 || a == b;
}

static bool same_call(const struct dist__trace_call *a,
		      const struct dist__trace_call *b)
{
	return strcmp(a->op, b->op) == 0 && a->numel == b->numel &&
	       same_text(a->dtype, b->dtype) &&
	       same_text(a->reduce_op, b->reduce_op) &&
	       same_number(a->root, b->root) && same_number(a->peer, b->peer) &&
	       same_number(a->tag, b->tag);
}

/* Compares the places of two calls, not what they do: < 0 when a stands where
 * the other trace has nothing. */
static int compare_places(const struct dist__trace_call *a,
			  const struct dist__trace_call *b)
{
	int groups;

	if (!a || !b)
		return !a - !b;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	groups = strcmp(a->group, b->group);
	if (groups != 0)
		return groups;
	return (a->order > b->order) - (a->order < b->order);
}

static void report(const struct dist__trace_call *predicted,
		   const struct dist__trace_call *measured, char *reason,
		   size_t size)
{
	const struct dist__trace_call *place = predicted ? predicted : measured;
	char p[400] = "nothing", m[400] = "nothing";

	if (predicted)
		dist__trace_describe(predicted, p, sizeof p);
	if (measured)
		dist__trace_describe(measured, m, sizeof m);
	snprintf(reason, size,
		 "rank %d, group %.60s, call %u: predicted %s, measured %s",
		 place->rank, place->group, (unsigned)place->order, p, m);
}

static void compare_calls(const struct dist__trace_call *const *predicted,
			  size_t num_predicted,
			  const struct dist__trace_call *const *measured,
			  size_t num_measured, char *reason, size_t size)
{
	size_t most =
		num_predicted > num_measured ? num_predicted : num_measured;

	for (size_t i = 0; i < most && !*reason; i++) {
		const struct dist__trace_call *p =
			i < num_predicted ? predicted[i] : NULL;
		const struct dist__trace_call *m =
			i < num_measured ? measured[i] : NULL;
		int places = compare_places(p, m);

		if (places != 0)
			report(places < 0 ? p : NULL, places > 0 ? m : NULL,
			       reason, size);
		else if (p && m && !same_call(p, m))
			report(p, m, reason, size);
	}
}

static int by_place(const void *a, const void *b)
{
	return compare_places(*(const struct dist__trace_call *const *)a,
			      *(const struct dist__trace_call *const *)b);
}

enum dist_error dist__order_check(const struct dist__trace *predicted,
				  const struct dist__trace *measured,
				  char *reason, size_t size)
{
	const struct dist__trace_call **p, **m;

	reason[0] = '\0';
	compare_ranks(predicted, measured, reason, size);
	if (*reason)
		return DIST_OK;
	p = dist__trace_sorted_calls(predicted, by_place);
	m = dist__trace_sorted_calls(measured, by_place);
	if (p && m)
		compare_calls(p, predicted->num_calls, m, measured->num_calls,
			      reason, size);
	free(p);
	free(m);
	return p && m ? DIST_OK : DIST_ERR_NO_MEMORY;
}
