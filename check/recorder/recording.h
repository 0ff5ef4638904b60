/*
 * recording.h - the calls in one rank's Flight Recorder, in few bytes a call: a
 * thousand ranks may have thousands of calls each. Private to
 * check/recorder/.
 */
#ifndef LOCKSTEP_CHECK_RECORDER_RECORDING_H
#define LOCKSTEP_CHECK_RECORDER_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/recorder/plain.h"

/* No call. */
#define RECORDING_NONE UINT32_MAX

enum recording_state {
	RECORDING_SCHEDULED, /* enqueued, as far as is known */
	RECORDING_STARTED,
	RECORDING_RETIRED, /* no rank waits for it any more, whatever its
			      result */
	RECORDING_OVER
};

struct recording_call {
	int64_t created_ns; /* since 1970 */
	uint64_t numel;
	uint64_t kind;     /* hash of what the ranks must agree about */
	uint32_t group;    /* of recording.groups */
	uint32_t index;    /* in the group, from 0; messages: among those with
			      this peer and direction, if complete is set */
	uint32_t messages; /* messages, or batches of them, of the group */
	uint32_t sequence; /* from the dump: of collectives or messages */
	int32_t peer;      /* of a message, in the group; else -1 */
	uint32_t op, dtype, file; /* indices into names */
	uint32_t line, timeout_ms;
	uint32_t from_file, from_line; /* of the script, if another file */
	uint32_t batch; /* number of the first call of its batch, or its own
			   number */
	unsigned char state;      /* enum recording_state */
	unsigned char collective; /* else a message */
	unsigned char send;
	unsigned char ends_batch; /* of earlier calls with its sequence */
};

/* A group as the rank knows it. */
struct recording_group {
	uint32_t name, desc; /* indices into names */
	uint32_t num_ranks;  /* 0: not known */
	uint32_t *ranks;     /* as global ranks, by rank of the group; owned */
	uint32_t id;         /* in the job; set by job.c */
	uint32_t begun;      /* collectives begun; set by job.c */
	uint32_t twins; /* another group of the rank has the same description */
};

/* Texts, each stored once, by number. Zeroed: none. */
struct recording_names {
	char **all;
	uint32_t num, room;
	uint32_t *table; /* numbers + 1 by hash */
	uint32_t table_size;
};

struct recording {
	uint32_t rank;
	int64_t written_ns; /* the dump is not newer; INT64_MAX: unknown */
	bool complete;      /* the first call is the rank's first */
	bool ordered;       /* they run one after the other, as on a stream */
	char backend[8];    /* "nccl", "gloo" */
	struct recording_call *calls;
	uint32_t num_calls;
	struct recording_group *groups;
	uint32_t num_groups;
};

/* check_recording_name returns the number of text; RECORDING_NONE: no memory.
 */
uint32_t check_recording_name(struct recording_names *names, const char *text,
			      size_t len);
void check_recording_names_release(struct recording_names *names);

/* check_recording_read reads the calls of dump into *recording, whose rank is
 * set. False: no dump of a known version, or no memory; see why.
 */
bool check_recording_read(struct recording *recording, const struct plain *dump,
			  struct recording_names *names, char why[PLAIN_WHY]);

/* check_recording_settle makes one call of each batch of collectives, gives all
 * messages of a batch its state, sets the kind by which calls are compared, and
 * counts messages (batches.c). False: no memory. */
bool check_recording_settle(struct recording *recording,
			    const struct recording_names *names);
void check_recording_release(struct recording *recording);

#endif
