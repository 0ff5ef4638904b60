/* rewiring.h - options that make the links of a platform faster or slower. */
#ifndef LOCKSTEP_CLI_REWIRING_H
#define LOCKSTEP_CLI_REWIRING_H

#include "base/refuse.h"
#include "scenarios/arguments.h"
#include "sim/platform/platform.h"

#define REWIRING_OPTIONS 4

/* Options as given; NULL: not given. */
struct rewiring_arguments {
	const char *text[REWIRING_OPTIONS];
};

extern const struct option rewiring_options[];

/* rewiring_read reads the options into overrides, and writes them to text:
 * "inter-bandwidth 100G, intra-latency x2"; "": none. Errors: INVALID_ARGUMENT.
 */
DIST_MUST_CHECK enum dist_error
rewiring_read(const struct rewiring_arguments *arguments,
	      struct dist__link_overrides *overrides,
	      char text[DIST__LINKS_SIZE], struct dist__refusal *refusal);

/* rewiring_check refuses overrides of links between nodes unless inter, of
 * those within nodes unless intra. Errors: INVALID_ARGUMENT. */
DIST_MUST_CHECK enum dist_error
rewiring_check(const struct dist__link_overrides *overrides, bool inter,
	       bool intra, struct dist__refusal *refusal);

/* rewiring_pick stores in *alone only the override of option number i. Returns
 * false if it is not given. */
bool rewiring_pick(const struct dist__link_overrides *overrides, size_t i,
		   struct dist__link_overrides *alone);

#endif
