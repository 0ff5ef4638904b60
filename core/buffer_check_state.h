/*
 * buffer_check_state.h - what a watched operation is made of, and what is said
 * of a hazard.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_BUFFER_CHECK_STATE_H
#define LOCKSTEP_CORE_BUFFER_CHECK_STATE_H

#include "core/group.h"
#include "check/watch/points.h"

/* A tensor of the op, as the caller gave it. */
struct dist__region {
	struct dist_tensor tensor;
	const char *name;
	int part; /* of a list; -1: none */
	bool writes;
	struct dist__shadow_copy *holding; /* one of the watch's */
	struct dist__guard *guard;         /* NULL: none */
	struct dist__points *points;       /* without guard; NULL: none */
	/* What was found at the rank's calls meanwhile. */
	struct dist__site calm;  /* the last of them before it changed */
	struct dist__site until; /* the first of them after that */
	const char *changed;     /* the byte found there; NULL: none */
};

struct dist__buffer_check {
	struct dist__buffer_check *next,
		*before; /* of the rank's: newer, older */
	struct dist_group *group;
	struct dist__op *op;
	bool blocks;
	bool released; /* its handle */
	bool heard;    /* anything, since then */
	bool ended;
	struct dist__shadow_copy *holdings;
	struct dist__region *regions;
	size_t num_regions;
	struct dist_tensor *lists; /* of the op's parts and bundle, moved */
	size_t num_listed;
	const struct dist_tensor **heads; /* of a list of lists, moved */
};

/* dist__tensor_bytes returns the length of memory that tensor has. */
static inline size_t dist__tensor_bytes(const struct dist_tensor *tensor)
{
	return tensor->data ? tensor->numel * dist_dtype_size(tensor->dtype)
			    : 0;
}

/* dist__buffer_check_most returns the number of tensors that op has at most. */
size_t dist__buffer_check_most(const struct dist_group *group,
			       const struct dist__op *op);

/* dist__buffer_check_take gives the op of watch, the newest, copies to work on,
 * and watch the regions. Errors: HAZARD, NO_MEMORY. */
enum dist_error dist__buffer_check_take(struct dist__buffer_check *watch);

/* dist__region_conflict returns the first region of watch to which the order of
 * its op and of another that has region matters; NULL: none. */
const struct dist__region *
dist__region_conflict(const struct dist__buffer_check *watch,
		      const struct dist__region *region);

/* dist__buffer_check_is_guarded returns whether the memory of watch is guarded.
 */
bool dist__buffer_check_is_guarded(const struct dist__buffer_check *watch);

/* dist__region_lift lets us touch the caller's memory in region, which other
 * operations may guard, or, lifted false, not any more. */
void dist__region_lift(const struct dist__buffer_check *watch,
		       const struct dist__region *region, bool lifted);

/* dist__region_change returns the first byte of region that is, or was when it
 * was looked at, not what it was at the call. NULL: none. */
const char *dist__region_change(const struct dist__region *region);

/* dist__region_access returns how region, of which the byte at change is other
 * (NULL: none), was touched, if anybody saw it. */
struct dist__access dist__region_access(const struct dist__region *region,
					const char *change);

/* dist__accuse_touch says that the program touched region of watch, which came
 * out at seen (NULL: not at one of its lines): by the access, or, if that has
 * none, by a write to address that nobody saw. Returns HAZARD. */
enum dist_error dist__accuse_touch(const struct dist__buffer_check *watch,
				   const struct dist__region *region,
				   const struct dist__access *access,
				   const char *address,
				   const struct dist__site *seen);

/* dist__accuse_sharing says that the op of watch was given memory that is held,
 * a region of owner's. Returns HAZARD. */
enum dist_error dist__accuse_sharing(const struct dist__buffer_check *watch,
				     const struct dist__region *given,
				     const struct dist__buffer_check *owner,
				     const struct dist__region *held);

#endif
