/* validate.c - lockstep validate: predictions held against what others
 * measured. */
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "cli/log_arguments.h"
#include "cli/plot.h"
#include "cli/validate.h"
#include "lockstep/dist.h"
#include "scenarios/arguments.h"

/* The command line; strings are popt's, NULL when not given. */
struct command_line {
	char *tsv;
	char *plot;
	char *plot_errors;
	char *max_error;
	struct log_arguments log;
	int calibrate;
	int json;
	int markdown;
};

static int refuse(const char *what)
{
	fprintf(stderr, "lockstep validate: %s\n", what);
	return DIST_EXIT_USAGE;
}

/* "10%" or "10": percent both. Stores the fraction; INFINITY: no bound. */
static int read_max_error(const char *words, double *fraction)
{
	double percent;
	char *end;

	*fraction = INFINITY;
	if (!words)
		return DIST_EXIT_OK;
	percent = strtod(words, &end);
	if (end == words || (*end && strcmp(end, "%") != 0) ||
	    !isfinite(percent) || percent < 0)
		return refuse("--max-error: expected a percentage of 0 or "
			      "more, as 10%");
	*fraction = percent / 100;
	return DIST_EXIT_OK;
}

/* Writes the rows, where the user says or else beside the first picture, and
 * draws them. */
static int draw(const struct validate *validate,
		const struct command_line *line)
{
	const char *picture = line->plot ? line->plot : line->plot_errors;
	struct dist_message message;
	const char *tsv = line->tsv;
	int status = DIST_EXIT_OK;
	char beside[4096];

	if (!tsv && picture) {
		plot_data_path(picture, beside, sizeof(beside));
		tsv = beside;
	}
	if (tsv && validate_write_tsv(validate, tsv, &message))
		return refuse(message.text);
	if (line->plot)
		status = plot_draw("lockstep validate", "validation.gp", tsv,
				   line->plot, "Predicted and measured");
	if (!status && line->plot_errors)
		status = plot_draw("lockstep validate", "validation_errors.gp",
				   tsv, line->plot_errors,
				   "How far off predictions are");
	return status;
}

static int show(const struct validate *validate,
		const struct command_line *line, double most)
{
	struct validate_summary summary;
	int failed = draw(validate, line);

	if (failed)
		return failed;
	failed = line->json ? validate_print_json(validate, stdout)
			    : validate_print(validate, line->markdown, stdout);
	if (failed || validate_summarize(validate, &summary)) {
		fputs("lockstep validate: out of memory\n", stderr);
		return DIST_EXIT_INTERNAL;
	}
	return summary.ranges[ACCURACY_ALL].worst > most ||
			       summary.worst_steps > most
		       ? DIST_EXIT_FAILED
		       : DIST_EXIT_OK;
}

/* What is said of logs goes with logs. */
static int check_log(const struct command_line *line, size_t names)
{
	bool is_log = log_arguments_are_more(&line->log) || line->calibrate;
	const char *fault = log_arguments_fault(&line->log);

	if (is_log && !line->log.machine)
		return refuse("--transport, --collective, --nodes, --ranks and "
			      "--calibrate: expected with --machine, of a log");
	if (line->log.machine && names == 0)
		return refuse("--machine: expected a log of nccl-tests");
	return fault ? refuse(fault) : DIST_EXIT_OK;
}

static int check(const struct command_line *line, size_t names, double *most)
{
	if (read_max_error(line->max_error, most) ||
	    (line->plot && plot_check("lockstep validate", line->plot)) ||
	    (line->plot_errors &&
	     plot_check("lockstep validate", line->plot_errors)))
		return DIST_EXIT_USAGE;
	return check_log(line, names);
}

static int validate(poptContext context, const struct command_line *line)
{
	int rc = poptGetNextOpt(context);
	struct validate_request request = {
		.facts = log_arguments_facts(&line->log, "nccl"),
		.calibrate = line->calibrate,
	};
	struct validate made;
	double most;
	int status;

	if (rc < -1) {
		arguments_refuse("lockstep validate", context, rc);
		return DIST_EXIT_USAGE;
	}
	request.names = poptGetArgs(context);
	while (request.names && request.names[request.num])
		request.num++;
	status = check(line, request.num, &most);
	if (status)
		return status;
	status = validate_make(&made, &request);
	if (!status)
		status = show(&made, line, most);
	validate_release(&made);
	return status;
}

int command_validate(int argc, const char **argv)
{
	struct command_line line = {.json = 0};
	struct poptOption log[LOG_ARGUMENTS_TABLE];
	const struct poptOption options[] = {
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, log, 0, NULL, NULL},
		{"calibrate", '\0', POPT_ARG_NONE, &line.calibrate, 0,
		 "take the log's own third smallest and largest size for "
		 "calibration",
		 NULL},
		{"max-error", '\0', POPT_ARG_STRING, &line.max_error, 0,
		 "exit 1 when the median error of a table or schedule is "
		 "larger",
		 "PERCENT"},
		{"json", '\0', POPT_ARG_NONE, &line.json, 0,
		 "print JSON instead of tables", NULL},
		{"markdown", '\0', POPT_ARG_NONE, &line.markdown, 0,
		 "print the tables as Markdown", NULL},
		{"tsv", '\0', POPT_ARG_STRING, &line.tsv, 0,
		 "write every row that was predicted, for plots", "FILE"},
		{"plot", '\0', POPT_ARG_STRING, &line.plot, 0,
		 "draw predicted against measured times, by library",
		 "FILE.svg|FILE.png"},
		{"plot-errors", '\0', POPT_ARG_STRING, &line.plot_errors, 0,
		 "draw their ratio against the size, by table",
		 "FILE.svg|FILE.png"},
		POPT_AUTOHELP POPT_TABLEEND};
	poptContext context;
	int status;

	log_arguments_init(&line.log, log);
	context = poptGetContext(argv[0], argc, argv, options, 0);
	poptSetOtherOptionHelp(
		context,
		"[OPTION...] [TABLE...]\n\n"
		"Predicts what others measured, from the descriptions of their "
		"machines and the rows\ndeclared as calibration, and says how "
		"far off that is. TABLE: a name of lockstep list\nmeasured, or "
		"a file of that form (default: all that come with Lockstep).\n"
		"\nExample: lockstep validate nccl-aws-p5-2x8\n"
		"         lockstep validate --machine aws-p5 --transport efa "
		"all_reduce.log\n");
	status = validate(context, &line);
	log_arguments_release(&line.log);
	free(line.tsv);
	free(line.plot);
	free(line.plot_errors);
	free(line.max_error);
	poptFreeContext(context);
	return status;
}
