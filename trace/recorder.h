/* recorder.h - records ranks' calls and when they end (record.c). */
#ifndef LOCKSTEP_TRACE_RECORDER_H
#define LOCKSTEP_TRACE_RECORDER_H

#include "core/backend.h"

/*
 * dist__recorder_new makes a recorder that will write to path. part < 0: one
 * recorder sees all ranks and path is the whole trace; NULL: there is no file.
 * Otherwise it sees only rank `part`, and has its events in
 * "<path>.rank<part>.live", also if the rank is killed. is_merged: somebody
 * calls dist__recorder_merge(); else finish() makes the trace
 * "<path>.rank<part>" of them. It writes a temporary file and renames it. NULL:
 * no memory.
 */
struct dist__recorder *dist__recorder_new(const char *path, int part,
					  int world_size, bool is_merged);

/* The fact that ranks which are not in the trace did what one of those did that
 * are. */
#define DIST__FACT_REPRESENTED "represented"

/* dist__recorder_add_fact adds a fact to the head of the trace and replaces one
 * with the same key. key is borrowed. Without memory the fact is missing.
 * recorder may be NULL: there is no trace. */
__attribute__((format(printf, 3, 4))) void
dist__recorder_add_fact(struct dist__recorder *recorder, const char *key,
			const char *format, ...);

/* dist__recorder_hold keeps other jobs on this machine from writing parts of
 * the same trace, until the descriptor that it returns is closed. It makes the
 * file of rank 0's events, or empties it. -1: see errno; EWOULDBLOCK: another
 * job holds the trace. */
int dist__recorder_hold(const char *path);

/* dist__recorder_merge makes path from the parts of ranks 0 to world_size - 1
 * and removes them, also after an error. Missing parts are ignored. status: how
 * the job ended; unless it is 0, the head says that the trace is partial.
 * Errors: as finish(). */
enum dist_error dist__recorder_merge(const char *path, int world_size,
				     int status, struct dist_message *message);

#endif
