/*
 * communicator.h - a communicator of NCCL and the stream that it works on,
 * without ever blocking in either. Private to realbackend/nccl/.
 *
 * Not safe against itself on two threads.
 */
#ifndef LOCKSTEP_NCCL_COMMUNICATOR_H
#define LOCKSTEP_NCCL_COMMUNICATOR_H

#include "realbackend/nccl/device.h"

struct dist__communicator {
	const struct dist__device *device;
	struct ncclComm *handle;
	struct CUstream_st *stream;
	bool busy; /* the last call on it goes on in the background */
	struct dist_message *text; /* where failures are described */
};

/* dist__communicator_start begins to make one of size ranks; it is ready once
 * a poll says so. *c is zeroed but for device and words. Errors: IO, in words
 * too, here and below; dist__communicator_abort() must follow. */
enum dist_error dist__communicator_start(struct dist__communicator *c,
					 const struct dist__nccl_id *id,
					 int size, int rank);

/* dist__communicators_end closes the group of NCCL's calls that was open on num
 * of them. Errors: IO. */
enum dist_error dist__communicators_end(struct dist__communicator *c,
					size_t num);

/* dist__communicator_poll looks for errors from behind, and whether the last
 * call is through. Errors: IO. */
enum dist_error dist__communicator_poll(struct dist__communicator *c);

/* dist__communicator_check notes the words for a failed call named what.
 * Errors: IO, unless status says that all is well. */
enum dist_error dist__communicator_check(struct dist__communicator *c,
					 const char *what, unsigned status);

/* dist__communicator_finish begins to flush it: with the members, once nothing
 * is in flight. Poll until it is not busy, then close. */
enum dist_error dist__communicator_finish(struct dist__communicator *c);

/* dist__communicator_close frees one that has been flushed;
 * dist__communicator_abort any, and what it had in flight ends at once. */
void dist__communicator_close(struct dist__communicator *c);
void dist__communicator_abort(struct dist__communicator *c);

#endif
