/* command.h - the subcommands of the lockstep command, one file each. */
#ifndef LOCKSTEP_CLI_COMMAND_H
#define LOCKSTEP_CLI_COMMAND_H

/* One subcommand, as the table in cli/lockstep.c lists it. */
struct command {
	const char *name;
	const char *summary; /* for `lockstep --help`: no capital, no stop */

	/*
	 * Runs the subcommand and returns the exit status of the process (one
	 * of enum dist_exit). argv[0] is "lockstep NAME", to be shown in
	 * messages and by popt; argv[1] to argv[argc - 1] are the arguments,
	 * argv[argc] is NULL. Prints its own errors, one line each.
	 */
	int (*main)(int argc, const char **argv);
};

int command_run(int argc, const char **argv);
int command_predict(int argc, const char **argv);
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

#endif
