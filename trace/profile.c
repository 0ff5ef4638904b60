/* profile.c - the clocks of ranks that each have a trace of their own. */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"

/* ---- shifting --------------------------------------------------------- */

/* A file may hold any times; what no clock can be set to stays. */
static void move(int64_t *at_ns, int64_t ns)
{
	int64_t moved_ns;

	if (!__builtin_add_overflow(*at_ns, ns, &moved_ns))
		*at_ns = moved_ns;
}

static void shift_spans(struct dist__trace_span *spans, size_t n, int rank,
			int64_t ns)
{
	for (size_t i = 0; i < n; i++) {
		if (rank >= 0 && spans[i].rank != rank)
			continue;
		move(&spans[i].started_ns, ns);
		move(&spans[i].ended_ns, ns);
	}
}

/* Moves what rank did; -1: what all did. */
static void shift(struct dist__trace *trace, int rank, int64_t ns)
{
	for (size_t i = 0; i < trace->num_calls; i++) {
		struct dist__trace_call *call = &trace->calls[i];

		if (rank >= 0 && call->rank != rank)
			continue;
		move(&call->issued_ns, ns);
		move(&call->started_ns, ns);
		move(&call->ended_ns, ns);
	}
	shift_spans(trace->spans, trace->num_spans, rank, ns);
	shift_spans(trace->remote, trace->num_remote, rank, ns);
}

void dist__trace_from_zero(struct dist__trace *trace)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < trace->num_calls; i++)
		if (trace->calls[i].issued_ns < first)
			first = trace->calls[i].issued_ns;
	for (size_t i = 0; i < trace->num_spans; i++)
		if (trace->spans[i].started_ns < first)
			first = trace->spans[i].started_ns;
	if (first != INT64_MAX)
		shift(trace, -1, -first);
}

/* ---- aligning --------------------------------------------------------- */

/* Calls that no rank leaves before the last one came. */
static bool all_wait_for_all(const struct dist__trace_call *call)
{
	static const char *const ops[] = {"all_reduce",
					  "all_gather",
					  "all_gather_single",
					  "reduce_scatter",
					  "reduce_scatter_single",
					  "all_to_all",
					  "all_to_all_single",
					  "barrier",
					  NULL};
	const char *const *op = ops;

	while (*op && strcmp(*op, call->op) != 0)
		op++;
	return *op != NULL;
}

struct aligning {
	struct dist__trace *trace;
	const struct dist__trace_call **calls; /* by collective */
	bool *is_set;                          /* by place among the ranks */
	double *differences;                   /* room for all calls */
	size_t num_differences;
};

static bool is_set(const struct aligning *a, int rank)
{
	size_t i = 0;

	while (a->trace->ranks[i] != rank)
		i++;
	return a->is_set[i];
}

/* By how much the clock of rank, which made calls[at], is behind that of a rank
 * that is set, if one is in the same collective. */
static void add_difference(struct aligning *a, size_t at)
{
	const struct dist__trace_call *call = a->calls[at];
	int64_t difference_ns;
	size_t first = at;

	while (first > 0 && dist__trace_same_call(a->calls[first - 1], call))
		first--;
	for (size_t i = first; i < a->trace->num_calls &&
			       dist__trace_same_call(a->calls[i], call);
	     i++) {
		if (!is_set(a, a->calls[i]->rank))
			continue;
		if (!__builtin_sub_overflow(a->calls[i]->ended_ns,
					    call->ended_ns, &difference_ns))
			a->differences[a->num_differences++] =
				(double)difference_ns;
		return;
	}
}

/* Returns whether rank could be set. */
static bool set(struct aligning *a, size_t place)
{
	int rank = a->trace->ranks[place];

	a->num_differences = 0;
	for (size_t i = 0; i < a->trace->num_calls; i++)
		if (a->calls[i]->rank == rank && all_wait_for_all(a->calls[i]))
			add_difference(a, i);
	if (a->num_differences == 0)
		return false;
	dist__sort_numbers(a->differences, a->num_differences);
	shift(a->trace, rank,
	      (int64_t)dist__quantile(a->differences, a->num_differences, 0.5));
	a->is_set[place] = true;
	return true;
}

enum dist_error dist__trace_align(struct dist__trace *trace)
{
	struct aligning a = {
		.trace = trace,
		.calls = dist__trace_sorted_calls(trace,
						  dist__trace_by_collective),
		.is_set = calloc(trace->num_ranks + 1, sizeof(bool)),
		.differences = calloc(trace->num_calls + 1, sizeof(double)),
	};
	bool ready = a.calls && a.is_set && a.differences, more = ready;

	if (ready)
		a.is_set[0] = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < trace->num_ranks; i++)
			if (!a.is_set[i])
				more |= set(&a, i);
	}
	free(a.calls);
	free(a.is_set);
	free(a.differences);
	return ready ? DIST_OK : DIST_ERR_NO_MEMORY;
}
