/*
 * journal.h - the answers of a study's points as they come, in the folder of
 * its results, so that an interruption loses none of them.
 *
 * A journal is a file of JSON lines that only grows: the first says what made
 * it, each other one is a point with its answer. Each process that works on a
 * study has a journal of its own: journal.jsonl, or for a part of the points
 * journal-2-of-4.jsonl. A line that an end in the middle left unfinished does
 * not count.
 */
#ifndef LOCKSTEP_CLI_SWEEP_JOURNAL_H
#define LOCKSTEP_CLI_SWEEP_JOURNAL_H

#include <jansson.h>

#include "lockstep/dist.h"

struct journal;

/*
 * journal_load reads all journals in folder into answers, one for each of the
 * num points, which stay NULL where there is none; the caller frees them. stamp
 * is what must have made them. Errors: INVALID_ARGUMENT (another stamp, or no
 * journal's line: message says where), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error journal_load(const char *folder,
					     const char *stamp,
					     json_t **answers, size_t num,
					     struct dist_message *message);

/*
 * journal_open opens, or begins, the journal of part `part` (from 1) of
 * `parts`, to be written by this process alone. Errors: INVALID_ARGUMENT
 * (another process has it: message), IO, NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
journal_open(const char *folder, const char *stamp, int part, int parts,
	     struct journal **journal, struct dist_message *message);

/* journal_add appends a point with its answer, at once and whole. Errors: IO,
 * NO_MEMORY; message says what. */
DIST_MUST_CHECK enum dist_error journal_add(struct journal *journal,
					    size_t point, json_t *answer,
					    struct dist_message *message);

/* journal_close closes journal; NULL allowed. */
void journal_close(struct journal *journal);

/* journal_remove removes all journals in folder. Errors: IO; message says
 * what. */
DIST_MUST_CHECK enum dist_error journal_remove(const char *folder,
					       struct dist_message *message);

#endif
