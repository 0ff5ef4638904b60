/* testbed.c - lockstep testbed: several hosts on one machine. */
#include "cli/command.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/refuse.h"
#include "model/cluster/description.h"
#include "cli/testbed/testbed.h"

/* The command line; NULL: not given. */
struct request {
	const char *name, *bandwidth, *delay, *topology, *slow, *by, *goodput,
		*queues, *output;
	int hosts; /* INT_MIN: not given */
	int mtu;
	double latency_us;
	const char *const *text; /* after the options, ended by NULL */
	struct testbed testbed;
};

#define AT(field) offsetof(struct request, field)

static const struct option up_options[] = {
	{"name", OPTION_TEXT, AT(name), "NAME", .help = "name of the test bed",
	 .usual = "testbed"},
	{"hosts", OPTION_COUNT, AT(hosts), "N", .help = "number of hosts",
	 .usual = "2"},
	{"bandwidth", OPTION_TEXT, AT(bandwidth), "RATE",
	 .help = "bandwidth of a host's link", .usual = "1gbit"},
	{"delay", OPTION_TEXT, AT(delay), "TIME",
	 .help = "latency from host to host", .usual = "0us"},
	{"topology", OPTION_TEXT, AT(topology),
	 "star|tree|oversubscribed[:RATIO]", .help = "how hosts are connected",
	 .usual = "star"},
	{"slow", OPTION_TEXT, AT(slow), "HOST:FACTOR",
	 .help = "host whose link has only this share of the bandwidth"},
	{"switch", OPTION_TEXT, AT(by), "auto|kernel|user",
	 .help = "what limits the links' rates", .usual = "auto"},
	{"mtu", OPTION_COUNT, AT(mtu), "BYTES", .help = "longest packet",
	 .usual = "kernel 1500, user 9000"},
	{.name = NULL}};

static const struct option platform_options[] = {
	{"latency", OPTION_NUMBER, AT(latency_us), "US",
	 .help = "latency of a message, added to the delay", .usual = "0",
	 .max = 1e6},
	{"goodput", OPTION_TEXT, AT(goodput), "RATE",
	 .help = "rate that TCP reaches", .usual = "rate less headers"},
	{"queues", OPTION_TEXT, AT(queues), "fifo|none",
	 .help = "fifo: links pass messages in order", .usual = "fifo"},
	{"output", OPTION_TEXT, AT(output), "FILE",
	 .help = "file to write (default: standard output)", .letter = 'o'},
	{.name = NULL}};

const struct manual manual_testbed = {
	.usage = "up [OPTION...]\nshow\nexec HOST|all COMMAND...\ndown\nrun "
		 "[OPTION...] COMMAND...\nplatform [OPTION...]",
	.about = "Several hosts on this machine, network namespaces behind a "
		 "switch whose links have a known rate. In COMMAND {host}, "
		 "{hosts}, {address} and {address0} are filled in.",
	.examples =
		{"lockstep testbed run --hosts 4 --bandwidth 1gbit lockstep "
		 "run --nnodes {hosts} --nproc-per-node 2 --rdzv-backend c10d "
		 "--rdzv-endpoint {address0}:29400 all_reduce"},
	.choices = "up|show|exec|down|run|platform",
	.groups = GROUPS({"Options of up and run (--name: of all)",
			  .options = up_options},
			 {"Options of platform", .options = platform_options}),
	.most_words = ANY_WORDS,
	.ends_at_word = true};

static int complain(enum dist_error error, const struct dist_message *message)
{
	(void)refuse("testbed", "%s", message->text);
	if (error == DIST_ERR_UNAVAILABLE)
		return DIST_EXIT_SKIPPED;
	return error == DIST_ERR_INVALID_ARGUMENT ? DIST_EXIT_USAGE
						  : DIST_EXIT_INTERNAL;
}

/* ---- the verbs ----------------------------------------------------------- */

static int up(struct request *request)
{
	struct dist_message message = {""};
	enum dist_error error;

	if (request->text[0])
		return refuse("testbed", "up: expected options only");
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

static int exec_on(struct request *request, int host, const char *const *text)
{
	struct dist_message message = {""};
	enum dist_error error;
	int status;

	if (text[0] && strcmp(text[0], "--") == 0)
		text++;
	if (!text[0])
		return refuse("testbed", "expected a command to run");
	error = testbed_exec(&request->testbed, host, text, &status, &message);
	return error ? complain(error, &message) : status;
}

static int exec(struct request *request)
{
	const char *where = request->text[0];
	int64_t host = -1;

	if (!where ||
	    (strcmp(where, "all") != 0 &&
	     !dist__count_read(where, 0, request->testbed.hosts - 1, &host)))
		return refuse("testbed",
			      "exec: expected all or a host from 0 to %d, and "
			      "a command",
			      request->testbed.hosts - 1);
	return exec_on(request, (int)host, request->text + 1);
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

	if (!request->text[0])
		return refuse("testbed", "run: expected a command to run");
	error = testbed_up(&request->testbed, &message);
	if (error)
		return complain(error, &message);
	sigaction(SIGINT, &wait_for_them, NULL);
	sigaction(SIGTERM, &wait_for_them, NULL);
	status = exec_on(request, -1, request->text);
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
	char *text = NULL;
	size_t size;
	FILE *out;
	int status = DIST_EXIT_OK;

	if (request->goodput)
		error = testbed_read_goodput(request->goodput, &wire, &message);
	if (!error && request->queues)
		error = platform_read_queues(request->queues, &wire.queues,
					     &message);
	if (error)
		return complain(error, &message);
	out = open_memstream(&text, &size);
	if (!out)
		return complain(DIST_ERR_NO_MEMORY, &message);
	error = testbed_write_platform(&request->testbed, &wire, out, &message);
	if (fclose(out) != 0 && !error)
		error = DIST_ERR_NO_MEMORY;
	if (error)
		status = complain(error, &message);
	else if (dist__output_save(request->output, text, &message))
		status = refuse("testbed", "%s", message.text);
	free(text);
	return status;
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

/* ---- the command line ---------------------------------------------------- */

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
	const struct verb *verb = DIST__NAMED(verbs, name);
	struct dist_message message = {""};
	enum dist_error error = DIST_OK;

	if (!verb)
		return refuse("testbed", "expected up, show, exec, down, run "
					 "or platform; see --help");
	testbed_init(&request->testbed);
	if (request->name)
		error = testbed_read_name(request->name, &request->testbed,
					  &message);
	if (!error && !verb->is_new &&
	    (request->bandwidth || request->delay || request->topology ||
	     request->slow || request->by || request->hosts != INT_MIN ||
	     request->mtu))
		return refuse("testbed",
			      "only up and run say what the test bed is like");
	if (!error && verb->is_new)
		error = describe(request, &message);
	if (!error && verb->is_up) {
		char known[sizeof request->testbed.name];

		strcpy(known, request->testbed.name);
		error = testbed_find(known, &request->testbed, &message);
	}
	return error ? complain(error, &message) : verb->act(request);
}

int command_testbed(int argc, const char **argv)
{
	struct request request = {.hosts = INT_MIN};
	/* Options stand behind the verb, and before a command to run. */
	bool has_verb = argc > 1 && argv[1][0] != '-';
	const char **text = argv + has_verb;
	int status;

	argc -= has_verb;
	if (!arguments_parse(&manual_testbed, &argc, text, &request, &status))
		return status;
	request.text = text + 1;
	return act(&request, has_verb ? argv[1] : NULL);
}
