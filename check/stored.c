/* stored.c - sentences about keys of stores. */
#include "check/stored.h"

#include <string.h>

#define MOST_LINES 8

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
		if (storing.like->count == 0 || num == MOST_LINES ||
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
		if (check_polls(slot, now_ns) <= 0 || num == MOST_LINES ||
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
