/*
 * zoo.h - wrong programs, one for each pattern that users meet, every one with
 * its correct twin.
 *
 * A program is one file, called after the pattern. The comment at its head says
 * what the verdict on it must be:
 *
 *	verdict: mismatch      one word of the verdict table, or fine
 *	ranks: 1               the ranks that it must turn on
 *	worlds: sim tcp nccl   where it can be seen; explore: not by one run
 *	debug: info            the debug level that it takes; none: off
 *	copy: needed           not where a simulation cannot be copied, as under
 *	                       the sanitizers
 *
 * and above each line that the report must name stands a comment, culprit,
 * partner or, of what was done to memory, access. `lockstep run
 * --nproc-per-node N zoo NAME` runs it as it was written, `zoo NAME --correct`
 * its twin, about which nothing may be said.
 */
#ifndef LOCKSTEP_SCENARIOS_ZOO_ZOO_H
#define LOCKSTEP_SCENARIOS_ZOO_ZOO_H

#include "lockstep/dist.h"

/* What a rank of a zoo program knows. */
struct zoo {
	struct dist_group *group; /* the default group; NULL: in none */
	int rank;
	int world_size;
	bool correct;           /* be the twin */
	struct dist_work *kept; /* freed only after the group; or NULL */
	float held[4];          /* for what is still in flight then */
};

struct zoo_program {
	const char *name; /* the file's, without the .c */
	int world_size;   /* how many ranks show the pattern */

	/* The rank program, between joining and leaving the group. */
	enum dist_error (*run)(struct zoo *zoo);

	/* What the process does before it joins; NULL: nothing. */
	void (*before)(bool correct);
};

/* zoo_free_port finds a port of this machine at which nobody serves, and tells
 * all ranks. Errors: dist_tcp_store_new's, any group error. */
DIST_MUST_CHECK enum dist_error zoo_free_port(struct zoo *zoo, int32_t *port);

/* zoo_join_by leaves the default group, if the rank is in it, and joins the job
 * once more, as rank of world_size, by the init method url, within a second. On
 * failure it says why on stderr, and the rank is in no group. Errors:
 * dist_init_process_group's. */
DIST_MUST_CHECK enum dist_error zoo_join_by(struct zoo *zoo, int rank,
					    int world_size, const char *url);

/* zoo_join_again is zoo_join_by() at port of this machine. */
DIST_MUST_CHECK enum dist_error zoo_join_again(struct zoo *zoo, int rank,
					       int world_size, int32_t port);

/* All programs, by number; ended by one whose name is NULL. */
extern const struct zoo_program *const zoo_table[];

/* zoo_try ends the calling function when call fails, with its error. */
#define zoo_try(call)                                                          \
	do {                                                                   \
		enum dist_error zoo_error = (call);                            \
		if (zoo_error)                                                 \
			return zoo_error;                                      \
	} while (0)

/* zoo_floats returns a tensor over an array of float. */
#define zoo_floats(array)                                                      \
	dist_tensor((array), sizeof(array) / sizeof(float), DIST_FLOAT32)

#endif
