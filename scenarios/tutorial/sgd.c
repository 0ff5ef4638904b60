/*
 * tutorial_sgd - "Writing Distributed Applications with PyTorch", Distributed
 * Training: the ConvNet learns digits on all ranks at once, which share every
 * batch and average their gradients. train.c holds the training itself.
 */
#include "scenarios/scenario.h"

#include <stdio.h>
#include <stdlib.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"
#include "scenarios/tutorial/replicas.h"
#include "scenarios/tutorial/train.h"

#define DRAWN_DIGITS 640

struct options {
	struct train train;
	struct digits digits; /* shared by simulated ranks, read only */
	char *data;
	int batch;
	int epochs;
	int no_dropout;
};

static enum dist_error train(struct dist_group *group,
			     const struct options *options, struct convnet *net)
{
	enum dist_error err = DIST_OK;
	double loss;

	for (int epoch = 0; !err && epoch < options->epochs; epoch++) {
		err = train_epoch(group, &options->train, net, epoch, &loss);
		if (!err && dist_get_rank(group) == 0)
			printf("epoch %d: loss %.2f\n", epoch, loss);
	}
	return err;
}

static int rank_main(void *arg)
{
	enum dist_error err = DIST_ERR_NO_MEMORY;
	struct dist_group *group;
	struct convnet net;
	bool same = false;
	int status;

	if (rank_join(&group))
		return 1;
	if (convnet_init(&net, TRAIN_SEED))
		err = train(group, arg, &net);
	if (!err)
		err = replicas_check(group, &net.network, &same);
	status = rank_leave(group, "tutorial_sgd", err) || !same;
	convnet_release(&net);
	return status;
}

/* Checks the options and loads the digits; says what is wrong. */
static bool prepare(struct options *o, const char *name)
{
	struct dist_message message = {""};

	if (o->batch < 1)
		snprintf(message.text, sizeof(message.text),
			 "--batch %d: expected 1 or more", o->batch);
	else if (o->epochs < 1)
		snprintf(message.text, sizeof(message.text),
			 "--epochs %d: expected 1 or more", o->epochs);
	else if (!(o->train.flops > 0))
		snprintf(message.text, sizeof(message.text),
			 "--flops: expected more than 0");
	else if (!o->data && digits_draw(&o->digits, DRAWN_DIGITS, TRAIN_SEED))
		return true;
	else if (!o->data)
		snprintf(message.text, sizeof(message.text), "out of memory");
	else if (!digits_load(&o->digits, o->data, &message))
		return true;
	fprintf(stderr, "%s: %s\n", name, message.text);
	return false;
}

int tutorial_sgd_main(int argc, char **argv)
{
	struct options o = {.train.flops = 1e11, .batch = 128, .epochs = 10};
	const struct poptOption table[] = {
		{"data", '\0', POPT_ARG_STRING, &o.data, 0,
		 "folder of MNIST's unpacked files (default: draw digits)",
		 "DIR"},
		{"batch", '\0', POPT_ARG_INT, &o.batch, 0,
		 "samples of a step, over all ranks (default 128)", "N"},
		{"epochs", '\0', POPT_ARG_INT, &o.epochs, 0,
		 "times to go through the data (default 10)", "N"},
		{"no-dropout", '\0', POPT_ARG_NONE, &o.no_dropout, 0,
		 "train the whole network in every step", NULL},
		{"flops", '\0', POPT_ARG_DOUBLE, &o.train.flops, 0,
		 "FLOP/s of a simulated device (default 1e11)", "RATE"},
		POPT_AUTOHELP POPT_TABLEEND};
	int status = DIST_EXIT_USAGE;

	if (arguments_parse(argc, (const char **)argv, table,
			    "[OPTIONS]\n\nExample: lockstep run "
			    "--nproc-per-node 4 tutorial_sgd --batch 32\n") &&
	    prepare(&o, argv[0])) {
		o.train.digits = &o.digits;
		o.train.batch = (size_t)o.batch;
		o.train.dropout = !o.no_dropout;
		status = dist_launch(NULL, rank_main, &o);
	}
	digits_release(&o.digits);
	free(o.data);
	return status;
}
