/* trace.c - lockstep trace: show what a trace holds, draw its timeline, tell
 * what its end depended on. */
#include "cli/command.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/critical.h"
#include "cli/plot.h"
#include "cli/refuse.h"
#include "cli/table_option.h"
#include "cli/tracetable.h"
#include "trace/read.h"
#include "trace/trace.h"
#include "base/refuse.h"
#include "base/rows.h"

/* ---- timeline ---------------------------------------------------------- */

/* Which part of a trace is drawn. */
struct timeline_window {
	int first_rank;
	int last_rank;
	int64_t from_ns;
	int64_t to_ns;
};

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

/*
 * timeline_write_tsv writes the bars to path, with the columns of
 * plots/gantt.gp. Adjacent compute spans of one label become one bar. Errors:
 * IO, NO_MEMORY; INVALID_ARGUMENT (the window is empty: nothing is written).
 */
static enum dist_error timeline_write_tsv(const struct dist__trace *trace,
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
				    "%s: no events of these ranks in this time",
				    trace->path);
	return dist__rows_write(&timeline.bars, NULL, path, message);
}

/* More ranks than this make bars too thin to be read. */
#define MOST_DRAWN_RANKS 32

struct verb;

/* What the command line says. */
struct request {
	const struct verb *verb;
	const char *file;
	const char *output;
	struct table_options form;
	const char *ranks;
	double from_ms;
	double to_ms; /* < 0: to the end */
	int calls;
};

#define AT(field) offsetof(struct request, field)

static const struct option options[] = {
	{"calls", OPTION_SWITCH, AT(calls), NULL,
	 .help = "show: list every call"},
	{"output", OPTION_TEXT, AT(output), "FILE.svg|FILE.png",
	 .help = "gantt: file to draw; the data is written beside it",
	 .letter = 'o'},
	{"ranks", OPTION_TEXT, AT(ranks), "FIRST-LAST",
	 .help = "gantt: only these ranks"},
	{"from", OPTION_NUMBER, AT(from_ms), "MS",
	 .help = "gantt, path: begin at this time", .max = 1e12},
	{"to", OPTION_NUMBER, AT(to_ms), "MS",
	 .help = "gantt, path: end at this time", .max = 1e12},
	{.name = NULL}};

const struct manual manual_trace = {
	.usage = "show|gantt|path [OPTION...] TRACE",
	.about = "Shows a trace: its calls, its timeline, or its critical "
		 "path. TRACE: a file of Lockstep or "
		 "torch.profiler, or a folder of the latter's, one a rank. The "
		 "rows of --tsv are calls (show), bars (gantt), legs (path).",
	.examples = {"lockstep trace gantt --ranks 0-7 -o step.svg "
		     "sim.json.gz"},
	.choices = "show|gantt|path",
	.groups = GROUPS({.options = options},
			 {"Tables", form_options, AT(form)}),
	.most_words = ANY_WORDS};

/* ---- show ------------------------------------------------------------- */

/* To the file of --tsv; frees the table. */
static int write_rows(const struct request *request, struct dist__rows table)
{
	struct dist_message message;
	int status = DIST_EXIT_OK;

	if (dist__rows_write(&table, NULL, request->form.tsv, &message))
		status = refuse("trace", "%s", message.text);
	return status;
}

static int show(const struct request *request, const struct dist__trace *trace)
{
	if (trace_table_print(trace, request->calls != 0,
			      table_options_form(&request->form), stdout))
		return out_of_memory("trace");
	return request->form.tsv ? write_rows(request, trace_calls(trace))
				 : DIST_EXIT_OK;
}

/* ---- gantt ------------------------------------------------------------ */

/* "3" or "0-7". */
static int parse_ranks(const char *words, struct timeline_window *window)
{
	const char *dash = strchr(words, '-');
	int64_t first, last;
	char text[32];

	snprintf(text, sizeof text, "%.*s",
		 (int)(dash ? dash - words : (long)strlen(words)), words);
	if (!dist__count_read(text, 0, INT_MAX, &first) ||
	    !dist__count_read(dash ? dash + 1 : text, first, INT_MAX, &last))
		return refuse("trace",
			      "--ranks: expected a rank or a range of ranks, "
			      "as 0-7, not \"%s\"",
			      words);
	window->first_rank = (int)first;
	window->last_rank = (int)last;
	return DIST_EXIT_OK;
}

static int choose_times(const struct request *request, int64_t *from_ns,
			int64_t *to_ns)
{
	*from_ns = llround(request->from_ms * 1e6);
	*to_ns = INT64_MAX;
	if (request->to_ms >= 0 && request->to_ms <= request->from_ms)
		return refuse("trace", "--from, --to: expected times of the "
				       "trace in ms, the second after the "
				       "first");
	if (request->to_ms >= 0)
		*to_ns = llround(request->to_ms * 1e6);
	return DIST_EXIT_OK;
}

static int choose_window(const struct request *request,
			 const struct dist__trace *trace,
			 struct timeline_window *window)
{
	int status = choose_times(request, &window->from_ns, &window->to_ns);

	window->first_rank = 0;
	window->last_rank = INT_MAX;
	if (status)
		return status;
	if (request->ranks)
		return parse_ranks(request->ranks, window);
	if (trace->num_ranks > MOST_DRAWN_RANKS) {
		window->last_rank = trace->ranks[MOST_DRAWN_RANKS - 1];
		fprintf(stderr,
			"lockstep trace: drawing ranks up to %d of %zu; see "
			"--ranks\n",
			window->last_rank, trace->num_ranks);
	}
	return DIST_EXIT_OK;
}

static int gantt(const struct request *request, const struct dist__trace *trace)
{
	char beside[PLOT_PATH], title[512];
	const char *tsv = plot_data(request->form.tsv, request->output, beside);
	struct timeline_window window;
	struct dist_message message;
	int status = choose_window(request, trace, &window);

	if (status)
		return status;
	if (!tsv)
		return refuse("trace", "gantt: expected -o FILE.svg, -o "
				       "FILE.png or --tsv FILE");
	if (timeline_write_tsv(trace, &window, tsv, &message))
		return refuse("trace", "%s", message.text);
	if (!request->output)
		return DIST_EXIT_OK;
	plot_title("Timeline", trace, title, sizeof title);
	return plot_draw("lockstep trace", "gantt.gp", tsv, request->output,
			 title);
}

/* ---- path ------------------------------------------------------------- */

/* Times are those of the trace, as show and gantt give them. */
static int print_path(const struct request *request,
		      const struct dist__path *path)
{
	enum dist__form form = table_options_form(&request->form);

	if (form == FORM_JSON)
		return dist__json_print(critical_json(path, 0), stdout);
	return critical_print(path, 0, form, stdout);
}

static int path(const struct request *request, const struct dist__trace *trace)
{
	struct dist__path found;
	int64_t from_ns, to_ns;
	int status = choose_times(request, &from_ns, &to_ns);

	if (status)
		return status;
	if (dist__path_find(trace, from_ns, to_ns, &found) ||
	    print_path(request, &found))
		status = out_of_memory("trace");
	else if (request->form.tsv)
		status = write_rows(request, critical_legs(&found, 0));
	dist__path_release(&found);
	return status;
}

/* ---- the command ------------------------------------------------------ */

/* What may be done with a trace. */
static const struct verb {
	const char *name;
	int (*run)(const struct request *request,
		   const struct dist__trace *trace);
} verbs[] = {{"show", show}, {"gantt", gantt}, {"path", path}};

/* Refuses what the verb has no use for. */
static int check_options(const struct request *request)
{
	const struct {
		bool given;
		const char *option, *verbs;
	} options_of[] = {
		{request->calls, "--calls", "show"},
		{request->output, "-o", "gantt"},
		{request->ranks, "--ranks", "gantt"},
		{request->from_ms != 0, "--from", "gantt or path"},
		{request->to_ms >= 0, "--to", "gantt or path"},
		{request->form.json, "--json", "show or path"},
		{request->form.markdown, "--markdown", "show or path"},
	};

	for (size_t i = 0; i < sizeof options_of / sizeof *options_of; i++)
		if (options_of[i].given &&
		    !strstr(options_of[i].verbs, request->verb->name))
			return refuse("trace", "%s: %s: expected with %s",
				      request->verb->name, options_of[i].option,
				      options_of[i].verbs);
	return DIST_EXIT_OK;
}

/* Reads the two words: what to do, and with which trace. */
static int take_words(struct request *request, int argc, const char **argv)
{
	request->verb = DIST__NAMED(verbs, argv[1]);
	if (!request->verb)
		return refuse("trace",
			      "expected show, gantt or path, not \"%s\"",
			      argv[1]);
	if (argc != 3)
		return refuse("trace", "%s: expected one trace",
			      request->verb->name);
	request->file = argv[2];
	return request->output ? plot_check("trace", "output", request->output)
			       : DIST_EXIT_OK;
}

static int run(const struct request *request)
{
	struct dist__trace trace;
	struct dist_message message;
	int status;

	if (dist__trace_read(request->file, &trace, &message))
		return refuse("trace", "%s", message.text);
	status = request->verb->run(request, &trace);
	dist__trace_release(&trace);
	return status;
}

int command_trace(int argc, const char **argv)
{
	struct request request = {.to_ms = -1};
	int status;

	if (!arguments_parse(&manual_trace, &argc, argv, &request, &status))
		return status;
	status = take_words(&request, argc, argv);
	if (!status)
		status = check_options(&request);
	return status ? status : run(&request);
}
