/* testbed.c - lockstep testbed: several hosts on one machine. */
#include "cli/command.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "platform/description.h"
#include "scenarios/arguments.h"
#include "testbed/testbed.h"

#define USAGE                                                                  \
	"up [OPTION...] | show | exec HOST|all COMMAND... | down |\n"          \
	"       run [OPTION...] COMMAND... | platform\n\n"                     \
	"In COMMAND {host}, {hosts}, {address} and {address0} are filled "     \
	"in.\n\n"                                                              \
	"Example: lockstep testbed run --hosts 4 --bandwidth 1gbit \\\n"       \
	"         lockstep run --nnodes {hosts} --nproc-per-node 2 \\\n"       \
	"         --rdzv-backend c10d --rdzv-endpoint {address0}:29400 "       \
	"all_reduce\n"

/* The command line; strings are popt's, NULL when not given. */
struct request {
	char *name, *bandwidth, *delay, *topology, *slow, *by, *goodput,
		*queues, *output;
	int hosts; /* INT_MIN: not given */
	int mtu;
	double latency_us;
	const char *const *words; /* after the options, ended by NULL */
	struct testbed testbed;
};

static int complain(enum dist_error error, const struct dist_message *message)
{
	fprintf(stderr, "lockstep testbed: %s\n", message->text);
	if (error == DIST_ERR_UNAVAILABLE)
		return DIST_EXIT_SKIPPED;
	return error == DIST_ERR_INVALID_ARGUMENT ? DIST_EXIT_USAGE
						  : DIST_EXIT_INTERNAL;
}

static int refuse(const char *expected)
{
	fprintf(stderr, "lockstep testbed: %s\n", expected);
	return DIST_EXIT_USAGE;
}

/* ---- the verbs ----------------------------------------------------------- */

static int up(struct request *request)
{
	struct dist_message message = {""};
	enum dist_error error;

	if (request->words[0])
		return refuse("up: expected options only");
	error = testbed_up(&request->testbed, &message);
	if (error)
		return complain(error, &message);
	testbed_print(&request->testbed, stdout);
	return DIST_EXIT_OK;
}

static int down(struct request *request)
{
	struct dist_message message = {""};
	enum dist_error error;
	bool found;

	error = testbed_down(request->testbed.name, &found, &message);
	if (error)
		return complain(error, &message);
	if (!found)
		fprintf(stderr, "lockstep testbed: there was no \"%s\"\n",
			request->testbed.name);
	return DIST_EXIT_OK;
}

static int show(struct request *request)
{
	testbed_print(&request->testbed, stdout);
	return DIST_EXIT_OK;
}

static int exec_on(struct request *request, int host, const char *const *words)
{
	struct dist_message message = {""};
	enum dist_error error;
	int status;

	if (words[0] && strcmp(words[0], "--") == 0)
		words++;
	if (!words[0])
		return refuse("expected a command to run");
	error = testbed_exec(&request->testbed, host, words, &status, &message);
	return error ? complain(error, &message) : status;
}

static int exec(struct request *request)
{
	const char *where = request->words[0];
	long host = -1;
	char *end;

	if (where && strcmp(where, "all") != 0) {
		host = strtol(where, &end, 10);
		if (*end || end == where || host < 0 ||
		    host >= request->testbed.hosts)
			where = NULL;
	}
	if (!where) {
		fprintf(stderr,
			"lockstep testbed: exec: expected all or a host from 0 "
			"to %d, and a command\n",
			request->testbed.hosts - 1);
		return DIST_EXIT_USAGE;
	}
	return exec_on(request, (int)host, request->words + 1);
}

/* Up, all hosts, down: also when we are told to stop meanwhile. The commands
 * get the terminal's interrupt themselves. */
static int run(struct request *request)
{
	struct sigaction wait_for_them = {.sa_handler = SIG_IGN};
	struct dist_message message = {""};
	enum dist_error error;
	bool found;
	int status;

	if (!request->words[0])
		return refuse("run: expected a command to run");
	error = testbed_up(&request->testbed, &message);
	if (error)
		return complain(error, &message);
	sigaction(SIGINT, &wait_for_them, NULL);
	sigaction(SIGTERM, &wait_for_them, NULL);
	status = exec_on(request, -1, request->words);
	error = testbed_down(request->testbed.name, &found, &message);
	return error ? complain(error, &message) : status;
}

static int platform(struct request *request)
{
	struct testbed_wire wire = {
		.latency_ns = (int64_t)(request->latency_us * 1e3),
		.queues = true};
	struct dist_message message = {""};
	enum dist_error error = DIST_OK;
	FILE *out = stdout;

	if (!(request->latency_us >= 0 && request->latency_us <= 1e6))
		return refuse("--latency: expected 0 to 1000000 us");
	if (request->goodput)
		error = testbed_read_goodput(request->goodput, &wire, &message);
	if (!error && request->queues)
		error = platform_read_queues(request->queues, &wire.queues,
					     &message);
	if (error)
		return complain(error, &message);
	if (request->output)
		out = fopen(request->output, "w");
	if (!out) {
		fprintf(stderr, "lockstep testbed: %s: cannot be written\n",
			request->output);
		return DIST_EXIT_USAGE;
	}
	error = testbed_write_platform(&request->testbed, &wire, out, &message);
	if (out != stdout && fclose(out) != 0 && !error)
		error = DIST_ERR_IO;
	return error ? complain(error, &message) : DIST_EXIT_OK;
}

static const struct verb {
	const char *name;
	int (*act)(struct request *request);
	bool is_new; /* it makes one, and may say how */
	bool is_up;  /* it needs one */
} verbs[] = {
	{"up", up, true, false},      {"run", run, true, false},
	{"down", down, false, false}, {"show", show, false, true},
	{"exec", exec, false, true},  {"platform", platform, false, true},
};

static const struct verb *find(const char *name)
{
	for (size_t i = 0; name && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* ---- the command line ---------------------------------------------------- */

static bool describes(const struct request *request)
{
	return request->bandwidth || request->delay || request->topology ||
	       request->slow || request->by || request->hosts != INT_MIN ||
	       request->mtu;
}

static enum dist_error describe(struct request *request,
				struct dist_message *message)
{
	struct testbed *testbed = &request->testbed;
	enum dist_error error = DIST_OK;

	if (request->hosts != INT_MIN)
		testbed->hosts = request->hosts;
	testbed->mtu = request->mtu;
	if (request->bandwidth)
		error = testbed_read_bandwidth(request->bandwidth, testbed,
					       message);
	if (!error && request->delay)
		error = testbed_read_delay(request->delay, testbed, message);
	if (!error && request->topology)
		error = testbed_read_topology(request->topology, testbed,
					      message);
	if (!error && request->slow)
		error = testbed_read_slow(request->slow, testbed, message);
	if (!error && request->by)
		error = testbed_read_switch(request->by, testbed, message);
	return error ? error : testbed_check(testbed, message);
}

static int act(struct request *request, const char *name)
{
	const struct verb *verb = find(name);
	struct dist_message message = {""};
	enum dist_error error = DIST_OK;

	if (!verb)
		return refuse("expected up, show, exec, down, run or platform; "
			      "see --help");
	testbed_init(&request->testbed);
	if (request->name)
		error = testbed_read_name(request->name, &request->testbed,
					  &message);
	if (!error && !verb->is_new && describes(request))
		return refuse("only up and run say what the test bed is like");
	if (!error && verb->is_new)
		error = describe(request, &message);
	if (!error && verb->is_up) {
		char known[sizeof(request->testbed.name)];

		strcpy(known, request->testbed.name);
		error = testbed_find(known, &request->testbed, &message);
	}
	return error ? complain(error, &message) : verb->act(request);
}

static int parse_and_act(poptContext context, struct request *request,
			 const char *verb)
{
	static const char *const nothing[] = {NULL};
	int rc = poptGetNextOpt(context);

	if (rc < -1) {
		arguments_refuse("lockstep testbed", context, rc);
		return DIST_EXIT_USAGE;
	}
	request->words = (const char *const *)poptGetArgs(context);
	if (!request->words)
		request->words = nothing;
	return act(request, verb);
}

int command_testbed(int argc, const char **argv)
{
	struct request request = {.hosts = INT_MIN};
	struct poptOption options[] = {
		{"name", '\0', POPT_ARG_STRING, &request.name, 0,
		 "of the test bed (default testbed)", "NAME"},
		{"hosts", '\0', POPT_ARG_INT, &request.hosts, 0,
		 "up, run: how many (default 2)", "N"},
		{"bandwidth", '\0', POPT_ARG_STRING, &request.bandwidth, 0,
		 "up, run: of a host's link (default 1gbit)", "RATE"},
		{"delay", '\0', POPT_ARG_STRING, &request.delay, 0,
		 "up, run: from host to host (default 0us)", "TIME"},
		{"topology", '\0', POPT_ARG_STRING, &request.topology, 0,
		 "up, run: star, tree or oversubscribed[:RATIO]", "T"},
		{"slow", '\0', POPT_ARG_STRING, &request.slow, 0,
		 "up, run: a host whose link has this share of it",
		 "HOST:FACTOR"},
		{"switch", '\0', POPT_ARG_STRING, &request.by, 0,
		 "up, run: auto, kernel or user: who shapes the links", "S"},
		{"mtu", '\0', POPT_ARG_INT, &request.mtu, 0,
		 "up, run: longest packet (default: kernel 1500, user 9000)",
		 "BYTES"},
		{"latency", '\0', POPT_ARG_DOUBLE, &request.latency_us, 0,
		 "platform: of a message beyond the delay", "US"},
		{"goodput", '\0', POPT_ARG_STRING, &request.goodput, 0,
		 "platform: that TCP reaches (default: rate less headers)",
		 "RATE"},
		{"queues", '\0', POPT_ARG_STRING, &request.queues, 0,
		 "platform: fifo (default) or none: links pass in order", "Q"},
		{"output", 'o', POPT_ARG_STRING, &request.output, 0,
		 "platform: write there", "FILE"},
		POPT_AUTOHELP POPT_TABLEEND};
	/* Options stand behind the verb, and before a command to run. */
	bool has_verb = argc > 1 && argv[1][0] != '-';
	poptContext context =
		poptGetContext(argv[0], argc - has_verb, argv + has_verb,
			       options, POPT_CONTEXT_POSIXMEHARDER);
	int status;

	poptSetOtherOptionHelp(context, USAGE);
	status = parse_and_act(context, &request, has_verb ? argv[1] : NULL);
	free(request.name);
	free(request.bandwidth);
	free(request.delay);
	free(request.topology);
	free(request.slow);
	free(request.by);
	free(request.goodput);
	free(request.queues);
	free(request.output);
	poptFreeContext(context);
	return status;
}
