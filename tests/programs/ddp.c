/* A small model that ddp averages, and its users who misuse that. */
#include "tests/programs/programs.h"

/* Its parameters, in the order of the layers. */
enum { ENCODER_WEIGHT, ENCODER_BIAS, HEAD_WEIGHT, HEAD_BIAS, NUM_PARAMETERS };

struct model {
	struct dist_ddp_parameter list[NUM_PARAMETERS];
	float values[NUM_PARAMETERS][6], gradients[NUM_PARAMETERS][6];
};

static struct model *make_model(struct job *job)
{
	static const char *const names[] = {"encoder.weight", "encoder.bias",
					    "head.weight", "head.bias"};
	struct model *model = keep(job, sizeof *model);

	for (int i = 0; model && i < NUM_PARAMETERS; i++)
		model->list[i] = (struct dist_ddp_parameter){
			names[i], floats(model->values[i]),
			floats(model->gradients[i])};
	return model;
}

/* Averages in two buckets, encoder and head. */
static enum dist_error begin(struct job *job, struct dist_ddp_options options)
{
	struct model *model = make_model(job);

	options.first_bucket_mb = options.bucket_cap_mb =
		2.0 * sizeof model->values[0] / (1 << 20);
	return model ? dist_ddp_new(job->world, model->list, NUM_PARAMETERS,
				    &options, &job->ddp)
		     : DIST_ERR_NO_MEMORY;
}

/* Marks the gradients from the last down to first, at the caller's line. */
static enum dist_error backward_at(const char *file, int line, struct job *job,
				   int first)
{
	for (int i = NUM_PARAMETERS; i-- > first;)
		try((dist_ddp_gradient_ready)(dist_ddp_at(job->ddp, file, line),
					      (size_t)i));
	return DIST_OK;
}
#define backward(job, first) backward_at(__FILE__, __LINE__, job, first)

/* One of several of a step. */
static enum dist_error micro_batch(struct job *job, bool averaged)
{
	if (!averaged)
		try(dist_ddp_no_sync(job->ddp));
	/* partner: averages_another_batch */
	try(backward(job, ENCODER_WEIGHT));
	return dist_ddp_finish(job->ddp);
}

/* Ten samples for three ranks; the twin trains within join. Seen in
 * pytorch#33148, pytorch#38174. */
enum dist_error one_ddp_batch_more(struct job *job)
{
	try(begin(job, (struct dist_ddp_options){0}));
	if (!job->wrong)
		try(dist_ddp_join_begin(job->ddp, NULL));
	for (int i = 0; i < 3 + (job->rank == 0); i++) {
		/* culprit */
		try(backward(job, ENCODER_WEIGHT));
		try(dist_ddp_finish(job->ddp));
	}
	return job->wrong ? DIST_OK : dist_ddp_join_end(job->ddp);
}

/* Nothing in rank 2's second batch is labelled, so that the loss does not
 * depend on the head; the twin lets ddp find unused parameters. Seen in
 * pytorch#43259.
 */
enum dist_error head_without_gradient(struct job *job)
{
	try(begin(job, (struct dist_ddp_options){.find_unused_parameters =
							 !job->wrong}));
	for (int i = 0; i < 2; i++) {
		if (i == 0 || job->rank != 2) {
			try(dist_ddp_gradient_ready(job->ddp, HEAD_BIAS));
			/* partner */
			try(dist_ddp_gradient_ready(job->ddp, HEAD_WEIGHT));
		}
		try(dist_ddp_gradient_ready(job->ddp, ENCODER_BIAS));
		try(dist_ddp_gradient_ready(job->ddp, ENCODER_WEIGHT));
		/* culprit */
		try(dist_ddp_finish(job->ddp));
	}
	return DIST_OK;
}

/* Rank 1 trains with the encoder frozen. With a static graph nobody asks who
 * uses what: sums would lack its share. Seen in pytorch#72843. */
enum dist_error frozen_on_one(struct job *job)
{
	try(begin(job, (struct dist_ddp_options){.static_graph = true}));
	try(backward(job, at_fault(job, 1) ? HEAD_WEIGHT : ENCODER_WEIGHT));
	/* culprit */
	return dist_ddp_finish(job->ddp);
}

/* Parameters are gathered from a set, which each process walks in its own
 * order: weights of one size change places. Seen in DeepSpeed#2343. */
enum dist_error parameters_in_other_order(struct job *job)
{
	struct model *model = make_model(job);
	struct dist_ddp_parameter other;

	if (model && at_fault(job, 2)) {
		other = model->list[ENCODER_WEIGHT];
		model->list[ENCODER_WEIGHT] = model->list[HEAD_WEIGHT];
		model->list[HEAD_WEIGHT] = other;
	}
	/* culprit */
	return model ? dist_ddp_new(job->world, model->list, NUM_PARAMETERS,
				    NULL, &job->ddp)
		     : DIST_ERR_NO_MEMORY;
}

/* Rank 1 takes its second batch for one of several to be accumulated, and its
 * averages meet those of a step before. Seen in picotron#5. */
enum dist_error step_not_averaged(struct job *job)
{
	try(begin(job, (struct dist_ddp_options){0}));
	for (int i = 0; i < 4; i++) {
		if (i == 1 && at_fault(job, 1))
			try(dist_ddp_no_sync(job->ddp));
		/* culprit */
		try(backward(job, ENCODER_WEIGHT));
		try(dist_ddp_finish(job->ddp));
	}
	return DIST_OK;
}

/* Rank 0 drops a bad batch before backward, but its optimizer steps all the
 * same, of nothing that was averaged. Seen in NeMo Automodel#2468. */
enum dist_error step_of_its_own(struct job *job)
{
	try(begin(job, (struct dist_ddp_options){0}));
	for (int i = 0; i < 3; i++) {
		if (i == 1 && at_fault(job, 0))
			try(dist_ddp_optimizer_step(job->ddp));
		/* culprit */
		try(backward(job, ENCODER_WEIGHT));
		try(dist_ddp_finish(job->ddp));
		try(dist_ddp_optimizer_step(job->ddp));
	}
	return DIST_OK;
}

/* Of the micro-batches of a step the first is averaged rather than the last, on
 * all ranks. Seen in picotron#5. */
enum dist_error averages_the_first_batch(struct job *job)
{
	const int num = 3, averaged = job->wrong ? 0 : num - 1;

	try(begin(job, (struct dist_ddp_options){0}));
	for (int i = 0; i < num; i++)
		try(micro_batch(job, i == averaged));
	/* culprit */
	return dist_ddp_optimizer_step(job->ddp);
}

/* Rank 3 counts micro-batches from 1, and takes the one before for the last.
 * Seen in FunASR#3472. */
enum dist_error averages_another_batch(struct job *job)
{
	int last = at_fault(job, 3) ? 0 : 1;

	try(begin(job, (struct dist_ddp_options){0}));
	for (int i = 0; i < 3 * 2; i++) {
		try(micro_batch(job, i % 2 == last));
		if (i % 2 == 1)
			/* culprit */
			try(dist_ddp_optimizer_step(job->ddp));
	}
	return DIST_OK;
}

/* The first micro-batch, under no_sync, warms up the head alone, and is what
 * the static graph is recorded from. Seen in pytorch#187732. */
enum dist_error graph_of_another_batch(struct job *job)
{
	try(begin(job, (struct dist_ddp_options){.static_graph = true}));
	try(dist_ddp_no_sync(job->ddp));
	try(backward(job, job->wrong ? HEAD_WEIGHT : ENCODER_WEIGHT));
	try(dist_ddp_finish(job->ddp));
	/* culprit */
	try(backward(job, ENCODER_WEIGHT));
	return dist_ddp_finish(job->ddp);
}
