/*
 * work.h - operations in flight: waiting for them, also from another thread. A
 * part of dist.h, which includes this and says what holds for all calls.
 */
#ifndef LOCKSTEP_WORK_H
#define LOCKSTEP_WORK_H

#include "lockstep/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- work handles ----------------------------------------------------- */

/*
 * dist_work_wait blocks until work is complete or timeout_ns from now have
 * passed (DIST_TIMEOUT_OF_GROUP, DIST_TIMEOUT_NEVER, or a positive number).
 * The handle stays valid; waiting again returns the same answer. A timeout
 * here aborts the group, because the operation still holds the caller's
 * memory. Errors: those of the operation; DIST_ERR_TIMEOUT;
 * DIST_ERR_INVALID_ARGUMENT (NULL work, negative timeout).
 */
DIST_MUST_CHECK enum dist_error dist_work_wait(struct dist_work *work,
					       int64_t timeout_ns);

/*
 * dist_work_wait_aside is dist_work_wait by a thread beside those that make the
 * rank's calls (dist_allow_threads()). The rank does not count as waiting: it
 * may still make the call that others wait for. So this wait is never part of
 * a deadlock. If work fails, the rank counts as stuck there. Errors: as
 * dist_work_wait; DIST_ERR_UNSUPPORTED (threads were not allowed).
 */
DIST_MUST_CHECK enum dist_error dist_work_wait_aside(struct dist_work *work,
						     int64_t timeout_ns);

/*
 * dist_work_is_completed returns whether work has ended, well or not, without
 * blocking; true for NULL. In simulation a call that returns false takes a
 * little simulated time, so that a loop around it cannot stop the clock.
 */
bool dist_work_is_completed(struct dist_work *work);

/*
 * dist_work_error returns how work ended: DIST_OK if it succeeded or has not
 * ended yet; DIST_ERR_INVALID_ARGUMENT for NULL.
 */
enum dist_error dist_work_error(const struct dist_work *work);

/*
 * dist_work_source returns the rank whose message a receive took; -1 for a
 * receive that has not succeeded, for other operations, and for NULL.
 */
int dist_work_source(const struct dist_work *work);

/*
 * dist_work_free frees the handle. Work still in flight goes on and its memory
 * must stay valid until the group is destroyed. work may be NULL.
 *
 * A job that ended well gets the verdict "left behind" if a rank neither freed
 * a handle nor learnt that its work is complete (for a collective: it or a
 * later one of the group): then the rank cannot know whether it may use the
 * memory. The debug levels info and detail also warn of handles that were freed
 * before that, except those of sends.
 */
void dist_work_free(struct dist_work *work);

/* ---- several threads --------------------------------------------------- */

/*
 * dist_allow_threads lets several threads of the process make the calls of its
 * rank from now on, on all groups of the rank; group is any of them. Called
 * once, before a second thread makes a call. Then:
 *
 * - Calls on groups, with the dist_at() and dist_label() before them, and
 *   dist_work_wait() may come from any thread, but only one at a time for the
 *   whole rank.
 * - dist_work_wait_aside(), dist_work_is_completed(), _error, _source and
 *   _free, dist_error_message_copy() and dist_abort() may overlap all of these
 *   and each other, on any group and, except _free, on the same handle. So a
 *   thread may complete operations while another issues them.
 * - While a group is destroyed no thread may be in a call on it or on a handle
 *   of it.
 *
 * A rank counts as waiting in a call while a call on a group or
 * dist_work_wait() blocks. Errors: DIST_ERR_INVALID_ARGUMENT (NULL),
 * DIST_ERR_UNSUPPORTED (simulation: a rank has one thread), DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error dist_allow_threads(struct dist_group *group);

/* dist_call_at notes the source line of this thread's next call that takes no
 * group, or frees it, and of the next in rpc.h; file must live as long as the
 * job. The macros put it before the call. */
void dist_call_at(const char *file, int line);

/* dist_end_at is for a library over this one that knows where an error ends the
 * program of this rank, and what it says (why; NULL: not known): verdicts on
 * the rank's loss name that line and function, and why. All are copied, cut;
 * file may be NULL. A NULL group: nothing. */
void dist_end_at(struct dist_group *group, const char *file, int line,
		 const char *function, const char *why);

/* dist_work_read_at is for a library over this one that knows where the program
 * reads memory that work writes. If nobody has learnt by then that work is
 * complete, verdicts on the job name that line and the call: a hazard. work may
 * be NULL. */
void dist_work_read_at(struct dist_work *work, const char *file, int line);

#define DIST_CALL_HERE dist_call_at(__FILE__, __LINE__)

#ifdef __cplusplus
}
#endif

#endif
