#include "trace/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "trace/recorder.h"

/* Times are written in whole nanoseconds: ends that differ by no more may have
 * been one. */
#define ROUNDING_NS 2

/* The calls of the trace in the two orders in which they are looked up. */
struct search {
	const struct dist__trace *trace;
	int64_t from_ns;
	bool represented; /* ranks that are not told did the same */
	const struct dist__trace_call **ended; /* by rank, then end */
	const struct dist__trace_call **met;   /* together what met */
	struct dist__path *path;
};

/* Where the search has come to: what ends there is asked for next. */
struct place {
	int rank;
	int64_t at_ns;
	const struct dist__trace_call *call; /* it is this; NULL: to be found */
};

/* ---- orders ------------------------------------------------------------ */

static int by_end(const void *a, const void *b)
{
	const struct dist__trace_call *x =
		*(const struct dist__trace_call *const *)a;
	const struct dist__trace_call *y =
		*(const struct dist__trace_call *const *)b;
	int order = dist__by_number(x->rank, y->rank);

	if (!order)
		order = dist__by_number(x->ended_ns, y->ended_ns);
	return order ? order : dist__by_number(x->issued_ns, y->issued_ns);
}

static bool is_send(const struct dist__trace_call *call)
{
	return strcmp(call->op, "send") == 0;
}

/* What two calls that met have in common. Messages between two ranks with the
 * same tag meet in the order of their calls, which is left to by_meeting(). */
static int compare_meetings(const struct dist__trace_call *x,
			    const struct dist__trace_call *y)
{
	bool p2p = dist__trace_is_p2p(x);
	int order = dist__by_number(p2p, dist__trace_is_p2p(y));

	if (!order)
		order = strcmp(x->group, y->group);
	if (order || !p2p)
		return order ? order : dist__by_number(x->seq, y->seq);
	order = dist__by_number(is_send(x) ? x->rank : x->peer,
				is_send(y) ? y->rank : y->peer);
	if (!order)
		order = dist__by_number(is_send(x) ? x->peer : x->rank,
					is_send(y) ? y->peer : y->rank);
	return order ? order : dist__by_number(x->tag, y->tag);
}

static int by_meeting(const void *a, const void *b)
{
	const struct dist__trace_call *x =
		*(const struct dist__trace_call *const *)a;
	const struct dist__trace_call *y =
		*(const struct dist__trace_call *const *)b;
	int order = compare_meetings(x, y);

	if (!order && dist__trace_is_p2p(x))
		order = dist__by_number(is_send(x), is_send(y));
	if (!order)
		order = dist__by_number(x->order, y->order);
	return order ? order : dist__by_number(x->rank, y->rank);
}

/* ---- looking up -------------------------------------------------------- */

/* Returns the number of entries of `ended` that are before rank at time. */
static size_t calls_before(const struct search *s, int rank, int64_t at_ns)
{
	size_t low = 0, high = s->trace->num_calls;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct dist__trace_call *call = s->ended[middle];

		if (call->rank < rank ||
		    (call->rank == rank && call->ended_ns <= at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the call of rank that ended last up to at_ns and took time. */
static const struct dist__trace_call *find_call(const struct search *s,
						int rank, int64_t at_ns)
{
	for (size_t i = calls_before(s, rank, at_ns); i-- > 0;) {
		const struct dist__trace_call *call = s->ended[i];

		if (call->rank != rank)
			return NULL;
		if (call->issued_ns < at_ns && call->ended_ns > call->issued_ns)
			return call;
	}
	return NULL;
}

/* Returns the span of rank that was last begun before at_ns. */
static const struct dist__trace_span *find_span(const struct search *s,
						int rank, int64_t at_ns)
{
	const struct dist__trace_span *spans = s->trace->spans;
	size_t low = 0, high = s->trace->num_spans;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans[middle].rank < rank ||
		    (spans[middle].rank == rank &&
		     spans[middle].started_ns < at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && spans[low - 1].rank == rank ? &spans[low - 1] : NULL;
}

/* The call of a group that ended last before call could start, on its rank. */
static const struct dist__trace_call *
find_queue(const struct search *s, const struct dist__trace_call *call)
{
	int64_t at_ns = call->started_ns + ROUNDING_NS;

	for (size_t i = calls_before(s, call->rank, at_ns); i-- > 0;) {
		const struct dist__trace_call *other = s->ended[i];

		if (other->rank != call->rank ||
		    other->ended_ns <= call->issued_ns)
			return NULL;
		if (other->order < call->order &&
		    strcmp(other->group, call->group) == 0 &&
		    !dist__trace_is_p2p(other))
			return other;
	}
	return NULL;
}

/* ---- who came last ----------------------------------------------------- */

static const struct dist__trace_call **
find_meeting(const struct search *s, const struct dist__trace_call *call,
	     size_t *num)
{
	const struct dist__trace_call **all = s->met;
	size_t low = 0, high = s->trace->num_calls;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_meetings(all[middle], call) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*num = 0; low + *num < s->trace->num_calls; (*num)++)
		if (compare_meetings(all[low + *num], call) != 0)
			break;
	return all + low;
}

/* Fills in who of those that took part in call was ready last, and first. */
static void find_last(const struct search *s,
		      const struct dist__trace_call *call,
		      struct dist__leg *leg)
{
	size_t num, receives = 0, place = 0, mate;
	const struct dist__trace_call **all = find_meeting(s, call, &num);

	leg->call = call;
	leg->first_ns = call->started_ns;
	/* Receives stand before sends: the n-th of each are a pair. */
	while (receives < num && !is_send(all[receives]))
		receives++;
	while (place < num && all[place] != call)
		place++;
	mate = place < receives ? place + receives : place - receives;
	for (size_t i = 0; i < num; i++) {
		if (dist__trace_is_p2p(call) && i != place && i != mate)
			continue;
		if (all[i]->started_ns > leg->call->started_ns)
			leg->call = all[i];
		if (all[i]->started_ns < leg->first_ns)
			leg->first_ns = all[i]->started_ns;
	}
	leg->untold =
		dist__trace_is_p2p(call)
			? mate >= num
			: num < (size_t)call->group_size && !s->represented;
}

/* ---- the path ---------------------------------------------------------- */

static enum dist_error append(struct search *s, const struct dist__leg *leg)
{
	struct dist__path *path = s->path;
	struct dist__leg own = *leg, *last;

	if (leg->ended_ns <= leg->started_ns)
		return DIST_OK;
	last = path->num_legs ? &path->legs[path->num_legs - 1] : NULL;
	if (last && leg->kind == DIST__LEG_COMPUTE && last->kind == leg->kind &&
	    last->rank == leg->rank && strcmp(last->label, leg->label) == 0) {
		last->started_ns = leg->started_ns;
		return DIST_OK;
	}
	if (own.started_ns < s->from_ns)
		own.started_ns = s->from_ns;
	return dist__array_add(&path->legs, &path->num_legs, &own, sizeof own)
		       ? DIST_OK
		       : DIST_ERR_NO_MEMORY;
}

/* Until the end of what comes before, the rank did what is not told. */
static enum dist_error append_gap(struct search *s, const struct place *place,
				  int64_t since_ns)
{
	struct dist__leg gap = {.kind = DIST__LEG_OTHER,
				.rank = place->rank,
				.started_ns = since_ns,
				.ended_ns = place->at_ns};

	if (since_ns < s->from_ns)
		gap.started_ns = s->from_ns;
	if (gap.ended_ns - gap.started_ns <= ROUNDING_NS)
		return DIST_OK;
	return append(s, &gap);
}

static enum dist_error step_over_span(struct search *s, struct place *place,
				      const struct dist__trace_span *span)
{
	int64_t ended_ns =
		span->ended_ns < place->at_ns ? span->ended_ns : place->at_ns;
	const struct dist__leg leg = {.kind = DIST__LEG_COMPUTE,
				      .rank = place->rank,
				      .started_ns = span->started_ns,
				      .ended_ns = ended_ns,
				      .label = span->label};
	enum dist_error error = append_gap(s, place, ended_ns);

	place->at_ns = span->started_ns;
	return error ? error : append(s, &leg);
}

static enum dist_error step_over_call(struct search *s, struct place *place,
				      const struct dist__trace_call *call)
{
	struct dist__leg leg = {.kind = DIST__LEG_MOVE,
				.ended_ns = call->ended_ns};
	const struct dist__trace_call *before = NULL;
	enum dist_error error = append_gap(s, place, call->ended_ns);

	find_last(s, call, &leg);
	if (leg.call->started_ns - leg.call->issued_ns > ROUNDING_NS)
		before = find_queue(s, leg.call);
	leg.rank = leg.call->rank;
	leg.queued = before != NULL;
	leg.started_ns = before ? leg.call->started_ns : leg.call->issued_ns;
	/* A clock of its own on every machine: never forward again. */
	if (leg.started_ns >= leg.ended_ns)
		leg.started_ns = call->issued_ns;
	*place = (struct place){leg.rank, leg.started_ns, before};
	return error ? error : append(s, &leg);
}

/* Steps back over what ended at place; sets at_ns to from_ns at the end. */
static enum dist_error step_back(struct search *s, struct place *place)
{
	const struct dist__trace_call *call = place->call;
	const struct dist__trace_span *span = NULL;
	int64_t span_ns = INT64_MIN;

	if (!call) {
		call = find_call(s, place->rank, place->at_ns);
		span = find_span(s, place->rank, place->at_ns);
	}
	if (span)
		span_ns = span->ended_ns < place->at_ns ? span->ended_ns
							: place->at_ns;
	if (span && (!call || span_ns + ROUNDING_NS >= call->ended_ns))
		return step_over_span(s, place, span);
	if (call)
		return step_over_call(s, place, call);
	place->at_ns = s->from_ns;
	return append_gap(s, place, s->from_ns);
}

/* Where the last thing of all ends. */
static struct place find_end(const struct dist__trace *trace, int64_t to_ns)
{
	struct place end = {.at_ns = INT64_MIN};

	for (size_t i = 0; i < trace->num_spans; i++) {
		const struct dist__trace_span *span = &trace->spans[i];

		if (span->ended_ns <= to_ns && span->ended_ns > end.at_ns)
			end = (struct place){span->rank, span->ended_ns, NULL};
	}
	for (size_t i = 0; i < trace->num_calls; i++) {
		const struct dist__trace_call *call = &trace->calls[i];

		if (call->ended_ns <= to_ns && call->ended_ns > end.at_ns)
			end = (struct place){call->rank, call->ended_ns, NULL};
	}
	return end;
}

static void reverse(struct dist__path *path)
{
	for (size_t i = 0; i < path->num_legs / 2; i++) {
		struct dist__leg *other = &path->legs[path->num_legs - 1 - i];
		struct dist__leg leg = path->legs[i];

		path->legs[i] = *other;
		*other = leg;
	}
}

enum dist_error dist__path_find(const struct dist__trace *trace,
				int64_t from_ns, int64_t to_ns,
				struct dist__path *path)
{
	struct search s = {
		.trace = trace,
		.from_ns = from_ns,
		.represented = dist__trace_fact(trace, DIST__FACT_REPRESENTED),
		.path = path};
	struct place place;
	enum dist_error error = DIST_OK;

	*path = (struct dist__path){.is_remote = trace->num_remote > 0};
	if (path->is_remote)
		return DIST_OK;
	s.ended = dist__trace_sorted_calls(trace, by_end);
	s.met = dist__trace_sorted_calls(trace, by_meeting);
	if (!s.ended || !s.met)
		error = DIST_ERR_NO_MEMORY;
	place = find_end(trace, to_ns);
	while (!error && place.at_ns > from_ns)
		error = step_back(&s, &place);
	reverse(path);
	free(s.ended);
	free(s.met);
	return error;
}

void dist__path_release(struct dist__path *path)
{
	free(path->legs);
	*path = (struct dist__path){.num_legs = 0};
}
