/* checkpoint.h - the parameters of a ToyModel in a file. */
#ifndef LOCKSTEP_TUTORIAL_CHECKPOINT_H
#define LOCKSTEP_TUTORIAL_CHECKPOINT_H

#include <stdbool.h>

#include "lockstep/dist.h"
#include "scenarios/tutorial/toymodel.h"

/* checkpoint_save writes the parameters to the file path: beside it first, and
 * then under its name, so that no one ever finds half a checkpoint there.
 * Returns false with a sentence in message when the system refuses. */
bool checkpoint_save(const struct toymodel *model, const char *path,
		     struct dist_message *message);

/* checkpoint_load reads parameters that checkpoint_save() wrote. Returns
 * false with a sentence in message, the model as it was or half loaded, when
 * the file cannot be read or is none of those. */
bool checkpoint_load(struct toymodel *model, const char *path,
		     struct dist_message *message);

#endif
