/*
 * algorithm.h - a collective algorithm: its code, its cost, its name.
 */
#ifndef LOCKSTEP_COLL_ALGORITHM_H
#define LOCKSTEP_COLL_ALGORITHM_H

#include "coll/profile.h"
#include "core/backend.h"

/* One collective that one rank runs: the arguments of an algorithm. */
struct dist__coll {
	struct dist__transport *transport;
	const struct dist__members *members;
	struct dist__op *op; /* tensor, parts, root (peer), reduce_op, ... */
	int rank;            /* members->rank */
	int world_size;
	size_t segment_bytes; /* the longest message of a pipeline */
	bool by_ranks; /* bytes do not influence the choice of algorithm */
};

/*
 * The constants of a cost formula, after Hockney (1994) with a reduction term
 * as in Thakur, Rabenseifner and Gropp (2005), and the sender's overhead as in
 * LogP (Culler et al., 1993): a message of m bytes takes overhead on the sender
 * and then alpha + m * beta on both ends; reducing m bytes takes m * gamma.
 */
struct dist__cost {
	double overhead_ns;       /* per message, on the sender's processor */
	double alpha_ns;          /* per message: latency */
	double beta_ns_per_byte;  /* 1 / bandwidth */
	double gamma_ns_per_byte; /* 1 / reduction rate */
	size_t segment_bytes;     /* as in dist__coll */

	/* If nodes have several ranks: alpha and beta are those between nodes,
	 * beta for all ranks of a node together; these are within a node. */
	int node_ranks; /* 0: 1 */
	double node_alpha_ns;
	double node_beta_ns_per_byte;
};

struct dist__algorithm {
	enum dist__op_kind op;
	const char *name;
	const char *summary; /* steps and bytes per rank, as text */
	const char *formula; /* of cost_ns, as text */

	/* Runs the collective on this rank; blocks. SUM replaces the reduce_op
	 * AVG (the back end divides afterwards). Errors: those of the
	 * transport; NO_MEMORY. */
	enum dist_error (*run)(const struct dist__coll *coll);

	/* Returns the time from the common start to the last rank's end on a
	 * contention-free network of p ranks. numel elements of element_bytes
	 * each: of the tensor, or of p equal parts together. */
	double (*cost_ns)(const struct dist__cost *cost, int p, size_t numel,
			  size_t element_bytes);

	/* Its timetable. NULL: it has none, or few messages: O(log p) a rank
	 * or O(p) in all. */
	const struct dist__flow_ops *flow;

	/* It runs other algorithms among some of the ranks (coll/team.h). */
	bool in_teams;
};

/* dist__algorithms returns the table of all algorithms; NULL ends it. */
const struct dist__algorithm *const *dist__algorithms(void);

/* dist__algorithm_find returns the algorithm called name for op, or NULL. */
const struct dist__algorithm *dist__algorithm_find(enum dist__op_kind op,
						   const char *name);

/* How the ranks of a group are placed on nodes. */
struct dist__layout {
	int world_size;
	int num_nodes;
	bool in_memory; /* on one node, with messages through its memory */
};

/* dist__select returns the algorithm for op of bytes (of dist__op_numel()
 * elements) on ranks with this layout, by the first matching rule of profile
 * (may be NULL), else of the built-in table. Never NULL for a collective. */
const struct dist__algorithm *dist__select(const struct dist__profile *profile,
					   enum dist__op_kind op,
					   const struct dist__layout *layout,
					   size_t bytes);

/* dist__select_by_ranks returns whether dist__select returns the same algorithm
 * for any number of bytes; may return false although it does. */
bool dist__select_by_ranks(const struct dist__profile *profile,
			   enum dist__op_kind op,
			   const struct dist__layout *layout);

#endif
