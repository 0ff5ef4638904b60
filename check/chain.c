#include "check/chain.h"

#include "check/message.h"
#include "check/remote_wait.h"

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

struct check_link check_chain_link(const struct check_picture *p, uint32_t rank)
{
	return (struct check_link){check_cohort_of(p, rank), rank};
}

/* The link behind a shutdown: a worker that has not come, or a function that
 * runs: one that cannot move any more (may_move false), if there is any. */
static struct check_link next_of_shutdown(const struct check_picture *p,
					  const struct check_cohort *cohort,
					  bool may_move)
{
	uint32_t rank = check_next_worker(p, cohort, 0);

	while (rank < p->world_size &&
	       check_cohort_of(p, rank)->may_move != may_move)
		rank = check_next_worker(p, cohort, rank + 1);
	if (rank < p->world_size)
		return check_chain_link(p, rank);
	for (uint32_t i = 0; i < p->num_lanes; i++)
		if (p->lanes[i].may_move == may_move &&
		    check_same_rpc(p->lanes[i].slot, cohort->slot))
			return (struct check_link){&p->lanes[i],
						   p->lanes[i].first};
	return may_move ? (struct check_link){NULL, 0}
			: next_of_shutdown(p, cohort, true);
}

/* The link behind one that waits in a remote call. */
static struct check_link next_of_remote(const struct check_picture *p,
					const struct check_cohort *cohort)
{
	const struct check_rpc_wait *wait = cohort->wait;
	const struct check_cohort *lane = check_blocking_lane(p, wait);

	if (lane)
		return (struct check_link){lane, lane->first};
	if (wait->worker < 0)
		return next_of_shutdown(p, cohort, false);
	if (check_serves(&p->board->slots[wait->worker]))
		return (struct check_link){NULL, 0};
	return check_chain_link(p, (uint32_t)wait->worker);
}

static struct check_link find_next(const struct check_picture *p,
				   const struct check_cohort *cohort)
{
	uint32_t rank, best = 0, weight, next;
	bool found = false;

	if (cohort->wait)
		return next_of_remote(p, cohort);
	next = rank = check_next_awaited(p, cohort, 0);
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
	return next < p->world_size ? check_chain_link(p, next)
				    : (struct check_link){NULL, 0};
}

struct check_link check_chain_next(const struct check_picture *p,
				   const struct check_cohort *cohort)
{
	struct check_next *next =
		cohort->serving ? &p->next[p->num_cohorts + (cohort - p->lanes)]
				: &p->next[cohort - p->cohorts];

	if (!next->known)
		*next = (struct check_next){true, find_next(p, cohort)};
	return next->link;
}

/* Where the chain of waits from link leads in that many links, or to its end.
 */
static struct check_link follow(const struct check_picture *p,
				struct check_link link, uint32_t links)
{
	struct check_link next;

	while (links-- > 0) {
		next = check_chain_next(p, link.cohort);
		if (!next.cohort)
			break;
		link = next;
	}
	return link;
}

uint32_t check_chain_start(const struct check_picture *p, uint32_t preferred)
{
	struct check_link inside = follow(p, check_chain_link(p, preferred),
					  check_chain_length(p));
	struct check_link link = inside;
	int64_t first = -1;

	if (!check_chain_next(p, inside.cohort).cohort)
		return preferred;
	for (uint32_t i = 0; i < check_chain_length(p); i++) {
		if (!link.cohort->serving && link.rank == preferred)
			return preferred;
		if (!link.cohort->serving && first < 0)
			first = link.rank;
		link = follow(p, link, 1);
	}
	return first < 0 ? preferred : (uint32_t)first;
}
