/*
 * sweep_call.h - the call that a sweep times: its buffers, inputs and expected
 * outputs.
 *
 * As in nccl-tests, the size of a call with a part for each rank is that of all
 * parts together, and a call is in place if it can be.
 */
#ifndef LOCKSTEP_SCENARIOS_SWEEP_CALL_H
#define LOCKSTEP_SCENARIOS_SWEEP_CALL_H

#include "scenarios/sweep.h"

struct sweep_call {
	const struct sweep *job;
	struct dist_group *group;
	int rank, world_size;
	void *data;  /* of the device; NULL: phantom */
	void *apart; /* the output of calls that are not in place */
	void *host;  /* the host's copy of device data */

	/* Set by sweep_call_set(): a part for each rank (the first is the
	 * tensor of a call without parts); this rank's part; all parts
	 * together. */
	struct dist_tensor *list;
	struct dist_tensor own, all;
	struct dist_tensor other, all_other; /* parts parts parts of apart: one,
						and all */
};

/* sweep_call_init allocates the memory, without elements for phantoms. Errors:
 * NO_MEMORY, IO. sweep_call_release frees it, before the group is destroyed. */
enum dist_error sweep_call_init(struct sweep_call *call,
				const struct sweep *job,
				struct dist_group *group, bool phantom);
void sweep_call_release(struct sweep_call *call);

/* sweep_call_numel returns the number of elements of a call of `bytes`, in the
 * tensor or in each part. */
size_t sweep_call_numel(const struct sweep_call *call, size_t bytes);

/* sweep_call_bytes returns the size of a call of numel elements. */
size_t sweep_call_bytes(const struct sweep_call *call, size_t numel);

/* sweep_call_set prepares the tensors of the next calls, of numel elements, as
 * a program would have them. sweep_call_run makes a call and waits for it. */
void sweep_call_set(struct sweep_call *call, size_t numel);
enum dist_error sweep_call_run(const struct sweep_call *call);

/* sweep_call_clear fills the input with zeros, sweep_call_fill with known
 * values; sweep_call_check then stores in *wrong the number of wrong elements
 * in this rank's output. Errors: those of dist_device_copy. */
enum dist_error sweep_call_clear(const struct sweep_call *call, size_t numel);
enum dist_error sweep_call_fill(const struct sweep_call *call, size_t numel);
enum dist_error sweep_call_check(const struct sweep_call *call, size_t numel,
				 int64_t *wrong);

#endif
