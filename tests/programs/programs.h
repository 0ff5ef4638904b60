/*
 * programs.h - wrong programs as users write them, each with its correct twin,
 * and right ones that look wrong.
 *
 * A program is one function over the public headers alone. A line of table.def
 * labels it: how many ranks it takes, the verdict on it, the ranks on which
 * that turns. In the function, or in a helper for it, a comment culprit,
 * partner or, of what was done to memory, access stands above each line that
 * the report must name. "Seen in" names reports of users. Run with `correct` it
 * is its own twin, about which nothing may be said.
 */
#ifndef LOCKSTEP_TESTS_PROGRAMS_PROGRAMS_H
#define LOCKSTEP_TESTS_PROGRAMS_PROGRAMS_H

#include <lockstep/ddp.h>
#include <lockstep/dist.h>
#include <lockstep/store.h>
#include <stdlib.h>

/* What a rank of a program knows. */
struct job {
	struct dist_group *world; /* NULL: not in it any more */
	int rank, size;
	bool wrong; /* false: be the twin */

	/* What is freed at the end: before the rank leaves the job, and after.
	 */
	struct dist_ddp *ddp;
	struct dist_work *left;
	struct dist_store *store;
	void *memory;
};

#define PROGRAM(function, ranks, verdict, culprits, where)                     \
	enum dist_error function(struct job *job);
#include "tests/programs/table.def"
#undef PROGRAM

/* Whether this is the rank that does the wrong thing, in the wrong form. */
static inline bool at_fault(const struct job *job, int rank)
{
	return job->wrong && job->rank == rank;
}

/* Ends the calling function when call fails, with its error. */
#define try(call)                                                              \
	do {                                                                   \
		enum dist_error try_error = (call);                            \
		if (try_error)                                                 \
			return try_error;                                      \
	} while (0)

/* A tensor over an array of float, of int64_t. */
#define floats(array)                                                          \
	dist_tensor((array), sizeof(array) / sizeof(float), DIST_FLOAT32)
#define longs(array)                                                           \
	dist_tensor((array), sizeof(array) / sizeof(int64_t), DIST_INT64)

/* The ranks next to this one in a ring. */
static inline int right_of(const struct job *job)
{
	return (job->rank + 1) % job->size;
}

static inline int left_of(const struct job *job)
{
	return (job->rank + job->size - 1) % job->size;
}

/* Waits for a handle, or for num of them, and frees them. */
static inline enum dist_error end(struct dist_work *work)
{
	enum dist_error error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);

	dist_work_free(work);
	return error;
}

static inline enum dist_error end_all(struct dist_work **works, size_t num)
{
	for (size_t i = 0; i < num; i++)
		try(end(works[i]));
	return DIST_OK;
}

/* Memory of zeros until the end of the program; NULL without. */
static inline void *keep(struct job *job, size_t size)
{
	return job->memory = calloc(1, size);
}

#endif
