/*
 * call_cache.h - calls that a group has made before.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_CALL_CACHE_H
#define LOCKSTEP_CORE_CALL_CACHE_H

#include "core/group.h"

/* Tensors of a list that are remembered: a longer list is looked into each
 * time. */
#define DIST__CALL_CACHE_LIST 8

struct dist__call_cache_parts {
	int count;
	int listed; /* of them, in list; 0: they are cut from whole */
	struct dist_tensor whole;
	struct dist_tensor list[DIST__CALL_CACHE_LIST];
};

/* One call, and what was found out about it. What it need not be alike in, each
 * call has for itself: its number, times and timeout, and whether it blocks. */
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
	/* By which the back end last did it; NULL: not known. */
	const struct dist__algorithm *algorithm;
	struct check_call call; /* its number is 0: nothing is known */
};

/* dist__call_cache_place returns where group remembers a call such as op, which
 * has its site; NULL: it must be looked into each time. */
struct dist__call_cache *dist__call_cache_place(struct dist_group *group,
						const struct dist__op *op);

/* dist__call_cache_is returns whether op is the call that is remembered there.
 */
bool dist__call_cache_is(const struct dist__call_cache *known,
			 const struct dist__op *op);

/* dist__call_cache_set remembers op instead, which was found to be in order and
 * stands in the records as call. */
void dist__call_cache_set(struct dist__call_cache *known,
			  const struct dist__op *op,
			  const struct check_call *call);

#endif
