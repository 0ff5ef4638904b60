/*
 * rank_dump.h - writes the records of a rank to a file, if LOCKSTEP_DUMP is
 * set. The launcher does so for all its ranks; without our launcher each rank
 * does. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_RANK_DUMP_H
#define LOCKSTEP_LAUNCH_RANK_DUMP_H

#include "check/dump.h"
#include "lockstep/dist.h"

/* dist__dump_pattern returns LOCKSTEP_DUMP; NULL: not set, or empty. */
const char *dist__dump_pattern(void);

/* dist__dump_stamp sets the times of *dump to now. */
void dist__dump_stamp(struct check_dump *dump);

/* Writes a rank's own dump, also at SIGUSR1. */
struct dist__dumper;

/*
 * dist__dumper_new makes a dumper for the rank described by head, with records
 * in *slot, which outlives it; *dumper is NULL if dumps are not wanted. One at
 * a time in a process. Errors: INVALID_ARGUMENT (a dump cannot be written
 * there; see message), NO_MEMORY, IO (no thread or pipe).
 */
enum dist_error dist__dumper_new(const struct check_dump *head,
				 const struct check_slot *slot,
				 struct dist__dumper **dumper,
				 struct dist_message *message);

/* dist__dumper_write writes the rank's dump now, over an earlier one. NULL
 * allowed. From any thread. Errors, as of a full disk, are ignored. */
void dist__dumper_write(struct dist__dumper *dumper);

/* dist__dumper_free ends the dumper; the file stays. NULL allowed. */
void dist__dumper_free(struct dist__dumper *dumper);

#endif
