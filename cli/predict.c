/* predict.c - lockstep predict: what would a training step take there? */
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <popt.h>

#include "cli/place.h"
#include "cli/prediction.h"
#include "cli/rewiring.h"
#include "scenarios/arguments.h"

#define USAGE                                                                  \
	"[--workload W] [--model M] --platform P|--machine N "                 \
	"--world-size N[,N...] [OPTIONS]\n\n"                                  \
	"Example: lockstep predict --model resnet50 --platform star-64 "       \
	"--world-size 8,16,32,64\n"

/* The command line; strings are popt's. */
struct command_line {
	const struct workload *workload;
	struct workload_arguments arguments;
	struct rewiring_arguments rewiring;
	char *workload_name; /* read beforehand */
	char *platform;
	char *machine;
	char *profile;
	char *algorithm;
	char *world_sizes;
	char *fidelity;
	char *trace;
	char *tsv;
	int json;
	int dry_run;
	int no_explain;
};

static int refuse(const char *what)
{
	fprintf(stderr, "lockstep predict: %s\n", what);
	return DIST_EXIT_USAGE;
}

/* Reads "8" or "8,16,32" into the request. */
static int read_sizes(const char *words, struct prediction_request *request)
{
	const char *next = words;

	for (;;) {
		char *end;
		long n;

		errno = 0;
		n = strtol(next, &end, 10);
		if (errno || end == next || (*end && *end != ',') || n < 1 ||
		    n > 1 << 24)
			return refuse("--world-size: expected numbers of 1 to "
				      "16777216 such as 8 or 8,16,32");
		if (request->num_world_sizes == PREDICTION_SIZES)
			return refuse("--world-size: expected at most 64 "
				      "numbers");
		request->world_sizes[request->num_world_sizes++] = (int)n;
		if (!*end)
			return DIST_EXIT_OK;
		next = end + 1;
	}
}

static int check(const struct command_line *line,
		 struct prediction_request *request)
{
	struct dist_message message;

	if (!line->platform == !line->machine)
		return refuse(
			"expected one of --platform and --machine; see "
			"lockstep list platforms, lockstep list machines");
	if (!dist__fidelity_parse(&request->fidelity, line->fidelity))
		return refuse("--fidelity: expected " DIST__FIDELITIES);
	if (rewiring_read(&line->rewiring, &request->terms, request->links,
			  &message))
		return refuse(message.text);
	if (!workload_arguments_check(&line->arguments, line->workload->name,
				      &message))
		return refuse(message.text);
	if (line->world_sizes && read_sizes(line->world_sizes, request))
		return DIST_EXIT_USAGE;
	if (line->trace && request->num_world_sizes > 1)
		return refuse("--trace: one world size at a time");
	if (!place_check("predict", (const char *[]){line->tsv, line->trace},
			 2))
		return DIST_EXIT_USAGE;
	return DIST_EXIT_OK;
}

static int show(const struct prediction *prediction,
		const struct explanation *explanation,
		const struct command_line *line)
{
	struct dist_message message = {""};
	int status;

	if (line->tsv && prediction_write_tsv(prediction, line->tsv, &message))
		return refuse(message.text);
	if (line->json)
		status = prediction_print_json(prediction, explanation, stdout);
	else
		status = prediction_print(prediction, explanation, stdout);
	if (!status)
		return DIST_EXIT_OK;
	fprintf(stderr, "lockstep predict: out of memory\n");
	return DIST_EXIT_INTERNAL;
}

/* Whether the last row is explained: not where its trace would be too long. One
 * rank that stands for all has a short one. */
static bool is_explained(const struct prediction *prediction,
			 const struct command_line *line)
{
	const struct prediction_request *request = prediction->request;
	size_t last = request->num_world_sizes - 1;
	bool alone = request->machine &&
		     prediction->rows[last].fidelity == DIST__FIDELITY_FORMULA;

	return !line->no_explain &&
	       (alone || request->world_sizes[last] <= EXPLANATION_RANKS);
}

static int make_and_show(struct prediction *prediction, bool explained,
			 const struct command_line *line)
{
	const struct prediction_request *request = prediction->request;
	const struct prediction_row *last =
		&prediction->rows[request->num_world_sizes - 1];
	struct explanation explanation = {.ranks = 0};
	struct dist_message message = {""};
	int status = prediction_make(prediction);

	if (!status && explained &&
	    explanation_read(&explanation, request->trace,
			     last->step.world_size, last->step.step_ns,
			     &message))
		status = refuse(message.text);
	if (!status)
		status = show(prediction, &explanation, line);
	explanation_release(&explanation);
	return status;
}

/* The explanation needs a trace; one that nobody asked for is a file without a
 * name, which goes however the process ends. */
static int make(struct prediction *prediction,
		struct prediction_request *request,
		const struct command_line *line)
{
	bool explained = is_explained(prediction, line);
	bool passing = explained && !request->trace;
	FILE *file = passing ? tmpfile() : NULL;
	char path[32];
	int status;

	if (passing && !file)
		return refuse("cannot make a temporary file");
	if (passing) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
		request->trace = path;
	}
	status = make_and_show(prediction, explained, line);
	if (passing) {
		request->trace = NULL;
		fclose(file);
	}
	return status;
}

static int answer(struct prediction_request *request,
		  const struct command_line *line)
{
	struct prediction *prediction = malloc(sizeof(*prediction));
	int status;

	if (!prediction) {
		fprintf(stderr, "lockstep predict: out of memory\n");
		return DIST_EXIT_INTERNAL;
	}
	status = prediction_open(prediction, request);
	if (!status && !line->dry_run)
		status = make(prediction, request, line);
	prediction_release(prediction);
	free(prediction);
	return status;
}

static int predict(const struct command_line *line)
{
	struct workload_setup setup = {.compute = ""};
	struct prediction_request request = {
		.setup = &setup,
		.platform = line->platform,
		.machine = line->machine,
		.profile = line->profile,
		.algorithm = line->algorithm,
		.trace = line->trace,
	};
	struct dist_message message = {""};
	int status = check(line, &request);

	if (status)
		return status;
	if (workload_setup_init(&setup, line->workload, &line->arguments,
				&message))
		status = refuse(message.text);
	else
		status = answer(&request, line);
	workload_setup_release(&setup);
	return status;
}

/* The kind of step decides about the other options, so it is looked for before
 * they are read. Returns NULL after a line when there is no such kind. */
static const struct workload *find_workload(int argc, const char **argv)
{
	static const char option[] = "--workload";
	const struct workload *workload = &workload_ddp_step;
	size_t len = strlen(option);
	const char *name = NULL;
	int i;

	for (i = 1; i < argc; i++) {
		if (strncmp(argv[i], option, len) != 0)
			continue;
		if (argv[i][len] == '=')
			name = argv[i] + len + 1;
		else if (!argv[i][len])
			name = i + 1 < argc ? argv[i + 1] : "";
	}
	if (name)
		workload = workload_find(name);
	if (!workload)
		fprintf(stderr,
			"lockstep predict: --workload %s: expected one of "
			"%s\n",
			name, WORKLOAD_NAMES);
	return workload;
}

int command_predict(int argc, const char **argv)
{
	struct command_line line = {.json = 0};
	struct poptOption shared[WORKLOAD_TABLE], links[REWIRING_TABLE];
	const struct poptOption table[] = {
		{"workload", '\0', POPT_ARG_STRING, &line.workload_name, 0,
		 "kind of step: " WORKLOAD_NAMES
		 " (default ddp_step); each has "
		 "options of its own, see --workload W --help",
		 "W"},
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, shared, 0, NULL, NULL},
		{"platform", '\0', POPT_ARG_STRING, &line.platform, 0,
		 "hosts and links: a name or a SimGrid XML file", "P"},
		{"machine", '\0', POPT_ARG_STRING, &line.machine, 0,
		 "instead of it as many nodes as needed of a machine that "
		 "others measured, on its first network or that of TRANSPORT",
		 "NAME[:TRANSPORT]"},
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, links, 0, NULL, NULL},
		{"profile", '\0', POPT_ARG_STRING, &line.profile, 0,
		 "library: a name or a YAML file (default: built in)", "L"},
		{"algorithm", '\0', POPT_ARG_STRING, &line.algorithm, 0,
		 "algorithm instead of the profile's choice", "A"},
		{"world-size", '\0', POPT_ARG_STRING, &line.world_sizes, 0,
		 "numbers of ranks (default: all that the platform holds)",
		 "N[,N...]"},
		{"fidelity", '\0', POPT_ARG_STRING, &line.fidelity, 0,
		 "how closely collectives are simulated (default: auto, by the "
		 "number of ranks)",
		 "auto|message|flow|formula"},
		{"trace", '\0', POPT_ARG_STRING, &line.trace, 0,
		 "write a trace of the step", "FILE"},
		{"tsv", '\0', POPT_ARG_STRING, &line.tsv, 0,
		 "write the table, for plots", "FILE"},
		{"json", '\0', POPT_ARG_NONE, &line.json, 0,
		 "print JSON instead of a table", NULL},
		{"no-explain", '\0', POPT_ARG_NONE, &line.no_explain, 0,
		 "leave out the critical path of the last step", NULL},
		{"dry-run", '\0', POPT_ARG_NONE, &line.dry_run, 0,
		 "only say what would be refused", NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	int status = DIST_EXIT_USAGE;

	line.workload = find_workload(argc, argv);
	if (!line.workload)
		return DIST_EXIT_USAGE;
	workload_arguments_init(&line.arguments, line.workload->name, shared);
	rewiring_init(&line.rewiring, links);
	if (arguments_parse(argc, argv, table, USAGE))
		status = predict(&line);
	workload_arguments_release(&line.arguments);
	rewiring_release(&line.rewiring);
	free(line.workload_name);
	free(line.platform);
	free(line.machine);
	free(line.profile);
	free(line.algorithm);
	free(line.world_sizes);
	free(line.fidelity);
	free(line.trace);
	free(line.tsv);
	return status;
}
