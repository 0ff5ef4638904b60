/*
 * state.h - a rank's state in core/: the structs of a process group and a work
 * handle, and what the files of core/ do with them.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_STATE_H
#define LOCKSTEP_CORE_STATE_H

#include <pthread.h>

#include "base/hash.h"
#include "check/record.h"
#include "core/backend.h"
#include "core/buffer_pool.h"
#include "core/region_index.h"

struct dist__call_cache;

/* The caller's description of the next call, and a hash of what all ranks must
 * agree about in it; 0: nothing. */
struct dist__label {
	char text[CHECK_LABEL];
	uint64_t terms;
};

/* The lock of a rank that has several threads; see core/threads.h. */
struct dist__threads {
	pthread_mutex_t mutex;
	pthread_cond_t left; /* a thread has returned from the back end */
};

struct dist_group {
	const struct dist__world *world;
	struct dist__place place;
	struct dist__members members;
	struct dist__backend *backend;
	char name[32];                 /* the members' name */
	char title[24];                /* what verdicts call it */
	int *ranks;                    /* the members' ranks, owned; or NULL */
	struct dist_group *root;       /* the rank's default group */
	struct dist__threads *threads; /* root's; NULL: one thread */
	struct dist_group *subs;       /* root's: all the other groups */
	struct dist_group *next;       /* in that list */
	unsigned rpcs;                 /* root's: users of its transport */
	uint32_t next_id;              /* root's: greater than all ids known */
	uint32_t next_seq;             /* of the next collective */
	bool retired;                  /* it is destroyed, its memory kept */
	enum dist_error poison;        /* the failure that ended the group */
	bool told;                     /* of a handle's failure, when asked */
	struct dist__site site;        /* of the current call, */
	struct dist__site from;        /* and of the line that led there */
	struct dist__label label;      /* of the current call */
	bool untimed;                  /* it takes no simulated time */
	unsigned calls;                /* threads that are in one */
	unsigned inside;  /* root's: the same, of all its groups, */
	pthread_t caller; /* the thread that came first, */
	bool many;        /* and whether others came meanwhile */
	struct dist__call_cache
		*call_cache; /* earlier calls, by line; or NULL */
	bool *missing;   /* at the last monitored barrier, by rank; or NULL */
	double *factors; /* of PREMUL_SUM, by number; NAN: freed */
	size_t num_factors;
	struct dist_work *works; /* all handles not freed, newest first */
	/* root's, of all its groups: the checks of operations, those whose
	 * handle the caller has freed, and the memory of both. */
	struct dist__buffer_checks {
		struct dist__buffer_check *oldest, *newest;
	} checks, released;
	uint64_t num_checks; /* since the start */
	struct dist__region_index regions;
	struct dist__buffer_pool pool; /* root's: for their copies */
	struct dist_message *message;  /* of the last failure; NULL: none */
};

struct dist_work {
	struct dist__op op;
	struct dist_group *group;       /* NULL once the group is gone */
	struct dist_work *next, **link; /* in its list; pointer to it */
	struct dist__site site;         /* of the current wait */
	bool freed;                     /* the caller freed the handle */
	bool asked;    /* a call on the handle reported that it is done */
	bool unseen;   /* freed before that, and the records say so */
	bool busy;     /* a thread is in the back end for it */
	bool reported; /* its end is in the records */
	bool late;     /* it was not done when the time to wait was up */
	struct dist__sides sides[]; /* the op's, if it has any */
};

/* dist__rank_lock locks the mutex of the rank of group, if there is one. */
static inline void dist__rank_lock(const struct dist_group *group)
{
	if (group->root->threads)
		pthread_mutex_lock(&group->root->threads->mutex);
}

static inline void dist__rank_unlock(const struct dist_group *group)
{
	if (group->root->threads)
		pthread_mutex_unlock(&group->root->threads->mutex);
}

/* dist__call_begin and dist__call_end enclose a call that may block: meanwhile
 * the group is not freed. Caller: holds the lock, where there is one. */
static inline void dist__call_begin(struct dist_group *group)
{
	group->calls++;
	if (group->root->inside++ == 0)
		group->root->caller = pthread_self();
}

/* Whether a thread is in a call of a rank of which another thread is. */
bool dist__is_inside_too(struct dist_group *root);

/* dist__is_inside returns whether a call would begin in a call of the rank: in
 * a signal handler, or in a function that serves a remote call. Threads of the
 * program's own are not refused. */
static inline bool dist__is_inside(const struct dist_group *group)
{
	struct dist_group *root = group->root;

	if (root->threads || root->inside == 0 || root->many)
		return false;
	return pthread_equal(root->caller, pthread_self()) ||
	       dist__is_inside_too(root);
}

/* dist__refuse_inside refuses the call `name` for that. */
enum dist_error dist__refuse_inside(struct dist_group *group, const char *name);

static inline void dist__call_end(struct dist_group *group)
{
	group->root->inside--;
	if (--group->calls == 0 && group->root->threads)
		pthread_cond_broadcast(&group->root->threads->left);
}

/* dist__dump writes the rank's records into a file, if the user wants one. */
void dist__dump(const struct dist_group *group);

/* dist__fail stores error and a message as the group's last failure. A failure
 * that is not about an argument also poisons the group. Returns error. */
enum dist_error dist__fail(struct dist_group *group, enum dist_error error,
			   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* dist__own_set stores the default group of the calling rank, NULL for none,
 * where ranks share memory. */
void dist__own_set(struct dist_group *group);

/* dist__group_retire frees group, which is destroyed, now or once some more
 * are. */
void dist__group_retire(struct dist_group *group);

/* dist__is_own returns whether group belongs to the calling rank: false for
 * another rank's (simulated ranks share global variables, and group is not
 * dereferenced there), for a destroyed one (of a real rank's, one of the last),
 * and in a copy of the rank. */
bool dist__is_own(const struct dist_group *group);

/* dist__refuse_group refuses the call `name` on a group that is NULL or none of
 * the caller's, at a line if that is known, in the records of the rank. Returns
 * INVALID_ARGUMENT. */
enum dist_error dist__refuse_group(const struct dist_group *group,
				   const char *name, const char *file,
				   int line);

/* dist__group_start makes the back end of group, whose other fields are set,
 * and records that the rank is in it. Errors: NO_MEMORY; those of the world's
 * backend_new, with *message. */
enum dist_error dist__group_start(struct dist_group *group,
				  struct dist_message *message);

/* dist__mix mixes word into a hash of what ranks must agree about. The first
 * hash is DIST__HASH_BEGIN. */
static inline uint64_t dist__mix(uint64_t hash, uint64_t word)
{
	/* A multiplication carries upwards only, the shift brings it down. */
	hash = (hash ^ word) * DIST__HASH_FACTOR;
	return hash ^ hash >> 32;
}

/* dist__check checks the arguments of op and sets op->phantom. Errors:
 * INVALID_ARGUMENT, UNSUPPORTED, ABORTED (a poisoned group).
 */
enum dist_error dist__check(struct dist_group *group, struct dist__op *op);

/*
 * dist__parts_check checks the tensors of op against each other: lengths,
 * dtypes, overlaps, phantoms. Sets op->phantom. The tensor of op was checked
 * already. Errors: INVALID_ARGUMENT, UNSUPPORTED.
 */
enum dist_error dist__parts_check(struct dist_group *group,
				  struct dist__op *op);

/* dist__report_begin writes op, with its label, into the rank's records, and
 * returns its number there. */
uint32_t dist__report_begin(const struct dist_group *group, struct dist__op *op,
			    const struct dist__label *label);

/* dist__report_making records that the rank asks, for purpose, for a group of n
 * ranks of parent by number. */
void dist__report_making(const struct dist_group *parent,
			 const struct dist__purpose *purpose, uint32_t number,
			 int n);

/* dist__report_again does the same for an op that matches the recorded call in
 * all but number, times, timeout, and whether it blocks. */
uint32_t dist__report_again(const struct dist_group *group, struct dist__op *op,
			    const struct check_call *call);

/* dist__report_wait writes that the rank waits for op, at site (NULL: where it
 * was issued), into the records: op itself again, too, if others have driven it
 * out. */
void dist__report_wait(const struct dist_group *group,
		       const struct dist__op *op,
		       const struct check_site *site);

/* dist__report_end writes the end of op, which is done, into the records. */
void dist__report_end(const struct dist_group *group,
		      const struct dist__op *op);

/*
 * dist__bundle_check checks the tensors of op's bundle against each other and
 * sets the numel and dtype of op, and op->phantom. Errors: as
 * dist__parts_check.
 */
enum dist_error dist__bundle_check(struct dist_group *group,
				   struct dist__op *op);

/* dist__bundle_terms returns a hash of what ranks must agree about in bundle:
 * the number of tensors and their lengths. dist__bundle_describe writes the
 * same as text, cut to size. */
uint64_t dist__bundle_terms(const struct dist__bundle *bundle);
void dist__bundle_describe(const struct dist__bundle *bundle, char *text,
			   size_t size);

/* dist__lengths_describe writes the lengths of num tensors as text, "what
 * 3+2+2", cut to size. */
void dist__lengths_describe(const char *what, const struct dist_tensor *list,
			    size_t num, char *text, size_t size);

/* dist__factor_find replaces a reduce op that this group made by PREMUL_SUM and
 * its factor; any other op stays. Errors: INVALID_ARGUMENT (PREMUL_SUM without
 * a factor). */
enum dist_error dist__factor_find(struct dist_group *group,
				  struct dist__op *op);

/* dist__site_take returns the source line of the current call and clears it. */
struct dist__site dist__site_take(struct dist_group *group);

/* dist__submit completes the request op, then runs it (work NULL) or starts a
 * copy and stores its handle. Errors: those of the public call;
 * INVALID_ARGUMENT also if group is NULL. */
enum dist_error dist__submit(struct dist_group *group, struct dist__op *op,
			     struct dist_work **work);

/* dist__work_new makes a handle for a copy of *op; NULL: no memory. */
struct dist_work *dist__work_new(struct dist_group *group,
				 const struct dist__op *op);

/* dist__work_drop takes work out of its group's list and frees it. */
void dist__work_drop(struct dist_work *work);

/* dist__work_end waits until work is done. */
void dist__work_end(struct dist_work *work);

/* dist__works_wait waits for all in flight, and returns the first error. */
enum dist_error dist__works_wait(struct dist_group *group);

/* dist__works_release frees the handles that the caller has freed, and detaches
 * the others from the group. Only after the back end was freed. */
void dist__works_release(struct dist_group *group);

#endif
