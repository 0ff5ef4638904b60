/*
 * journal.h - the answers of a study's points, written as they come to the
 * folder of its results, so that an interruption loses none.
 *
 * A journal is a file of JSON lines that only grows. The first line is the
 * stamp of its study; each other line is a point with its answer. Each process
 * that works on a study has its own journal: journal.jsonl, or for a part of
 * the points journal-2-of-4.jsonl. An unfinished last line is ignored.
 */
#ifndef LOCKSTEP_CLI_SWEEP_JOURNAL_H
#define LOCKSTEP_CLI_SWEEP_JOURNAL_H

#include <jansson.h>

#include "lockstep/dist.h"

struct journal;

/*
 * journal_load reads all journals in folder into answers, one for each of num
 * points, NULL where there is none; the caller frees them. Their stamp must be
 * stamp. Errors: INVALID_ARGUMENT (another stamp, or a bad line: message says
 * where), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error journal_load(const char *folder,
					     const char *stamp,
					     json_t **answers, size_t num,
					     struct dist_message *message);

/*
 * journal_open opens or creates the journal of part `part` (from 1) of `parts`,
 * for this process only. Errors: INVALID_ARGUMENT (another process has it open:
 * message), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
journal_open(const char *folder, const char *stamp, int part, int parts,
	     struct journal **journal, struct dist_message *message);

/* journal_add appends a point with its answer, in one write. Errors: IO,
 * NO_MEMORY, with message. */
DIST_MUST_CHECK enum dist_error journal_add(struct journal *journal,
					    size_t point, json_t *answer,
					    struct dist_message *message);

/* journal_close closes journal; NULL allowed. */
void journal_close(struct journal *journal);

/* journal_remove removes all journals in folder. Errors: IO, with message. */
DIST_MUST_CHECK enum dist_error journal_remove(const char *folder,
					       struct dist_message *message);

#endif
