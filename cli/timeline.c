#include "cli/timeline.h"

#include <stdio.h>
#include <string.h>

#include "cli/columns.h"
#include "trace/output.h"

struct timeline {
	const struct timeline_window *window;
	struct dist__output *output;
	int64_t gap_ns; /* shorter pauses are not seen */
	size_t num_bars;
};

static bool is_in(const struct timeline *timeline, int rank, int64_t started_ns,
		  int64_t ended_ns)
{
	const struct timeline_window *window = timeline->window;

	return rank >= window->first_rank && rank <= window->last_rank &&
	       ended_ns > window->from_ns && started_ns < window->to_ns;
}

/* A tab or a line's end within a label would break the table. */
static void clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			*text = ' ';
}

static void write_bar(struct timeline *timeline, int rank, const char *track,
		      int64_t started_ns, int64_t ended_ns, const char *words)
{
	const struct timeline_window *window = timeline->window;
	char label[64];

	if (!is_in(timeline, rank, started_ns, ended_ns))
		return;
	if (started_ns < window->from_ns)
		started_ns = window->from_ns;
	if (ended_ns > window->to_ns)
		ended_ns = window->to_ns;
	snprintf(label, sizeof(label), "%s", words);
	clean(label);
	dist__output_print(timeline->output, "%d\t%s\t%.6f\t%.6f\t%s\n", rank,
			   track, (double)started_ns / 1e6,
			   (double)ended_ns / 1e6, label);
	timeline->num_bars++;
}

/* Backward is a span for every layer; the eye wants one bar. */
static void write_spans(struct timeline *timeline,
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
		write_bar(timeline, first->rank, "compute", first->started_ns,
			  ended_ns, first->label);
	}
}

static void describe(const struct dist__trace_call *call, char *text,
		     size_t size)
{
	char bytes[24];

	columns_bytes_text(bytes, sizeof(bytes), call->bytes);
	snprintf(text, size, "%s%s%s", call->op, call->bytes ? " " : "",
		 call->bytes ? bytes : "");
}

static void write_calls(struct timeline *timeline,
			const struct dist__trace *trace)
{
	char text[64];

	for (size_t i = 0; i < trace->num_calls; i++) {
		const struct dist__trace_call *call = &trace->calls[i];

		describe(call, text, sizeof(text));
		write_bar(timeline, call->rank,
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
	struct timeline timeline = {.window = window};
	int64_t to_ns = end_of(trace);
	enum dist_error error;

	if (to_ns > window->to_ns)
		to_ns = window->to_ns;
	/* A thousandth of the width: a pixel or so. */
	timeline.gap_ns = (to_ns - window->from_ns) / 1000;
	error = dist__output_open(path, &timeline.output, message);
	if (error)
		return error;
	dist__output_text(timeline.output,
			  "rank\ttrack\tstart_ms\tend_ms\tlabel\n");
	write_spans(&timeline, trace);
	write_calls(&timeline, trace);
	if (timeline.num_bars == 0) {
		dist__output_abandon(timeline.output);
		snprintf(message->text, sizeof(message->text),
			 "%s: nothing happens in what was chosen", trace->path);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	return dist__output_close(timeline.output, message);
}
