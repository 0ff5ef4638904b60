/*
 * spill.h - the events of a rank in a file as they happen, so that a rank that
 * is killed leaves those that it had, and holds none in memory: what is written
 * is the system's at once.
 *
 * The file is for the machine that wrote it, and for minutes: its end becomes a
 * part of a trace, and then it goes. Not guarded: the recorder has a lock.
 */
#ifndef LOCKSTEP_TRACE_SPILL_H
#define LOCKSTEP_TRACE_SPILL_H

#include "trace/event.h"

/* What the name of the file ends with, behind that of the part. */
#define DIST__SPILL_SUFFIX ".live"

struct dist__spill;

/* dist__spill_new makes the file at path; NULL: it cannot be. */
struct dist__spill *dist__spill_new(const char *path, int world_size, int part);

/* dist__spill_fact and dist__spill_track add what events are about; the latter
 * returns the track's number, for dist__spill_event. All may be cut short by a
 * full disk, which dist__spill_close tells. */
void dist__spill_fact(struct dist__spill *spill, const struct dist__fact *fact);
uint32_t dist__spill_track(struct dist__spill *spill,
			   const struct dist__track *track);
void dist__spill_event(struct dist__spill *spill, uint32_t track,
		       const struct dist__event *event);

/* dist__spill_close leaves the file, frees spill, and returns what kept events
 * out of the file: an errno, 0: nothing. */
int dist__spill_close(struct dist__spill *spill);

/* A recording that was read back; its strings lie in bytes. */
struct dist__spilled {
	struct dist__recording recording;
	struct dist__fact *facts;
	struct dist__track **tracks; /* by number */
	const char **strings;        /* the same */
	size_t num_tracks, num_strings;
	unsigned char *bytes;
	size_t len;
};

/* dist__spill_load reads the file at path, as far as it makes sense. Errors:
 * UNAVAILABLE (it is none of ours), NO_MEMORY; dist__spilled_release frees all
 * of it, also after an error. */
enum dist_error dist__spill_load(const char *path,
				 struct dist__spilled *spilled);
void dist__spilled_release(struct dist__spilled *spilled);

/* dist__spill_finish makes the part at path of the file that goes before it,
 * and removes that. Errors: UNAVAILABLE (it is none of ours, or not begun), IO,
 * NO_MEMORY; message says what. */
enum dist_error dist__spill_finish(const char *path,
				   struct dist_message *message);

#endif
