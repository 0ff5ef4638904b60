/* explore.c - lockstep explore: does a program always end as it did? */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "cli/run.h"

static const char summary[] =
	"[OPTION...] PROGRAM [ARGUMENT...]\n\n"
	"PROGRAM runs simulated, as by `lockstep run`, with its options: in "
	"every way in\nwhich its messages can meet its receives from any "
	"source and its looks whether\nthey are complete, with sends that wait "
	"for their receives and with sends that\nare buffered (unless --p2p is "
	"given), and with delays; then once more, in the\nworst way that was "
	"found.\n\n"
	"Example: lockstep explore --platform star-8 --nproc-per-node 3 zoo "
	"38_any_then_named\n";

/* The command line; strings are popt's, NULL when not given. */
struct bounds {
	char *max_runs;
	char *max_seconds;
	char *skew;
	int values;
};

static bool check(const char *option, const char *words, long min)
{
	int number;

	if (!words || run_number(words, min, 1000000000, &number))
		return true;
	fprintf(stderr,
		"lockstep explore: %s: expected a number from %ld on, not "
		"\"%s\"\n",
		option, min, words);
	return false;
}

static int refuse(const char *option, const char *why)
{
	fprintf(stderr, "lockstep explore: %s: %s\n", option, why);
	return DIST_EXIT_USAGE;
}

static void append(char *words, size_t size, const char *key, const char *value)
{
	size_t used = strlen(words);

	if (value)
		snprintf(words + used, size - used, "%s%s=%s",
			 used > 0 ? "," : "", key, value);
}

/* What the options ask for, for dist_launch(). */
static int export_bounds(const struct bounds *bounds)
{
	char words[128] = "";

	append(words, sizeof(words), "max-runs", bounds->max_runs);
	append(words, sizeof(words), "max-seconds", bounds->max_seconds);
	/* What is asked for is explored, even if with nothing but defaults. */
	append(words, sizeof(words), "skew",
	       bounds->skew ? bounds->skew : "64");
	if (bounds->values)
		strcat(words, ",values");
	if (setenv("LOCKSTEP_EXPLORE", words, 1) == 0)
		return DIST_EXIT_OK;
	perror("lockstep explore");
	return DIST_EXIT_INTERNAL;
}

static int accept_bounds(struct run_request *request, void *arg)
{
	const struct bounds *bounds = arg;

	if (!request->backend)
		request->backend = strdup("sim");
	if (!request->backend)
		return DIST_EXIT_INTERNAL;
	if (strcmp(request->backend, "sim") != 0)
		return refuse("--backend", "expected sim: only a simulation "
					   "can be explored");
	if (!check("--max-runs", bounds->max_runs, 1) ||
	    !check("--max-seconds", bounds->max_seconds, 1) ||
	    !check("--skew", bounds->skew, 0))
		return DIST_EXIT_USAGE;
	return export_bounds(bounds);
}

int command_explore(int argc, const char **argv)
{
	struct bounds bounds = {.values = 0};
	const struct poptOption options[] = {
		{"max-runs", '\0', POPT_ARG_STRING, &bounds.max_runs, 0,
		 "ways to try at most, of each rule for sends (default 10000)",
		 "N"},
		{"max-seconds", '\0', POPT_ARG_STRING, &bounds.max_seconds, 0,
		 "and for so long, of real time (default 60)", "S"},
		{"skew", '\0', POPT_ARG_STRING, &bounds.skew, 0,
		 "runs with delays, by the seeds 1 to N (default 64)", "N"},
		{"values", '\0', POPT_ARG_NONE, &bounds.values, 0,
		 "it is a race, too, if ranks send other bytes", NULL},
		POPT_TABLEEND};
	const struct run_extra extra = {.summary = summary,
					.title = "Options to explore:",
					.options = options,
					.accept = accept_bounds,
					.arg = &bounds};
	int status = run_with(argc, argv, &extra);

	free(bounds.max_runs);
	free(bounds.max_seconds);
	free(bounds.skew);
	return status;
}
