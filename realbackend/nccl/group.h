/*
 * group.h - what the library does for a group on NCCL. Private to
 * realbackend/nccl/.
 */
#ifndef LOCKSTEP_NCCL_GROUP_H
#define LOCKSTEP_NCCL_GROUP_H

#include "realbackend/nccl/state.h"

/* ---- group.c ----------------------------------------------------------- */

/* dist__nccl_open makes the communicator with all members. Errors: those of
 * backend_new in core/backend.h. After an error call dist__agreed_fail(): it
 * informs the other members. */
enum dist_error dist__nccl_open(struct dist__nccl_group *g,
				int64_t deadline_ns);

/* dist__nccl_poll looks for errors of the communicators; dist__nccl_abort ends
 * their operations. */
enum dist_error dist__nccl_poll(struct dist__agreed *g);
void dist__nccl_abort(struct dist__agreed *g);

/*
 * dist__nccl_close frees what the group owns. The default group, unless it
 * failed, first meets its members: NCCL requires that all flush and free a
 * communicator together. A rank that destroys another group does not wait, so
 * that group's communicators are passed to the default group.
 */
void dist__nccl_close(struct dist__agreed *g);

/* ---- task.c ------------------------------------------------------------ */

/* The library's functions of these names. */
void dist__nccl_task_begin(struct dist__agreed *g, struct dist__task *task);
bool dist__nccl_may_launch(const struct dist__task *task,
			   const struct dist__line *line);
enum dist_error dist__nccl_launch(struct dist__agreed *g,
				  struct dist__task *task, bool *ended);
enum dist_error dist__nccl_run(struct dist__agreed *g, struct dist__task *task,
			       bool *ended);
void dist__nccl_task_end(struct dist__agreed *g, struct dist__task *task);

/* ---- wire.c ------------------------------------------------------------ */

enum dist_error dist__nccl_grant(struct dist__agreed *g,
				 struct dist__task *task);
enum dist_error dist__nccl_granted(struct dist__agreed *g,
				   struct dist__task *task);

#endif
