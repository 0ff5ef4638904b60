/* tracetable.h - what a trace holds, in tables: `lockstep trace show`. */
#ifndef LOCKSTEP_CLI_TRACETABLE_H
#define LOCKSTEP_CLI_TRACETABLE_H

#include <stdio.h>

#include "base/rows.h"
#include "trace/trace.h"

/* trace_table_print writes, in any form but TSV, the facts, a line for each op,
 * size and algorithm, one for each label of compute spans, and with calls a
 * line for each call. Returns 0, -1: no memory. */
int trace_table_print(const struct dist__trace *trace, bool calls,
		      enum dist__form form, FILE *out);

/* trace_calls returns a table of every call; the caller releases it. */
struct dist__rows trace_calls(const struct dist__trace *trace);

/* trace_facts_print writes what the trace says of itself, a line each;
 * trace_facts_json returns it as an object, the caller's; NULL: no memory. */
void trace_facts_print(const struct dist__trace *trace, FILE *out);
json_t *trace_facts_json(const struct dist__trace *trace);

#endif
