/* report_waits.c - what ranks wait for that others have done in part: calls
 * that a rank has enqueued, and that the stream has not begun; keys of stores.
 */
#include "check/report_waits.h"

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

/* ---- keys of stores ------------------------------------------------------ */

#define MOST_KEYS 8 /* likewise */

struct storing {
	const struct check_board *board;
	const struct check_stored *like;
};

/* Whether rank stored as much as another one, at the same place. */
static bool stores_like(const void *arg, uint32_t rank)
{
	const struct storing *storing = arg;
	const struct check_stored *own = &storing->board->slots[rank].stored;

	return own->count == storing->like->count &&
	       strcmp(own->key, storing->like->key) == 0 &&
	       check_same_site(&own->site, &storing->like->site);
}

void check_report_stored(struct check_lines *lines,
			 const struct check_picture *p)
{
	struct storing storing = {.board = p->board};
	uint32_t num = 0;
	bool awaited = false;

	for (uint32_t i = 0; i < p->num_cohorts; i++)
		awaited |= p->cohorts[i].waiting && p->cohorts[i].call &&
			   p->cohorts[i].call->tag == CHECK_TAG_STORE;
	for (uint32_t rank = 0; awaited && rank < p->world_size; rank++) {
		FILE *out;

		storing.like = &p->board->slots[rank].stored;
		if (storing.like->count == 0 || num == MOST_KEYS ||
		    check_any_below(rank, stores_like, &storing))
			continue;
		num++;
		out = check_line(lines, 1);
		check_print_ranks(out, p->world_size, stores_like, &storing);
		fprintf(out, " stored %u value%s, the last under \"%s\" at ",
			storing.like->count, storing.like->count > 1 ? "s" : "",
			storing.like->key);
		check_print_site(out, &storing.like->site);
	}
}

struct polling {
	const struct check_board *board;
	const struct check_polled *like;
	int64_t now_ns;
};

/* Whether rank asks for the same key at the same place. */
static bool polls_like(const void *arg, uint32_t rank)
{
	const struct polling *polling = arg;
	const struct check_slot *slot = &polling->board->slots[rank];

	return check_polls(slot, polling->now_ns) > 0 &&
	       strcmp(slot->polled.key, polling->like->key) == 0 &&
	       check_same_site(&slot->polled.site, &polling->like->site);
}

void check_report_polls(struct check_lines *lines,
			const struct check_picture *p, int64_t now_ns)
{
	struct polling polling = {.board = p->board, .now_ns = now_ns};
	uint32_t num = 0, n;

	for (uint32_t rank = 0; rank < p->world_size; rank++) {
		const struct check_slot *slot = &p->board->slots[rank];
		FILE *out;

		polling.like = &slot->polled;
		if (check_polls(slot, now_ns) <= 0 || num == MOST_KEYS ||
		    check_any_below(rank, polls_like, &polling))
			continue;
		num++;
		n = 0;
		for (uint32_t i = rank; i < p->world_size; i++)
			n += polls_like(&polling, i);
		out = check_line(lines, 1);
		check_print_ranks(out, p->world_size, polls_like, &polling);
		fprintf(out, " %s for key \"%s\" again and again at ",
			n > 1 ? "ask" : "asks", slot->polled.key);
		check_print_site(out, &slot->polled.site);
	}
}
