/* rewiring.h - options that make the links of a platform faster or slower. */
#ifndef LOCKSTEP_CLI_REWIRING_H
#define LOCKSTEP_CLI_REWIRING_H

#include "scenarios/arguments.h"
#include "sim/platform/platform.h"

#define REWIRING_OPTIONS 4

/* What was given, NULL when not. */
struct rewiring_arguments {
	const char *text[REWIRING_OPTIONS];
};

extern const struct option rewiring_options[];

/* rewiring_read reads them into overrides, and writes what was given to text:
 * "inter-bandwidth 100G, intra-latency x2"; "": nothing. Errors:
 * INVALID_ARGUMENT (message: what was expected of *option; NULL: nobody asks
 * which). */
DIST_MUST_CHECK enum dist_error
rewiring_read(const struct rewiring_arguments *arguments,
	      struct dist__link_overrides *overrides,
	      char text[DIST__LINKS_SIZE], const char **option,
	      struct dist_message *message);

/* rewiring_pick stores in *alone what overrides say by option number i alone;
 * false: nothing. */
bool rewiring_pick(const struct dist__link_overrides *overrides, size_t i,
		   struct dist__link_overrides *alone);

#endif
