/*
 * recording.h - traces made by hand: the recorder around a back end that does
 * nothing but move its clock as the test says.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_RECORDING_H
#define LOCKSTEP_TESTS_SUPPORT_RECORDING_H

#include "core/backend.h"

#define RECORDING_MOST_RANKS 64

/* All ranks share one clock; each operation takes duration_ns. */
struct recording {
	struct dist__recorder *recorder;
	struct dist__backend *ranks[RECORDING_MOST_RANKS];
	int world_size;
	int64_t now_ns;
	int64_t duration_ns;
	enum dist_error error; /* how operations end */
	uint32_t calls;
	uint32_t collectives[RECORDING_MOST_RANKS];
};

/* recording_start wraps world_size ranks (part < 0), or rank `part` alone. */
void recording_start(struct recording *recording, const char *path, int part,
		     int world_size);

/* recording_all_reduce lets every rank call it, one after the other at the
 * same time; numel float32, sum. */
void recording_all_reduce(struct recording *recording, size_t numel);

/* recording_op lets one rank call op, made from what differs from the default:
 * kind, peer, tag, numel, site. */
void recording_op(struct recording *recording, int rank, struct dist__op op);

/* recording_compute lets one rank compute. */
void recording_compute(struct recording *recording, int rank,
		       int64_t duration_ns, const char *label);

/* recording_finish writes the trace and frees everything. */
void recording_finish(struct recording *recording);

/* recording_path stores in path the name of a file in a new folder of the
 * test's own, which recording_clean() removes. */
void recording_path(char *path, size_t size, const char *name);

/* recording_clean removes the folders of this test with what is in them. */
void recording_clean(void);

#endif
