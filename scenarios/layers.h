/*
 * layers.h - a model cut into layers, for pipelines, sharding and tensor
 * parallelism: its blocks, by the names of its rows.
 *
 * Rows with equal names up to their first number ("transformer.h.3.",
 * "layer1.0.") are one layer. Rows without a number belong to the next layer,
 * or at the end to the last one. In a model without numbers every module
 * ("conv1.", "fc1.") is a layer.
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
	const char *name;     /* the common beginning of its rows' names;
				 borrowed */
	int name_length;

	/* Elements of one sample, as the model states them; 0: not stated. */
	size_t activation; /* output of the layer */
	size_t attention;  /* output of its attention */
	int heads;         /* of that attention */
	int attentions;    /* number of attentions */

	/* Its MLP, from which experts are made. */
	size_t mlp_numel;
	double mlp_flops;     /* for one sample */
	size_t width, tokens; /* of its output, for one sample; 0: not stated */
};

struct layers {
	struct layer *list; /* owned */
	size_t num;
};

/*
 * layers_init cuts model, which must outlive layers, into layers. The output of
 * a layer, its attention or its MLP is that of its last row with a width and
 * positions. Errors: DIST_ERR_NO_MEMORY; then *layers is empty.
 */
DIST_MUST_CHECK enum dist_error layers_init(struct layers *layers,
					    const struct model *model);

/* layers_release frees what layers holds. */
void layers_release(struct layers *layers);

/* layer_refuse writes the place of the layer in model's file and what was
 * expected: "gpt.csv:12: layer h.0: expected ...". Returns false. */
bool layer_refuse(const struct layer *layer, const struct model *model,
		  const char *what, struct dist_message *message);

/*
 * layers_stage stores the layers of stage index of num: *count of them, at
 * least one, from *first on. Stages begin where the FLOP before are nearest to
 * an equal share. num is at most the number of layers.
 */
void layers_stage(const struct layers *layers, int num, int index,
		  size_t *first, size_t *count);

/* layer_forward_ns and layer_backward_ns return the computing time of a layer
 * for the schedule's batch. */
int64_t layer_forward_ns(const struct layer *layer,
			 const struct schedule *schedule);
int64_t layer_backward_ns(const struct layer *layer,
			  const struct schedule *schedule);

#endif
