/* tracetable.h - the contents of a trace in tables: `lockstep trace show`. */
#ifndef LOCKSTEP_CLI_TRACETABLE_H
#define LOCKSTEP_CLI_TRACETABLE_H

#include <stdio.h>

#include "base/rows.h"
#include "trace/trace.h"

/* trace_table_print writes, in any form but TSV, the facts, a line for each op,
 * size and algorithm, one for each label of compute spans and, with calls, a
 * line for each call. Returns 0, or -1 without memory. */
int trace_table_print(const struct dist__trace *trace, bool calls,
		      enum dist__form form, FILE *out);

/* trace_calls returns a table of every call; the caller releases it. */
struct dist__rows trace_calls(const struct dist__trace *trace);

/* trace_facts_print writes the facts in the trace's head, a line each;
 * trace_facts_json returns them as an object that the caller owns; NULL: no
 * memory. */
void trace_facts_print(const struct dist__trace *trace, FILE *out);
json_t *trace_facts_json(const struct dist__trace *trace);

#endif
