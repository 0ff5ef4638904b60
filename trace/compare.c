#include "trace/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/statistics.h"
#include "base/text.h"

/* ---- the same calls: the ranks ---------------------------------------- */

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

/* ---- the same calls in the same order
 * -------------------------------------------------------- */

static bool agree(const char *a, const char *b)
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
	       agree(a->dtype, b->dtype) && agree(a->reduce_op, b->reduce_op) &&
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

static void compare_orders(const struct dist__trace_call *const *predicted,
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
		compare_orders(p, predicted->num_calls, m, measured->num_calls,
			       reason, size);
	free(p);
	free(m);
	return p && m ? DIST_OK : DIST_ERR_NO_MEMORY;
}

/* ---- times ------------------------------------------------------------ */

static struct dist__compared_time compared(double predicted_ns,
					   double measured_ns)
{
	struct dist__compared_time time = {predicted_ns, measured_ns, 1, 0};

	if (measured_ns > 0)
		time.ratio = predicted_ns / measured_ns;
	else if (predicted_ns > 0)
		time.ratio = INFINITY;
	time.error = time.ratio - 1;
	return time;
}

static double median(double *numbers, size_t n)
{
	dist__sort_numbers(numbers, n);
	return n > 0 ? dist__quantile(numbers, n, 0.5) : 0;
}

/* ---- calls ------------------------------------------------------------ */

/* The time of n calls that are one collective or one message; -1 when one of
 * them failed. */
static int64_t time_of(const struct dist__trace_call *const *calls, size_t n)
{
	int64_t started_ns = calls[0]->started_ns;
	int64_t ended_ns = calls[0]->ended_ns;

	for (size_t i = 0; i < n; i++) {
		if (calls[i]->error)
			return -1;
		if (calls[i]->started_ns > started_ns)
			started_ns = calls[i]->started_ns;
		if (calls[i]->ended_ns > ended_ns)
			ended_ns = calls[i]->ended_ns;
	}
	return ended_ns - started_ns;
}

static void pair_calls(struct dist__comparison *comparison,
		       const struct dist__trace_call *const *predicted,
		       const struct dist__trace_call *const *measured, size_t n)
{
	size_t next;

	for (size_t i = 0; i < n; i = next) {
		int64_t predicted_ns, measured_ns;

		for (next = i + 1; next < n; next++)
			if (!dist__trace_same_collective(predicted[i],
							 predicted[next]))
				break;
		if (strcmp(predicted[i]->op, "send") == 0)
			continue;
		predicted_ns = time_of(predicted + i, next - i);
		measured_ns = time_of(measured + i, next - i);
		if (predicted_ns < 0 || measured_ns < 0) {
			comparison->num_failed++;
			continue;
		}
		comparison->calls[comparison->num_calls++] =
			(struct dist__compared_call){
				predicted[i], measured[i],
				compared((double)predicted_ns,
					 (double)measured_ns)};
	}
}

/* The order check has passed: both traces hold the same calls. */
static enum dist_error compare_calls(struct dist__comparison *comparison,
				     const struct dist__trace *predicted,
				     const struct dist__trace *measured)
{
	size_t n = predicted->num_calls;
	const struct dist__trace_call **p, **m;

	p = dist__trace_sorted_calls(predicted, dist__trace_by_collective);
	m = dist__trace_sorted_calls(measured, dist__trace_by_collective);
	comparison->calls = calloc(n + 1, sizeof *comparison->calls);
	if (p && m && comparison->calls)
		pair_calls(comparison, p, m, n);
	free(p);
	free(m);
	return p && m && comparison->calls ? DIST_OK : DIST_ERR_NO_MEMORY;
}

/* ---- rows ------------------------------------------------------------- */

static int by_row(const struct dist__compared_call *x,
		  const struct dist__compared_call *y)
{
	int order = strcmp(x->predicted->op, y->predicted->op);

	if (order == 0)
		order = dist__by_number(x->predicted->group_size,
					y->predicted->group_size);
	if (order == 0)
		order = dist__by_number(x->predicted->bytes,
					y->predicted->bytes);
	if (order == 0)
		order = dist__by_text(x->predicted->algorithm,
				      y->predicted->algorithm);
	if (order == 0)
		order = dist__by_text(x->measured->algorithm,
				      y->measured->algorithm);
	return order;
}

static int by_row_and_time(const void *a, const void *b)
{
	const struct dist__compared_call *x = a, *y = b;
	double p = x->time.measured_ns, q = y->time.measured_ns;
	int order = by_row(x, y);

	return order ? order : (p > q) - (p < q);
}

/* numbers is room for n. The calls are sorted by measured time. */
static struct dist__compared_row row_of(const struct dist__compared_call *calls,
					size_t n, double *numbers)
{
	struct dist__compared_row row = {
		.predicted = calls[0].predicted,
		.measured = calls[0].measured,
		.num_calls = n,
	};
	double predicted_ns;

	for (size_t i = 0; i < n; i++)
		numbers[i] = calls[i].time.predicted_ns;
	predicted_ns = median(numbers, n);
	for (size_t i = 0; i < n; i++)
		numbers[i] = calls[i].time.measured_ns;
	row.time = compared(predicted_ns, dist__quantile(numbers, n, 0.5));
	row.measured_min_ns = numbers[0];
	row.measured_p25_ns = dist__quantile(numbers, n, 0.25);
	row.measured_p75_ns = dist__quantile(numbers, n, 0.75);
	row.measured_max_ns = numbers[n - 1];
	return row;
}

static enum dist_error make_rows(struct dist__comparison *comparison)
{
	size_t n = comparison->num_calls, next;
	struct dist__compared_call *calls = calloc(n + 1, sizeof *calls);
	double *numbers = calloc(n + 1, sizeof *numbers);

	comparison->rows = calloc(n + 1, sizeof *comparison->rows);
	if (!calls || !numbers || !comparison->rows) {
		free(calls);
		free(numbers);
		return DIST_ERR_NO_MEMORY;
	}
	memcpy(calls, comparison->calls, n * sizeof *calls);
	qsort(calls, n, sizeof *calls, by_row_and_time);
	for (size_t i = 0; i < n; i = next) {
		for (next = i + 1; next < n; next++)
			if (by_row(&calls[i], &calls[next]) != 0)
				break;
		comparison->rows[comparison->num_rows++] =
			row_of(calls + i, next - i, numbers);
	}
	free(calls);
	free(numbers);
	return DIST_OK;
}

static enum dist_error summarize(struct dist__comparison *comparison)
{
	double *errors = calloc(comparison->num_rows + 1, sizeof *errors);
	size_t n = comparison->num_rows;
	double logarithms = 0;

	if (!errors)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < n; i++) {
		const struct dist__compared_time *time =
			&comparison->rows[i].time;

		errors[i] = fabs(time->error);
		if (time->predicted_ns > 0 && time->measured_ns > 0) {
			logarithms += log(time->ratio);
			comparison->num_ratios++;
		}
	}
	if (comparison->num_ratios > 0)
		comparison->geometric_mean =
			exp(logarithms / (double)comparison->num_ratios);
	dist__sort_numbers(errors, n);
	if (n > 0) {
		comparison->median_error = dist__quantile(errors, n, 0.5);
		comparison->p90_error = dist__quantile(errors, n, 0.9);
		comparison->worst_error = errors[n - 1];
	}
	free(errors);
	return DIST_OK;
}

/* ---- computing -------------------------------------------------------- */

static const char *next_label(const struct dist__trace_span *spans,
			      size_t num_spans, const char *after)
{
	const char *next = NULL;

	for (size_t i = 0; i < num_spans; i++) {
		const char *label = spans[i].label;

		if ((!after || strcmp(label, after) > 0) &&
		    (!next || strcmp(label, next) < 0))
			next = label;
	}
	return next;
}

/* Adds up each rank's spans of label; totals is room for a number a rank. */
static double label_ns(const struct dist__trace *trace, const char *label,
		       double *totals)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->num_spans; i++) {
		const struct dist__trace_span *span = &trace->spans[i];

		if (i == 0 || span->rank != span[-1].rank)
			totals[n++] = 0;
		if (strcmp(span->label, label) == 0)
			totals[n - 1] +=
				(double)(span->ended_ns - span->started_ns);
	}
	return median(totals, n);
}

/* The least label of both behind `after`; NULL: none. */
static const char *next_of_both(const struct dist__trace_span *a, size_t num_a,
				const struct dist__trace_span *b, size_t num_b,
				const char *after)
{
	const char *x = next_label(a, num_a, after);
	const char *y = next_label(b, num_b, after);

	return !y || (x && strcmp(x, y) < 0) ? x : y;
}

static enum dist_error compare_labels(struct dist__comparison *comparison,
				      const struct dist__trace *predicted,
				      const struct dist__trace *measured,
				      double *totals)
{
	const char *label = NULL;

	while ((label = next_of_both(predicted->spans, predicted->num_spans,
				     measured->spans, measured->num_spans,
				     label))) {
		const struct dist__compared_label row = {
			.label = label,
			.time = compared(label_ns(predicted, label, totals),
					 label_ns(measured, label, totals))};

		if (!dist__array_add(&comparison->labels,
				     &comparison->num_labels, &row, sizeof row))
			return DIST_ERR_NO_MEMORY;
	}
	return DIST_OK;
}

/* ---- remote calls ----------------------------------------------------- */

/* The median of function's calls, and how many there are. */
static double remote_ns(const struct dist__trace *trace, const char *function,
			double *numbers, size_t *num)
{
	*num = 0;
	for (size_t i = 0; i < trace->num_remote; i++) {
		const struct dist__trace_span *call = &trace->remote[i];

		if (!call->failed && strcmp(call->label, function) == 0)
			numbers[(*num)++] =
				(double)(call->ended_ns - call->started_ns);
	}
	return *num > 0 ? median(numbers, *num) : NAN;
}

static enum dist_error compare_remote(struct dist__comparison *comparison,
				      const struct dist__trace *predicted,
				      const struct dist__trace *measured)
{
	size_t most = predicted->num_remote > measured->num_remote
			      ? predicted->num_remote
			      : measured->num_remote;
	double *numbers = calloc(most + 1, sizeof *numbers);
	const char *function = NULL;

	while (numbers &&
	       (function = next_of_both(predicted->remote,
					predicted->num_remote, measured->remote,
					measured->num_remote, function))) {
		struct dist__compared_remote row = {.function = function};
		double predicted_ns = remote_ns(predicted, function, numbers,
						&row.num_predicted);
		double measured_ns = remote_ns(measured, function, numbers,
					       &row.num_measured);

		row.time = compared(predicted_ns, measured_ns);
		if (!row.num_predicted || !row.num_measured)
			row.time.ratio = row.time.error = NAN;
		if (!dist__array_add(&comparison->remote,
				     &comparison->num_remote, &row,
				     sizeof row)) {
			free(numbers);
			return DIST_ERR_NO_MEMORY;
		}
	}
	free(numbers);
	return numbers ? DIST_OK : DIST_ERR_NO_MEMORY;
}

/* ---- the wall --------------------------------------------------------- */

struct extent {
	int64_t started_ns, ended_ns;
};

static void extend(struct extent *extent, int64_t started_ns, int64_t ended_ns)
{
	if (started_ns < extent->started_ns)
		extent->started_ns = started_ns;
	if (ended_ns > extent->ended_ns)
		extent->ended_ns = ended_ns;
}

/* Extends it by the spans of rank, which are next. */
static void extend_by(struct extent *extent, int rank,
		      const struct dist__trace_span *spans, size_t num_spans,
		      size_t *next)
{
	for (; *next < num_spans && spans[*next].rank <= rank; ++*next)
		extend(extent, spans[*next].started_ns, spans[*next].ended_ns);
}

/* Calls and spans are all by rank, so one walk over the ranks sees all. */
static double wall_ns(const struct dist__trace *trace, double *walls)
{
	size_t call = 0, span = 0, remote = 0, n = 0;

	for (size_t i = 0; i < trace->num_ranks; i++) {
		struct extent extent = {INT64_MAX, INT64_MIN};
		int rank = trace->ranks[i];

		for (;
		     call < trace->num_calls && trace->calls[call].rank <= rank;
		     call++)
			extend(&extent, trace->calls[call].issued_ns,
			       trace->calls[call].ended_ns);
		extend_by(&extent, rank, trace->spans, trace->num_spans, &span);
		extend_by(&extent, rank, trace->remote, trace->num_remote,
			  &remote);
		if (extent.started_ns <= extent.ended_ns)
			walls[n++] =
				(double)(extent.ended_ns - extent.started_ns);
	}
	return median(walls, n);
}

static enum dist_error compare_time(struct dist__comparison *comparison,
				    const struct dist__trace *predicted,
				    const struct dist__trace *measured)
{
	size_t most = predicted->num_ranks > measured->num_ranks
			      ? predicted->num_ranks
			      : measured->num_ranks;
	double *numbers = calloc(most + 1, sizeof *numbers);
	enum dist_error error;

	if (!numbers)
		return DIST_ERR_NO_MEMORY;
	error = compare_labels(comparison, predicted, measured, numbers);
	comparison->wall = compared(wall_ns(predicted, numbers),
				    wall_ns(measured, numbers));
	free(numbers);
	return error;
}

/* ---- the comparison --------------------------------------------------- */

enum dist_error dist__compare(const struct dist__trace *predicted,
			      const struct dist__trace *measured,
			      struct dist__comparison *comparison)
{
	enum dist_error error;

	memset(comparison, 0, sizeof *comparison);
	if (predicted->issue_times || measured->issue_times) {
		snprintf(comparison->reason, sizeof comparison->reason,
			 "the %s trace has no times of collectives, but those "
			 "in which the host issued them: profile with "
			 "ProfilerActivity.CUDA",
			 measured->issue_times ? "measured" : "predicted");
		return DIST_OK;
	}
	error = dist__order_check(predicted, measured, comparison->reason,
				  sizeof comparison->reason);
	if (!error && comparison->reason[0])
		return DIST_OK;
	if (!error)
		error = compare_calls(comparison, predicted, measured);
	if (!error)
		error = make_rows(comparison);
	if (!error)
		error = summarize(comparison);
	if (!error)
		error = compare_remote(comparison, predicted, measured);
	if (!error)
		error = compare_time(comparison, predicted, measured);
	if (error)
		dist__comparison_release(comparison);
	comparison->comparable = !error;
	return error;
}

void dist__comparison_release(struct dist__comparison *comparison)
{
	free(comparison->calls);
	free(comparison->rows);
	free(comparison->labels);
	free(comparison->remote);
	memset(comparison, 0, sizeof *comparison);
}
