/* lockstep.c - the lockstep command: one table of subcommands. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "scenarios/spelling.h"

#define NAME_MAX_LENGTH 32

static const struct command commands[] = {
	{"run", "run a program or scenario, simulated or for real",
	 command_run},
	{"predict", "predict one training step on a platform", command_predict},
	{"sweep", "predict every point of a study, and report", command_sweep},
	{"bench", "time a collective over sizes", command_bench},
	{"check", "the verdict on a program, for CI; the conformance table",
	 command_check},
	{"explore", "run a program in every way its messages can meet",
	 command_explore},
	{"diagnose", "the verdict on a job that is over, from its dumps",
	 command_diagnose},
	{"calibrate", "fit a platform and a profile to this machine",
	 command_calibrate},
	{"compare", "hold a predicted trace against a measured one",
	 command_compare},
	{"validate", "hold predictions against what others measured",
	 command_validate},
	{"trace", "look at a trace: show, gantt, path", command_trace},
	{"platform", "platforms: list, show, write new ones", command_platform},
	{"testbed", "several hosts on one machine, with links of a known rate",
	 command_testbed},
	{"list", "what there is: scenarios, algorithms, models, ...",
	 command_list},
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* The command that was probably meant by name; NULL if none is near. */
static const struct command *command_guess(const char *name)
{
	const struct command *best = NULL;
	size_t best_distance = SPELLING_NEAR + 1;

	for (size_t i = 0; i < NUM_COMMANDS; i++) {
		size_t d = spelling_distance(name, commands[i].name);

		if (d < best_distance && d < strlen(commands[i].name)) {
			best = &commands[i];
			best_distance = d;
		}
	}
	return best;
}

static int command_unknown(const char *name)
{
	const struct command *guess = command_guess(name);

	fprintf(stderr, "lockstep: no command \"%s\"", name);
	if (guess)
		fprintf(stderr, "; did you mean \"%s\"?\n", guess->name);
	else
		fprintf(stderr, "; see lockstep --help\n");
	return DIST_EXIT_USAGE;
}

static int command_start(const struct command *command, int argc,
			 const char **argv)
{
	char title[NAME_MAX_LENGTH + 16];

	snprintf(title, sizeof(title), "lockstep %s", command->name);
	argv[0] = title;
	return command->main(argc, argv);
}

static void help(FILE *out)
{
	fputs("Usage: lockstep COMMAND [OPTION...] [ARGUMENT...]\n\n"
	      "One distributed-training program, simulated or over real TCP,\n"
	      "traced and compared.\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name,
			commands[i].summary);
	fputs("\n`lockstep COMMAND --help` tells more about one, with an "
	      "example.\n\nExample:\n"
	      "  lockstep run --backend sim --platform star-8 "
	      "--nproc-per-node 8 ddp_step\n",
	      out);
}

static int help_about(int argc, const char **argv)
{
	const char *arguments[] = {NULL, "--help", NULL};
	const struct command *command;

	if (argc < 2) {
		help(stdout);
		return DIST_EXIT_OK;
	}
	command = command_find(argv[1]);
	return command ? command_start(command, 2, arguments)
		       : command_unknown(argv[1]);
}

static int dispatch(int argc, const char **argv)
{
	const struct command *command;

	if (argc < 2) {
		help(stderr);
		return DIST_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "help") == 0)
		return help_about(argc - 1, argv + 1);
	if (strcmp(argv[1], "--version") == 0) {
		puts("lockstep " LOCKSTEP_VERSION);
		return DIST_EXIT_OK;
	}
	if (argv[1][0] == '-') {
		fprintf(stderr,
			"lockstep: no option \"%s\"; see lockstep "
			"--help\n",
			argv[1]);
		return DIST_EXIT_USAGE;
	}
	command = command_find(argv[1]);
	return command ? command_start(command, argc - 1, argv + 1)
		       : command_unknown(argv[1]);
}

/* Of the command once it is over; popt ends the process itself after --help. */
static int status = DIST_EXIT_OK;

/* Results that did not reach their file are no results. */
static void check_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	perror("lockstep: standard output");
	_exit(status ? status : DIST_EXIT_FAILED);
}

int main(int argc, char **argv)
{
	if (atexit(check_output))
		return DIST_EXIT_INTERNAL;
	status = dispatch(argc, (const char **)argv);
	return status;
}
