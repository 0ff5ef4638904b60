/* calibrate.c - lockstep calibrate: fit a platform and a profile of here. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <popt.h>

#include "cli/calibration.h"
#include "scenarios/arguments.h"

#define USAGE                                                                  \
	"[-o DIR] [--world-size N]\n\n"                                        \
	"Example: lockstep calibrate -o here && lockstep predict --platform "  \
	"here/loopback.xml --profile here/loopback.yaml --world-size 4\n"

/* How often a machine may be too busy. */
#define ATTEMPTS 5

/* Ranks of one machine; each takes 32 MiB. */
#define MOST_RANKS 128

/* Hosts of the platform, at least. */
#define LEAST_HOSTS 16

static int refuse(const char *what)
{
	fprintf(stderr, "lockstep calibrate: %s\n", what);
	return DIST_EXIT_USAGE;
}

/* Measures until a run is quiet; else the quietest of some must do. */
static int measure(int world_size, struct calibration_measures *best)
{
	double best_spread = CALIBRATION_NOISY;
	bool found = false;
	int attempt;

	for (attempt = 1; attempt <= ATTEMPTS; attempt++) {
		struct calibration_measures measures;
		int status = calibration_measure(world_size, &measures);
		const char *what;
		double spread;

		if (status)
			return status;
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
			attempt, ATTEMPTS, what, spread * 100);
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

static void print_measures(const struct calibration_measures *m,
			   const struct calibration_model *model)
{
	int i;

	print_sample("half round trip, 8 B, one pair", &m->half_trip, 1e3,
		     "us");
	print_sample("round of a barrier, all ranks", &m->round, 1e3, "us");
	print_sample("issue of a send, 8 B", &m->issue, 1e3, "us");
	print_sample("message in a stream, 1 MiB", &m->pair_message, 1e3, "us");
	print_sample("reduction of 1 MiB, all ranks", &m->reduce, 1e3, "us");
	printf("exchange in a ring of %d, all ranks at once, against the "
	       "fit:\n",
	       m->world_size);
	for (i = 0; i < CALIBRATION_SIZES; i++)
		printf("%12zu B %12.2f us measured %12.2f us modelled\n",
		       calibration_bytes[i], m->exchange[i].median / 1e3,
		       calibration_exchange_ns(model, calibration_bytes[i]) /
			       1e3);
}

static void print_model(const struct calibration_model *model)
{
	printf("fitted: overhead %.2f us a message, latency %.2f us, one pair "
	       "%.3f GB/s, all pairs %.3f GB/s, reduction %.3f GB/s\n"
	       "residual: %.0f %% at most over the exchanges\n",
	       model->overhead_ns / 1e3, model->latency_ns / 1e3,
	       model->pair_Bps / 1e9, model->capacity_Bps / 1e9,
	       model->reduce_Bps / 1e9, model->residual * 100);
}

/* Measures, fits, writes; dir is there. */
static int fit(const char *dir, int world_size)
{
	int hosts = world_size > LEAST_HOSTS ? world_size : LEAST_HOSTS;
	struct calibration_measures measures = {.world_size = world_size};
	struct calibration_model model;
	struct dist_message message = {""};
	int status;

	status = measure(world_size, &measures);
	if (status)
		return status;
	calibration_fit(&measures, &model);
	print_measures(&measures, &model);
	print_model(&model);
	if (calibration_write(dir, hosts, &measures, &model, &message))
		return refuse(message.text);
	printf("wrote %s/loopback.xml and %s/loopback.yaml\n", dir, dir);
	return DIST_EXIT_OK;
}

/* Makes sure of the folder first: measuring takes a while. */
static int calibrate(const char *dir, int world_size)
{
	bool made;
	int status;

	if (world_size < 2 || world_size > MOST_RANKS)
		return refuse("--world-size: expected 2 to 128");
	made = mkdir(dir, 0777) == 0;
	if ((!made && errno != EEXIST) || access(dir, W_OK | X_OK) != 0) {
		fprintf(stderr, "lockstep calibrate: %s: %s\n", dir,
			strerror(errno));
		return DIST_EXIT_USAGE;
	}
	status = fit(dir, world_size);
	if (status && made)
		(void)rmdir(dir);
	return status;
}

int command_calibrate(int argc, const char **argv)
{
	int world_size = 4, status = DIST_EXIT_USAGE;
	char *dir = NULL;
	const struct poptOption table[] = {
		{"output", 'o', POPT_ARG_STRING, &dir, 0,
		 "folder for loopback.xml and loopback.yaml (default .)",
		 "DIR"},
		{"world-size", '\0', POPT_ARG_INT, &world_size, 0,
		 "ranks that the fit is for (default 4)", "N"},
		POPT_AUTOHELP POPT_TABLEEND};

	if (arguments_parse(argc, argv, table, USAGE))
		status = calibrate(dir ? dir : ".", world_size);
	free(dir);
	return status;
}
