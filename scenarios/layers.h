/*
 * layers.h - a model cut into what pipelines, shards and tensor parallelism
 * deal with: its blocks, found by the names of its rows.
 *
 * Rows that are called alike up to their first number ("transformer.h.3.",
 * "layer1.0.") are one layer. Rows without a number go with the layer that
 * follows them, at the end with the last. In a model without numbers every
 * module ("conv1.", "fc1.") is a layer.
 */
#ifndef LOCKSTEP_SCENARIOS_LAYERS_H
#define LOCKSTEP_SCENARIOS_LAYERS_H

#include "scenarios/model.h"
#include "scenarios/schedule.h"

struct layer {
	size_t first_row; /* of the model */
	size_t num_rows;
	size_t numel;         /* of its parameters */
	size_t activation;    /* elements of one sample that leave it */
	double positions;     /* of one sample there: tokens, pixels */
	double forward_flops; /* for one sample */
};

struct layers {
	struct layer *list; /* owned */
	size_t num;
	size_t largest; /* numel of the largest layer */
};

/*
 * layers_init cuts model. What leaves a layer is channels times positions: the
 * channels are the elements of its last row, a bias or the scale of a norm; a
 * weight costs two FLOP an element and position. Errors: DIST_ERR_NO_MEMORY,
 * and *layers is empty.
 */
DIST_MUST_CHECK enum dist_error layers_init(struct layers *layers,
					    const struct model *model);

/* layers_release frees what layers holds. */
void layers_release(struct layers *layers);

/*
 * layers_stage stores which layers are stage index of num: from *first on,
 * *count of them, at least one. Stages begin where the FLOPs up to there are
 * nearest to an equal share. There are num layers or more.
 */
void layers_stage(const struct layers *layers, int num, int index,
		  size_t *first, size_t *count);

/* layer_forward_ns, layer_backward_ns return how long a layer computes for the
 * schedule's batch. */
int64_t layer_forward_ns(const struct layer *layer,
			 const struct schedule *schedule);
int64_t layer_backward_ns(const struct layer *layer,
			  const struct schedule *schedule);

#endif
