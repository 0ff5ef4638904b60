#include "check/refusal.h"

#include <string.h>

#include "check/words.h"

/* Reasons told before the rest is counted. */
#define MOST_LINES 8

bool check_refused_alike(const struct check_slot *a, const struct check_slot *b)
{
	const struct check_call *x = &a->refusal.call, *y = &b->refusal.call;

	return check_is_refused(a) && strcmp(x->op, y->op) == 0 &&
	       x->site.line == y->site.line &&
	       strcmp(x->site.file, y->site.file) == 0;
}

/* Ranks refused alike. */
struct refused {
	const struct check_board *board;
	const struct check_slot *like;
};

static bool is_refused_so(const void *arg, uint32_t rank)
{
	const struct refused *refused = arg;

	return check_refused_alike(&refused->board->slots[rank], refused->like);
}

/* And in the same words. */
static bool has_same_words(const void *arg, uint32_t rank)
{
	const struct refused *refused = arg;

	return is_refused_so(arg, rank) &&
	       strcmp(refused->board->slots[rank].refusal.words,
		      refused->like->refusal.words) == 0;
}

/* The first rank that was refused in the words of like. */
static uint32_t first_with_words(const struct refused *refused)
{
	uint32_t rank = 0;

	while (!has_same_words(refused, rank))
		rank++;
	return rank;
}

/* The reasons, with their ranks if there are several. */
static void print_reasons(FILE *out, const struct refused *all)
{
	uint32_t world_size = all->board->world_size, lines = 0, others = 0;
	bool several = false;

	for (uint32_t rank = 0; rank < world_size; rank++)
		several |=
			is_refused_so(all, rank) && !has_same_words(all, rank);
	for (uint32_t rank = 0; rank < world_size; rank++) {
		const struct refused these = {all->board,
					      &all->board->slots[rank]};

		if (!is_refused_so(all, rank) ||
		    first_with_words(&these) != rank)
			continue;
		if (lines++ >= MOST_LINES) {
			others++;
			continue;
		}
		fputs("    ", out);
		if (several) {
			check_print_ranks(out, world_size, has_same_words,
					  &these);
			fputs(": ", out);
		}
		fprintf(out, "%s\n", these.like->refusal.words);
	}
	if (others > 0)
		fprintf(out, "    and %u other reasons\n", others);
}

void check_report_refusal(FILE *out, const struct check_board *board, int rank)
{
	struct refused refused = {board, NULL};
	const struct check_call *call;

	if (!board || rank < 0 || (uint32_t)rank >= board->world_size)
		return;
	refused.like = &board->slots[rank];
	if (!check_is_refused(refused.like))
		return;
	call = &refused.like->refusal.call;
	fputs("  ", out);
	check_print_ranks(out, board->world_size, is_refused_so, &refused);
	fprintf(out, " called %s at ", call->op);
	check_print_site(out, &call->site);
	fputs(", which was refused:\n", out);
	print_reasons(out, &refused);
}
