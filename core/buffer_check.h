/*
 * buffer_check.h - finds memory that is touched while an operation holds it.
 *
 * A watched operation works on a private copy of its memory. Until the rank
 * can know it complete nobody else may write what the operation reads or
 * writes, so that the caller's own memory must then still hold what it held
 * at the call: a difference is a hazard, exact to the byte, and only without
 * one the results are put there. With the debug level detail the pages of that
 * memory are guarded as well: then a read that comes too early is a hazard, and
 * who reads or writes is known (check/watch/guard.h). Giving memory that an
 * operation holds to another one is a hazard at once if either writes it;
 * but collectives of one group run in order, and may be chained: each begins
 * with what those before it left (holding.h), and they end in order.
 *
 * The rank knows an operation complete when the call or a wait on its handle
 * returned, and when a later collective of the group is complete. Once it gave
 * the handle away, anything that it hears later may tell it: what it writes
 * from then on is let be.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_BUFFER_CHECK_H
#define LOCKSTEP_CORE_BUFFER_CHECK_H

#include "core/group.h"

struct dist__buffer_check;

/*
 * dist__buffer_check_begin watches op of group, which stays where it is, from
 * before its submission on, and lets it work on copies; op->watch is the
 * caller's to free. There is none when there is nothing to watch: the level is
 * off, it has no memory, or it blocks and no other operation holds any of it.
 * Never blocks. Errors: NO_MEMORY; HAZARD.
 */
enum dist_error dist__buffer_check_begin(struct dist_group *group,
					 struct dist__op *op, bool blocks);

/* dist__buffer_check_end ends what watch, which may be NULL, watches: the rank
 * knows its op complete, and watch_sweep() has ended those before it. seen is
 * where from; NULL: a call of none of its lines. Gives the caller the results.
 * Does nothing the second time. Errors: HAZARD. */
enum dist_error dist__buffer_check_end(struct dist__buffer_check *watch,
				       const struct dist__site *seen);

/* dist__buffer_check_look notes, for the level detail, at the rank's call at
 * site whether memory without guard is what it was: the nearest two calls tell
 * where it changed. To bound what a call costs it looks at the newest alone. */
void dist__buffer_check_look(const struct dist_group *group,
			     const struct dist__site *site);

/* dist__buffer_check_idles returns whether all of these have nothing to do for
 * a call that blocks: nothing is watched. */
static inline bool dist__buffer_check_idles(const struct dist_group *group)
{
	return group->place.debug < DIST__DEBUG_INFO && !group->root->watches;
}

/* dist__buffer_check_release notes that the caller gave up the handle of op. */
void dist__buffer_check_release(struct dist__buffer_check *watch);

/* dist__buffer_check_sweep ends what is known complete because the rank heard
 * that op of group is. Errors: HAZARD. */
enum dist_error dist__buffer_check_sweep(struct dist_group *group,
					 const struct dist__op *op);

/* dist__buffer_check_free forgets the copies; the op is done. watch may be
 * NULL. */
void dist__buffer_check_free(struct dist__buffer_check *watch);

#endif
