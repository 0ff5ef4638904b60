/*
 * tutorial_sgd - "Writing Distributed Applications with PyTorch", Distributed
 * Training: a ToyModel learns on all ranks at once, which share every batch and
 * average their gradients. train.c holds the training itself.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"
#include "scenarios/tutorial/replicas.h"
#include "scenarios/tutorial/train.h"

#define MODEL_SEED 1

struct options {
	struct train train;
	struct samples samples; /* shared by simulated ranks, read only */
	int batch;
	int epochs;
};

static enum dist_error train(struct dist_group *group,
			     const struct options *options,
			     struct toymodel *model)
{
	enum dist_error error = DIST_OK;
	double loss;

	for (int epoch = 0; !error && epoch < options->epochs; epoch++) {
		error = train_epoch(group, &options->train, model, epoch,
				    &loss);
		if (!error && dist_get_rank(group) == 0)
			printf("epoch %d: loss %.3f\n", epoch, loss);
	}
	return error;
}

static int rank_main(void *arg)
{
	struct dist_group *group;
	struct toymodel model;
	enum dist_error error;
	bool same = false;

	if (rank_join(&group))
		return 1;
	toymodel_init(&model, MODEL_SEED);
	error = train(group, arg, &model);
	if (!error)
		error = replicas_check(group, &model, &same);
	return rank_leave(group, "tutorial_sgd", error) || !same;
}

#define AT(field) offsetof(struct options, field)

static const struct option options_table[] = {
	{"batch", OPTION_COUNT, AT(batch), "N",
	 .help = "samples of a step, over all ranks", .usual = "128", .min = 1},
	{"epochs", OPTION_COUNT, AT(epochs), "N",
	 .help = "times to go through the data", .usual = "10", .min = 1},
	{"flops", OPTION_NUMBER, AT(train.flops), "RATE",
	 .help = "FLOP/s of a simulated device", .usual = "1e11",
	 .above = true},
	{.name = NULL}};
static const struct manual manual = {
	.examples = {"lockstep run --nproc-per-node 4 tutorial_sgd --batch 32"},
	.groups = GROUPS({.options = options_table})};

int tutorial_sgd_main(int argc, char **argv)
{
	struct options o = {.train = {.num = TRAIN_SAMPLES, .flops = 1e11},
			    .batch = 128,
			    .epochs = 10};
	int status;

	if (!arguments_parse(&manual, &argc, (const char **)argv, &o, &status))
		return status;
	samples_draw(&o.samples);
	o.train.samples = &o.samples;
	o.train.batch = (size_t)o.batch;
	return dist_launch(NULL, rank_main, &o);
}
