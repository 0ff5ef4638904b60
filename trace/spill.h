/*
 * spill.h - writes the events of a rank to a file as they happen. If the rank
 * is killed, its events remain, because written bytes belong to the system at
 * once; and none need to be kept in memory.
 *
 * The file is for the machine that wrote it and for a short time: those of a
 * job are merged to a trace and removed. Not locked: the recorder is.
 */
#ifndef LOCKSTEP_TRACE_SPILL_H
#define LOCKSTEP_TRACE_SPILL_H

#include "trace/event.h"

struct dist__spill;

/* dist__spill_name writes the name of the file of a rank, for the trace at
 * path. */
void dist__spill_name(const char *path, int rank, char *text, size_t size);

/* dist__spill_new makes the file at path; NULL: see errno. */
struct dist__spill *dist__spill_new(const char *path, int world_size, int part);

/* dist__spill_fact and dist__spill_track add what events refer to; the latter
 * returns the track's number for dist__spill_event. With a full disk all may
 * write less; dist__spill_close reports that. */
void dist__spill_fact(struct dist__spill *spill, const struct dist__fact *fact);
uint32_t dist__spill_track(struct dist__spill *spill,
			   const struct dist__track *track);
void dist__spill_event(struct dist__spill *spill, uint32_t track,
		       const struct dist__event *event);

/* dist__spill_close closes the file, frees spill, and returns the errno of a
 * failed write, 0 if there was none. */
int dist__spill_close(struct dist__spill *spill);

/* A recording that was read back; its strings point into bytes. */
struct dist__spilled {
	struct dist__recording recording;
	struct dist__fact *facts;
	struct dist__track **tracks; /* by number */
	const char **strings;        /* by number */
	size_t num_tracks, num_strings;
	unsigned char *bytes;
	size_t len;
};

/* dist__spill_load reads the file at path as far as it is valid. Errors:
 * UNAVAILABLE (no such file of ours), NO_MEMORY; dist__spilled_release frees
 * all of it, also after an error. */
enum dist_error dist__spill_load(const char *path,
				 struct dist__spilled *spilled);
void dist__spilled_release(struct dist__spilled *spilled);

#endif
