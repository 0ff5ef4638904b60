/* model.h - a small model, trained by ddp, for programs of the zoo. */
#ifndef LOCKSTEP_SCENARIOS_ZOO_MODEL_H
#define LOCKSTEP_SCENARIOS_ZOO_MODEL_H

#include "lockstep/ddp.h"
#include "scenarios/zoo/zoo.h"

/* Its parameters, in the order of the layers. */
enum { ZOO_ENCODER_WEIGHT, ZOO_ENCODER_BIAS, ZOO_HEAD_WEIGHT, ZOO_HEAD_BIAS };
#define ZOO_PARAMETERS 4

struct zoo_model {
	struct dist_ddp_parameter list[ZOO_PARAMETERS];
	float values[ZOO_PARAMETERS][6], gradients[ZOO_PARAMETERS][6];
	struct dist_ddp *ddp;
};

/* zoo_model_list lays out the parameters, whose list stays in model. */
void zoo_model_list(struct zoo_model *model);

/* zoo_model_new lays out the parameters and makes ddp, which averages them in
 * two buckets, encoder and head; options may be NULL. The caller frees ddp.
 * Errors: dist_ddp_new's. */
DIST_MUST_CHECK enum dist_error
zoo_model_new(struct zoo *zoo, struct zoo_model *model,
	      const struct dist_ddp_options *options);

/* zoo_backward marks the gradients of the model's parameters from the last down
 * to first; a macro, so that it stands at the caller's line. Errors:
 * dist_ddp_gradient_ready's. */
DIST_MUST_CHECK enum dist_error
zoo_backward_at(const char *file, int line, struct zoo_model *model, int first);
#define zoo_backward(model, first)                                             \
	zoo_backward_at(__FILE__, __LINE__, (model), (first))

#endif
