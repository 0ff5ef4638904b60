/*
 * group.h - what a process group and a work handle are made of.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_GROUP_H
#define LOCKSTEP_CORE_GROUP_H

#include "core/backend.h"

struct dist_group {
	const struct dist__world *world;
	struct dist__place place;
	struct dist__members members;
	struct dist__backend *backend;
	char name[16];
	uint32_t next_seq;       /* of the next collective */
	enum dist_error poison;  /* the failure that ended the group */
	struct dist__site site;  /* of the call being made */
	struct dist_work *works; /* all handles not freed, newest first */
	struct dist_message message;
};

struct dist_work {
	struct dist__op op;
	struct dist_group *group; /* NULL once the group is gone */
	struct dist_work *next;
	struct dist__site wait_site;
	bool freed;    /* the caller has no handle any more */
	bool reported; /* its end stands in the records */
};

/* dist__fail notes error as the group's last failure, with words; a failure
 * of the world rather than of an argument poisons the group. Returns error. */
enum dist_error dist__fail(struct dist_group *group, enum dist_error error,
			   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * dist__parts_check checks the tensors of op against each other: lengths,
 * dtypes, overlaps, phantoms, of which it notes in op whether it is one. The
 * tensor of op alone is in order. Errors: INVALID_ARGUMENT, UNSUPPORTED.
 */
enum dist_error dist__parts_check(struct dist_group *group,
				  struct dist__op *op);

/* dist__submit runs op now (work NULL) or starts it and stores a handle. */
enum dist_error dist__submit(struct dist_group *group,
			     const struct dist__op *op,
			     struct dist_work **work);

/* dist__work_new makes a handle for a copy of *op; NULL: no memory. */
struct dist_work *dist__work_new(struct dist_group *group,
				 const struct dist__op *op);

/* dist__work_drop takes work out of its group's list and frees it. */
void dist__work_drop(struct dist_work *work);

/* dist__works_wait waits for everything in flight; returns the first error. */
enum dist_error dist__works_wait(struct dist_group *group);

/* dist__works_release frees the handles that the caller gave up and cuts the
 * others loose. Only once nothing is in flight: after the back end is gone. */
void dist__works_release(struct dist_group *group);

#endif
