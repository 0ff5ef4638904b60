/*
 * model.h - the parameters of a network and their FLOP, read from CSV.
 *
 *	# ResNet-50: 25557032 parameters in 161 tensors, ...
 *	# source: ...
 *	parameter,numel,forward_flops,width,positions
 *	conv1.weight,9408,236027904,64,12544
 *	bn1.weight,64,0,64,3136
 *	bn1.bias,64,0,,
 *
 * Empty lines and lines that begin with '#' are ignored. Rows are in
 * registration order: the order in which the framework lists the parameters. A
 * row of numel 0 is work without a parameter of its own, such as an output
 * projection tied to the embedding. After the first three columns come, in any
 * order, those that the workload needs: docs/models.md.
 */
#ifndef LOCKSTEP_MODEL_TRAINING_MODEL_H
#define LOCKSTEP_MODEL_TRAINING_MODEL_H

#include "lockstep/ddp.h"
#include "lockstep/dist.h"

struct model_row {
	char *name;           /* owned by the model */
	int line;             /* of the file */
	size_t numel;         /* 0: work without a parameter */
	double forward_flops; /* for one sample */

	/* The output of the row's operation: elements of a position, and
	 * positions of a sample; both 0: not stated. */
	size_t width, positions;
	int heads; /* of the attention that ends with it; 0: not stated */
	bool mlp;  /* belongs to a block's MLP */
};

struct model {
	char name[64];  /* the file's, without folder and ".csv" */
	char path[256]; /* the file's, truncated if it is longer */
	struct model_row *rows;
	size_t num_rows;
	size_t num_parameters;               /* rows of numel > 0 */
	struct dist_ddp_parameter *phantoms; /* these, for all ranks */
	size_t numel;                        /* of all rows */
	double forward_flops;                /* of all rows */
};

/*
 * model_load reads the model named name: a path when it holds a '/' or ends in
 * ".csv", else one of those that come with Lockstep ($LOCKSTEP_DATA/models,
 * else where Lockstep was built or installed). On failure *model is empty and
 * message says what is wrong, as "file:line: what was expected" where it can.
 * Errors: DIST_ERR_INVALID_ARGUMENT (no such file, or not a model),
 * DIST_ERR_NO_MEMORY, DIST_ERR_IO.
 */
DIST_MUST_CHECK enum dist_error
model_load(struct model *model, const char *name, struct dist_message *message);

/* model_release frees what model holds. */
void model_release(struct model *model);

#endif
