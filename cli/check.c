/* check.c - lockstep check: is it right? */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "cli/check_order.h"
#include "cli/child.h"
#include "cli/conformity.h"
#include "lockstep/dist.h"

#define USAGE                                                                  \
	"--conformance [OPTION...]\n"                                          \
	"   or: lockstep check [--observe] [--record FILE] [--expect FILE] "   \
	"[OPTION...]\n       PROGRAM [ARGUMENT...]\n\n"                        \
	"PROGRAM runs as by `lockstep run`, with its options, but that a "     \
	"call "                                                                \
	"may take 60\nseconds instead of half an hour, and the memory of "     \
	"operations is watched (--debug info).\nWith --observe, before all "   \
	"others, a verdict on it is told and not held\nagainst it; --record "  \
	"writes the order of its collectives, group by group, and\n--expect "  \
	"fails unless it is the one recorded.\n\n"                             \
	"Walks the conformance table: every call x algorithm x world size x "  \
	"dtype x\noperation x count, each result checked, and the bytes of "   \
	"all back ends compared.\n\n"                                          \
	"Example: lockstep check --conformance --backend tcp --world-size "    \
	"2,4\n"

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "lockstep check: %s: %s\n", what, why);
	return DIST_EXIT_USAGE;
}

/* The command line; strings are popt's. */
struct command_line {
	int conformance;
	char *backends;
	char *worlds;
	char *calls;
	char *algorithm;
	char *platform;
	double timeout_s;
};

static int check(poptContext context, const struct command_line *line)
{
	const struct conformity request = {
		.backends = line->backends,
		.worlds = line->worlds,
		.calls = line->calls,
		.algorithm = line->algorithm,
		.platform = line->platform,
		.timeout_s = line->timeout_s,
	};

	if (poptPeekArg(context))
		return refuse(poptPeekArg(context), "expected options alone");
	if (!(line->timeout_s >= 0) || !(line->timeout_s < 1e9))
		return refuse("--timeout", "expected seconds, 0 or more");
	return conformity_check(&request);
}

static int check_conformance(int argc, const char **argv)
{
	struct command_line line = {.conformance = 0};
	const struct poptOption options[] = {
		{"conformance", '\0', POPT_ARG_NONE, &line.conformance, 0,
		 "walk the conformance table", NULL},
		{"backend", '\0', POPT_ARG_STRING, &line.backends, 0,
		 "in these worlds (default: all that this machine has)",
		 "sim,tcp"},
		{"world-size", '\0', POPT_ARG_STRING, &line.worlds, 0,
		 "of so many ranks (default 1,2,3,4,5,7,8,16)", "N,..."},
		{"op", '\0', POPT_ARG_STRING, &line.calls, 0,
		 "these calls (default all)", "all_reduce,..."},
		{"algorithm", '\0', POPT_ARG_STRING, &line.algorithm, 0,
		 "calls that have it, with this algorithm; auto: as selected "
		 "(default: "
		 "each in turn)",
		 "A"},
		{"platform", '\0', POPT_ARG_STRING, &line.platform, 0,
		 "sim: hosts and links, a name or a file (default machine-16)",
		 "P"},
		{"timeout", '\0', POPT_ARG_DOUBLE, &line.timeout_s, 0,
		 "seconds that a call may take (default 120)", "S"},
		POPT_AUTOHELP POPT_TABLEEND};
	poptContext context = poptGetContext(argv[0], argc, argv, options, 0);
	int rc, status;

	poptSetOtherOptionHelp(context, USAGE);
	rc = poptGetNextOpt(context);
	status = rc < -1 ? refuse(poptBadOption(context, 0), poptStrerror(rc))
			 : check(context, &line);
	poptFreeContext(context);
	free(line.backends);
	free(line.worlds);
	free(line.calls);
	free(line.algorithm);
	free(line.platform);
	return status;
}

/* ---- a program ---------------------------------------------------------- */

/* What lockstep run gets; argv[0] is its name. */
struct words {
	int argc;
	const char **argv;
};

static int run_child(void *arg, int pipe)
{
	const struct words *words = arg;

	(void)pipe;
	return command_run(words->argc, words->argv);
}

/* Whether a job's exit status is a verdict on it, not a failure to run it. */
static bool is_verdict(int status)
{
	return status == DIST_EXIT_FAILED ||
	       (status >= DIST_EXIT_MISMATCH && status <= DIST_EXIT_RENDEZVOUS);
}

/* Runs the program beside us, who have more to do when it is over. */
static int run_beside(struct words *words)
{
	struct child child;
	size_t got;

	fflush(NULL);
	if (child_start(&child, run_child, words))
		return DIST_EXIT_INTERNAL;
	return child_finish(&child, NULL, 0, &got);
}

static int run_ordered(struct words *words, struct check_order *order)
{
	int status = check_order_begin(order);

	if (!status)
		status = run_beside(words);
	return check_order_end(order, status);
}

/* Takes the options that stand before all of run's. False: one lacks its
 * file. */
static bool take_options(struct words *words, bool *observes,
			 struct check_order *order)
{
	while (words->argc > 1) {
		const char *option = words->argv[1];
		bool record = strcmp(option, "--record") == 0;
		int taken = 2;

		if (strcmp(option, "--observe") == 0) {
			*observes = true;
			taken = 1;
		} else if (!record && strcmp(option, "--expect") != 0) {
			return true;
		} else if (words->argc < 3) {
			return false;
		} else {
			*(record ? &order->record : &order->expect) =
				words->argv[2];
		}
		words->argc -= taken;
		words->argv += taken;
	}
	return true;
}

static int check_program(int argc, const char **argv)
{
	struct check_order order = {.record = NULL};
	struct words words = {argc, argv};
	bool observes = false;
	int status;

	if (!take_options(&words, &observes, &order))
		return refuse(words.argv[1], "expected a file");
	if (words.argc < 2)
		return refuse("check what?",
			      "expected a program, or --conformance");
	if (setenv("LOCKSTEP_TIMEOUT", "60", 0) ||
	    setenv("LOCKSTEP_DEBUG", "info", 0) ||
	    setenv("LOCKSTEP_CHECK", "1", 1)) {
		perror("lockstep check");
		return DIST_EXIT_INTERNAL;
	}
	words.argv[0] = argv[0];
	if (order.record || order.expect)
		status = run_ordered(&words, &order);
	else if (observes)
		status = run_beside(&words);
	else
		return command_run(words.argc, words.argv);
	return observes && is_verdict(status) ? DIST_EXIT_OK : status;
}

int command_check(int argc, const char **argv)
{
	const char *first = argc > 1 ? argv[1] : "";

	if (strcmp(first, "--conformance") == 0 ||
	    strcmp(first, "--help") == 0 || strcmp(first, "-?") == 0)
		return check_conformance(argc, argv);
	return check_program(argc, argv);
}
