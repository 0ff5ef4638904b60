/*
 * tutorial_sgd - "Writing Distributed Applications with PyTorch", Distributed
 * Training: the ConvNet learns digits on all ranks at once, which share every
 * batch and average their gradients. train.c holds the training itself.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"
#include "scenarios/tutorial/replicas.h"
#include "scenarios/tutorial/train.h"

#define DRAWN_DIGITS 640

struct options {
	struct train train;
	struct digits digits; /* shared by simulated ranks, read only */
	const char *data;
	int batch;
	int epochs;
	int no_dropout;
};

static enum dist_error train(struct dist_group *group,
			     const struct options *options, struct convnet *net)
{
	enum dist_error error = DIST_OK;
	double loss;

	for (int epoch = 0; !error && epoch < options->epochs; epoch++) {
		error = train_epoch(group, &options->train, net, epoch, &loss);
		if (!error && dist_get_rank(group) == 0)
			printf("epoch %d: loss %.2f\n", epoch, loss);
	}
	return error;
}

static int rank_main(void *arg)
{
	enum dist_error error = DIST_ERR_NO_MEMORY;
	struct dist_group *group;
	struct convnet net;
	bool same = false;
	int status;

	if (rank_join(&group))
		return 1;
	if (convnet_init(&net, TRAIN_SEED))
		error = train(group, arg, &net);
	if (!error)
		error = replicas_check(group, &net.network, &same);
	status = rank_leave(group, "tutorial_sgd", error) || !same;
	convnet_release(&net);
	return status;
}

/* Checks the options and loads the digits; says what is wrong. */
static bool prepare(struct options *o, const char *name)
{
	struct dist_message message = {""};

	if (!o->data && digits_draw(&o->digits, DRAWN_DIGITS, TRAIN_SEED))
		return true;
	else if (!o->data)
		snprintf(message.text, sizeof message.text, "out of memory");
	else if (!digits_load(&o->digits, o->data, &message))
		return true;
	fprintf(stderr, "%s: %s\n", name, message.text);
	return false;
}

#define AT(field) offsetof(struct options, field)

static const struct option options_table[] = {
	{"data", OPTION_TEXT, AT(data), "DIR",
	 .help = "folder of MNIST's unpacked files", .usual = "random digits"},
	{"batch", OPTION_COUNT, AT(batch), "N",
	 .help = "samples of a step, over all ranks", .usual = "128", .min = 1},
	{"epochs", OPTION_COUNT, AT(epochs), "N",
	 .help = "times to go through the data", .usual = "10", .min = 1},
	{"no-dropout", OPTION_SWITCH, AT(no_dropout), NULL,
	 .help = "train the whole network in every step"},
	{"flops", OPTION_NUMBER, AT(train.flops), "RATE",
	 .help = "FLOP/s of a simulated device", .usual = "1e11",
	 .above = true},
	{.name = NULL}};
static const struct manual manual = {
	.examples = {"lockstep run --nproc-per-node 4 tutorial_sgd --batch 32"},
	.groups = GROUPS({.options = options_table})};

int tutorial_sgd_main(int argc, char **argv)
{
	struct options o = {.train.flops = 1e11, .batch = 128, .epochs = 10};
	int status;

	if (!arguments_parse(&manual, &argc, (const char **)argv, &o, &status))
		return status;
	status = DIST_EXIT_USAGE;
	if (prepare(&o, argv[0])) {
		o.train.digits = &o.digits;
		o.train.batch = (size_t)o.batch;
		o.train.dropout = !o.no_dropout;
		status = dist_launch(NULL, rank_main, &o);
	}
	digits_release(&o.digits);
	return status;
}
