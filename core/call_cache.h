/*
 * call_cache.h - remembers the calls of a group, which programs repeat.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_CALL_CACHE_H
#define LOCKSTEP_CORE_CALL_CACHE_H

#include "core/state.h"

/* Tensors of a list that are remembered; a call with a longer list is checked
 * each time. */
#define DIST__CALL_CACHE_LIST 8

struct dist__call_cache_parts {
	int count;
	int listed; /* number in list; 0: parts are cut from whole */
	struct dist_tensor whole;
	struct dist_tensor list[DIST__CALL_CACHE_LIST];
};

/* A call, and the results of checking it. Number, times, timeout and whether
 * it blocks may differ between calls that match. */
struct dist__call_cache {
	/* Not side by side, as in op: two just written cannot be read as one.
	 */
	enum dist__op_kind kind;
	int peer;
	enum dist_reduce_op reduce_op;
	struct dist__site site, from;
	struct dist_tensor tensor;
	struct dist__call_cache_parts in, out;

	bool phantom;
	uint64_t fingerprint;
	/* The one that the back end used last; NULL: not known. */
	const struct dist__algorithm *algorithm;
	struct check_call call; /* number 0: the entry is empty */
};

/* dist__call_cache_place returns the entry for calls like op, which has its
 * site; NULL: op must be checked each time. */
struct dist__call_cache *dist__call_cache_place(struct dist_group *group,
						const struct dist__op *op);

/* dist__call_cache_is returns whether op matches the entry known.
 */
bool dist__call_cache_is(const struct dist__call_cache *known,
			 const struct dist__op *op);

/* dist__call_cache_set stores op in the entry instead. op was checked and is
 * in the records as call. */
void dist__call_cache_set(struct dist__call_cache *known,
			  const struct dist__op *op,
			  const struct check_call *call);

#endif
