/*
 * groups.h - which ranks are in which group, put together from what each rank
 * says of itself. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_GROUPS_H
#define LOCKSTEP_CHECK_GROUPS_H

#include <stdbool.h>
#include <stdio.h>

#include "check/record.h"

/* The default group has all ranks of the board, whether they joined or not;
 * another those that came to be in it. */
struct check_group {
	uint32_t id;
	uint32_t leader; /* with id: the group's identity on the board */
	uint32_t num_members;
	const uint32_t *members; /* rising; NULL: 0 to num_members - 1 */
};

struct check_groups {
	struct check_group *all; /* by id, then leader; the default first */
	size_t count;
	uint32_t *members; /* of all groups but the default, one by one */
};

/* check_groups_init finds the groups of board; false: no memory. */
bool check_groups_init(struct check_groups *groups,
		       const struct check_board *board);
void check_groups_release(struct check_groups *groups);

/* check_group_of returns the group that call was made on; NULL: none on the
 * board. */
const struct check_group *check_group_of(const struct check_groups *groups,
					 const struct check_call *call);

/* check_group_member returns the member number i, as global rank. */
static inline uint32_t check_group_member(const struct check_group *group,
					  uint32_t i)
{
	return group->members ? group->members[i] : i;
}

/* check_group_generation returns how often the members left the job and joined
 * again; where some have yet to do so, how often the others did. */
uint32_t check_group_generation(const struct check_group *group,
				const struct check_board *board);

/* check_by_value orders two numbers, as qsort() asks. */
static inline int check_by_value(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* check_group_from returns the number of the first member that is not below
 * rank; num_members: there is none. */
uint32_t check_group_from(const struct check_group *group, uint32_t rank);

#endif
