/*
 * recording.h - what one rank's Flight Recorder wrote down of its calls, in the
 * few bytes a call that a thousand ranks of thousands allow. Private to
 * check/recorder/.
 */
#ifndef LOCKSTEP_CHECK_RECORDER_RECORDING_H
#define LOCKSTEP_CHECK_RECORDER_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/recorder/plain.h"

/* Of a call: no such number. */
#define RECORDING_NONE UINT32_MAX

enum recording_state {
	RECORDING_SCHEDULED, /* enqueued, as far as is known */
	RECORDING_STARTED,
	RECORDING_RETIRED, /* nobody waits for it any more, whatever came of
			      it */
	RECORDING_OVER
};

struct recording_call {
	int64_t created_ns; /* since 1970 */
	uint64_t numel;
	uint64_t kind;     /* hash of what the ranks must agree about */
	uint32_t group;    /* of recording.groups */
	uint32_t index;    /* in the group, from 0; of messages: of those with
			      this peer and direction, if complete is set */
	uint32_t messages; /* messages, or batches of them, of the group */
	uint32_t sequence; /* as the dump has it, of collectives or messages */
	int32_t peer;      /* of a message, in the group; else -1 */
	uint32_t op, dtype, file; /* in the names */
	uint32_t line, timeout_ms;
	uint32_t from_file, from_line; /* of the script, if it is another */
	uint32_t batch; /* number of the first call of the batch that it is in,
			   or of itself */
	unsigned char state;      /* enum recording_state */
	unsigned char collective; /* else a message */
	unsigned char send;
	unsigned char ends_batch; /* those before it of the same sequence */
};

/* A group as the rank knows it. */
struct recording_group {
	uint32_t name, desc; /* in the names */
	uint32_t num_ranks;  /* 0: not known */
	uint32_t *ranks;     /* as global ranks, by rank of the group; owned */
	uint32_t id;         /* of the job; set by who has all recordings */
	uint32_t begun;      /* collectives that have begun; set likewise */
	uint32_t twins; /* another group of the rank has the same description */
};

/* Texts, each once, by number. Zeroed: none. */
struct recording_names {
	char **all;
	uint32_t num, room;
	uint32_t *table; /* numbers + 1 by hash */
	uint32_t table_size;
};

struct recording {
	uint32_t rank;
	int64_t written_ns; /* not before the dump was; INT64_MAX: unknown */
	bool complete;      /* the calls begin with the rank's first */
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

/* check_recording_read takes the calls of dump, of the rank that is set. False:
 * it is no dump of a version that is known, or there is no memory, as why says.
 */
bool check_recording_read(struct recording *recording, const struct plain *dump,
			  struct recording_names *names, char why[PLAIN_WHY]);

/* check_recording_settle makes one call of a batch of collectives, gives the
 * messages of a batch its state, tells what each call is to be compared by, and
 * counts messages (batches.c). False: no memory. */
bool check_recording_settle(struct recording *recording,
			    const struct recording_names *names);
void check_recording_release(struct recording *recording);

#endif
