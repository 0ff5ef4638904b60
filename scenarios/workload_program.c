/* The workloads as programs: their command line. */
#include "scenarios/workload.h"

#include <stdlib.h>

#include "scenarios/arguments.h"
#include "scenarios/physics.h"
#include "scenarios/scenario.h"

/* The flags of the programs beside those of what they train. */
struct program {
	const struct workload *workload;
	struct workload_arguments arguments;
	int phantom;
	int real;
	int check;
	struct workload_setup setup;
	struct physics physics;
};

/* Returns whether the job fits the launcher's world size, and marks what is
 * impossible of it. Where the size is not known, the ranks look. */
static bool fits(struct program *p, struct dist_message *message)
{
	struct workload_job *job = &p->setup.job;
	const char *text = getenv("WORLD_SIZE");
	int world_size = text ? atoi(text) : 1;

	if (world_size < 1)
		return true;
	if (workload_misfit(job, world_size, message))
		return false;
	physics_judge(&p->setup, world_size, &p->physics);
	job->impossible = p->physics.impossible;
	return true;
}

static bool prepare(struct program *p, struct dist_message *message)
{
	struct workload_job *job = &p->setup.job;

	if (p->phantom && (p->real || p->check)) {
		snprintf(message->text, sizeof message->text,
			 "--phantom: there is nothing %s in it",
			 p->real ? "real" : "to check");
		return false;
	}
	if (workload_setup_init(&p->setup, p->workload, &p->arguments, NULL,
				message))
		return false;
	job->out = stdout;
	job->check = p->check;
	if (p->phantom)
		job->contents = WORKLOAD_PHANTOM;
	else if (p->real || p->check)
		job->contents = WORKLOAD_REAL;
	return fits(p, message);
}

static const struct option program_options[] = {
	{"phantom", OPTION_SWITCH, offsetof(struct program, phantom), NULL,
	 .help = "tensors without bytes (default in simulation)"},
	{"real", OPTION_SWITCH, offsetof(struct program, real), NULL,
	 .help = "tensors with bytes (default otherwise)"},
	{"check", OPTION_SWITCH, offsetof(struct program, check), NULL,
	 .help = "tensors with bytes, and verify what they hold"},
	{.name = NULL}};

int workload_main(int argc, char **argv)
{
	const struct workload *workload = workload_find(argv[0]);
	struct program p = {.workload = workload};
	char example[256];
	const struct manual manual = {
		.examples = {example},
		.groups =
			GROUPS({.options = workload_options,
				.offset = offsetof(struct program, arguments)},
			       {"Tensors", .options = program_options}),
		.taker = workload->name};
	struct dist_message message = {""};
	int status;

	snprintf(example, sizeof example, "lockstep run %.200s",
		 workload->example);
	workload_arguments_init(&p.arguments, workload->name);
	if (!arguments_parse(&manual, &argc, (const char **)argv, &p, &status))
		return status;
	if (prepare(&p, &message)) {
		status = dist_launch(NULL, workload_rank, &p.setup.job);
	} else {
		fprintf(stderr, "%s: %s\n", argv[0], message.text);
		status = DIST_EXIT_USAGE;
	}
	workload_setup_release(&p.setup);
	return status;
}
