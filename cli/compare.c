/*
 * compare.c - lockstep compare: a predicted trace held against a measured one.
 */
#include "cli/command.h"

#include <stdio.h>

#include "cli/comparison.h"
#include "cli/plot.h"
#include "cli/refuse.h"
#include "cli/table_option.h"
#include "trace/compare.h"
#include "trace/read.h"

/* What the command line says. */
struct request {
	const char *predicted;
	const char *measured;
	struct table_options form;
	const char *plot;
	int calls;
	double max_error; /* a fraction; < 0: none */
};

#define AT(field) offsetof(struct request, field)

static const struct option options[] = {
	{"max-error", OPTION_PERCENT, AT(max_error), "PERCENT",
	 .help = "exit with 1 if a row's error is larger"},
	{"calls", OPTION_SWITCH, AT(calls), NULL,
	 .help = "also print a line for each call"},
	{"plot", OPTION_TEXT, AT(plot), "FILE.svg|FILE.png",
	 .help = "draw time against size, and write the data beside it"},
	{.name = NULL}};

const struct manual manual_compare = {
	.usage = "[OPTION...] PREDICTED MEASURED",
	.about = "Checks that both traces hold the same calls in the same "
		 "order, then compares the times. Exit status: 0 fine, 1 not "
		 "comparable or an error above --max-error, 2 bad input.",
	.examples =
		{"lockstep compare sim.json.gz tcp.json.gz --max-error 10%"},
	.groups = GROUPS({.options = options},
			 {"Tables", form_options, AT(form)}),
	.least_words = 2,
	.most_words = 2,
	.missing = "expected two traces, PREDICTED and MEASURED; see --help"};

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
			const struct comparison_story *document)
{
	char beside[PLOT_PATH], title[512];
	const char *tsv = plot_data(request->form.tsv, request->plot, beside);
	struct dist_message message;

	if (tsv && comparison_write_tsv(document, tsv, &message)) {
		return refuse("compare", "%s", message.text);
	}
	if (!request->plot)
		return DIST_EXIT_OK;
	if (!has_sizes(document->comparison)) {
		(void)refuse("compare",
			     "--plot: no call with a size and a time to draw");
		return DIST_EXIT_FAILED;
	}
	plot_title("Predicted and measured", document->predicted, title,
		   sizeof title);
	return plot_draw("lockstep compare", "predicted_measured.gp", tsv,
			 request->plot, title);
}

static int tell(const struct request *request,
		const struct comparison_story *document)
{
	int status = comparison_print(
		document, table_options_form(&request->form), stdout);

	if (status != 0) {
		return out_of_memory("compare");
	}
	if (document->comparison->comparable) {
		status = write_tables(request, document);
		if (status)
			return status;
	}
	return comparison_passes(document) ? DIST_EXIT_OK : DIST_EXIT_FAILED;
}

static int compare(const struct request *request)
{
	struct dist__trace predicted, measured;
	struct dist__comparison comparison;
	struct dist_message message;
	struct comparison_story document = {&predicted, &measured, &comparison,
					    request->calls != 0,
					    request->max_error};
	int status;

	if (dist__trace_read(request->predicted, &predicted, &message)) {
		return refuse("compare", "%s", message.text);
	}
	if (dist__trace_read(request->measured, &measured, &message)) {
		dist__trace_release(&predicted);
		return refuse("compare", "%s", message.text);
	}
	if (dist__compare(&predicted, &measured, &comparison)) {
		status = out_of_memory("compare");
	} else {
		status = tell(request, &document);
		dist__comparison_release(&comparison);
	}
	dist__trace_release(&predicted);
	dist__trace_release(&measured);
	return status;
}

int command_compare(int argc, const char **argv)
{
	struct request request = {.max_error = -1};
	int status;

	if (!arguments_parse(&manual_compare, &argc, argv, &request, &status))
		return status;
	request.predicted = argv[1];
	request.measured = argv[2];
	if (request.plot && plot_check("compare", "plot", request.plot))
		return DIST_EXIT_USAGE;
	return compare(&request);
}
