#include "check/chain.h"

int64_t check_chain_next(const struct check_picture *p,
			 const struct check_cohort *cohort)
{
	uint32_t first = check_next_awaited(p, cohort, 0), rank = first;

	while (rank < p->world_size && check_can_come(p, cohort, rank))
		rank = check_next_awaited(p, cohort, rank + 1);
	if (rank < p->world_size)
		return rank;
	return first < p->world_size ? (int64_t)first : -1;
}

/* Where the chain of waits from rank leads in that many links, or to its end.
 */
static uint32_t follow(const struct check_picture *p, uint32_t rank,
		       uint32_t links)
{
	int64_t next;

	while (links-- > 0) {
		next = check_chain_next(p, &p->cohorts[p->cohort_of[rank]]);
		if (next < 0)
			break;
		rank = (uint32_t)next;
	}
	return rank;
}

uint32_t check_chain_start(const struct check_picture *p, uint32_t preferred)
{
	uint32_t inside = follow(p, preferred, p->num_cohorts + 1);
	uint32_t rank = inside;

	if (check_chain_next(p, &p->cohorts[p->cohort_of[inside]]) < 0)
		return preferred;
	for (uint32_t i = 0; i <= p->num_cohorts; i++) {
		if (rank == preferred)
			return preferred;
		rank = follow(p, rank, 1);
	}
	return inside;
}
