/*
 * buffer_check.h - finds memory that is touched while an operation uses it.
 *
 * A checked operation works on a private copy of its memory. Until the rank
 * can know that the operation is complete, nobody else may write that memory.
 * When the rank knows it, the caller's memory is compared with its bytes at the
 * call: a difference is a hazard; without one the results are copied there.
 * With the debug level detail the pages of that memory are guarded as well, so
 * that an early read is a hazard, too, and the line that read or wrote is known
 * (check/watch/guard.h). It is a hazard at once to give memory of an operation
 * to another one if either writes it. The exception: collectives of one group
 * run and end in order, so each may work on the results of those before it
 * (shadow_copy.h).
 *
 * The rank knows that an operation is complete when the call or a wait on its
 * handle returned, or when a later collective of the group is complete. If it
 * has freed the handle, the next completion of any operation may imply it:
 * writes after that are not checked.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_BUFFER_CHECK_H
#define LOCKSTEP_CORE_BUFFER_CHECK_H

#include "core/state.h"

struct dist__buffer_check;

/*
 * dist__buffer_check_begin starts to check op of group, before its submission,
 * and gives it copies to work on. op must not move. The caller frees op->watch.
 * That stays NULL if there is nothing to check: the level is off, op has no
 * memory, or it blocks and no other operation uses any of its memory. Never
 * blocks. Errors: NO_MEMORY; HAZARD.
 */
enum dist_error dist__buffer_check_begin(struct dist_group *group,
					 struct dist__op *op, bool blocks);

/* dist__buffer_check_end ends the check: the rank knows that the op is
 * complete, and dist__buffer_check_sweep() has ended those before it. seen is
 * the line of the call by which it knows; NULL: none. Copies the results to the
 * caller. watch may be NULL. A second call does nothing. Errors: HAZARD. */
enum dist_error dist__buffer_check_end(struct dist__buffer_check *watch,
				       const struct dist__site *seen);

/* dist__buffer_check_look, with the level detail, compares unguarded memory at
 * the rank's call at site, so that a change can be placed between two calls.
 * To bound the cost of a call only the newest regions are compared. */
void dist__buffer_check_look(const struct dist_group *group,
			     const struct dist__site *site);

/* dist__buffer_check_idles returns whether a blocking call needs none of the
 * other functions: nothing is checked. */
static inline bool dist__buffer_check_idles(const struct dist_group *group)
{
	return group->place.debug < DIST__DEBUG_INFO &&
	       !group->root->checks.oldest && !group->root->released.oldest;
}

/* dist__buffer_check_release notes that the caller freed the handle of op. */
void dist__buffer_check_release(struct dist__buffer_check *watch);

/* dist__buffer_check_sweep ends the checks of all operations that the rank
 * knows to be complete because op of group is. Errors: HAZARD. */
enum dist_error dist__buffer_check_sweep(struct dist_group *group,
					 const struct dist__op *op);

/* dist__buffer_check_free frees the copies; the op is done. watch may be
 * NULL. */
void dist__buffer_check_free(struct dist__buffer_check *watch);

#endif
