/* event.h - what the recorder stores of a job until it is written. */
#ifndef LOCKSTEP_TRACE_EVENT_H
#define LOCKSTEP_TRACE_EVENT_H

#include "core/backend.h"

/* The kind of a compute span. */
#define DIST__EVENT_COMPUTE DIST__OP_KINDS
/* The kinds of a remote call on the caller's and the callee's side: `name` is
 * the function, `purpose` the call, `peer` the other rank, `numel` the caller's
 * number of the call. */
#define DIST__EVENT_REMOTE (DIST__OP_KINDS + 1)
#define DIST__EVENT_SERVED (DIST__OP_KINDS + 2)

/* Ranks of a group that are listed, as many as the PyTorch profiler lists. The
 * others become an ellipsis, so that a trace grows with the number of ranks,
 * not with its square. */
#define DIST__LISTED_RANKS 30

/* The lengths of the parts of an all-to-all: the first of them. */
struct dist__splits {
	int num_in, num_out; /* 0: equal parts */
	size_t in[DIST__LISTED_RANKS];
	size_t out[DIST__LISTED_RANKS];
};

/* One operation or compute span of one rank: 120 bytes. */
struct dist__event {
	int64_t issued_ns;
	int64_t started_ns;
	int64_t ended_ns;
	const char *name; /* algorithm or NULL; the label of a compute span */
	const char *link; /* as in dist__op */
	const char *purpose; /* the API call that made it; NULL: the op */
	const char *file;    /* NULL: not known */
	size_t numel; /* of all ranks' parts together, or of the tensor */
	size_t in_numel;
	size_t out_numel;
	struct dist__splits *splits; /* owned; NULL: none */
	int32_t line;
	int32_t peer; /* global rank of root, src or dst; -1: none, or nothing
		       * was received */
	int32_t peer_in_group;
	int32_t tag;
	uint32_t seq;
	uint32_t call;
	uint8_t kind; /* enum dist__op_kind, or DIST__EVENT_... */
	bool in_one;  /* the parts are in one tensor */
	bool any;     /* received from any source: peer is the sender */
	uint8_t dtype;
	uint8_t reduce_op;
	int8_t error; /* enum dist_error */
};

/* dist__event_is_op returns whether event is an operation of a group. */
static inline bool dist__event_is_op(const struct dist__event *event)
{
	return event->kind < DIST__EVENT_COMPUTE;
}

/* dist__event_is_remote returns whether event is one side of a remote call. */
static inline bool dist__event_is_remote(const struct dist__event *event)
{
	return event->kind > DIST__EVENT_COMPUTE;
}

/* Group id of the track of a rank's remote calls. */
#define DIST__TRACK_REMOTE UINT32_MAX

/* The events of one rank in one group, or its remote calls. */
struct dist__track {
	struct dist__track *next;
	int rank; /* global */
	int rank_in_group;
	uint32_t group_id;
	char name[32];                  /* of the group */
	char description[24];           /* the caller's name for it; "" */
	int world_size;                 /* of the group */
	int listed[DIST__LISTED_RANKS]; /* global ranks of its first members */
	struct dist__event *events;
	size_t num_events;
	uint32_t num_computes;
	uint32_t
		spilled; /* its number in the recorder's spill, if it has one */
};

/* A whole trace, or a rank's part of one. */
struct dist__recording {
	const struct dist__fact *facts;
	size_t num_facts;
	int world_size;
	int part; /* the part's rank; -1: all ranks */
	struct dist__track *tracks;
};

#endif
