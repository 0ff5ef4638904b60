/* lockstep.c - the lockstep command: finds the subcommand, and starts it. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spelling.h"
#include "base/terminal.h"
#include "lockstep/dist.h"

#define NAME_MAX_LENGTH 32

static int command_unknown(const char *name)
{
	struct dist__spelling near = dist__spelling_of(name);
	const char *hint;

	for (const struct command *c = commands; c->name; c++)
		dist__spelling_offer(&near, c->name, strlen(c->name));
	dist__spelling_offer(&near, "help", strlen("help"));
	hint = dist__spelling_hint(&near);
	fprintf(stderr, "lockstep: no command \"%s\"%s\n", name,
		*hint ? hint : "; see lockstep --help");
	return DIST_EXIT_USAGE;
}

static int command_start(const struct command *command, int argc,
			 const char **argv)
{
	char title[NAME_MAX_LENGTH + 16];

	snprintf(title, sizeof title, "lockstep %s", command->name);
	argv[0] = title;
	return command->main(argc, argv);
}

static void help(FILE *out)
{
	const char *bold = dist__terminal_style(out, TERMINAL_BOLD);
	const char *plain = dist__terminal_style(out, TERMINAL_PLAIN);

	fprintf(out,
		"Usage: lockstep COMMAND [OPTION...] [ARGUMENT...]\n\n"
		"Predicts how long a step of distributed training takes, and "
		"explains why a\njob hangs.\n\n%sCommands:%s\n",
		bold, plain);
	for (const struct command *c = commands; c->name; c++)
		fprintf(out, "  %-10s %s\n", c->name, c->summary);
	fprintf(out,
		"\n`lockstep COMMAND --help` says more about one, with an "
		"example.\n\n%sExample:%s\n"
		"  lockstep run --backend sim --platform star-8 "
		"--nproc-per-node 8 ddp_step\n",
		bold, plain);
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
			"lockstep: no option \"%s\"; see lockstep --help\n",
			argv[1]);
		return DIST_EXIT_USAGE;
	}
	if (strcmp(argv[1], "manual") == 0)
		return document_write(argv[2]);
	if (strcmp(argv[1], "complete") == 0)
		return document_complete(argc - 2, argv + 2);
	command = command_find(argv[1]);
	return command ? command_start(command, argc - 1, argv + 1)
		       : command_unknown(argv[1]);
}

/* Of the command once it is over. */
static int status = DIST_EXIT_OK;

/* Results that did not reach their file are no results. */
static void check_output(void)
{
	bool lost = ferror(stdout); /* why, nobody may know any more */

	errno = 0;
	if (fflush(stdout) == 0 && !lost)
		return;
	if (errno == 0 && write(STDOUT_FILENO, "", 0) == 0)
		fputs("lockstep: standard output: not all was written\n",
		      stderr);
	else
		perror("lockstep: standard output");
	_exit(status ? status : DIST_EXIT_FAILED);
}

/* Standard streams that are closed stay useless, but no file of ours takes
 * their numbers, into which others then print. */
static bool hold_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null",
			 fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return false;
	return true;
}

/* So that a write fails, and is reported, that a limit on the size of files
 * forbids. A program that is started has no handler again. */
static void take_limit(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	const struct sigaction limit = {.sa_handler = take_limit};

	(void)sigaction(SIGXFSZ, &limit, NULL);
	if (!hold_streams() || atexit(check_output))
		return DIST_EXIT_INTERNAL;
	status = dispatch(argc, (const char **)argv);
	return status;
}
