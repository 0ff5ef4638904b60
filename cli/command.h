/* command.h - the subcommands of the lockstep command, one file each. */
#ifndef LOCKSTEP_CLI_COMMAND_H
#define LOCKSTEP_CLI_COMMAND_H

#include "scenarios/arguments.h"

/* One subcommand, as the table in cli/commands.c lists it. */
struct command {
	const char *name;
	const char *summary; /* for `lockstep --help`: no capital, no stop */
	const struct manual *manual;

	/* What stands behind the name has a manual of its own, as "platform
	 * new"; NULL: nothing. With '-' before it no word, but a case. */
	const char *verb;
	const struct manual *verb_manual;

	/*
	 * Runs the subcommand and returns the exit status of the process (one
	 * of enum dist_exit). argv[0] is "lockstep NAME", to be shown in
	 * messages; argv[1] to argv[argc - 1] are the arguments, argv[argc] is
	 * NULL. Prints its own errors, one line each.
	 */
	int (*main)(int argc, const char **argv);
};

/* All of them, ended by one without a name. */
extern const struct command commands[];

/* command_find returns the one named name; NULL: there is none. */
const struct command *command_find(const char *name);

int command_run(int argc, const char **argv);
int command_predict(int argc, const char **argv);
int command_plan(int argc, const char **argv);
int command_sweep(int argc, const char **argv);
int command_bench(int argc, const char **argv);
int command_check(int argc, const char **argv);
int command_explore(int argc, const char **argv);
int command_diagnose(int argc, const char **argv);
int command_calibrate(int argc, const char **argv);
int command_compare(int argc, const char **argv);
int command_validate(int argc, const char **argv);
int command_trace(int argc, const char **argv);
int command_platform(int argc, const char **argv);
int command_testbed(int argc, const char **argv);
int command_list(int argc, const char **argv);
int command_model(int argc, const char **argv);

extern const struct manual manual_run, manual_predict, manual_predict_llm,
	manual_plan, manual_sweep, manual_bench, manual_check,
	manual_conformance, manual_explore, manual_diagnose, manual_calibrate,
	manual_compare, manual_validate, manual_trace, manual_platform,
	manual_platform_new, manual_testbed, manual_list, manual_model,
	manual_model_new;

#endif
