#include "cli/timeline.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"
#include "base/rows.h"

static const char bar_columns[] = "rank;track;start_ms;end_ms;label";

struct timeline {
	const struct timeline_window *window;
	struct dist__rows bars;
	int64_t gap_ns; /* shorter pauses are not seen */
};

static bool is_in(const struct timeline *timeline, int rank, int64_t started_ns,
		  int64_t ended_ns)
{
	const struct timeline_window *window = timeline->window;

	return rank >= window->first_rank && rank <= window->last_rank &&
	       ended_ns > window->from_ns && started_ns < window->to_ns;
}

static void add_bar(struct timeline *timeline, int rank, const char *track,
		    int64_t started_ns, int64_t ended_ns, const char *label)
{
	const struct timeline_window *window = timeline->window;

	if (!is_in(timeline, rank, started_ns, ended_ns))
		return;
	if (started_ns < window->from_ns)
		started_ns = window->from_ns;
	if (ended_ns > window->to_ns)
		ended_ns = window->to_ns;
	ADD_ROW(&timeline->bars, cell_int(rank), cell_text(track),
		cell_real((double)started_ns / 1e6),
		cell_real((double)ended_ns / 1e6), cell_copy(label));
}

/* Backward is a span for every layer; the eye wants one bar. */
static void add_spans(struct timeline *timeline,
		      const struct dist__trace *trace)
{
	size_t next;

	for (size_t i = 0; i < trace->num_spans; i = next) {
		const struct dist__trace_span *first = &trace->spans[i];
		int64_t ended_ns = first->ended_ns;

		for (next = i + 1; next < trace->num_spans; next++) {
			const struct dist__trace_span *span =
				&trace->spans[next];

			if (span->rank != first->rank ||
			    strcmp(span->label, first->label) != 0 ||
			    span->started_ns - ended_ns > timeline->gap_ns)
				break;
			ended_ns = span->ended_ns;
		}
		add_bar(timeline, first->rank, "compute", first->started_ns,
			ended_ns, first->label);
	}
}

static void add_calls(struct timeline *timeline,
		      const struct dist__trace *trace)
{
	char text[64];

	for (size_t i = 0; i < trace->num_calls; i++) {
		const struct dist__trace_call *call = &trace->calls[i];
		char bytes[24];

		dist__size_text(bytes, sizeof bytes, call->bytes);
		snprintf(text, sizeof text, "%s%s%s", call->op,
			 call->bytes ? " " : "", call->bytes ? bytes : "");
		add_bar(timeline, call->rank,
			dist__trace_is_p2p(call) ? "message" : "collective",
			call->started_ns, call->ended_ns, text);
	}
}

static int64_t end_of(const struct dist__trace *trace)
{
	int64_t end_ns = 0;

	for (size_t i = 0; i < trace->num_calls; i++)
		if (trace->calls[i].ended_ns > end_ns)
			end_ns = trace->calls[i].ended_ns;
	for (size_t i = 0; i < trace->num_spans; i++)
		if (trace->spans[i].ended_ns > end_ns)
			end_ns = trace->spans[i].ended_ns;
	return end_ns;
}

enum dist_error timeline_write_tsv(const struct dist__trace *trace,
				   const struct timeline_window *window,
				   const char *path,
				   struct dist_message *message)
{
	struct timeline timeline = {.window = window,
				    .bars.columns = bar_columns};
	int64_t to_ns = end_of(trace);

	if (to_ns > window->to_ns)
		to_ns = window->to_ns;
	/* A thousandth of the width: a pixel or so. */
	timeline.gap_ns = (to_ns - window->from_ns) / 1000;
	add_spans(&timeline, trace);
	add_calls(&timeline, trace);
	if (timeline.bars.num_rows == 0)
		return dist__refuse(message,
				    "%s: nothing happens in what was chosen",
				    trace->path);
	return dist__rows_write(&timeline.bars, NULL, path, message);
}
