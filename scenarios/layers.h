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

#include "model/training/model.h"
#include "model/training/schedule.h"

struct layer {
	size_t first_row; /* of the model */
	size_t num_rows;
	size_t numel;         /* of its parameters */
	double forward_flops; /* for one sample */
	const char *name;     /* what its rows are called alike; borrowed */
	int name_length;

	/* Elements of one sample, as the model says them; 0: it does not. */
	size_t activation; /* that leave it */
	size_t attention;  /* that its attention gives out */
	int heads;         /* of that attention */
	int attentions;    /* how many there are */

	/* Its MLP: what experts are made of. */
	size_t mlp_numel;
	double mlp_flops;     /* for one sample */
	size_t width, tokens; /* that it gives out, of one sample; 0: not
				 said */
};

struct layers {
	struct layer *list; /* owned */
	size_t num;
};

/*
 * layers_init cuts model, which outlives layers. What leaves a layer, its
 * attention or its MLP is what the last of their rows that has a width and
 * positions gives out. Errors: DIST_ERR_NO_MEMORY, and *layers is empty.
 */
DIST_MUST_CHECK enum dist_error layers_init(struct layers *layers,
					    const struct model *model);

/* layers_release frees what layers holds. */
void layers_release(struct layers *layers);

/* layer_refuse writes where the layer of model stands and what was expected of
 * it, "gpt.csv:12: layer h.0: expected ..."; returns false. */
bool layer_refuse(const struct layer *layer, const struct model *model,
		  const char *what, struct dist_message *message);

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
