/*
 * buffer_check_state.h - the state of a checked operation, and the messages
 * about hazards.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_BUFFER_CHECK_STATE_H
#define LOCKSTEP_CORE_BUFFER_CHECK_STATE_H

#include "core/state.h"
#include "check/watch/points.h"

/* A tensor of the op, as the caller passed it. */
struct dist__region {
	struct dist__region_node node; /* the first member */
	struct dist_tensor tensor;
	const char *name;
	int part; /* of a list; -1: none */
	bool writes;
	struct dist__buffer_check *watch;
	struct dist__shadow_copy *holding; /* one of the watch's */
	struct dist__guard *guard;         /* NULL: none */
	struct dist__points *points;       /* without guard; NULL: none */
	/* What comparing at the rank's calls has found. */
	struct dist__site calm;  /* the last call before the change */
	struct dist__site until; /* the first call after it */
	const char *changed;     /* the byte that changed; NULL: none */
};

struct dist__buffer_check {
	struct dist__buffer_checks *list; /* NULL: over once the op is done */
	struct dist__buffer_check *next, *before; /* newer, older one there */
	uint64_t age;                             /* higher: newer */
	struct dist_group *group;
	struct dist__op *op;
	bool blocks;
	bool heard; /* an operation ended since its handle was freed */
	struct dist__shadow_copy *holdings;
	struct dist__region *regions;
	size_t num_regions;
	struct dist_tensor *lists; /* the op's parts and bundle, on copies */
	size_t num_listed;
	const struct dist_tensor **heads; /* of lists of lists, on copies */
};

/* dist__tensor_bytes returns the bytes of tensor's memory; 0 for a phantom. */
static inline size_t dist__tensor_bytes(const struct dist_tensor *tensor)
{
	return tensor->data ? tensor->numel * dist_dtype_size(tensor->dtype)
			    : 0;
}

/* dist__region_next returns the region of the rank behind last (NULL: the first
 * one) of that age or newer that has a byte from begin to end; NULL: none. */
static inline const struct dist__region *
dist__region_next(const struct dist__buffer_check *watch, const char *begin,
		  const char *end, const struct dist__region *last,
		  uint64_t age)
{
	return (const struct dist__region *)dist__region_index_next(
		&watch->group->root->regions, begin, end,
		last ? &last->node : NULL, age);
}

/* dist__buffer_check_most returns an upper bound of the tensors of op. */
size_t dist__buffer_check_most(const struct dist_group *group,
			       const struct dist__op *op);

/* dist__buffer_check_take gives the op of watch, the newest, copies to work on,
 * and stores the regions. Errors: HAZARD, NO_MEMORY. */
enum dist_error dist__buffer_check_take(struct dist__buffer_check *watch);

/* dist__buffer_check_is_guarded returns whether watch guards its memory.
 */
bool dist__buffer_check_is_guarded(const struct dist__buffer_check *watch);

/* dist__region_lift, lifted true, unguards the caller's memory in region, which
 * other operations may guard, for us; false guards it again. */
void dist__region_lift(const struct dist__buffer_check *watch,
		       const struct dist__region *region, bool lifted);

/* dist__region_access returns the access that touched region, if a guard or a
 * watchpoint saw it. change: a byte that differs, NULL: none. */
struct dist__access dist__region_access(const struct dist__region *region,
					const char *change);

/* dist__accuse_touch reports that the program touched region of watch, found at
 * seen (NULL: at no known line). The cause is access or, if that is empty, a
 * write to address that nobody saw. Returns HAZARD. */
enum dist_error dist__accuse_touch(const struct dist__buffer_check *watch,
				   const struct dist__region *region,
				   const struct dist__access *access,
				   const char *address,
				   const struct dist__site *seen);

/* dist__accuse_sharing reports that the op of watch was given memory that
 * another op uses: region held of owner. Returns HAZARD. */
enum dist_error dist__accuse_sharing(const struct dist__buffer_check *watch,
				     const struct dist__region *given,
				     const struct dist__buffer_check *owner,
				     const struct dist__region *held);

#endif
