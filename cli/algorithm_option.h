/*
 * algorithm_option.h - the words of --algorithm where one collective is meant.
 */
#ifndef LOCKSTEP_CLI_ALGORITHM_OPTION_H
#define LOCKSTEP_CLI_ALGORITHM_OPTION_H

#include <stdbool.h>

#include "lockstep/dist.h"

/*
 * algorithm_option_spell_out stores in *whole the words with names that stand
 * alone made those of the collective op: of "ring,reduce=linear" and
 * "all_gather", "all_gather=ring,reduce=linear". op is NULL for what is no
 * collective: then no name may stand alone. The caller frees *whole. false:
 * message says what is wrong, an unknown name among it, with those that there
 * are.
 */
bool algorithm_option_spell_out(const char *text, const char *op, char **whole,
				struct dist_message *message);

/* forced_check returns whether the words are known as they are, a name alone
 * being one of all_reduce; false: message as above. */
bool forced_check(const char *text, struct dist_message *message);

#endif
