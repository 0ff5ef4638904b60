/*
 * algorithm_option.h - the value of --algorithm in commands about one
 * collective.
 */
#ifndef LOCKSTEP_CLI_ALGORITHM_OPTION_H
#define LOCKSTEP_CLI_ALGORITHM_OPTION_H

#include <stdbool.h>

#include "lockstep/dist.h"

/*
 * algorithm_option_spell_out stores text in *whole with each name without a
 * collective completed by op: for op "all_gather", "ring,reduce=linear" becomes
 * "all_gather=ring,reduce=linear". With op NULL (no collective) such names are
 * refused. The caller frees *whole. Returns false with a message; for an
 * unknown name it lists the known ones.
 */
bool algorithm_option_spell_out(const char *text, const char *op, char **whole,
				struct dist_message *message);

/* forced_check returns whether all names in text are known; a name without a
 * collective is one for all_reduce. False: message as above. */
bool forced_check(const char *text, struct dist_message *message);

#endif
