/*
 * communicator.h - a communicator of NCCL and its stream; no call blocks.
 * Private to realbackend/nccl/.
 *
 * Not thread-safe.
 */
#ifndef LOCKSTEP_NCCL_COMMUNICATOR_H
#define LOCKSTEP_NCCL_COMMUNICATOR_H

#include "realbackend/nccl/device.h"

struct dist__communicator {
	const struct dist__device *device;
	struct ncclComm *handle;
	struct CUstream_st *stream;
	bool busy; /* the last call on it continues in the background */
	struct dist_message *text; /* of failures */
};

/* dist__communicator_start begins to make one of size ranks; it is ready when
 * it is not busy after a poll. *c is zeroed except device and text. Errors: IO,
 * with *text, here and below; dist__communicator_abort() must follow. */
enum dist_error dist__communicator_start(struct dist__communicator *c,
					 const struct dist__nccl_id *id,
					 int size, int rank);

/* dist__communicators_end ends the group of NCCL calls that was started for num
 * communicators. Errors: IO. */
enum dist_error dist__communicators_end(struct dist__communicator *c,
					size_t num);

/* dist__communicator_poll looks for asynchronous errors, and whether the last
 * call is complete. Errors: IO. */
enum dist_error dist__communicator_poll(struct dist__communicator *c);

/* dist__communicator_check stores the text for a failed call named what.
 * Errors: IO, unless status is success. */
enum dist_error dist__communicator_check(struct dist__communicator *c,
					 const char *what, unsigned status);

/* dist__communicator_finish begins to flush it: on all members, when nothing is
 * in flight. Poll until it is not busy, then close. */
enum dist_error dist__communicator_finish(struct dist__communicator *c);

/* dist__communicator_close frees a flushed one; dist__communicator_abort frees
 * any, and ends what it has in flight at once. */
void dist__communicator_close(struct dist__communicator *c);
void dist__communicator_abort(struct dist__communicator *c);

#endif
