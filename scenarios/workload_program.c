/* The workloads as programs: their command line. */
#include "scenarios/workload.h"

#include <stdlib.h>

#include "model/llm/step.h"
#include "scenarios/arguments.h"
#include "scenarios/llm.h"
#include "scenarios/physics.h"
#include "scenarios/scenario.h"

/* The GPU of language models where none is named. */
#define USUAL_GPU "H100"

/* What a language model's steps are made of. */
struct language {
	struct llm_arguments flags;
	struct llm_device device;
	struct llm_architecture model;
	struct llm_layout layout;
	struct llm_pace pace;
	struct llm_work work;
};

/* The flags of the programs beside those of what they train. */
struct program {
	const struct workload *workload;
	struct workload_arguments arguments;
	struct language language;
	int phantom, real, check;
	struct workload_setup setup;
	struct physics physics;
};

#define AT(field) offsetof(struct program, field)

/* The launcher's world size; 1: there is none; below 1: not known. */
static int num_ranks(void)
{
	const char *text = getenv("WORLD_SIZE");

	return text ? atoi(text) : 1;
}

/* Returns whether the job fits the launcher's world size, and marks what is
 * impossible of it. Where the size is not known, the ranks look. */
static bool fits(struct program *p, struct dist__refusal *refusal)
{
	struct workload_job *job = &p->setup.job;
	int world_size = num_ranks();

	if (world_size < 1)
		return true;
	if (workload_check(job, world_size, refusal))
		return false;
	if (job->llm)
		return true;
	physics_judge(&p->setup, world_size, &p->physics);
	job->impossible = p->physics.impossible;
	return true;
}

static enum dist_error make_llm(struct program *p,
				struct dist__refusal *refusal)
{
	const struct workload_arguments *a = &p->arguments;
	struct language *l = &p->language;
	const struct llm_run run = {&l->work, &l->device, &l->pace, NULL};
	struct dist_message *message = &refusal->message;
	int gpus = num_ranks();
	enum dist_error error = llm_device_find(
		&l->device, a->gpu ? a->gpu : USUAL_GPU, message);

	if (!error)
		error = llm_architecture_find(
			&l->model, a->model ? a->model : "gpt2", message);
	if (!error)
		error = llm_arguments_layout(&l->flags, gpus < 1 ? 1 : gpus,
					     &l->model, &l->layout, refusal);
	if (error)
		return error;
	l->pace = llm_pace_of(&l->device, l->layout.precision);
	error = llm_recompute_choose(&l->layout, &l->model, &l->device,
				     &l->pace, message);
	if (!error)
		error = llm_work_init(&l->work, &l->model, &l->layout,
				      &l->device, &l->pace, message);
	return error ? error : llm_setup_init(&p->setup, &run, a, refusal);
}

static bool prepare(struct program *p, struct dist__refusal *refusal)
{
	struct workload_job *job = &p->setup.job;
	enum dist_error error;

	if (p->phantom && (p->real || p->check)) {
		(void)dist__refuse_option(
			refusal, "phantom",
			"--phantom: there is nothing %s in it",
			p->real ? "real" : "to check");
		return false;
	}
	error = p->workload == &workload_llm
			? make_llm(p, refusal)
			: workload_setup_init(&p->setup, p->workload,
					      &p->arguments, NULL, refusal);
	if (error)
		return false;
	job->out = stdout;
	job->check = p->check;
	if (p->phantom)
		job->contents = WORKLOAD_PHANTOM;
	else if (p->real || p->check)
		job->contents = WORKLOAD_REAL;
	return fits(p, refusal);
}

static const struct option llm_program_options[] = {
	{"model", OPTION_TEXT, AT(arguments.model), "MODEL",
	 .help = "language model: a name, or a config.json", .usual = "gpt2",
	 .list = "models"},
	{"gpu", OPTION_TEXT, AT(arguments.gpu), "NAME",
	 .help = "device that computes", .usual = USUAL_GPU},
	WORKLOAD_PACE_ROWS(AT(arguments)),
	{.name = NULL}};

static const struct option tensor_options[] = {
	{"phantom", OPTION_SWITCH, AT(phantom), NULL,
	 .help = "tensors without bytes (default in simulation)"},
	{"real", OPTION_SWITCH, AT(real), NULL,
	 .help = "tensors with bytes (default otherwise)"},
	{"check", OPTION_SWITCH, AT(check), NULL,
	 .help = "tensors with bytes, and verify what they hold"},
	{.name = NULL}};

int workload_main(int argc, char **argv)
{
	const struct workload *found = workload_find(argv[0]);
	const struct workload *workload = found ? found : &workload_llm;
	const struct option_group *groups =
		workload == &workload_llm
			? GROUPS({.options = llm_program_options},
				 {"Layout", .options = llm_options,
				  .offset = AT(language.flags)},
				 {"Tensors", .options = tensor_options})
			: GROUPS({.options = workload_options,
				  .offset = AT(arguments)},
				 {"Tensors", .options = tensor_options});
	struct program p = {.workload = workload};
	char example[256];
	const struct manual manual = {.examples = {example},
				      .groups = groups,
				      .taker = workload->name};
	struct dist__refusal refusal;
	int status;

	snprintf(example, sizeof example, "lockstep run %.200s",
		 workload->example);
	workload_arguments_init(&p.arguments, workload->name);
	if (workload == &workload_llm)
		p.arguments.rate.batch = 1;
	if (!arguments_parse(&manual, &argc, (const char **)argv, &p, &status))
		return status;
	if (prepare(&p, &refusal)) {
		status = dist_launch(NULL, workload_rank, &p.setup.job);
	} else {
		fprintf(stderr, "%s: %s\n", argv[0], refusal.message.text);
		status = DIST_EXIT_USAGE;
	}
	workload_setup_release(&p.setup);
	llm_device_release(&p.language.device);
	return status;
}
