/* model.h - parts of lockstep model: a list that others print, too, and a verb
 * with options of its own. */
#ifndef LOCKSTEP_CLI_MODEL_H
#define LOCKSTEP_CLI_MODEL_H

#include "base/rows.h"

extern const char list_llms_columns[];

/* list_llms adds a row for each language model of the catalogue. Returns the
 * exit status, after a message. */
int list_llms(struct dist__rows *table);

/* model_new is `lockstep model new`; argv[0] is its name, argv[1] to argv[argc
 * - 1] are its options, argv[argc] is NULL. Returns the exit status. */
int model_new(int argc, const char **argv);

#endif
