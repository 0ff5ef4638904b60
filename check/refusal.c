#include "check/refusal.h"

#include <string.h>

#include "check/words.h"

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

void check_report_refusal(FILE *out, const struct check_board *board, int rank)
{
	struct refused refused = {board, NULL};
	const struct check_refusal *refusal;

	if (!board || rank < 0 || (uint32_t)rank >= board->world_size)
		return;
	refused.like = &board->slots[rank];
	if (!check_is_refused(refused.like))
		return;
	refusal = &refused.like->refusal;
	fputs("  ", out);
	check_print_ranks(out, board->world_size, is_refused_so, &refused);
	fprintf(out, " called %s at ", refusal->call.op);
	check_print_site(out, &refusal->call.site);
	fprintf(out, ", which was refused:\n    %s\n", refusal->words);
}
