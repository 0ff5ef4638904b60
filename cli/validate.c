/* validate.c - lockstep validate: predictions held against what others
 * measured. */
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>

#include "cli/log_arguments.h"
#include "cli/plot.h"
#include "cli/refuse.h"
#include "cli/table_option.h"
#include "cli/validate.h"
#include "lockstep/dist.h"
#include "model/validation/interval.h"

/* The command line. */
struct command_line {
	struct table_options form;
	const char *plot;
	const char *plot_errors;
	double max_error; /* a fraction; INFINITY: none */
	struct log_arguments log;
	int calibrate;
	int uncalibrated;
	int blind;
	const char *errors;
	int llm;
	int refit;
	int plan;
};

#define AT(field) offsetof(struct command_line, field)

static const struct option options[] = {
	{"blind", OPTION_SWITCH, AT(blind), NULL,
	 .help = "also predict each table with constants fitted without its "
		 "machine, and without its kind of network"},
	{"write-errors", OPTION_TEXT, AT(errors), "FILE.tsv",
	 .help = "with --blind: write the blind errors by like cases, from "
		 "which intervals around predictions are made"},
	{"calibrate", OPTION_SWITCH, AT(calibrate), NULL,
	 .help = "calibrate with the log's third smallest and its largest "
		 "size"},
	{"uncalibrated", OPTION_SWITCH, AT(uncalibrated), NULL,
	 .help = "use only the library's profile, not the constants in "
		 "machines' files"},
	{"llm", OPTION_SWITCH, AT(llm), NULL,
	 .help = "predict measured steps of language models; TABLE is a source "
		 "of them"},
	{"refit", OPTION_SWITCH, AT(refit), NULL,
	 .help = "with --llm, fit the constants to these rows first"},
	{"plan", OPTION_SWITCH, AT(plan), NULL,
	 .help = "with --llm, also search like lockstep plan where a best "
		 "layout is published, and print its rank"},
	{"max-error", OPTION_PERCENT, AT(max_error), "PERCENT",
	 .help = "exit with 1 if the median error of a table or schedule is "
		 "larger"},
	{"plot", OPTION_TEXT, AT(plot), "FILE.svg|FILE.png",
	 .help = "draw predicted against measured times, by library"},
	{"plot-errors", OPTION_TEXT, AT(plot_errors), "FILE.svg|FILE.png",
	 .help = "draw the ratio against the size, by table"},
	{.name = NULL}};

const struct manual manual_validate = {
	.usage = "[OPTION...] [TABLE...]",
	.about = "Predicts published measurements from a description of each "
		 "machine and the rows declared as calibration, and prints the "
		 "errors. TABLE: a name of lockstep list measured, unseen "
		 "(tables "
		 "to which no constant is fitted), a file of that form, or "
		 "with --machine a log, a profile of torch.profiler or a "
		 "folder of them, one a rank (default: all tables that come "
		 "with Lockstep but the unseen).",
	.examples = {"lockstep validate nccl-aws-p5-2x8",
		     "lockstep validate --machine aws-p5 --transport efa "
		     "all_reduce.log"},
	.choices = "measured",
	.groups =
		GROUPS({.options = options}, {"Tables", form_options, AT(form)},
		       {"Of a log of nccl-tests or lockstep bench", log_options,
			AT(log)}),
	.most_words = ANY_WORDS};

/* ---- what all tables say together --------------------------------------- */

#define IN_TABLE(field) offsetof(struct validate_table, field)

/* Medians over tables, of the errors at offset in them; scratch has room for
 * two numbers a table. */
static struct accuracy middle(const struct validate *validate, size_t offset,
			      double *scratch)
{
	double *medians = scratch, *p90s = scratch + validate->num;
	struct accuracy result;
	size_t num = 0;

	for (size_t i = 0; i < validate->num; i++) {
		const struct accuracy *one =
			(const void *)((const char *)&validate->tables[i] +
				       offset);

		if (!one->num)
			continue;
		medians[num] = one->median;
		p90s[num++] = one->p90;
	}
	result = accuracy_of(medians, num);
	result.p90 = accuracy_of(p90s, num).median;
	return result;
}

static void count(const struct validate_table *table,
		  struct validate_summary *summary)
{
	const struct accuracy *all = &table->ranges[ACCURACY_ALL];

	summary->tables += all->num > 0;
	summary->good += accuracy_is_good(all, false);
	summary->blind_good += accuracy_is_good(&table->blind_errors[0], true);
	for (int s = 0; s < STREAM_SCHEDULES; s++)
		if (table->schedules[s].num &&
		    table->schedules[s].median > summary->worst_steps)
			summary->worst_steps = table->schedules[s].median;
}

/* Returns 0, or -1: no memory. Where no errors are stored nothing is held. */
static int count_held(double held[3])
{
	struct intervals intervals;
	struct dist_message ignored;
	bool failed;

	if (intervals_load(&intervals, &ignored))
		return 0;
	failed = intervals_coverage(&intervals, false, false, &held[0]) ||
		 intervals_coverage(&intervals, false, true, &held[1]) ||
		 intervals_coverage(&intervals, true, false, &held[2]);
	dist__tsv_release(&intervals.tsv);
	return failed ? -1 : 0;
}

static int summarize(const struct validate *validate,
		     struct validate_summary *summary)
{
	double *scratch = calloc(2 * validate->num + 1, sizeof *scratch);

	*summary = (struct validate_summary){.held = {NAN, NAN, NAN}};
	if (!scratch || (validate->is_blind && count_held(summary->held))) {
		free(scratch);
		return -1;
	}
	for (size_t i = 0; i < validate->num; i++)
		count(&validate->tables[i], summary);
	for (size_t r = 0; r < ACCURACY_RANGES; r++)
		summary->ranges[r] =
			middle(validate, IN_TABLE(ranges[r]), scratch);
	for (size_t b = 0; b < VALIDATE_BLIND; b++)
		summary->blind[b] =
			middle(validate, IN_TABLE(blind_errors[b]), scratch);
	summary->fit = middle(validate, IN_TABLE(fit), scratch);
	free(scratch);
	return 0;
}

/* ---- showing it ---------------------------------------------------------- */

/* Writes the rows, where the user says or else beside the first picture, and
 * draws them. */
static int draw(const struct validate *validate,
		const struct command_line *line)
{
	const char *picture = line->plot ? line->plot : line->plot_errors;
	struct dist_message message;
	int status = DIST_EXIT_OK;
	char beside[PLOT_PATH];
	const char *tsv = plot_data(line->form.tsv, picture, beside);

	if (line->errors &&
	    validate_write_errors(validate, line->errors, &message))
		return refuse("validate", "%s", message.text);
	if (tsv && validate_write_tsv(validate, tsv, &message))
		return refuse("validate", "%s", message.text);
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
		const struct command_line *line)
{
	struct validate_summary summary;
	int failed = draw(validate, line);

	if (failed)
		return failed;
	if (summarize(validate, &summary) ||
	    validate_print(validate, &summary, table_options_form(&line->form),
			   stdout))
		return out_of_memory("validate");
	return summary.ranges[ACCURACY_ALL].worst > line->max_error ||
			       summary.worst_steps > line->max_error
		       ? DIST_EXIT_FAILED
		       : DIST_EXIT_OK;
}

/* What is said of logs goes with logs. */
static int check_log(const struct command_line *line, size_t names)
{
	const struct option *fact = option_given(log_options + 1, &line->log);

	if ((fact || line->calibrate) && !line->log.machine)
		return refuse("validate",
			      "--%s: expected with --machine, of a log",
			      fact ? fact->name : "calibrate");
	if (line->errors && !line->blind)
		return refuse("validate",
			      "--write-errors: expected with --blind");
	if (line->blind && line->calibrate)
		return refuse("validate",
			      "--blind and --calibrate: expected one of them");
	if (line->log.machine && names == 0)
		return refuse("validate",
			      "--machine: expected a log of nccl-tests");
	return DIST_EXIT_OK;
}

static int check(const struct command_line *line, size_t names)
{
	if (line->llm && (line->log.machine || line->calibrate ||
			  line->uncalibrated || line->plot_errors))
		return refuse("validate",
			      "--llm: expected without --machine, --calibrate, "
			      "--uncalibrated and --plot-errors");
	if ((line->refit || line->plan) && !line->llm)
		return refuse("validate", "--%s: expected with --llm",
			      line->refit ? "refit" : "plan");
	if ((line->plot && plot_check("validate", "plot", line->plot)) ||
	    (line->plot_errors &&
	     plot_check("validate", "plot-errors", line->plot_errors)))
		return DIST_EXIT_USAGE;
	return check_log(line, names);
}

int command_validate(int argc, const char **argv)
{
	struct command_line line = {.max_error = INFINITY};
	struct validate_request request = {.names = argv + 1};
	struct validate made;
	int status;

	if (!arguments_parse(&manual_validate, &argc, argv, &line, &status))
		return status;
	request.num = (size_t)argc - 1;
	request.facts = log_arguments_facts(&line.log, "nccl");
	request.calibrate = line.calibrate;
	request.blind = line.blind;
	request.constants = line.uncalibrated ? CALIBRATED_NONE
			    : line.calibrate  ? CALIBRATED_ROWS
					      : CALIBRATED_STORED;
	status = check(&line, request.num);
	if (status)
		return status;
	if (line.llm)
		return validate_llm(&(struct validate_llm_request){
			.names = request.names,
			.num = request.num,
			.blind = line.blind,
			.refit = line.refit,
			.plan = line.plan,
			.max_error = line.max_error,
			.form = &line.form,
			.plot = line.plot});
	status = validate_make(&made, &request);
	if (!status)
		status = show(&made, &line);
	validate_release(&made);
	return status;
}
