/*
 * compare.c - lockstep compare: a predicted trace held against a measured one.
 */
#include "cli/command.h"

#include <jansson.h>
#include <math.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/comparison.h"
#include "cli/plot.h"
#include "scenarios/arguments.h"
#include "trace/compare.h"
#include "trace/read.h"

/* What the command line says; strings are popt's, NULL when not given. */
struct request {
	const char *predicted;
	const char *measured;
	char *max_error;
	char *tsv;
	char *plot;
	int json;
	int calls;
	double max_error_fraction; /* < 0: none */
};

/* "10%" or "10": percent both. */
static int parse_max_error(struct request *request)
{
	const char *words = request->max_error;
	char *end;
	double percent;

	request->max_error_fraction = -1;
	if (!words)
		return DIST_EXIT_OK;
	percent = strtod(words, &end);
	if (end == words || (*end && strcmp(end, "%") != 0) ||
	    !isfinite(percent) || percent < 0) {
		fprintf(stderr,
			"lockstep compare: --max-error: a percentage from 0 "
			"on, as 10%%, not \"%s\"\n",
			words);
		return DIST_EXIT_USAGE;
	}
	request->max_error_fraction = percent / 100;
	return DIST_EXIT_OK;
}

static int parse(poptContext context, struct request *request)
{
	int rc = poptGetNextOpt(context);

	if (rc < -1) {
		arguments_refuse("lockstep compare", context, rc);
		return DIST_EXIT_USAGE;
	}
	request->predicted = poptGetArg(context);
	request->measured = poptGetArg(context);
	if (!request->measured || poptPeekArg(context)) {
		fputs("lockstep compare: expected two traces, PREDICTED and "
		      "MEASURED; see --help\n",
		      stderr);
		return DIST_EXIT_USAGE;
	}
	if (request->plot && plot_check("lockstep compare", request->plot))
		return DIST_EXIT_USAGE;
	return parse_max_error(request);
}

/* On logarithmic axes a point needs a size and two times. */
static bool has_sizes(const struct dist__comparison *comparison)
{
	for (size_t i = 0; i < comparison->num_rows; i++) {
		const struct dist__compared_row *row = &comparison->rows[i];

		if (row->predicted->bytes > 0 && row->time.predicted_ns > 0 &&
		    row->measured_p25_ns > 0)
			return true;
	}
	return false;
}

static int write_tables(const struct request *request,
			const struct comparison_story *story)
{
	char beside[4096], title[512];
	const char *tsv = request->tsv;
	struct dist_message message;

	if (request->plot && !tsv) {
		plot_data_path(request->plot, beside, sizeof(beside));
		tsv = beside;
	}
	if (tsv && comparison_write_tsv(story, tsv, &message)) {
		fprintf(stderr, "lockstep compare: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	if (!request->plot)
		return DIST_EXIT_OK;
	if (!has_sizes(story->comparison)) {
		fputs("lockstep compare: --plot: no call with a size and a "
		      "time to draw\n",
		      stderr);
		return DIST_EXIT_FAILED;
	}
	plot_title("Predicted and measured", story->predicted, title,
		   sizeof(title));
	return plot_draw("lockstep compare", "predicted_measured.gp", tsv,
			 request->plot, title);
}

static int print_json(const struct comparison_story *story)
{
	json_t *object = comparison_json(story);
	int status =
		object ? json_dumpf(object, stdout,
				    JSON_INDENT(2) | JSON_REAL_PRECISION(9))
		       : -1;

	if (object)
		fputc('\n', stdout);
	json_decref(object);
	return status;
}

static int tell(const struct request *request,
		const struct comparison_story *story)
{
	int status = request->json ? print_json(story)
				   : comparison_print(story, stdout);

	if (status != 0) {
		fputs("lockstep compare: out of memory\n", stderr);
		return DIST_EXIT_INTERNAL;
	}
	if (story->comparison->comparable) {
		status = write_tables(request, story);
		if (status)
			return status;
	}
	return comparison_passes(story) ? DIST_EXIT_OK : DIST_EXIT_FAILED;
}

static int compare(const struct request *request)
{
	struct dist__trace predicted, measured;
	struct dist__comparison comparison;
	struct dist_message message;
	struct comparison_story story = {&predicted, &measured, &comparison,
					 request->calls != 0,
					 request->max_error_fraction};
	int status = DIST_EXIT_INTERNAL;

	if (dist__trace_read(request->predicted, &predicted, &message)) {
		fprintf(stderr, "lockstep compare: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	if (dist__trace_read(request->measured, &measured, &message)) {
		fprintf(stderr, "lockstep compare: %s\n", message.text);
		dist__trace_release(&predicted);
		return DIST_EXIT_USAGE;
	}
	if (dist__compare(&predicted, &measured, &comparison)) {
		fputs("lockstep compare: out of memory\n", stderr);
	} else {
		status = tell(request, &story);
		dist__comparison_release(&comparison);
	}
	dist__trace_release(&predicted);
	dist__trace_release(&measured);
	return status;
}

int command_compare(int argc, const char **argv)
{
	struct request request = {0};
	struct poptOption options[] = {
		{"max-error", '\0', POPT_ARG_STRING, &request.max_error, 0,
		 "exit 1 when a row's error is larger", "PERCENT"},
		{"calls", '\0', POPT_ARG_NONE, &request.calls, 0,
		 "one line for each call, too", NULL},
		{"json", '\0', POPT_ARG_NONE, &request.json, 0,
		 "print JSON instead of tables", NULL},
		{"tsv", '\0', POPT_ARG_STRING, &request.tsv, 0,
		 "write the rows for plots", "FILE"},
		{"plot", '\0', POPT_ARG_STRING, &request.plot, 0,
		 "draw time against size; the data goes beside it",
		 "FILE.svg|FILE.png"},
		POPT_AUTOHELP POPT_TABLEEND};
	poptContext context = poptGetContext(argv[0], argc, argv, options, 0);
	int status;

	poptSetOtherOptionHelp(
		context,
		"[OPTION...] PREDICTED MEASURED\n\n"
		"Checks that both traces hold the same calls in the same "
		"order, then compares the times.\nExit status: 0 fine, 1 not "
		"comparable or an error above --max-error, 2 bad input.\n\n"
		"Example: lockstep compare sim.json.gz tcp.json.gz "
		"--max-error 10%\n");
	status = parse(context, &request);
	if (!status)
		status = compare(&request);
	free(request.max_error);
	free(request.tsv);
	free(request.plot);
	poptFreeContext(context);
	return status;
}
