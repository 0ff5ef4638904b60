/*
 * programs.h - wrong programs as users write them, each with its correct twin,
 * and right ones that look wrong.
 *
 * A program is one function over the public headers alone. A line of the table
 * at the end of its file labels it: how many ranks it takes, the verdict on it,
 * the ranks on which that turns. In the function, or in a helper for it, a
 * comment culprit or partner stands above each line that the report must name.
 * Run with `correct` it is its own twin, about which nothing may be said.
 */
#ifndef LOCKSTEP_TESTS_PROGRAMS_PROGRAMS_H
#define LOCKSTEP_TESTS_PROGRAMS_PROGRAMS_H

#include <lockstep/dist.h>

/* What a rank of a program knows. */
struct job {
	struct dist_group *world;
	int rank, size;
	bool wrong; /* false: be the twin */
};

struct program {
	const char *name; /* the function's */
	enum dist_error (*run)(struct job *job);
	int ranks;
	const char *verdict;  /* that of the JSON; fine: in both forms */
	const char *culprits; /* ranks, with spaces between */
	const char *worlds;   /* "sim", "tcp", or both */
};

#define PROGRAM(function, ranks, verdict, culprits, worlds)                    \
	{                                                                      \
#function, function, ranks, verdict, culprits, worlds          \
	}
#define BOTH "sim tcp"

/* The tables, one a file, each ended by a program without a name. */
extern const struct program collective_programs[], flow_programs[],
	message_programs[], group_programs[], handle_programs[],
	ending_programs[], pattern_programs[];

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

#endif
