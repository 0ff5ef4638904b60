/* llm as a program: its command line. */
#include "scenarios/llm.h"

#include <stdlib.h>

#include "model/llm/step.h"

#include "scenarios/scenario.h"

/* The GPU where none is named. */
#define USUAL_GPU "H100"

struct program {
	const char *model;
	const char *gpu;
	struct workload_arguments arguments;
	struct llm_arguments layout;
	int phantom, real, check;
};

#define AT(field) offsetof(struct program, field)

static const struct option program_options[] = {
	{"model", OPTION_TEXT, AT(model), "MODEL",
	 .help = "language model: a name, or a config.json", .usual = "gpt2",
	 .list = "models"},
	{"gpu", OPTION_TEXT, AT(gpu), "NAME", .help = "device that computes",
	 .usual = USUAL_GPU},
	{"jitter", OPTION_NUMBER, AT(arguments.jitter_percent), "PERCENT",
	 .help = "standard deviation of computing time, log-normal, by rank "
		 "and step",
	 .usual = "0", .max = 100},
	{"straggler", OPTION_TEXT, AT(arguments.stragglers), "RANK:FACTOR,...",
	 .help = "slow ranks: their computing takes FACTOR times as long"},
	{"seed", OPTION_COUNT, AT(arguments.seed), "N", .help = "random seed",
	 .usual = "1"},
	{"steps", OPTION_COUNT, AT(arguments.steps), "K",
	 .help = "training steps", .usual = "1", .min = 1, .max = 1e6},
	{.name = NULL}};

static const struct option tensor_options[] = {
	{"phantom", OPTION_SWITCH, AT(phantom), NULL,
	 .help = "tensors without bytes (default in simulation)"},
	{"real", OPTION_SWITCH, AT(real), NULL,
	 .help = "tensors with bytes (default otherwise)"},
	{"check", OPTION_SWITCH, AT(check), NULL,
	 .help = "tensors with bytes, and verify what they hold"},
	{.name = NULL}};

/* The world size that the launcher set; 1 without one. */
static int num_ranks(void)
{
	const char *text = getenv("WORLD_SIZE");
	int ranks = text ? atoi(text) : 1;

	return ranks < 1 ? 1 : ranks;
}

/* Describes the work, and runs it. */
static int run(const struct program *p, const struct llm_device *device,
	       struct dist_message *message)
{
	struct llm_pace pace;
	struct llm_architecture model;
	struct llm_layout layout;
	struct workload_setup setup;
	struct llm_work work;
	const struct llm_run run = {&work, device, &pace, NULL};
	const char *option;
	int status = DIST_EXIT_USAGE;

	if (llm_architecture_find(&model, p->model ? p->model : "gpt2",
				  message) ||
	    llm_arguments_layout(&p->layout, num_ranks(), &model, &layout,
				 &option, message))
		return status;
	pace = llm_pace_of(device, layout.precision);
	if (llm_recompute_choose(&layout, &model, device, &pace, message) ||
	    llm_work_init(&work, &model, &layout, device, &pace, message))
		return status;
	if (!llm_setup_init(&setup, &run, &p->arguments, message)) {
		setup.job.out = stdout;
		setup.job.check = p->check;
		if (p->phantom)
			setup.job.contents = WORKLOAD_PHANTOM;
		else if (p->real || p->check)
			setup.job.contents = WORKLOAD_REAL;
		if (!workload_misfit(&setup.job, num_ranks(), message))
			status = dist_launch(NULL, workload_rank, &setup.job);
	}
	workload_setup_release(&setup);
	return status;
}

int llm_main(int argc, char **argv)
{
	const struct manual manual = {
		.examples =
			{"lockstep run --nproc-per-node 8 --backend sim "
			 "--platform star-8 llm --model gpt2 --tp 2 --pp 2"},
		.groups = GROUPS({.options = program_options},
				 {"Layout", .options = llm_options,
				  .offset = AT(layout)},
				 {"Tensors", .options = tensor_options})};
	struct program p = {.model = NULL};
	struct dist_message message = {""};
	struct llm_device device;
	int status;

	workload_arguments_init(&p.arguments, "llm");
	p.arguments.rate.batch = 1;
	if (!arguments_parse(&manual, &argc, (const char **)argv, &p, &status))
		return status;
	if (p.phantom && (p.real || p.check)) {
		fprintf(stderr, "%s: --phantom: there is nothing %s in it\n",
			argv[0], p.real ? "real" : "to check");
		return DIST_EXIT_USAGE;
	}
	status = DIST_EXIT_USAGE;
	if (!llm_device_find(&device, p.gpu ? p.gpu : USUAL_GPU, &message)) {
		status = run(&p, &device, &message);
		llm_device_release(&device);
	}
	if (*message.text)
		fprintf(stderr, "%s: %s\n", argv[0], message.text);
	return status;
}
