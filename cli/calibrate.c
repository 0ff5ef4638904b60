/* calibrate.c - lockstep calibrate: fit a platform and a profile of here. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <popt.h>

#include "cli/calibrate_log.h"
#include "cli/calibration.h"
#include "cli/log_arguments.h"
#include "realbackend/tcp/launcher.h"
#include "scenarios/arguments.h"

#define USAGE                                                                  \
	"[-o DIR] [--world-size N] [--intra shm|tcp] [--bind-to none|core] "   \
	"[--passes N]\n"                                                       \
	"       lockstep calibrate --from LOG --machine NAME [--transport T] " \
	"[--profile P] [-o DIR]\n\n"                                           \
	"As ranks of a job, on two hosts: lockstep run ... lockstep "          \
	"calibrate -o DIR\n\n"                                                 \
	"Example: lockstep calibrate -o here && lockstep predict --platform "  \
	"here/loopback.xml --profile here/loopback.yaml --world-size 4\n"      \
	"         lockstep calibrate --from all_reduce.log --machine aws-p5 "  \
	"--transport efa\n"

/* How often a machine may be too busy. */
#define ATTEMPTS 5

/* Ranks of one machine; each takes 32 MiB. */
#define MOST_RANKS 128

/* Ranks when neither the option nor a job says. */
#define DEFAULT_RANKS 4

/* World sizes that are none: not said; said by the environment. */
#define UNKNOWN (-1)
#define OF_JOB  0

/* Hosts of the platform, at least. */
#define LEAST_HOSTS 16

static int refuse(const char *what)
{
	fprintf(stderr, "lockstep calibrate: %s\n", what);
	return DIST_EXIT_USAGE;
}

/* Measures until a run is quiet; else the quietest of some must do. The ranks
 * of a job are one run. */
static int measure(int world_size, int passes,
		   struct calibration_measures *best)
{
	int attempts = dist__job_is_rank() ? 1 : ATTEMPTS, attempt;
	double best_spread = CALIBRATION_NOISY;
	bool found = false;

	for (attempt = 1; attempt <= attempts; attempt++) {
		struct calibration_measures measures;
		int status = calibration_measure(world_size, passes, &measures);
		const char *what;
		double spread;

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

static void print_sample(const char *name, const struct sample *s, double unit,
			 const char *unit_name)
{
	printf("%-34s %10.3f %s (quartiles %.3f to %.3f)\n", name,
	       s->median / unit, unit_name, s->low_quartile / unit,
	       s->high_quartile / unit);
}

static void print_calls(const struct calibration_measures *m)
{
	print_sample("a call without messages", &m->call, 1e3, "us");
	print_sample("a call that sends 8 B to all", &m->sends, 1e3, "us");
	print_sample("one that takes 8 B from all", &m->receives, 1e3, "us");
	print_sample("one in which all do both", &m->waits, 1e3, "us");
	print_sample("message in a stream, 256 KiB", &m->one_way, 1e3, "us");
}

static void print_measures(const struct calibration_measures *m,
			   const struct calibration_model *model)
{
	int i;

	print_sample("half round trip, 8 B, one pair", &m->half_trip, 1e3,
		     "us");
	print_sample("round of a barrier, all ranks", &m->round, 1e3, "us");
	print_sample("issue of a send, 8 B", &m->issue, 1e3, "us");
	if (m->in_memory)
		print_calls(m);
	print_sample("message in a stream, 1 MiB", &m->pair_message, 1e3, "us");
	print_sample("reduction of 1 MiB, all ranks", &m->reduce, 1e3, "us");
	print_sample("copy of 1 MiB, all ranks", &m->copies[CALIBRATION_PAIR],
		     1e3, "us");
	printf("exchange in a ring of %d, all ranks at once, against the "
	       "fit:\n",
	       m->world_size);
	for (i = 0; i < CALIBRATION_SIZES; i++)
		printf("%12zu B %12.2f us measured %12.2f us modelled\n",
		       calibration_bytes[i], m->exchange[i].median / 1e3,
		       calibration_exchange_ns(model, calibration_bytes[i]) /
			       1e3);
	if (m->core_exchange[1].median <= 0)
		return;
	printf("the same between the ranks of a core, all cores at once:\n");
	for (i = 1; i < CALIBRATION_SIZES; i++)
		printf("%12zu B %12.2f us measured\n", calibration_bytes[i],
		       m->core_exchange[i].median / 1e3);
}

static void print_model(const struct calibration_model *model)
{
	printf("fitted: a call %.2f us, a send %.2f us, a receive %.2f us, "
	       "a wait %.2f us, latency %.2f us, "
	       "one pair %.3f GB/s, all pairs %.3f GB/s, "
	       "reduction %.3f GB/s, copy %.3f GB/s\n"
	       "residual: %.0f %% at most, each exchange by its neighbours\n",
	       model->call_ns / 1e3, model->overhead_ns / 1e3,
	       model->receive_ns / 1e3, model->wait_ns / 1e3,
	       model->latency_ns / 1e3, model->pair_Bps / 1e9,
	       model->capacity_Bps / 1e9, model->reduce_Bps / 1e9,
	       model->copy_Bps / 1e9, model->residual * 100);
}

/* What `lockstep testbed platform` takes, in its units. */
static int write_wire(const char *dir, const struct calibration_model *model)
{
	struct dist_message message = {""};

	if (calibration_write_wire(dir, model, &message))
		return refuse(message.text);
	printf("wrote %s/wire.yaml\n"
	       "between hosts: %.2f us, %.3f mbit each way at once\n",
	       dir, model->latency_ns / 1e3,
	       calibration_wire_Bps(model) * 8e-6);
	return DIST_EXIT_OK;
}

/* Measures, fits, writes; dir is there. */
static int fit(const char *dir, int world_size, int passes)
{
	int hosts = world_size > LEAST_HOSTS ? world_size : LEAST_HOSTS;
	struct calibration_measures measures = {.world_size = 0};
	struct calibration_model model;
	struct dist_message message = {""};
	int status;

	status = measure(world_size, passes, &measures);
	if (status || measures.world_size == 0)
		return status;
	calibration_fit(&measures, &model);
	print_measures(&measures, &model);
	print_model(&model);
	if (dist__job_is_rank())
		return write_wire(dir, &model);
	if (calibration_write(dir, hosts, &measures, &model, &message))
		return refuse(message.text);
	printf("wrote %s/loopback.xml and %s/loopback.yaml\n", dir, dir);
	return DIST_EXIT_OK;
}

/* The command line; strings are popt's, NULL when not given. */
struct command_line {
	char *dir;
	char *intra;
	char *bind_to;
	int world_size; /* UNKNOWN: not given */
	int passes;     /* UNKNOWN: not given */
	char *log;
	char *profile;
	struct log_arguments of_log;
};

/* What belongs to a log, and only there. */
static int check(const struct command_line *line)
{
	bool of_log = line->of_log.machine || line->profile ||
		      log_arguments_are_more(&line->of_log);
	const char *fault = log_arguments_fault(&line->of_log);

	if (!line->log && of_log)
		return refuse("--machine, --transport, --nodes, --ranks, "
			      "--collective and --profile: expected with "
			      "--from");
	if (line->log && (line->world_size != UNKNOWN || line->intra ||
			  line->bind_to || line->passes != UNKNOWN))
		return refuse("--world-size, --intra, --bind-to, --passes: "
			      "expected without --from");
	if (line->passes != UNKNOWN &&
	    (line->passes < 1 || line->passes > CALIBRATION_MOST_PASSES))
		return refuse("--passes: expected 1 to 9");
	if (line->log && !line->of_log.machine)
		return refuse("--from: expected --machine too, a name of "
			      "lockstep list machines");
	return fault ? refuse(fault) : DIST_EXIT_OK;
}

static int fit_log(const char *dir, const struct command_line *line)
{
	const struct calibrate_log request = {
		.log = line->log,
		.profile = line->profile ? line->profile : "nccl",
		.dir = dir,
		.facts = log_arguments_facts(&line->of_log, NULL),
	};

	return calibrate_log(&request);
}

/* A job has its size; the ranks that we start are forks, and read --intra and
 * --bind-to in the environment. */
static int prepare(int *world_size, const char *intra, const char *bind_to)
{
	bool shares, binds;

	if (intra && !dist__intra_parse(intra, &shares))
		return refuse("--intra: expected " DIST__INTRA_WORDS);
	if (bind_to && !dist__bind_parse(bind_to, &binds))
		return refuse("--bind-to: expected " DIST__BIND_WORDS);
	if ((intra && setenv("LOCKSTEP_INTRA", intra, 1) != 0) ||
	    (bind_to && setenv("LOCKSTEP_BIND_TO", bind_to, 1) != 0))
		return DIST_EXIT_INTERNAL;
	if (dist__job_is_rank() && *world_size != UNKNOWN)
		return refuse("--world-size: a job has its own");
	if (*world_size == UNKNOWN)
		*world_size = dist__job_is_rank() ? OF_JOB : DEFAULT_RANKS;
	else if (*world_size < 2 || *world_size > MOST_RANKS)
		return refuse("--world-size: expected 2 to 128");
	return DIST_EXIT_OK;
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
	int world_size = line->world_size;
	int passes =
		line->passes == UNKNOWN ? CALIBRATION_PASSES : line->passes;
	const char *dir = line->dir ? line->dir : ".";
	bool made;
	int status;

	if (check(line))
		return DIST_EXIT_USAGE;
	if (!line->log) {
		status = prepare(&world_size, line->intra, line->bind_to);
		if (status)
			return status;
	}
	made = mkdir(dir, 0777) == 0;
	if ((!made && errno != EEXIST) || !is_open_folder(dir)) {
		fprintf(stderr, "lockstep calibrate: %s: %s\n", dir,
			strerror(errno));
		return DIST_EXIT_USAGE;
	}
	status = line->log ? fit_log(dir, line) : fit(dir, world_size, passes);
	if (status && made)
		(void)rmdir(dir);
	return status;
}

int command_calibrate(int argc, const char **argv)
{
	struct command_line line = {.world_size = UNKNOWN, .passes = UNKNOWN};
	int status = DIST_EXIT_USAGE;
	struct poptOption of_log[LOG_ARGUMENTS_TABLE];
	const struct poptOption table[] = {
		{"output", 'o', POPT_ARG_STRING, &line.dir, 0,
		 "folder for loopback.xml and loopback.yaml, or with --from "
		 "for NAME.yaml (default .)",
		 "DIR"},
		{"world-size", '\0', POPT_ARG_INT, &line.world_size, 0,
		 "ranks that the fit is for (default 4)", "N"},
		{"passes", '\0', POPT_ARG_INT, &line.passes, 0,
		 "times as long as need be that all is measured, in turns "
		 "(default 3)",
		 "N"},
		{"from", '\0', POPT_ARG_STRING, &line.log, 0,
		 "measure nothing: fit a profile to this log of nccl-tests or "
		 "lockstep bench",
		 "LOG"},
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, of_log, 0, NULL, NULL},
		{"profile", '\0', POPT_ARG_STRING, &line.profile, 0,
		 "library profile to fit, a name or a file (default nccl)",
		 "P"},
		{"intra", '\0', POPT_ARG_STRING, &line.intra, 0,
		 "tcp: what ranks of one machine talk through (default shm)",
		 "shm|tcp"},
		{"bind-to", '\0', POPT_ARG_STRING, &line.bind_to, 0,
		 "tcp: core: a processor each for the ranks, by turns where "
		 "there are fewer; messages between those of one are then told "
		 "apart (default none)",
		 "none|core"},
		POPT_AUTOHELP POPT_TABLEEND};

	log_arguments_init(&line.of_log, of_log);
	if (arguments_parse(argc, argv, table, USAGE))
		status = calibrate(&line);
	free(line.dir);
	free(line.intra);
	free(line.bind_to);
	free(line.log);
	log_arguments_release(&line.of_log);
	free(line.profile);
	return status;
}
