/* predict.c - lockstep predict: what would a training step take there? */
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "cli/prediction.h"
#include "scenarios/arguments.h"

#define USAGE                                                                  \
	"[--model M] --platform P --world-size N[,N...] [OPTIONS]\n\n"         \
	"Example: lockstep predict --model resnet50 --platform star-64 "       \
	"--world-size 8,16,32,64\n"

/* The command line; strings are popt's. */
struct command_line {
	struct ddp_step_arguments arguments;
	char *platform;
	char *profile;
	char *algorithm;
	char *world_sizes;
	char *trace;
	char *tsv;
	char *fidelity;
	int json;
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
			return refuse("--world-size: expected numbers of 1 or "
				      "more such as 8 or 8,16,32");
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

	if (!line->platform)
		return refuse("--platform is needed; see lockstep list "
			      "platforms");
	if (line->fidelity && strcmp(line->fidelity, "message") != 0)
		return refuse("--fidelity: only message is there so far");
	if (!ddp_step_arguments_check(&line->arguments, &message))
		return refuse(message.text);
	if (line->world_sizes && read_sizes(line->world_sizes, request))
		return DIST_EXIT_USAGE;
	if (line->trace && request->num_world_sizes > 1)
		return refuse("--trace: one world size at a time");
	return DIST_EXIT_OK;
}

static int show(const struct prediction *prediction,
		const struct command_line *line)
{
	struct dist_message message = {""};

	if (line->tsv && prediction_write_tsv(prediction, line->tsv, &message))
		return refuse(message.text);
	if (!line->json) {
		prediction_print(prediction, stdout);
	} else if (prediction_print_json(prediction, stdout)) {
		fprintf(stderr, "lockstep predict: out of memory\n");
		return DIST_EXIT_INTERNAL;
	}
	return DIST_EXIT_OK;
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
	status = prediction_make(prediction, request);
	if (!status)
		status = show(prediction, line);
	prediction_release(prediction);
	free(prediction);
	return status;
}

static int predict(const struct command_line *line)
{
	struct prediction_request request = {
		.arguments = &line->arguments,
		.platform = line->platform,
		.profile = line->profile,
		.algorithm = line->algorithm,
		.trace = line->trace,
	};
	struct dist_message message = {""};
	struct model model;
	int status;

	if (model_load(&model,
		       line->arguments.model ? line->arguments.model
					     : "resnet50",
		       &message))
		return refuse(message.text);
	request.model = &model;
	status = check(line, &request);
	if (!status)
		status = answer(&request, line);
	model_release(&model);
	return status;
}

int command_predict(int argc, const char **argv)
{
	struct command_line line = {.json = 0};
	struct poptOption shared[DDP_STEP_TABLE];
	const struct poptOption table[] = {
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, shared, 0, NULL, NULL},
		{"platform", '\0', POPT_ARG_STRING, &line.platform, 0,
		 "hosts and links: a name or a SimGrid XML file", "P"},
		{"profile", '\0', POPT_ARG_STRING, &line.profile, 0,
		 "library: a name or a YAML file (default: built in)", "L"},
		{"algorithm", '\0', POPT_ARG_STRING, &line.algorithm, 0,
		 "algorithm instead of the profile's choice", "A"},
		{"world-size", '\0', POPT_ARG_STRING, &line.world_sizes, 0,
		 "numbers of ranks (default: all that the platform holds)",
		 "N[,N...]"},
		{"fidelity", '\0', POPT_ARG_STRING, &line.fidelity, 0,
		 "depth of the simulation (default message)", "message"},
		{"trace", '\0', POPT_ARG_STRING, &line.trace, 0,
		 "write a trace of the step", "FILE"},
		{"tsv", '\0', POPT_ARG_STRING, &line.tsv, 0,
		 "write the table, for plots", "FILE"},
		{"json", '\0', POPT_ARG_NONE, &line.json, 0,
		 "print JSON instead of a table", NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	int status = DIST_EXIT_USAGE;

	ddp_step_arguments_init(&line.arguments, shared);
	if (arguments_parse(argc, argv, table, USAGE))
		status = predict(&line);
	free(line.arguments.model);
	free(line.platform);
	free(line.profile);
	free(line.algorithm);
	free(line.world_sizes);
	free(line.trace);
	free(line.tsv);
	free(line.fidelity);
	return status;
}
