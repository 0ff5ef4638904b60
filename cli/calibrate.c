/* calibrate.c - lockstep calibrate: fit a platform and a profile of here. */
#include "cli/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <time.h>

#include "base/progress.h"
#include "cli/calibrate_log.h"
#include "cli/calibration_measure.h"
#include "cli/log_arguments.h"
#include "cli/option_rows.h"
#include "cli/refuse.h"
#include "cli/table_option.h"
#include "realbackend/launch/launcher.h"
#include "base/data.h"
#include "cli/validate.h"
#include "model/validation/fit.h"

#define PATH_SIZE 4096

/* Whether both say the same, as far as a machine's file shows: seven digits. */
static bool is_same(const struct calibration *a, const struct calibration *b)
{
	struct calibration c = *b;

	if (a->num_constants != b->num_constants ||
	    strcmp(a->from, b->from) != 0)
		return false;
	for (size_t i = 0; i < a->num_constants; i++) {
		const struct calibration_constant *other =
			library_calibration_constant(&c, a->constants[i].name);
		char one[32], two[32];

		if (!other)
			return false;
		snprintf(one, sizeof one, "%.7g", a->constants[i].value);
		snprintf(two, sizeof two, "%.7g", other->value);
		if (strcmp(one, two) != 0)
			return false;
	}
	return true;
}

/* Gives the machine what was fitted: of today, or as it stood. */
static enum dist_error keep(struct machine *machine,
			    const struct calibration *fitted,
			    struct dist_message *message)
{
	const struct calibration *known = library_calibration_find(
		machine->calibrations, machine->num_calibrations,
		fitted->library, fitted->transport);
	struct calibration now = *fitted;
	time_t seconds = time(NULL);
	struct tm day;

	if (known && is_same(known, fitted))
		return DIST_OK;
	strftime(now.date, sizeof now.date, "%Y-%m-%d",
		 gmtime_r(&seconds, &day));
	return fit_keep(machine, &now, message);
}

static enum dist_error write_machine(const struct calibrated_models *models,
				     const char *name, const char *dir,
				     struct dist_message *message)
{
	char path[PATH_SIZE], new_path[PATH_SIZE];
	struct machine machine;
	enum dist_error error = dist__data_find("machines", name, ".yaml", path,
						sizeof path, message);

	if (!error)
		error = machine_load(&machine, path, message);
	for (size_t i = 0; i < models->num && !error; i++) {
		const struct calibrated_model *model = models->all[i];

		if (model->calibration && strcmp(model->key.machine, name) == 0)
			error = keep(&machine, model->calibration, message);
	}
	snprintf(new_path, sizeof new_path, "%s/%s.yaml", dir, name);
	if (!error)
		error = machine_write(&machine, path, new_path, message);
	if (!error)
		printf("wrote %s\n", new_path);
	return error;
}

/* Whether model i is the first of a machine that is asked for and has been
 * calibrated. */
static bool is_first(const struct calibrated_models *models, size_t i,
		     const char *name)
{
	const char *machine = models->all[i]->key.machine;

	if (!models->all[i]->calibration ||
	    (name && strcmp(name, machine) != 0))
		return false;
	while (i-- > 0)
		if (models->all[i]->calibration &&
		    strcmp(models->all[i]->key.machine, machine) == 0)
			return false;
	return true;
}

/*
 * calibrate_machines writes DIR/NAME.yaml of each machine with such rows, or
 * only of the machine `name` (NULL: all): its description with the constants.
 * The date changes only with a constant. Returns one of enum dist_exit; a
 * failure has been reported.
 */
static int calibrate_machines(const char *name, const char *dir)
{
	const struct validate_request request = {.constants = CALIBRATED_ROWS};
	struct dist_message message = {""};
	struct validate validate;
	enum dist_error error = DIST_OK;
	bool any = false;
	int status = validate_make(&validate, &request);
	const struct calibrated_models *models = &validate.models;

	for (size_t i = 0; !status && i < models->num && !error; i++) {
		if (!is_first(models, i, name))
			continue;
		any = true;
		error = write_machine(models, models->all[i]->key.machine, dir,
				      &message);
	}
	if (error)
		status = refuse("calibrate", "%s", message.text);
	else if (!status && !any)
		status = refuse("calibrate",
				"--measured: expected a machine of which "
				"lockstep list measured has rows for "
				"calibration");
	validate_release(&validate);
	return status;
}

/* How often a machine may be too busy, unless an option says. */
#define ATTEMPTS      5
#define MOST_ATTEMPTS 99

/* Ranks of one machine; each takes 32 MiB. */
#define MOST_RANKS 128

/* Ranks when neither the option nor a job says. */
#define DEFAULT_RANKS 4

/* World sizes that are none: not said; said by the environment. */
#define UNKNOWN (-1)
#define OF_JOB  0

/* Hosts of the platform, at least. */
#define LEAST_HOSTS 16

/* Measures until a run is quiet; else the quietest of some must do. The ranks
 * of a job are one run. */
static int measure(const struct calibration_job *job,
		   struct calibration_measures *best)
{
	int attempts = dist__job_is_rank() ? 1 : job->attempts, attempt;
	double best_spread = CALIBRATION_NOISY;
	bool found = false;

	for (attempt = 1; attempt <= attempts; attempt++) {
		struct calibration_measures measures;
		struct dist__progress progress;
		char doing[64];
		const char *what;
		double spread;
		int status;

		snprintf(doing, sizeof doing, "measuring, attempt %d of %d",
			 attempt, attempts);
		dist__progress_begin(&progress, doing, 0, 0);
		status = calibration_measure(job, &measures);
		dist__progress_end(&progress);
		if (status || measures.world_size == 0) {
			*best = measures;
			return status;
		}
		spread = calibration_spread(&measures, &what);
		if (spread <= best_spread) {
			*best = measures;
			best_spread = spread;
			found = true;
		}
		if (spread <= CALIBRATION_QUIET)
			return DIST_EXIT_OK;
		fprintf(stderr,
			"lockstep calibrate: attempt %d of %d: %s spreads by "
			"%.0f %% (interquartile range by median)\n",
			attempt, attempts, what, spread * 100);
	}
	if (found)
		return DIST_EXIT_OK;
	fprintf(stderr,
		"lockstep calibrate: too busy a machine: every attempt spread "
		"by more than %.0f %%; nothing written\n",
		CALIBRATION_NOISY * 100);
	return DIST_EXIT_FAILED;
}

static void add_sample(struct dist__rows *rows, const char *name,
		       const struct dist__sample *s)
{
	ADD_ROW(rows, cell_text(name), cell_fixed(3, s->median / 1e3),
		cell_fixed(3, s->low_quartile / 1e3),
		cell_fixed(3, s->high_quartile / 1e3));
}

static struct dist__rows samples_of(const struct calibration_measures *m)
{
	struct dist__rows rows = {.columns =
					  "measure;median_us|us;low_quartile_"
					  "us|25 %;high_quartile_us|75 %"};

	add_sample(&rows, "half round trip, 8 B, one pair", &m->half_trip);
	add_sample(&rows, "round of a barrier, all ranks", &m->round);
	add_sample(&rows, "issue of a send, 8 B", &m->issue);
	if (m->in_memory) {
		add_sample(&rows, "a call without messages", &m->call);
		add_sample(&rows, "a call that sends 8 B to all", &m->sends);
		add_sample(&rows, "one that takes 8 B from all", &m->receives);
		add_sample(&rows, "one in which all do both", &m->waits);
		add_sample(&rows, "message in a stream, 256 KiB", &m->one_way);
	}
	add_sample(&rows, "message in a stream, 1 MiB", &m->pair_message);
	add_sample(&rows, "reduction of 1 MiB, all ranks", &m->reduce);
	add_sample(&rows, "copy of 1 MiB, all ranks",
		   &m->copies[CALIBRATION_PAIR]);
	return rows;
}

static struct dist__rows exchanges_of(const struct calibration_measures *m,
				      const struct calibration_model *model)
{
	struct dist__rows rows = {
		.columns = "size_bytes|bytes;measured_us|measured "
			   "us;modelled_us|modelled us;core_us|of one core us"};

	for (int i = 0; i < CALIBRATION_SIZES; i++) {
		size_t bytes = calibration_bytes[i];
		double core_ns = m->core_exchange[i].median;

		ADD_ROW(&rows, cell_size(bytes),
			cell_fixed(2, m->exchange[i].median / 1e3),
			cell_fixed(2,
				   calibration_exchange_ns(model, bytes) / 1e3),
			cell_fixed(2, core_ns > 0 ? core_ns / 1e3 : NAN));
	}
	return rows;
}

static json_t *model_json(const struct calibration_model *model)
{
	return json_pack(
		"{sf sf sf sf sf sf sf sf sf sf}", "call_us",
		model->call_ns / 1e3, "send_us", model->overhead_ns / 1e3,
		"receive_us", model->receive_ns / 1e3, "wait_us",
		model->wait_ns / 1e3, "latency_us", model->latency_ns / 1e3,
		"pair_GBps", model->pair_Bps / 1e9, "all_pairs_GBps",
		model->capacity_Bps / 1e9, "reduction_GBps",
		model->reduce_Bps / 1e9, "copy_GBps", model->copy_Bps / 1e9,
		"residual", model->residual);
}

static int print(const struct calibration_measures *m,
		 const struct calibration_model *model, enum dist__form form)
{
	struct dist__rows samples = samples_of(m);
	struct dist__rows exchanges = exchanges_of(m, model);
	char lead[160];
	int failed;

	if (form == FORM_JSON)
		return dist__json_print(
			json_pack("{si so so so}", "world_size", m->world_size,
				  "measures", dist__rows_json(&samples),
				  "exchanges", dist__rows_json(&exchanges),
				  "fitted", model_json(model)),
			stdout);
	snprintf(lead, sizeof lead,
		 "Exchange in a ring of %d, all ranks at once, against the "
		 "fit; and between the ranks of\na core, all cores at once.",
		 m->world_size);
	failed = dist__rows_print(&samples, form, stdout);
	dist__rows_release(&samples);
	failed |= dist__rows_section(&exchanges, lead, form, stdout);
	printf("\nfitted: a call %.2f us, a send %.2f us, a receive %.2f us, a "
	       "wait %.2f us, latency %.2f us, one pair %.3f GB/s, all pairs "
	       "%.3f GB/s, reduction %.3f GB/s, copy %.3f GB/s\n"
	       "residual: %.0f %% at most, each exchange by its neighbours\n",
	       model->call_ns / 1e3, model->overhead_ns / 1e3,
	       model->receive_ns / 1e3, model->wait_ns / 1e3,
	       model->latency_ns / 1e3, model->pair_Bps / 1e9,
	       model->capacity_Bps / 1e9, model->reduce_Bps / 1e9,
	       model->copy_Bps / 1e9, model->residual * 100);
	return failed;
}

/* What is between the hosts, in the units of tools/testbed.sh. */
static int write_wire(const char *dir, const struct calibration_model *model,
		      bool quiet)
{
	struct dist_message message = {""};

	if (calibration_write_wire(dir, model, &message))
		return refuse("calibrate", "%s", message.text);
	if (!quiet)
		printf("wrote %s/wire.yaml\n"
		       "between hosts: %.2f us, %.3f mbit each way at once\n",
		       dir, model->latency_ns / 1e3,
		       calibration_wire_Bps(model) * 8e-6);
	return DIST_EXIT_OK;
}

/* Measures, fits, writes; dir is there. */
static int fit(const char *dir, const struct calibration_job *job,
	       enum dist__form form)
{
	int hosts =
		job->world_size > LEAST_HOSTS ? job->world_size : LEAST_HOSTS;
	struct calibration_measures measures = {.world_size = 0};
	struct calibration_model model;
	struct dist_message message = {""};
	int status = measure(job, &measures);

	if (status || measures.world_size == 0)
		return status;
	calibration_fit(&measures, &model);
	if (print(&measures, &model, form))
		return out_of_memory("calibrate");
	if (dist__job_is_rank())
		return write_wire(dir, &model, form == FORM_JSON);
	if (calibration_write(dir, hosts, &measures, &model, &message))
		return refuse("calibrate", "%s", message.text);
	if (form != FORM_JSON)
		printf("wrote %s/loopback.xml and %s/loopback.yaml\n", dir,
		       dir);
	return DIST_EXIT_OK;
}

/* The command line; NULL: not given. */
struct command_line {
	const char *dir;
	const char *intra;
	const char *bind_to;
	int world_size; /* UNKNOWN: not given */
	int passes;     /* UNKNOWN: not given */
	int attempts;   /* UNKNOWN: not given */
	const char *log;
	const char **logs; /* it, and more */
	size_t num_logs;
	const char *profile;
	int measured;
	struct log_arguments of_log;
	struct table_options form;
};

#define AT(field) offsetof(struct command_line, field)

static const struct option options[] = {
	{"output", OPTION_TEXT, AT(dir), "DIR",
	 .help = "folder for loopback.xml and loopback.yaml, or with --from "
		 "for NAME.yaml",
	 .usual = ".", .letter = 'o'},
	{"world-size", OPTION_COUNT, AT(world_size), "N",
	 .help = "ranks that the fit is for", .usual = "4", .min = 2,
	 .max = MOST_RANKS},
	{"passes", OPTION_COUNT, AT(passes), "N",
	 .help = "rounds in which everything is measured", .usual = "3",
	 .min = 1, .max = CALIBRATION_MOST_PASSES},
	{"attempts", OPTION_COUNT, AT(attempts), "N",
	 .help = "most runs: it stops after one in which the machine was "
		 "quiet, else it takes the quietest",
	 .usual = "5", .min = 1, .max = MOST_ATTEMPTS},
	{INTRA_ROW(OPTION_CHOICE, AT(intra))},
	{BIND_TO_ROW(OPTION_CHOICE, AT(bind_to),
		     "; messages between ranks of one processor are then "
		     "measured by themselves")},
	{.name = NULL}};

static const struct option from_options[] = {
	{"from", OPTION_TEXT, AT(log), "LOG",
	 .help = "measure nothing: fit a machine's constants to this log of "
		 "nccl-tests or lockstep bench, and those that follow"},
	{"profile", OPTION_TEXT, AT(profile), "LIBRARY",
	 .help = "profile of the library in the log, a name or a file",
	 .usual = "nccl", .list = "profiles"},
	{"measured", OPTION_SWITCH, AT(measured), NULL,
	 .help = "measure nothing: fit the machines that come with Lockstep, "
		 "or the one of --machine, to the rows of lockstep list "
		 "measured that are declared for it"},
	{.name = NULL}};

const struct manual manual_calibrate = {
	.usage = "[-o DIR] [--world-size N] [--intra shm|tcp] [--bind-to "
		 "none|core] [--passes N] [--attempts N]\n--from LOG... "
		 "--machine NAME "
		 "[--transport T] [--profile LIBRARY] [-o DIR]\n--measured "
		 "[--machine NAME] -o DIR",
	.about = "Measures this machine and writes a platform and a profile "
		 "fitted to it. Started as ranks of a job on two or more "
		 "hosts, it measures the network between them: lockstep run "
		 "... lockstep calibrate -o DIR",
	.examples =
		{"lockstep calibrate -o here && lockstep predict --platform "
		 "here/loopback.xml --profile here/loopback.yaml --world-size "
		 "4 --model resnet18 --flops 1e12",
		 "lockstep calibrate --from all_reduce.log --machine aws-p5 "
		 "--transport efa"},
	.groups = GROUPS(
		{"Options", .options = options},
		{"From a log", .options = from_options},
		{"Facts that a log does not state", log_options, AT(of_log)},
		{"Tables", form_print_options, AT(form)}),
	.most_words = ANY_WORDS};

/* What belongs to a log, and only there. */
static int check(const struct command_line *line)
{
	const struct option *fact =
		option_given(log_options + 1, &line->of_log);
	const char *of_log = line->profile ? "profile"
			     : fact        ? fact->name
					   : NULL;
	const char *of_here = line->world_size != UNKNOWN ? "world-size"
			      : line->intra               ? "intra"
			      : line->bind_to             ? "bind-to"
			      : line->passes != UNKNOWN   ? "passes"
			      : line->attempts != UNKNOWN ? "attempts"
							  : NULL;

	if (line->measured && (line->log || of_log))
		return refuse("calibrate", "--%s: expected without --measured",
			      line->log ? "from" : of_log);
	if (!line->log && !line->measured && (of_log || line->of_log.machine))
		return refuse("calibrate", "--%s: expected with --from",
			      of_log ? of_log : "machine");
	if ((line->log || line->measured) && of_here)
		return refuse("calibrate",
			      "--%s: expected without --from and --measured",
			      of_here);
	if (line->measured && !line->dir)
		return refuse("calibrate",
			      "--measured: expected --output DIR too: it "
			      "writes a file for each machine");
	if (line->log && !line->of_log.machine)
		return refuse("calibrate", "--from: expected --machine too, a "
					   "name of lockstep list machines");
	return DIST_EXIT_OK;
}

/* The logs are that of --from and the words. */
static int fit_log(const char *dir, const struct command_line *line)
{
	const struct calibrate_log request = {
		.logs = line->logs,
		.num_logs = line->num_logs,
		.profile = line->profile ? line->profile : "nccl",
		.dir = dir,
		.facts = log_arguments_facts(&line->of_log, NULL),
		.form = table_options_form(&line->form),
	};

	return calibrate_log(&request);
}

static struct calibration_job job_of(const struct command_line *line)
{
	struct calibration_job job = {line->world_size, line->passes,
				      line->attempts, line->intra,
				      line->bind_to};

	if (job.world_size == UNKNOWN)
		job.world_size = dist__job_is_rank() ? OF_JOB : DEFAULT_RANKS;
	if (job.passes == UNKNOWN)
		job.passes = CALIBRATION_PASSES;
	if (job.attempts == UNKNOWN)
		job.attempts = ATTEMPTS;
	return job;
}

/* errno tells why not. */
static bool is_open_folder(const char *dir)
{
	char inside[4096];

	if (snprintf(inside, sizeof inside, "%s/.", dir) >= (int)sizeof inside)
		errno = ENAMETOOLONG;
	else if (access(inside, W_OK | X_OK) == 0)
		return true;
	return false;
}

/* Makes sure of the folder first: measuring takes a while. */
static int calibrate(const struct command_line *line)
{
	const struct calibration_job job = job_of(line);
	const char *dir = line->dir ? line->dir : ".";
	bool made;
	int status;

	if (check(line))
		return DIST_EXIT_USAGE;
	if (!line->log && !line->measured && dist__job_is_rank() &&
	    line->world_size != UNKNOWN)
		return refuse("calibrate", "--world-size: a job has its own");
	made = mkdir(dir, 0777) == 0;
	if ((!made && errno != EEXIST) || !is_open_folder(dir))
		return refuse("calibrate", "--output %s: expected a folder: %s",
			      dir, strerror(errno));
	if (line->measured)
		status = calibrate_machines(line->of_log.machine, dir);
	else if (line->log)
		status = fit_log(dir, line);
	else
		status = fit(dir, &job, table_options_form(&line->form));
	if (status && made)
		(void)rmdir(dir);
	return status;
}

int command_calibrate(int argc, const char **argv)
{
	struct command_line line = {
		.world_size = UNKNOWN, .passes = UNKNOWN, .attempts = UNKNOWN};
	int status;

	if (!arguments_parse(&manual_calibrate, &argc, argv, &line, &status))
		return status;
	/* The first word is the command's: the first log takes its place. */
	if (line.measured && argc > 1)
		return refuse("calibrate",
			      "%s: expected --measured --machine NAME, a name "
			      "of lockstep list machines",
			      argv[1]);
	if (!line.log && argc > 1)
		return refuse("calibrate", "%s: expected logs with --from",
			      argv[1]);
	line.logs = argv;
	line.num_logs = (size_t)argc;
	argv[0] = line.log;
	return calibrate(&line);
}
