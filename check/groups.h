/*
 * groups.h - the members of each group, from the records of each rank. Private
 * to check/.
 */
#ifndef LOCKSTEP_CHECK_GROUPS_H
#define LOCKSTEP_CHECK_GROUPS_H

#include <stdbool.h>

#include "check/record.h"

/* The members of the default group are all ranks of the board, whether they
 * joined or not; those of another group are the ranks that joined it. */
struct check_group {
	uint32_t id;
	uint32_t leader; /* with id: the group's identity on the board */
	uint32_t num_members;
	const uint32_t *members; /* ascending; NULL: 0 to num_members - 1 */
};

struct check_groups {
	struct check_group *all; /* by id, then leader; default group first */
	size_t count;
	uint32_t *members; /* of all groups except the default, in order */
};

/* check_groups_init finds the groups of board; false: no memory. */
bool check_groups_init(struct check_groups *groups,
		       const struct check_board *board);
void check_groups_release(struct check_groups *groups);

/* check_group_of returns the group of call; NULL: not on the board. */
const struct check_group *check_group_of(const struct check_groups *groups,
					 const struct check_call *call);

/* check_group_member returns member number i, as global rank. */
static inline uint32_t check_group_member(const struct check_group *group,
					  uint32_t i)
{
	return group->members ? group->members[i] : i;
}

/* check_group_generation returns how often the members left the job and joined
 * again; if some have not done so yet, how often the others did. */
uint32_t check_group_generation(const struct check_group *group,
				const struct check_board *board);

/* check_by_value compares two numbers, for qsort(). */
static inline int check_by_value(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* check_group_from returns the number of the first member >= rank; num_members:
 * there is none. */
uint32_t check_group_from(const struct check_group *group, uint32_t rank);

/* check_has_aborted returns whether rank aborted the group of call, which is
 * another rank's. */
bool check_has_aborted(const struct check_board *board, uint32_t rank,
		       const struct check_call *call);

#endif
