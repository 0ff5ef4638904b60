/*
 * rank_dump.h - the records of a rank as a file, where LOCKSTEP_DUMP asks for
 * one: written by the launcher for all its ranks, or, where there is none of
 * ours, by each rank for itself. Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_RANK_DUMP_H
#define LOCKSTEP_LAUNCH_RANK_DUMP_H

#include "check/dump.h"
#include "lockstep/dist.h"

/* dist__dump_pattern returns LOCKSTEP_DUMP; NULL: it is not set, or empty. */
const char *dist__dump_pattern(void);

/* dist__dump_stamp notes in *dump that it is taken now. */
void dist__dump_stamp(struct check_dump *dump);

/* A rank's own: from then on SIGUSR1 has it written. */
struct dist__dumper;

/*
 * dist__dumper_new makes a dumper for the rank that head tells of, with records
 * in *slot, which outlives it; *dumper is NULL if nobody asks for dumps. One at
 * a time in a process. Errors: INVALID_ARGUMENT (no dump can be written where
 * it is asked for; message says why), NO_MEMORY, IO (no thread or pipe).
 */
enum dist_error dist__dumper_new(const struct check_dump *head,
				 const struct check_slot *slot,
				 struct dist__dumper **dumper,
				 struct dist_message *message);

/* dist__dumper_write writes the rank's dump now, over an earlier one. NULL
 * allowed. From any thread. A disk that has filled up since is not told of. */
void dist__dumper_write(struct dist__dumper *dumper);

/* dist__dumper_free ends the dumper; the file stays. NULL allowed. */
void dist__dumper_free(struct dist__dumper *dumper);

#endif
