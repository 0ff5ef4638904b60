/*
 * recorder.h - the dumps of torch's Flight Recorder: puts the calls that each
 * rank enqueued on a board for the verdict engine.
 *
 * A dump states neither its time nor what the rank did meanwhile nor its rank:
 * the rank is the end of the file's name, the time is the file's. A call behind
 * an incomplete one of its rank has not begun, unless the dump says that it
 * has.
 */
#ifndef LOCKSTEP_CHECK_RECORDER_RECORDER_H
#define LOCKSTEP_CHECK_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/diagnosis.h"

struct check_recorder;

/* check_recorder_new returns a recorder without dumps; NULL: no memory. */
struct check_recorder *check_recorder_new(void);
void check_recorder_free(struct check_recorder *recorder);

/* check_recorder_knows returns whether data may be such a dump: a pickle, or
 * JSON with calls in the form of a Flight Recorder. */
bool check_recorder_knows(const char *data, size_t size);

/* check_recorder_rank reads the rank of the dump at path from its name,
 * "nccl_trace_rank_12" or "trace_12.json"; false: it has none. */
bool check_recorder_rank(const char *path, uint32_t *rank);

/*
 * check_recorder_add adds the dump of rank, with the text data; data may be
 * freed afterwards. written_ns: the latest time at which it was written, since
 * 1970; INT64_MAX: unknown. False: it is no such dump, or that rank has one
 * already, or no memory; see message.
 */
bool check_recorder_add(struct check_recorder *recorder, uint32_t rank,
			const char *data, size_t size, int64_t written_ns,
			char message[256]);

/*
 * check_recorder_fill puts the dumps, at least one, on the board of *diagnosis,
 * which is zeroed, up to the first call about which the ranks disagree, if any.
 * A rank waits in its first incomplete call. If such calls wait for ranks that
 * have not come, and one is certainly past its deadline by the times of the
 * files, the board shows them as given up. False: no memory.
 */
bool check_recorder_fill(struct check_recorder *recorder,
			 struct check_diagnosis *diagnosis);

#endif
