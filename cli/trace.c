/* trace.c - lockstep trace: show what a trace holds, draw its timeline, tell
 * what its end depended on. */
#include "cli/command.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/critical.h"
#include "cli/plot.h"
#include "cli/timeline.h"
#include "cli/tracetable.h"
#include "scenarios/arguments.h"
#include "trace/read.h"

#define PATH_SIZE 4096

/* More ranks than this make bars too thin to be read. */
#define MOST_DRAWN_RANKS 32

struct verb;

/* What the command line says; strings are popt's, NULL when not given. */
struct request {
	const struct verb *verb;
	const char *file;
	char *output;
	char *tsv;
	char *ranks;
	double from_ms;
	double to_ms; /* < 0: to the end */
	int calls;
	int json;
};

static int refuse(const char *option, const char *value, const char *expected)
{
	fprintf(stderr, "lockstep trace: %s: %s, not \"%s\"\n", option,
		expected, value);
	return DIST_EXIT_USAGE;
}

/* ---- show ------------------------------------------------------------- */

static int show(const struct request *request, const struct dist__trace *trace)
{
	int status;

	if (request->json)
		status = trace_table_json(trace, request->calls != 0, stdout);
	else
		status = trace_table_print(trace, request->calls != 0, stdout);
	if (status == 0)
		return DIST_EXIT_OK;
	fputs("lockstep trace: out of memory\n", stderr);
	return DIST_EXIT_INTERNAL;
}

/* ---- gantt ------------------------------------------------------------ */

/* "3" or "0-7". */
static int parse_ranks(const char *words, struct timeline_window *window)
{
	char *end;
	long first, last;

	errno = 0;
	first = last = strtol(words, &end, 10);
	if (end != words && *end == '-') {
		words = end + 1;
		last = strtol(words, &end, 10);
	}
	if (errno || end == words || *end || first < 0 || last < first ||
	    last > INT_MAX)
		return refuse("--ranks", words,
			      "a rank or a range of ranks, as 0-7");
	window->first_rank = (int)first;
	window->last_rank = (int)last;
	return DIST_EXIT_OK;
}

static int choose_times(const struct request *request, int64_t *from_ns,
			int64_t *to_ns)
{
	*to_ns = INT64_MAX;
	if (!(request->from_ms >= 0 && request->from_ms < 1e12) ||
	    !(request->to_ms < 1e12) ||
	    (request->to_ms >= 0 && request->to_ms <= request->from_ms)) {
		fputs("lockstep trace: --from, --to: expected times of the "
		      "trace in ms, the second after the first\n",
		      stderr);
		return DIST_EXIT_USAGE;
	}
	*from_ns = llround(request->from_ms * 1e6);
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
	const char *tsv = request->tsv;
	char beside[PATH_SIZE], title[512];
	struct timeline_window window;
	struct dist_message message;
	int status = choose_window(request, trace, &window);

	if (status)
		return status;
	if (!tsv && request->output) {
		plot_data_path(request->output, beside, sizeof(beside));
		tsv = beside;
	}
	if (!tsv) {
		fputs("lockstep trace: gantt: expected -o FILE.svg, -o "
		      "FILE.png or --tsv FILE\n",
		      stderr);
		return DIST_EXIT_USAGE;
	}
	if (timeline_write_tsv(trace, &window, tsv, &message)) {
		fprintf(stderr, "lockstep trace: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	if (!request->output)
		return DIST_EXIT_OK;
	plot_title("Timeline", trace, title, sizeof(title));
	return plot_draw("lockstep trace", "gantt.gp", tsv, request->output,
			 title);
}

/* ---- path ------------------------------------------------------------- */

/* Times are those of the trace, as show and gantt give them. */
static int print_path(const struct request *request,
		      const struct dist__path *path)
{
	json_t *all;
	int status;

	if (!request->json)
		return critical_print(path, 0, stdout);
	all = critical_json(path, 0);
	status = all ? json_dumpf(all, stdout,
				  JSON_INDENT(2) | JSON_REAL_PRECISION(9))
		     : -1;
	json_decref(all);
	putchar('\n');
	return status;
}

static int path(const struct request *request, const struct dist__trace *trace)
{
	struct dist__path found;
	int64_t from_ns, to_ns;
	int status = choose_times(request, &from_ns, &to_ns);

	if (status)
		return status;
	if (dist__path_find(trace, from_ns, to_ns, &found) ||
	    print_path(request, &found)) {
		fputs("lockstep trace: out of memory\n", stderr);
		status = DIST_EXIT_INTERNAL;
	}
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

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; name && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static int parse(poptContext context, struct request *request)
{
	int rc = poptGetNextOpt(context);

	if (rc < -1) {
		arguments_refuse("lockstep trace", context, rc);
		return DIST_EXIT_USAGE;
	}
	request->verb = find_verb(poptGetArg(context));
	request->file = poptGetArg(context);
	if (!request->verb) {
		fputs("lockstep trace: expected show, gantt or path; see "
		      "--help\n",
		      stderr);
		return DIST_EXIT_USAGE;
	}
	if (!request->file || poptPeekArg(context)) {
		fprintf(stderr, "lockstep trace: %s: expected one trace\n",
			request->verb->name);
		return DIST_EXIT_USAGE;
	}
	return request->output ? plot_check("lockstep trace", request->output)
			       : DIST_EXIT_OK;
}

static int run(const struct request *request)
{
	struct dist__trace trace;
	struct dist_message message;
	int status;

	if (dist__trace_read(request->file, &trace, &message)) {
		fprintf(stderr, "lockstep trace: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	status = request->verb->run(request, &trace);
	dist__trace_release(&trace);
	return status;
}

int command_trace(int argc, const char **argv)
{
	struct request request = {.to_ms = -1};
	struct poptOption options[] = {
		{"calls", '\0', POPT_ARG_NONE, &request.calls, 0,
		 "show: list every call", NULL},
		{"json", '\0', POPT_ARG_NONE, &request.json, 0,
		 "show, path: print JSON instead of tables", NULL},
		{"output", 'o', POPT_ARG_STRING, &request.output, 0,
		 "gantt: draw this; the data goes beside it",
		 "FILE.svg|FILE.png"},
		{"tsv", '\0', POPT_ARG_STRING, &request.tsv, 0,
		 "gantt: write the bars for plots", "FILE"},
		{"ranks", '\0', POPT_ARG_STRING, &request.ranks, 0,
		 "gantt: only these", "FIRST-LAST"},
		{"from", '\0', POPT_ARG_DOUBLE, &request.from_ms, 0,
		 "gantt, path: only from this time on", "MS"},
		{"to", '\0', POPT_ARG_DOUBLE, &request.to_ms, 0,
		 "gantt, path: only up to this time", "MS"},
		POPT_AUTOHELP POPT_TABLEEND};
	poptContext context = poptGetContext(argv[0], argc, argv, options, 0);
	int status;

	poptSetOtherOptionHelp(
		context,
		"show|gantt|path [OPTION...] TRACE\n\n"
		"Example: lockstep trace gantt --ranks 0-7 -o step.svg "
		"sim.json.gz\n");
	status = parse(context, &request);
	if (!status)
		status = run(&request);
	free(request.output);
	free(request.tsv);
	free(request.ranks);
	poptFreeContext(context);
	return status;
}
