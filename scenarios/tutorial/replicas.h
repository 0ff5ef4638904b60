/* replicas.h - one model on all ranks: kept alike by ddp, and looked at. */
#ifndef LOCKSTEP_TUTORIAL_REPLICAS_H
#define LOCKSTEP_TUTORIAL_REPLICAS_H

#include <stdbool.h>

#include "lockstep/ddp.h"
#include "scenarios/tutorial/toymodel.h"

/* replicas_new gives the model, with a ddp object over all its parameters,
 * rank 0's values on every rank. Errors: dist_ddp_new's. */
DIST_MUST_CHECK enum dist_error replicas_new(struct dist_group *group,
					     struct toymodel *model,
					     struct dist_ddp **ddp);

/* replicas_average averages the gradients over the ranks, once backward is
 * through. Errors: dist_ddp_gradient_ready's and dist_ddp_finish's. */
DIST_MUST_CHECK enum dist_error replicas_average(struct dist_ddp *ddp);

/*
 * replicas_check tells every rank whether the parameters of all of them are the
 * same to the bit; rank 0 says so, on stdout if they are, else on stderr.
 * Errors: any group error.
 */
DIST_MUST_CHECK enum dist_error replicas_check(struct dist_group *group,
					       const struct toymodel *model,
					       bool *same);

#endif
