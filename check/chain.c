#include "check/chain.h"

#include "check/message.h"

/* How many messages that cohort might have taken came from rank. */
static uint32_t count_sent(const struct check_picture *p,
			   const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];
	uint32_t n = 0;

	for (uint32_t i = 0; i < check_ring(slot); i++)
		n += check_is_counterpart(cohort->call, cohort->first,
					  &slot->ring[i]);
	return n;
}

/* How well rank, which cannot come, explains that cohort waits: if it is stuck
 * itself the chain goes on; of many that may send, who did not. */
static uint32_t weigh(const struct check_picture *p,
		      const struct check_cohort *cohort, uint32_t rank)
{
	uint32_t stuck = check_cohort_of(p, rank)->waiting;

	if (check_from_any(cohort->call))
		return 2 * (CHECK_RING - count_sent(p, cohort, rank)) + stuck;
	return stuck && !check_has_left(p, cohort, rank);
}

int64_t check_chain_next(const struct check_picture *p,
			 const struct check_cohort *cohort)
{
	uint32_t rank = check_next_awaited(p, cohort, 0), best = 0, weight;
	int64_t next = rank < p->world_size ? (int64_t)rank : -1;
	bool found = false;

	for (; rank < p->world_size;
	     rank = check_next_awaited(p, cohort, rank + 1)) {
		if (check_can_come(p, cohort, rank))
			continue;
		weight = weigh(p, cohort, rank);
		if (found && weight <= best)
			continue;
		best = weight;
		next = rank;
		found = true;
	}
	return next;
}

/* Where the chain of waits from rank leads in that many links, or to its end.
 */
static uint32_t follow(const struct check_picture *p, uint32_t rank,
		       uint32_t links)
{
	int64_t next;

	while (links-- > 0) {
		next = check_chain_next(p, check_cohort_of(p, rank));
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

	if (check_chain_next(p, check_cohort_of(p, inside)) < 0)
		return preferred;
	for (uint32_t i = 0; i <= p->num_cohorts; i++) {
		if (rank == preferred)
			return preferred;
		rank = follow(p, rank, 1);
	}
	return inside;
}
