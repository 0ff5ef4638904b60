/*
 * state.h - a group on NCCL: its communicators, and their use by operations.
 * Private to realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_STATE_H
#define LOCKSTEP_NCCL_STATE_H

#include "realbackend/agree/group.h"
#include "realbackend/nccl/launch.h"
#include "realbackend/nccl/sharing.h"

/*
 * One direction between two ranks: a communicator of two, made for the first
 * message. NCCL runs what is sent on one communicator strictly in order and has
 * no tags. With a wire for each direction, on which messages have the order in
 * which the receiver takes them, no two messages can wait for each other.
 */
struct dist__wire {
	struct dist__communicator communicator; /* receiver 0, sender 1 */
	bool begun;
	struct dist__nccl_id id;
	uint64_t granted;  /* by the receiver */
	uint64_t launched; /* in the order granted */
};

/* One device's part of an operation. */
struct dist__share {
	const struct dist__op *op; /* for this device */
	struct dist__communicator *communicator;
	struct dist__caller caller;
	struct dist__placement placement;
	struct CUevent_st *event; /* behind it in the stream; NULL: not yet,
				   * NCCL is still enqueuing it */
};

/* An operation in progress. */
struct dist__nccl_task {
	struct dist__task base;
	/* One for each device: mostly the rank's only one. */
	struct dist__share *shares;
	size_t num_shares;
	struct dist__share only;
	struct dist__view *views; /* the ops of several shares */
	struct dist__wire *wire;  /* point to point; NULL: not known yet */
};

/* The communicator of calls with num devices a rank: a handle for each device
 * of this rank. See devices.h. */
struct dist__devices {
	struct dist__devices *next;
	size_t num;
	struct dist__communicator *communicators;
	struct dist__nccl_id id;
	struct dist__request **requests; /* about the id, one for each rank */
	bool begun;                      /* all have the id */
};

struct dist__nccl_group {
	struct dist__agreed base;
	const struct dist__device *device;
	struct dist__caller caller;
	struct dist__sharers sharers;
	struct dist__communicator communicator;
	struct dist__wire **wires; /* to and from each rank; NULL: unused */
	struct dist__devices *devices;
	/* Of the default group: communicators of groups that were destroyed. */
	struct dist__communicator *inherited;
	int num_inherited;
};

#endif
