/*
 * group.h - what a process group and a work handle are made of.
 *
 * Private to core/.
 */
#ifndef LOCKSTEP_CORE_GROUP_H
#define LOCKSTEP_CORE_GROUP_H

#include "base/hash.h"
#include "check/record.h"
#include "core/backend.h"
#include "core/buffer_pool.h"
#include "core/threads.h"

struct dist__call_cache;

/* What a call is for, and a hash of what all ranks must agree about in that; 0:
 * nothing. */
struct dist__label {
	char text[CHECK_LABEL];
	uint64_t terms;
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
	struct dist__threads *threads; /* of the root; NULL: there is one */
	struct dist_group *subs;       /* of the root: all the others */
	struct dist_group *next;       /* in that list */
	unsigned rpcs;                 /* of the root: that use its transport */
	uint32_t next_id;         /* of the root: above all that were given */
	uint32_t next_seq;        /* of the next collective */
	enum dist_error poison;   /* the failure that ended the group */
	struct dist__site site;   /* of the call being made */
	struct dist__site from;   /* and of the line that led there */
	struct dist__label label; /* and what it is for */
	bool untimed;             /* for the measurement alone */
	struct dist__call_cache
		*call_cache; /* calls made before, by place; or NULL */
	bool *missing;   /* at the last monitored barrier, by rank; or NULL */
	double *factors; /* of PREMUL_SUM, by number; NAN: given back */
	size_t num_factors;
	struct dist_work *works; /* all handles not freed, newest first */
	/* Of the root: of all its groups, oldest first. */
	struct dist__buffer_check *watches, *last_watch;
	size_t num_let_go; /* of those, the ones whose handle was released */
	struct dist__buffer_pool pool; /* of the root: for their copies */
	struct dist_message *message;  /* of the last failure; NULL: none */
};

struct dist_work {
	struct dist__op op;
	struct dist_group *group;       /* NULL once the group is gone */
	struct dist_work *next, **link; /* in its list; what points at it */
	struct dist__site site;         /* of the wait being made */
	bool freed;                     /* the caller has no handle any more */
	bool asked;    /* it has heard by the handle that it is done, */
	bool unseen;   /* or gave it away before, which is told */
	bool busy;     /* a thread is in the back end for it */
	bool reported; /* its end stands in the records */
	struct dist__sides sides[]; /* the op's, if it has any */
};

/* dist__rank_lock takes the lock of the rank of group, if it has one. */
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

/* dist__dump has the rank's records written, where they are asked for. */
void dist__dump(const struct dist_group *group);

/* dist__fail notes error as the group's last failure, with words; a failure
 * of the world rather than of an argument poisons the group. Returns error. */
enum dist_error dist__fail(struct dist_group *group, enum dist_error error,
			   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* dist__own_set notes the default group of the calling rank, NULL for none,
 * where ranks share memory. */
void dist__own_set(struct dist_group *group);

/* dist__is_own returns whether group is one of the calling rank's; false for
 * another rank's, which a global variable may hold in a simulation, and for one
 * that was destroyed there. Does not look into it. */
bool dist__is_own(const struct dist_group *group);

/* dist__group_start gives group, of which all but the back end is set, its back
 * end, and notes in the records that the rank is in it. Errors: NO_MEMORY; of
 * the world's backend_new, with words in *message. */
enum dist_error dist__group_start(struct dist_group *group,
				  struct dist_message *message);

/* dist__group_stop waits for what is in flight, takes the back end away and
 * frees what the group holds. Returns the first error of an operation in
 * flight. */
enum dist_error dist__group_stop(struct dist_group *group);

/* dist__mix mixes a word into a hash, DIST__HASH_BEGIN at first, of what ranks
 * must agree about. */
static inline uint64_t dist__mix(uint64_t hash, uint64_t word)
{
	/* A multiplication carries upwards only, the shift brings it down. */
	hash = (hash ^ word) * DIST__HASH_FACTOR;
	return hash ^ hash >> 32;
}

/* dist__check checks the arguments of op, and notes in it whether it is a
 * phantom. Errors: INVALID_ARGUMENT, UNSUPPORTED, ABORTED (a poisoned group).
 */
enum dist_error dist__check(struct dist_group *group, struct dist__op *op);

/*
 * dist__parts_check checks the tensors of op against each other: lengths,
 * dtypes, overlaps, phantoms, of which it notes in op whether it is one. The
 * tensor of op alone is in order. Errors: INVALID_ARGUMENT, UNSUPPORTED.
 */
enum dist_error dist__parts_check(struct dist_group *group,
				  struct dist__op *op);

/* dist__fingerprint returns a hash of what every rank of op must agree about,
 * label included. */
uint64_t dist__fingerprint(const struct dist__op *op, int world_size,
			   const struct dist__label *label);

/* dist__report_begin writes op, which is for what label says, into the rank's
 * records, and returns the number that it has there. */
uint32_t dist__report_begin(const struct dist_group *group,
			    const struct dist__op *op,
			    const struct dist__label *label);

/* dist__report_again does so with op, which is call but for what each call has
 * for itself. */
uint32_t dist__report_again(const struct dist_group *group,
			    const struct dist__op *op,
			    const struct check_call *call);

/* dist__report_end writes the end of a done op there. */
void dist__report_end(const struct dist_group *group,
		      const struct dist__op *op);

/*
 * dist__bundle_check checks the tensors of op's bundle against each other and
 * gives op their numel and dtype, and whether it is a phantom. Errors: as
 * dist__parts_check.
 */
enum dist_error dist__bundle_check(struct dist_group *group,
				   struct dist__op *op);

/* dist__bundle_terms returns a hash of what ranks must agree about in bundle:
 * how many tensors of which lengths; dist__bundle_words says it to a reader,
 * cut short. */
uint64_t dist__bundle_terms(const struct dist__bundle *bundle);
void dist__bundle_words(const struct dist__bundle *bundle, char *text,
			size_t size);

/* dist__factor_find makes PREMUL_SUM and its factor of the reduce op that
 * stands for them in this group; any other stays as it is. Errors:
 * INVALID_ARGUMENT (PREMUL_SUM without a factor). */
enum dist_error dist__factor_find(struct dist_group *group,
				  struct dist__op *op);

/* dist__site_take returns where the call that is being made stands, once. */
struct dist__site dist__site_take(struct dist_group *group);

/* dist__submit runs op, a request of which it makes what back ends see, now
 * (work NULL), or starts a copy and stores a handle. Errors: the API's;
 * INVALID_ARGUMENT too where group is NULL. */
enum dist_error dist__submit(struct dist_group *group, struct dist__op *op,
			     struct dist_work **work);

/* dist__work_new makes a handle for a copy of *op; NULL: no memory. */
struct dist_work *dist__work_new(struct dist_group *group,
				 const struct dist__op *op);

/* dist__work_drop takes work out of its group's list and frees it. */
void dist__work_drop(struct dist_work *work);

/* dist__work_end waits until work is done. */
void dist__work_end(struct dist_work *work);

/* dist__works_wait waits for everything in flight; returns the first error. */
enum dist_error dist__works_wait(struct dist_group *group);

/* dist__works_release frees the handles that the caller gave up and cuts the
 * others loose. Only once nothing is in flight: after the back end is gone. */
void dist__works_release(struct dist_group *group);

#endif
