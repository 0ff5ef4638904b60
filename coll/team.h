/*
 * team.h - the ranks of one node, or one rank of each node, as a group in which
 * any other algorithm can run. Private to coll/.
 */
#ifndef LOCKSTEP_COLL_TEAM_H
#define LOCKSTEP_COLL_TEAM_H

#include "coll/algorithm.h"

/* The ranks of a group by node. Nodes, and the ranks of each, are numbered in
 * the order of their ranks, beginning at the root, which is number 0 of node
 * 0. */
struct dist__nodes {
	int count;      /* nodes */
	int least;      /* ranks of the smallest node */
	int *node;      /* by group rank: number of its node */
	int *place;     /* by group rank: its number within its node */
	int *size;      /* by node: its ranks */
	int *first;     /* by node: ranks on the nodes before */
	int *sorted;    /* group ranks by node, and by place within each */
	int *inside;    /* global ranks in that order */
	int *across;    /* global ranks by place, and by node within each, for
			   the places that every node has */
	bool is_shared; /* by all ranks of a simulation */
};

/* dist__nodes_open makes the table, of eight ints a rank; simulated ranks share
 * it. Errors: NO_MEMORY. */
enum dist_error dist__nodes_open(struct dist__transport *t,
				 const struct dist__members *members, int root,
				 const struct dist__nodes **nodes);

/* dist__nodes_close ends the use of nodes; NULL allowed. */
void dist__nodes_close(const struct dist__nodes *nodes);

/* Some ranks of the group of coll, the caller among them. Borrows the nodes.
 */
struct dist__team {
	const struct dist__coll *coll;
	struct dist__members members;
};

/*
 * dist__team_inside makes a team of the ranks on the caller's node, numbered by
 * place; dist__team_across a team of the ranks with the caller's place on all
 * nodes, numbered by node. Every node must have that place.
 */
struct dist__team dist__team_inside(const struct dist__coll *coll,
				    const struct dist__nodes *nodes);
struct dist__team dist__team_across(const struct dist__coll *coll,
				    const struct dist__nodes *nodes);

/*
 * dist__team_run runs op, whose ranks are numbers of the team, as a part of the
 * collective, by algorithm or, if NULL, by the built-in table's choice for its
 * size. All ranks run their teams in the same order, by which messages of two
 * teams between the same ranks are matched. Errors: those of the algorithm.
 */
enum dist_error dist__team_run(const struct dist__team *team,
			       struct dist__op *op,
			       const struct dist__algorithm *algorithm);

#endif
