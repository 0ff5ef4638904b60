/*
 * sweep_call.h - the call that a sweep times: its buffers, what goes in, what
 * must come out.
 *
 * As in nccl-tests the size of a call with a part for each rank is that of all
 * parts together, and it is done in place where the call can be.
 */
#ifndef LOCKSTEP_SCENARIOS_SWEEP_CALL_H
#define LOCKSTEP_SCENARIOS_SWEEP_CALL_H

#include "scenarios/sweep.h"

struct sweep_call {
	const struct sweep *job;
	struct dist_group *group;
	int rank, world_size;
	void *data;  /* of the device; NULL: phantom */
	void *apart; /* the output of calls not done in place */
	void *host;  /* what goes in and comes out of the device */

	/* As sweep_call_set() leaves them: a part for each rank, of which the
	 * first is the tensor of a call without parts; this rank's; and all
	 * together. */
	struct dist_tensor *list;
	struct dist_tensor own, all;
	struct dist_tensor other, all_other; /* of apart: one, and all */
};

/* sweep_call_init gets the memory, none of elements for phantoms. Errors:
 * NO_MEMORY, IO. sweep_call_release frees it, before the group goes. */
enum dist_error sweep_call_init(struct sweep_call *call,
				const struct sweep *job,
				struct dist_group *group, bool phantom);
void sweep_call_release(struct sweep_call *call);

/* sweep_call_numel returns how many elements a call of so many bytes has, of
 * the tensor or of each part. */
size_t sweep_call_numel(const struct sweep_call *call, size_t bytes);

/* sweep_call_bytes returns the size of a call of numel elements. */
size_t sweep_call_bytes(const struct sweep_call *call, size_t numel);

/* sweep_call_set says of how many elements the calls that follow are: tensors
 * are at hand then, as in a program. sweep_call_run makes one and waits for it.
 */
void sweep_call_set(struct sweep_call *call, size_t numel);
enum dist_error sweep_call_run(const struct sweep_call *call);

/* sweep_call_clear fills the input with zeros, sweep_call_fill with known
 * values; sweep_call_check then stores in *wrong how many elements of this
 * rank's output are wrong. Errors: those of dist_device_copy. */
enum dist_error sweep_call_clear(const struct sweep_call *call, size_t numel);
enum dist_error sweep_call_fill(const struct sweep_call *call, size_t numel);
enum dist_error sweep_call_check(const struct sweep_call *call, size_t numel,
				 int64_t *wrong);

#endif
