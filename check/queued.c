/* queued.c - calls that others wait for and that a rank has enqueued: the
 * program has made the call, and the stream has not begun it. */
#include "check/queued.h"

#include <string.h>

#include "check/message.h"

/* Lines that these take in a report. */
#define MOST_LINES 4

/* What a cohort waits in, and for whom. */
struct wait {
	const struct check_picture *picture;
	const struct check_cohort *cohort;
};

static bool is_other_end(const struct check_cohort *cohort,
			 const struct check_call *call)
{
	const struct check_call *own = cohort->call;

	if (own->tag < 0)
		return check_same_collective(own, call);
	return call->tag == own->tag && call->group_id == own->group_id &&
	       call->peer_rank == (int32_t)cohort->first &&
	       strcmp(call->op, own->op) != 0;
}

/* The call of rank that cohort waits for; NULL: it has enqueued none. */
static const struct check_call *queued_call(const struct check_picture *p,
					    const struct check_cohort *cohort,
					    uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];

	for (uint32_t i = 0; i < check_ring(slot); i++)
		if (slot->ring[i].state == CHECK_CALL_QUEUED &&
		    is_other_end(cohort, &slot->ring[i]))
			return &slot->ring[i];
	return NULL;
}

static bool has_queued(const void *arg, uint32_t rank)
{
	const struct wait *wait = arg;

	return check_awaits(wait->picture, wait->cohort, rank) &&
	       queued_call(wait->picture, wait->cohort, rank);
}

void check_report_queued(struct check_lines *lines,
			 const struct check_picture *p)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < p->num_cohorts && num < MOST_LINES; i++) {
		const struct wait wait = {p, &p->cohorts[i]};
		uint32_t rank = check_next_awaited(p, wait.cohort, 0);
		FILE *out;

		if (!wait.cohort->waiting || !wait.cohort->call)
			continue;
		while (rank < p->world_size &&
		       !queued_call(p, wait.cohort, rank))
			rank = check_next_awaited(p, wait.cohort, rank + 1);
		if (rank == p->world_size)
			continue;
		out = check_line(lines, 1);
		check_print_ranks(out, p->world_size, has_queued, &wait);
		fputs(" enqueued ", out);
		check_print_call_in_place(out,
					  queued_call(p, wait.cohort, rank));
		fputs(" behind a call that is not complete: it has not begun",
		      out);
		num++;
	}
}
