/* tracetable.h - what a trace holds, in tables: `lockstep trace show`. */
#ifndef LOCKSTEP_CLI_TRACETABLE_H
#define LOCKSTEP_CLI_TRACETABLE_H

#include <stdio.h>

#include "trace/trace.h"

/* trace_table_print writes the facts, a line for each op, size and algorithm,
 * one for each label of compute spans, and with calls a line for each call.
 * Returns 0, -1: no memory. */
int trace_table_print(const struct dist__trace *trace, bool calls, FILE *out);

/* trace_table_json writes the same as JSON. Returns 0, -1: no memory. */
int trace_table_json(const struct dist__trace *trace, bool calls, FILE *out);

#endif
