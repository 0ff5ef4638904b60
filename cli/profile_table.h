/*
 * profile_table.h - a profile of a job, as torch.profiler writes it, as a table
 * of measured collectives.
 */
#ifndef LOCKSTEP_CLI_PROFILE_TABLE_H
#define LOCKSTEP_CLI_PROFILE_TABLE_H

#include "model/measured/log.h"

/* A shorter call takes as long as its launch, which its kernel does not
 * have. */
#define PROFILE_LEAST_BYTES ((size_t)64 << 10)

/* Calls left out, by reason. */
struct profile_notes {
	size_t small; /* below PROFILE_LEAST_BYTES */
	size_t other; /* no collective that is predicted: messages, barriers */
	size_t unknown; /* of groups whose ranks are not known */
	size_t uneven;  /* of groups with more ranks on some nodes */
};

/* profile_is returns whether path is a folder, or a file, plain or compressed,
 * that begins like a trace and not like a log. */
bool profile_is(const char *path);

/*
 * profile_table_load reads a trace or a folder of traces into *table, a row for
 * each collective, size and number of ranks and nodes. A rank that waits
 * for others waits in its kernel, so that the time of a call is that of the
 * shortest kernel of all ranks. The row has the median over its calls; the
 * minimum, if ranks are missing. facts->described is the machine. On failure
 * *table is empty. Errors: as of dist__trace_read; INVALID_ARGUMENT, if there
 * are no kernels of collectives, or the GPU is another one.
 */
DIST_MUST_CHECK enum dist_error
profile_table_load(struct collectives *table, const char *path,
		   const struct log_facts *facts, struct profile_notes *notes,
		   struct dist_message *message);

/* profile_notes_print prints to stderr what was left out, a line each. */
void profile_notes_print(const char *command, const char *path,
			 const struct profile_notes *notes);

#endif
