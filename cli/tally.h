/* tally.h - reports how many collectives were flows, and why others were not.
 */
#ifndef LOCKSTEP_CLI_TALLY_H
#define LOCKSTEP_CLI_TALLY_H

#include <stddef.h>

#include <jansson.h>

#include "model/validation/interval.h"
#include "sim/tally.h"

/* tally_describe writes the tally in one line; "" at other fidelities than
 * flow. */
void tally_describe(const struct dist__tally *tally, char *text, size_t size);

/* tally_call returns the interval case of a collective of so many bytes between
 * all ranks of the simulation; it borrows the tally's texts. */
struct interval_case tally_call(const struct dist__tally *tally,
				const char *collective, size_t bytes);

/* tally_json returns the tally as an object that the caller owns; JSON's null
 * at other fidelities than flow; NULL: no memory. */
json_t *tally_json(const struct dist__tally *tally);

#endif
