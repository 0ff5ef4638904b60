/*
 * team.h - the ranks of one node, or one rank of each node, as a world of their
 * own, in which any other algorithm can run. Private to coll/.
 */
#ifndef LOCKSTEP_COLL_TEAM_H
#define LOCKSTEP_COLL_TEAM_H

#include "coll/algorithm.h"

/* How the ranks of a group sit on nodes. Nodes, and the ranks of each, are
 * numbered in the order in which they are met from some rank on, the root: it
 * is number 0 of node 0. */
struct dist__nodes {
	int count;   /* nodes */
	int least;   /* ranks of the smallest */
	int *node;   /* by group rank: number of its node */
	int *place;  /* by group rank: its number among those of its node */
	int *size;   /* by node: its ranks */
	int *first;  /* by node: ranks on the nodes before */
	int *sorted; /* group ranks, node by node, in the order of places */
	int *inside; /* global ranks, likewise */
	int *across; /* global ranks, place by place, in the order of nodes, of
			the places that every node has */
	bool is_shared; /* by all ranks of a simulation */
};

/* dist__nodes_open finds out, with eight words a rank of memory; simulated
 * ranks share it. Errors: NO_MEMORY. */
enum dist_error dist__nodes_open(struct dist__transport *t,
				 const struct dist__members *members, int root,
				 const struct dist__nodes **nodes);

/* dist__nodes_close ends the use of nodes; NULL allowed. */
void dist__nodes_close(const struct dist__nodes *nodes);

/* Some ranks of the group that coll is a collective of, the caller among
 * them. Borrows the nodes. */
struct dist__team {
	const struct dist__coll *coll;
	struct dist__members members;
};

/*
 * dist__team_inside makes a team of the ranks on the caller's node, numbered by
 * place; dist__team_across one of the ranks with the caller's place on every
 * node, numbered by node, for a place that every node has.
 */
struct dist__team dist__team_inside(const struct dist__coll *coll,
				    const struct dist__nodes *nodes);
struct dist__team dist__team_across(const struct dist__coll *coll,
				    const struct dist__nodes *nodes);

/*
 * dist__team_run runs op, whose ranks are numbers of the team, as a part of the
 * collective, by algorithm or, if that is NULL, by what the built-in table has
 * for its size. All ranks run their teams in the same order: messages of two
 * teams between the same two ranks are told apart by it. Errors: of the
 * algorithm.
 */
enum dist_error dist__team_run(const struct dist__team *team,
			       struct dist__op *op,
			       const struct dist__algorithm *algorithm);

#endif
