/* check.c - lockstep check: is it right? */
#include "cli/command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <popt.h>

#include "cli/check_order.h"
#include "cli/child.h"
#include "cli/conformity.h"
#include "cli/run.h"
#include "lockstep/dist.h"
#include "scenarios/arguments.h"

#define USAGE                                                                  \
	"--conformance [OPTION...]\n"                                          \
	"   or: lockstep check [--observe] [--record FILE] [--expect FILE] "   \
	"[OPTION...]\n       PROGRAM [ARGUMENT...]\n\n"                        \
	"PROGRAM runs as by `lockstep run`, with its options, but that a "     \
	"call "                                                                \
	"may take 60\nseconds instead of half an hour, and the memory of "     \
	"operations is watched (--debug info).\nWith --observe a verdict on "  \
	"it is told and not held against it; --record writes\nthe order of "   \
	"its collectives, group by group, and --expect fails unless it is\n"   \
	"the one recorded.\n\n"                                                \
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
	int rc, status = DIST_EXIT_USAGE;

	poptSetOtherOptionHelp(context, USAGE);
	rc = poptGetNextOpt(context);
	if (rc < -1)
		arguments_refuse("lockstep check", context, rc);
	else
		status = check(context, &line);
	poptFreeContext(context);
	free(line.backends);
	free(line.worlds);
	free(line.calls);
	free(line.algorithm);
	free(line.platform);
	return status;
}

/* ---- a program ---------------------------------------------------------- */

/* What the options beside those of lockstep run say; strings are popt's. */
struct ordering {
	int observes;
	char *record, *expect;
};

/* Room for a table of them, its end included. */
#define MAX_OPTIONS 4

static void list_ordering(struct ordering *ordering,
			  struct poptOption options[MAX_OPTIONS])
{
	const struct poptOption table[MAX_OPTIONS] = {
		{"observe", '\0', POPT_ARG_NONE, &ordering->observes, 0,
		 "tell the verdict, and exit with 0", NULL},
		{"record", '\0', POPT_ARG_STRING, &ordering->record, 0,
		 "write the order of collectives", "FILE"},
		{"expect", '\0', POPT_ARG_STRING, &ordering->expect, 0,
		 "exit with 1 if it is not this one", "FILE"},
		POPT_TABLEEND};

	memcpy(options, table, sizeof(table));
}

static int accept_ordering(struct run_request *request, void *arg)
{
	(void)request;
	(void)arg;
	return DIST_EXIT_OK;
}

/* Calls what() with lockstep run's options and those of ordering. */
static int with_options(int argc, const char **argv, struct ordering *ordering,
			int (*what)(int argc, const char **argv,
				    const struct run_extra *extra))
{
	struct poptOption options[MAX_OPTIONS];
	const struct run_extra extra = {.summary = USAGE,
					.title = "Options to check:",
					.options = options,
					.accept = accept_ordering};

	list_ordering(ordering, options);
	return what(argc, argv, &extra);
}

static int read_alone(int argc, const char **argv,
		      const struct run_extra *extra)
{
	struct run_request request = {.nproc_per_node = NULL};
	struct run_plan plan = {.nproc = 1};
	int status = run_options_read(argc, argv, extra, &request, &plan);

	run_plan_release(&plan);
	run_options_release(&request);
	return status;
}

static void release_ordering(struct ordering *ordering)
{
	free(ordering->record);
	free(ordering->expect);
}

/* The command line. */
struct words {
	int argc;
	const char **argv;
};

static int run_words(const struct words *words)
{
	struct ordering ordering = {.observes = 0};
	int status =
		with_options(words->argc, words->argv, &ordering, run_with);

	release_ordering(&ordering);
	return status;
}

/* What asks a job to end, and tells that it has. */
static sigset_t awaited(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	return set;
}

static int run_child(void *arg, int pipe)
{
	sigset_t set = awaited();

	(void)pipe;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return run_words(arg);
}

/* Whether a job's exit status is a verdict on it, not a failure to run it. */
static bool is_verdict(int status)
{
	return status == DIST_EXIT_FAILED ||
	       (status >= DIST_EXIT_MISMATCH && status <= DIST_EXIT_RENDEZVOUS);
}

/* Whether child has ended; it stays to be waited for. */
static bool has_ended(const struct child *child)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)child->id, &info,
		      WEXITED | WNOHANG | WNOWAIT) ||
	       info.si_pid;
}

/* Hands on what asks to end until child has ended; returns the last of it, 0 if
 * there was none. The keys of a terminal reach the child by themselves. */
static int pass_on(const struct child *child)
{
	sigset_t set = awaited();
	siginfo_t info;
	int asked = 0;

	while (!has_ended(child)) {
		if (sigwaitinfo(&set, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		asked = info.si_signo;
		if (info.si_code != SI_KERNEL)
			kill(child->id, asked);
	}
	return asked;
}

/* Runs the program beside us, who have more to do when it is over, also when we
 * are asked to end. */
static int run_beside(struct words *words)
{
	sigset_t set = awaited(), before;
	struct child child;
	int status, asked;
	size_t got;

	fflush(NULL);
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would not come */
	sigprocmask(SIG_BLOCK, &set, &before);
	if (child_start(&child, run_child, words)) {
		status = DIST_EXIT_INTERNAL;
	} else {
		asked = pass_on(&child);
		status = child_finish(&child, NULL, 0, &got);
		if (asked)
			status = 128 + asked;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

static int run_ordered(struct words *words, const struct ordering *ordering)
{
	struct check_order order = {.record = ordering->record,
				    .expect = ordering->expect};
	int status = check_order_begin(&order);

	if (!status)
		status = run_beside(words);
	return check_order_end(&order, status);
}

static int run_as_asked(struct words *words, const struct ordering *ordering)
{
	int status;

	if (setenv("LOCKSTEP_TIMEOUT", "60", 0) ||
	    setenv("LOCKSTEP_DEBUG", "info", 0) ||
	    (ordering->observes && setenv("LOCKSTEP_PATIENCE", "0", 0)) ||
	    setenv("LOCKSTEP_CHECK", "1", 1)) {
		perror("lockstep check");
		return DIST_EXIT_INTERNAL;
	}
	if (ordering->record || ordering->expect)
		status = run_ordered(words, ordering);
	else if (ordering->observes)
		status = run_beside(words);
	else
		return run_words(words);
	return ordering->observes && is_verdict(status) ? DIST_EXIT_OK : status;
}

static int check_program(int argc, const char **argv)
{
	struct ordering ordering = {.observes = 0};
	struct words words = {argc, argv};
	int status;

	if (argc < 2)
		return refuse("check what?",
			      "expected a program, or --conformance");
	status = with_options(argc, argv, &ordering, read_alone);
	if (!status && ordering.record && !*ordering.record)
		status = refuse("--record", "expected a file");
	if (!status)
		status = run_as_asked(&words, &ordering);
	release_ordering(&ordering);
	return status;
}

int command_check(int argc, const char **argv)
{
	const char *first = argc > 1 ? argv[1] : "";

	if (strcmp(first, "--conformance") == 0 ||
	    strcmp(first, "--help") == 0 || strcmp(first, "-?") == 0)
		return check_conformance(argc, argv);
	return check_program(argc, argv);
}
