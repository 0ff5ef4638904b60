/* The workloads as programs: their command line. */
#include "scenarios/workload.h"

#include <stdlib.h>

#include "scenarios/arguments.h"
#include "scenarios/scenario.h"

/* The flags of the programs beside those of what they train. */
struct program {
	const struct workload *workload;
	struct workload_arguments arguments;
	int phantom;
	int real;
	int check;
	struct workload_setup setup;
};

/* Whether the job fits the world that the environment tells of; where it does
 * not, the ranks will see. */
static bool fits(const struct workload_job *job, struct dist_message *message)
{
	const char *words = getenv("WORLD_SIZE");
	int world_size = words ? atoi(words) : 1;

	return world_size < 1 || workload_fits(job, world_size, message);
}

static bool prepare(struct program *p, struct dist_message *message)
{
	struct workload_job *job = &p->setup.job;

	if (!workload_arguments_check(&p->arguments, p->workload->name,
				      message))
		return false;
	if (p->phantom && (p->real || p->check)) {
		snprintf(message->text, sizeof(message->text),
			 "--phantom: there is nothing %s in it",
			 p->real ? "real" : "to check");
		return false;
	}
	if (workload_setup_init(&p->setup, p->workload, &p->arguments, message))
		return false;
	job->out = stdout;
	job->check = p->check;
	if (p->phantom)
		job->contents = WORKLOAD_PHANTOM;
	else if (p->real || p->check)
		job->contents = WORKLOAD_REAL;
	return fits(job, message);
}

static int workload_main(const struct workload *workload, int argc, char **argv)
{
	struct program p = {.workload = workload};
	struct poptOption shared[WORKLOAD_TABLE];
	const struct poptOption table[] = {
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, shared, 0, NULL, NULL},
		{"phantom", '\0', POPT_ARG_NONE, &p.phantom, 0,
		 "tensors without bytes (default in simulation)", NULL},
		{"real", '\0', POPT_ARG_NONE, &p.real, 0,
		 "tensors with bytes (default otherwise)", NULL},
		{"check", '\0', POPT_ARG_NONE, &p.check, 0,
		 "tensors with bytes, and verify what they hold", NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	struct dist_message message = {""};
	int status = DIST_EXIT_USAGE;
	char usage[256];

	snprintf(usage, sizeof(usage),
		 "[OPTIONS]\n\nExample: lockstep run %.200s\n",
		 workload->example);
	workload_arguments_init(&p.arguments, workload->name, shared);
	if (arguments_parse(argc, (const char **)argv, table, usage)) {
		if (prepare(&p, &message))
			status = dist_launch(NULL, workload_rank, &p.setup.job);
		else
			fprintf(stderr, "%s: %s\n", argv[0], message.text);
	}
	workload_setup_release(&p.setup);
	workload_arguments_release(&p.arguments);
	return status;
}

int ddp_step_main(int argc, char **argv)
{
	return workload_main(&workload_ddp_step, argc, argv);
}

int fsdp_main(int argc, char **argv)
{
	return workload_main(&workload_fsdp, argc, argv);
}

int hybrid_main(int argc, char **argv)
{
	return workload_main(&workload_hybrid, argc, argv);
}

int pipeline_main(int argc, char **argv)
{
	return workload_main(&workload_pipeline, argc, argv);
}

int tensor_parallel_main(int argc, char **argv)
{
	return workload_main(&workload_tensor_parallel, argc, argv);
}

int moe_main(int argc, char **argv)
{
	return workload_main(&workload_moe, argc, argv);
}

int ps_main(int argc, char **argv)
{
	return workload_main(&workload_ps, argc, argv);
}
