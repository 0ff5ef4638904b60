/* explore.c - lockstep explore: does a program always end as it did? */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/refuse.h"
#include "cli/run.h"
#include "base/text.h"

/* The command line. */
struct command_line {
	struct run_request request;
	int max_runs;
	int max_seconds;
	int skew;
	int values;
};

#define AT(field) offsetof(struct command_line, field)
#define MOST      1000000000

static const struct option options[] = {
	{"max-runs", OPTION_COUNT, AT(max_runs), "N",
	 .help = "most runs, for each rule for sends", .usual = "10000",
	 .min = 1, .max = MOST},
	{"max-seconds", OPTION_COUNT, AT(max_seconds), "S",
	 .help = "most seconds of real time", .usual = "60", .min = 1,
	 .max = MOST},
	{"skew", OPTION_COUNT, AT(skew), "N",
	 .help = "runs with delays, with seeds 1 to N", .usual = "64",
	 .max = MOST},
	{"values", OPTION_SWITCH, AT(values), NULL,
	 .help = "also report a race if ranks send other bytes"},
	{.name = NULL}};

const struct manual manual_explore = {
	.usage = "[OPTION...] PROGRAM [ARGUMENT...]",
	.about = "Runs PROGRAM simulated, with the options of lockstep run, "
		 "in every way in which its messages can meet its receives "
		 "from any source and its status requests: with sends that "
		 "wait for their receives, with buffered sends (unless --p2p "
		 "is given), and with delays. Then it runs the worst way "
		 "that was found once more.",
	.examples =
		{"lockstep explore --platform star-8 --nproc-per-node 3 race"},
	.choices = "scenarios",
	.groups =
		GROUPS({"Options of explore", .options = options}, RUN_GROUPS),
	.most_words = ANY_WORDS,
	/* They cannot be given, or change nothing. */
	.unshown = " backend fidelity intra bind-to replay dump prefix-output "
		   "rdzv-backend rdzv-endpoint rdzv-id rdzv-conf standalone "
		   "max-restarts monitor-interval role log-dir redirects tee "
		   "local-ranks-filter node-rank master-addr master-port ",
	.ends_at_word = true};

int command_explore(int argc, const char **argv)
{
	struct command_line line = {.request = {.backend = "sim"}, .skew = 64};
	struct run_plan plan = {.nproc = 1};
	char bounds[128];
	int status;

	if (argc > 1 && dist__begins(argv[1], "--model"))
		return refuse_model("explore", "a program to run");
	if (run_options_read(argc, argv, &manual_explore, &line, &plan,
			     &status)) {
		/* What the options ask for, for dist_launch(). What is asked
		 * for is explored, even if with nothing but defaults. */
		snprintf(bounds, 128, "skew=%d%s", line.skew,
			 line.values ? ",values" : "");
		if (line.max_runs)
			(void)dist__append(bounds, 128, ",max-runs=%d",
					   line.max_runs);
		if (line.max_seconds)
			(void)dist__append(bounds, 128, ",max-seconds=%d",
					   line.max_seconds);
		line.request.explore = bounds;
		if (strcmp(line.request.backend, "sim") != 0)
			status = refuse("explore",
					"--backend: expected sim: only a "
					"simulation can be explored");
		else
			status = run_request_start(&line.request, &plan);
	}
	run_plan_release(&plan);
	return status;
}
