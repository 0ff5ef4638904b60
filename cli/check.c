/* check.c - lockstep check: is it right? */
#include "cli/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/output.h"
#include "base/variable.h"
#include "cli/child.h"
#include "cli/run.h"
#include "lockstep/dist.h"
#include "worlds/worlds.h"
#include "trace/points.h"
#include "cli/check_writable.h"
#include "trace/read.h"

/* ---- the order of sync points ------------------------------------------ */

struct check_order {
	const char *record, *expect; /* files; NULL: not given */
	struct dist__points expected;
	char folder[4096], trace[4112];
};

static int complain(const char *what, const char *why, int status)
{
	fprintf(stderr, "lockstep check: %s%s%s\n", what, *what ? ": " : "",
		why);
	return status;
}

/* The words of a failure to read. */
static int refuse_order(const struct dist_message *message,
			enum dist_error error)
{
	if (error == DIST_ERR_NO_MEMORY)
		return complain("", dist_error_string(error),
				DIST_EXIT_INTERNAL);
	return complain("", message->text, DIST_EXIT_USAGE);
}

/* Both return one of enum dist_exit, after a line on stderr if it is not OK.
 * check_order_begin reads the expected order and chooses the path of the trace.
 */
static int check_order_begin(struct check_order *order)
{
	struct dist_message message = {""};
	enum dist_error error = DIST_OK;
	const char *tmp = dist__variable("TMPDIR");

	snprintf(order->folder, sizeof order->folder, "%.4000s/lockstep-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!check_writable("check", &order->record, 1))
		return DIST_EXIT_USAGE;
	if (order->expect)
		error = dist__points_read(order->expect, &order->expected,
					  &message);
	if (error)
		return refuse_order(&message, error);
	if (!mkdtemp(order->folder))
		return complain(order->folder, strerror(errno),
				DIST_EXIT_INTERNAL);
	snprintf(order->trace, sizeof order->trace, "%s/trace", order->folder);
	return DIST_EXIT_OK;
}

static bool print(FILE *out, const void *points)
{
	dist__points_print(out, points);
	return !ferror(out);
}

static int judge(const struct check_order *order)
{
	struct dist_message message = {""};
	struct dist__trace trace;
	struct dist__points got;
	enum dist_error error;
	int status = DIST_EXIT_OK;

	if (access(order->trace, F_OK))
		return complain("--trace",
				"expected no other trace beside --record and "
				"--expect, and a program that calls Lockstep",
				DIST_EXIT_USAGE);
	error = dist__trace_read(order->trace, &trace, &message);
	if (error)
		return refuse_order(&message, error);
	error = dist__points_of(&trace, &got);
	if (error)
		status = refuse_order(&message, error);
	else if (order->record &&
		 dist__output_write(order->record, print, &got, &message))
		status = complain("", message.text, DIST_EXIT_USAGE);
	else if (order->expect && dist__points_compare(stderr, order->expect,
						       &order->expected, &got))
		status = DIST_EXIT_FAILED;
	dist__points_release(&got);
	dist__trace_release(&trace);
	return status;
}

/* check_order_end records or compares the order, unless the run failed (status:
 * its exit status). FAILED: the order differs. Releases all. */
static int check_order_end(struct check_order *order, int status)
{
	if (status == DIST_EXIT_OK)
		status = judge(order);
	remove(order->trace);
	rmdir(order->folder);
	dist__points_release(&order->expected);
	return status;
}

/* ---- a program ---------------------------------------------------------- */

/* The command line, and what it asks for. */
struct command_line {
	struct run_request request;
	int observes;
	const char *record, *expect;
	struct run_plan plan;
};

#define AT(field) offsetof(struct command_line, field)

static const struct option options[] = {
	{"observe", OPTION_SWITCH, AT(observes), NULL,
	 .help = "report the verdict, and exit with 0"},
	{"record", OPTION_TEXT, AT(record), "FILE",
	 .help = "write the order of collectives, group by group"},
	{"expect", OPTION_TEXT, AT(expect), "FILE",
	 .help = "exit with 1 if the order differs from FILE"},
	{.name = NULL}};

const struct manual manual_check = {
	.usage = "[--observe] [--record FILE] [--expect FILE] [OPTION...] "
		 "PROGRAM [ARGUMENT...]\n--conformance [OPTION...]",
	.about = "Runs PROGRAM as lockstep run does, with the same options, "
		 "and ends with its verdict. A call may take 60 seconds "
		 "instead of half an hour, and the memory of operations is "
		 "watched (--debug info). With --conformance instead of a "
		 "program it runs the conformance table, see lockstep check "
		 "--conformance --help.",
	.examples =
		{"lockstep check --nproc-per-node 4 ./train",
		 "lockstep check --conformance --backend tcp --world-size 2,4"},
	.choices = "scenarios",
	.groups = GROUPS({"Options of check", .options = options}, RUN_GROUPS),
	.least_words = 1,
	.most_words = ANY_WORDS,
	.missing = "no PROGRAM: expected a program, or --conformance",
	.ends_at_word = true};

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

	struct command_line *line = arg;

	(void)pipe;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return run_request_start(&line->request, &line->plan);
}

/* Whether a job's exit status is a verdict on it, not a failure to run it. */
static bool is_verdict(int status)
{
	return status == DIST_EXIT_FAILED ||
	       (status >= DIST_EXIT_MISMATCH && status <= DIST_EXIT_INVALID);
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
static int run_beside(struct command_line *line)
{
	sigset_t set = awaited(), before;
	struct child child;
	int status, asked;
	size_t got;

	fflush(NULL);
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would not come */
	sigprocmask(SIG_BLOCK, &set, &before);
	if (child_start(&child, run_child, line)) {
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

static int run_ordered(struct command_line *line)
{
	struct check_order order = {.record = line->record,
				    .expect = line->expect};
	const char *trace = line->request.trace;
	int status = check_order_begin(&order);

	if (!trace)
		line->request.trace = order.trace;
	if (!status)
		status = run_beside(line);
	line->request.trace = trace;
	return check_order_end(&order, status);
}

static bool is_simulated(const struct run_request *request)
{
	const char *name =
		dist__variable_or(request->backend, "LOCKSTEP_BACKEND");
	const struct dist__world *world = name ? dist__world_find(name) : NULL;

	return world && world->in_process;
}

static int run_as_asked(struct command_line *line)
{
	/* Real ranks may come to an end that no verdict spoils; a simulated one
	 * that never calls again has none. */
	struct run_request *request = &line->request;
	bool waits = line->observes && !is_simulated(request);
	int status;

	request->strict = "1";
	if (!dist__variable_or(request->timeout, "LOCKSTEP_TIMEOUT"))
		request->timeout = "60";
	if (!dist__variable_or(request->debug, "LOCKSTEP_DEBUG"))
		request->debug = "info";
	if (waits && !dist__variable_or(request->patience, "LOCKSTEP_PATIENCE"))
		request->patience = "0";
	if (line->record || line->expect)
		status = run_ordered(line);
	else if (line->observes)
		status = run_beside(line);
	else
		return run_request_start(request, &line->plan);
	return line->observes && is_verdict(status) ? DIST_EXIT_OK : status;
}

int command_check(int argc, const char **argv)
{
	struct command_line line = {.plan = {.nproc = 1}};
	int status;

	if (argc > 1 && strcmp(argv[1], "--conformance") == 0)
		return command_conformance(argc, argv);
	if (run_options_read(argc, argv, &manual_check, &line, &line.plan,
			     &status))
		status = run_as_asked(&line);
	run_plan_release(&line.plan);
	return status;
}
