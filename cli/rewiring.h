/* rewiring.h - options that make the links of a platform faster or slower. */
#ifndef LOCKSTEP_CLI_REWIRING_H
#define LOCKSTEP_CLI_REWIRING_H

#include <popt.h>

#include "sim/platform.h"

#define REWIRING_OPTIONS 4
#define REWIRING_TABLE   (REWIRING_OPTIONS + 1) /* with its end */

/* What was given; strings are popt's, NULL when not given. */
struct rewiring_arguments {
	char *words[REWIRING_OPTIONS];
};

/* rewiring_init fills the table of options, which borrows arguments. */
void rewiring_init(struct rewiring_arguments *arguments,
		   struct poptOption table[REWIRING_TABLE]);

/* rewiring_read reads them into terms, and writes what was given to text:
 * "inter-bandwidth 100G, intra-latency x2"; "": nothing. Errors:
 * INVALID_ARGUMENT (message: what was expected). */
DIST_MUST_CHECK enum dist_error
rewiring_read(const struct rewiring_arguments *arguments,
	      struct dist__terms *terms, char text[DIST__LINKS_SIZE],
	      struct dist_message *message);

/* rewiring_release frees the strings. */
void rewiring_release(struct rewiring_arguments *arguments);

#endif
