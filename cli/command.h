/* command.h - the subcommands of the lockstep command, one file each. */
#ifndef LOCKSTEP_CLI_COMMAND_H
#define LOCKSTEP_CLI_COMMAND_H

#include "scenarios/arguments.h"

/*
 * Runs a subcommand and returns the exit status of the process (one of enum
 * dist_exit). argv[0] is "lockstep NAME", to be shown in messages; argv[1] to
 * argv[argc - 1] are the arguments, argv[argc] is NULL. Prints its own errors,
 * one line each.
 */
typedef int command_main(int argc, const char **argv);

/* One subcommand, as the table in cli/commands.c lists it. */
struct command {
	const char *name;
	const char *summary; /* for `lockstep --help`: no capital, no stop */
	const struct manual *manual;

	/* A verb with a manual of its own, as in "platform new"; NULL: none.
	 * With '-' before it no word, but a case. */
	const char *verb;
	const struct manual *verb_manual;

	command_main *main;
};

/* All subcommands; the last one has no name. */
extern const struct command commands[];

/* command_find returns the subcommand called name, or NULL. */
const struct command *command_find(const char *name);

command_main command_run, command_predict, command_plan, command_sweep,
	command_bench, command_check, command_explore, command_diagnose,
	command_calibrate, command_compare, command_validate, command_trace,
	command_platform, command_list, command_model;

/* What these two do with a verb of theirs: argv[0] is the name to show. */
command_main command_conformance, command_model_new;

extern const struct manual manual_run, manual_predict, manual_predict_llm,
	manual_plan, manual_sweep, manual_bench, manual_check,
	manual_conformance, manual_explore, manual_diagnose, manual_calibrate,
	manual_compare, manual_validate, manual_trace, manual_platform,
	manual_platform_new, manual_list, manual_model, manual_model_new;

/* ---- document.c: man pages and completions, from the manuals ------------- */

/* document_write writes a page for each command to folder: lockstep-run.1 and
 * so on. With NULL it prints the entries of all commands, for lockstep.1.
 * Returns one of enum dist_exit. */
int document_write(const char *folder);

/* document_complete prints completions of the last of num words after
 * "lockstep": a line each, with its meaning after a tab; nothing where a file
 * is expected. Returns one of enum dist_exit. */
int document_complete(int num, const char **text);

#endif
