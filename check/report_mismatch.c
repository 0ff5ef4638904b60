/*
 * report_mismatch.c - where ranks disagree, in sentences: the minority first,
 * each side with its ranks, arguments and place in the source.
 */
#include <string.h>

#include "check/disagreement.h"
#include "check/parting.h"
#include "check/words.h"

/* Ranks that made the same call as one of them. */
struct side {
	const struct check_board *board;
	const struct check_call *like;
};

static bool on_side(const void *arg, uint32_t rank)
{
	const struct side *side = arg;
	const struct check_call *call =
		check_counterpart(&side->board->slots[rank], side->like);

	return call && check_same_call(call, side->like);
}

static bool on_no_side(const void *arg, uint32_t rank)
{
	const struct side *sides = arg;

	return check_counterpart(&sides->board->slots[rank], sides->like) &&
	       !on_side(&sides[0], rank) && !on_side(&sides[1], rank);
}

static void print_history(FILE *out, const struct check_board *board,
			  uint32_t rank, uint32_t last)
{
	enum { BEFORE = 3 };
	uint32_t from = last > BEFORE ? last - BEFORE : 1;

	if (last <= 1)
		return;
	fprintf(out, "  before it, rank %u called", rank);
	for (uint32_t n = from; n < last; n++) {
		const struct check_call *call =
			check_call_find(&board->slots[rank], n);

		if (!call)
			continue;
		fputs(n == from ? " " : ", then ", out);
		check_print_call_in_place(out, call);
	}
	fputc('\n', out);
}

/* "  ranks 0-2 (3) called all_to_all(float32) at train.c:7" */
static void print_side(FILE *out, const struct side *side)
{
	fputs("  ", out);
	check_print_ranks(out, side->board->world_size, on_side, side);
	fputs(" called ", out);
	check_print_call(out, side->like);
	check_print_label(out, side->like);
	fputs(" at ", out);
	check_print_site(out, &side->like->site);
	fputc('\n', out);
}

/* The ranks made the same call, and messages in it were of another length than
 * awaited. */
static void print_unequal_parts(FILE *out, const struct check_board *board,
				const struct check_groups *groups)
{
	const struct check_call *call;
	struct side side;
	uint32_t rank;

	call = check_unequal_parts(board, &rank);
	if (!call)
		return;
	side = (struct side){board, call};
	fprintf(out,
		"lockstep: mismatch: the ranks disagree about the lengths of "
		"the parts in\n  collective #%u of group %s; rank %u found it "
		"out\n",
		call->index, call->group, rank);
	print_side(out, &side);
	check_print_group(out, check_group_of(groups, call), call,
			  board->world_size);
}

static void print_message(FILE *out, const struct check_disagreement *found)
{
	fprintf(out,
		"lockstep: mismatch: ranks %u and %u disagree about a "
		"message\n",
		found->rank_a, found->rank_b);
	fprintf(out, "  rank %u called ", found->rank_a);
	check_print_call_in_place(out, found->a);
	fprintf(out, "\n  rank %u called ", found->rank_b);
	check_print_call_in_place(out, found->b);
	fputc('\n', out);
}

/* "  rank 1 called all_to_all(float32) #0 of ..., and sends 2, 2, 3, 2" */
static void print_parts(FILE *out, uint32_t rank, const struct check_call *call,
			const char *does, const uint32_t *numels, uint32_t n)
{
	enum { MOST = 16 };

	fprintf(out, "  rank %u called ", rank);
	check_print_call_in_place(out, call);
	fprintf(out, ", and %s", does);
	for (uint32_t i = 0; i < n && i < MOST; i++)
		fprintf(out, "%s%u", i > 0 ? ", " : " ", numels[i]);
	fputs(n > MOST ? ",...\n" : "\n", out);
}

static void print_pair(FILE *out, const struct check_board *board,
		       const struct check_disagreement *found)
{
	const struct check_parts *a = &board->slots[found->rank_a].parts;
	const struct check_parts *b = &board->slots[found->rank_b].parts;

	fprintf(out,
		"lockstep: mismatch: rank %u sends %u elements to rank %u, "
		"which awaits %u,\n  in collective #%u of group %s\n",
		found->rank_a, found->sent, found->rank_b, found->wanted,
		found->a->index, found->a->group);
	print_parts(out, found->rank_a, found->a, "sends", a->in, a->count);
	print_parts(out, found->rank_b, found->b, "awaits", b->out, b->count);
	if (found->other_pairs > 0)
		fprintf(out, "  so it is with %u other pairs of ranks\n",
			found->other_pairs);
	check_print_group(out, found->group, found->a, board->world_size);
}

/* Whether only what they are for tells two calls apart. */
static bool differ_in_purpose(const struct check_call *a,
			      const struct check_call *b)
{
	struct check_call relabelled = *a;

	relabelled.terms = b->terms;
	return check_same_call(&relabelled, b) &&
	       strcmp(a->label, b->label) != 0;
}

static void print_collective(FILE *out, const struct check_board *board,
			     const struct check_disagreement *found)
{
	const struct side sides[2] = {{board, found->a}, {board, found->b}};
	bool purpose = differ_in_purpose(found->a, found->b);

	fprintf(out,
		"lockstep: mismatch: the ranks disagree about %scollective #%u "
		"of group %s%s\n",
		purpose ? "what " : "", found->a->index, found->a->group,
		purpose ? " is for" : "");
	print_side(out, &sides[0]);
	print_side(out, &sides[1]);
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (on_no_side(sides, rank)) {
			fputs("  other calls were made by ", out);
			check_print_ranks(out, board->world_size, on_no_side,
					  sides);
			fputc('\n', out);
			break;
		}
	check_print_group(out, found->group, found->a, board->world_size);
	print_history(out, board, found->rank_a, found->a->number);
	print_history(out, board, found->rank_b, found->b->number);
	check_report_parting(out, board, found->group, found->a);
}

void check_report_mismatch(FILE *out, const struct check_board *board)
{
	struct check_disagreement found;
	struct check_groups groups;

	if (!check_groups_init(&groups, board))
		return;
	if (!check_disagree(board, &groups, &found))
		print_unequal_parts(out, board, &groups);
	else if (found.pair)
		print_pair(out, board, &found);
	else if (found.a->tag >= 0)
		print_message(out, &found);
	else
		print_collective(out, board, &found);
	check_groups_release(&groups);
}
