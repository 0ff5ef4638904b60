/* The command line of ddp_step. */
#include "scenarios/ddp_step.h"

#include <stdlib.h>

#include "scenarios/arguments.h"
#include "scenarios/scenario.h"

#define USAGE                                                                  \
	"[OPTIONS]\n\n"                                                        \
	"Example: lockstep run --nproc-per-node 4 ddp_step --model resnet18 "  \
	"--batch 8 --check\n"

/* ResNet-50 in mixed precision trains at 60.6e12 FLOP/s on an A100 (NVIDIA
 * DeepLearningExamples: 2470 images/s at batch 256, times three forward
 * passes). */
#define DEFAULT_FLOPS 60e12
#define DEFAULT_BATCH 32.0

void ddp_step_arguments_init(struct ddp_step_arguments *a,
			     struct poptOption table[DDP_STEP_TABLE])
{
	const struct poptOption options[DDP_STEP_TABLE] = {
		{"model", 'm', POPT_ARG_STRING, &a->model, 0,
		 "network: a name or a CSV file (default resnet50)", "M"},
		{"batch", '\0', POPT_ARG_DOUBLE, &a->rate.batch, 0,
		 "samples per rank (default 32)", "N"},
		{"flops", '\0', POPT_ARG_DOUBLE, &a->rate.flops, 0,
		 "FLOP/s that a device achieves (default 60e12)", "RATE"},
		{"step-ms", '\0', POPT_ARG_DOUBLE, &a->rate.step_ms, 0,
		 "measured step on one device, instead of --flops", "T"},
		{"bucket-cap-mb", '\0', POPT_ARG_DOUBLE, &a->bucket_cap_mb, 0,
		 "size at which a bucket closes, in MiB (default 25)", "MB"},
		{"first-bucket-mb", '\0', POPT_ARG_DOUBLE, &a->first_bucket_mb,
		 0, "the same for the first bucket (default 1)", "MB"},
		{"steps", '\0', POPT_ARG_INT, &a->steps, 0,
		 "training steps (default 1)", "K"},
		POPT_TABLEEND};
	size_t i;

	*a = (struct ddp_step_arguments){
		.rate = {.batch = DEFAULT_BATCH, .flops = DEFAULT_FLOPS},
		.steps = 1,
	};
	for (i = 0; i < DDP_STEP_TABLE; i++)
		table[i] = options[i];
}

bool ddp_step_arguments_check(const struct ddp_step_arguments *a,
			      struct dist_message *message)
{
	const char *what = NULL;

	/* Written so that NaN, which popt lets through, fails as well. */
	if (!(a->rate.batch > 0))
		what = "--batch: expected more than 0";
	else if (!(a->rate.flops > 0))
		what = "--flops: expected more than 0";
	else if (!(a->rate.step_ms >= 0))
		what = "--step-ms: expected 0 or more";
	else if (!(a->bucket_cap_mb >= 0))
		what = "--bucket-cap-mb: expected 0 or more";
	else if (!(a->first_bucket_mb >= 0))
		what = "--first-bucket-mb: expected 0 or more";
	else if (a->steps < 1)
		what = "--steps: expected 1 or more";
	if (what)
		snprintf(message->text, sizeof(message->text), "%s", what);
	return !what;
}

/* The flags of the program itself, and the job made of all of them. */
struct program {
	struct ddp_step_arguments arguments;
	int phantom;
	int real;
	int check;
	struct model model;
	struct schedule schedule;
};

static bool prepare(struct program *p, struct dist_message *message)
{
	const char *name = p->arguments.model ? p->arguments.model : "resnet50";

	if (!ddp_step_arguments_check(&p->arguments, message))
		return false;
	if (p->phantom && (p->real || p->check)) {
		snprintf(message->text, sizeof(message->text),
			 "--phantom: there is nothing %s in it",
			 p->real ? "real" : "to check");
		return false;
	}
	if (model_load(&p->model, name, message))
		return false;
	if (schedule_init(&p->schedule, &p->model, &p->arguments.rate)) {
		snprintf(message->text, sizeof(message->text),
			 "a step of this batch and rate cannot be timed");
		return false;
	}
	return true;
}

static int run(struct program *p)
{
	struct ddp_step job = {
		.model = &p->model,
		.schedule = &p->schedule,
		.batch = p->arguments.rate.batch,
		.bucket_cap_mb = p->arguments.bucket_cap_mb,
		.first_bucket_mb = p->arguments.first_bucket_mb,
		.steps = p->arguments.steps,
		.check = p->check,
		.out = stdout,
	};

	if (p->phantom)
		job.gradients = DDP_STEP_PHANTOM;
	else if (p->real || p->check)
		job.gradients = DDP_STEP_REAL;
	return dist_launch(NULL, ddp_step_rank, &job);
}

int ddp_step_main(int argc, char **argv)
{
	struct program p = {.phantom = 0};
	struct poptOption shared[DDP_STEP_TABLE];
	const struct poptOption table[] = {
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, shared, 0, NULL, NULL},
		{"phantom", '\0', POPT_ARG_NONE, &p.phantom, 0,
		 "gradients without bytes (default in simulation)", NULL},
		{"real", '\0', POPT_ARG_NONE, &p.real, 0,
		 "gradients with bytes (default otherwise)", NULL},
		{"check", '\0', POPT_ARG_NONE, &p.check, 0,
		 "real gradients, and verify every average", NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	struct dist_message message = {""};
	int status = DIST_EXIT_USAGE;

	ddp_step_arguments_init(&p.arguments, shared);
	if (arguments_parse(argc, (const char **)argv, table, USAGE)) {
		if (prepare(&p, &message))
			status = run(&p);
		else
			fprintf(stderr, "%s: %s\n", argv[0], message.text);
	}
	schedule_release(&p.schedule);
	model_release(&p.model);
	free(p.arguments.model);
	return status;
}
