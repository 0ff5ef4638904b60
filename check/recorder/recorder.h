/*
 * recorder.h - the dumps of torch's Flight Recorder: from the calls that each
 * rank enqueued to a board that the engine judges.
 *
 * A Flight Recorder does not say when it wrote, what a rank did meanwhile, nor
 * of which rank it is: the name of the file ends with that, and the time is the
 * file's. A call that is behind an unfinished one of its rank has not begun,
 * unless the dump says that it has.
 */
#ifndef LOCKSTEP_CHECK_RECORDER_RECORDER_H
#define LOCKSTEP_CHECK_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/diagnosis.h"

struct check_recorder;

/* check_recorder_new returns one without dumps; NULL: no memory. */
struct check_recorder *check_recorder_new(void);
void check_recorder_free(struct check_recorder *recorder);

/* check_recorder_knows returns whether the bytes may be such a dump: a pickle,
 * or JSON that has calls as a Flight Recorder has them. */
bool check_recorder_knows(const char *data, size_t size);

/* check_recorder_rank takes the rank of which path is the dump from its name,
 * "nccl_trace_rank_12" or "trace_12.json"; false: it has none. */
bool check_recorder_rank(const char *path, uint32_t *rank);

/*
 * check_recorder_add takes the dump of rank in, of which data is the text;
 * written_ns is when it was written at the latest, since 1970, INT64_MAX:
 * unknown. data is not needed any more afterwards. False: it is none, or there
 * is one of that rank already, or no memory, as message says.
 */
bool check_recorder_add(struct check_recorder *recorder, uint32_t rank,
			const char *data, size_t size, int64_t written_ns,
			char message[256]);

/*
 * check_recorder_fill puts the dumps, one at least, onto the board of
 * *diagnosis, which is zeroed, up to the first call about which the ranks
 * disagree, if there is one. A rank waits in the first call that is not
 * complete. Where such calls wait for ranks that have not come, and one is past
 * its deadline as far as the times of the files allow, they are given up on the
 * board. False: no memory.
 */
bool check_recorder_fill(struct check_recorder *recorder,
			 struct check_diagnosis *diagnosis);

#endif
