/*
 * report_mismatch.c - sentences about ranks that disagree: the minority first,
 * each side with its ranks, arguments and source line.
 */
#include <string.h>

#include "check/finding.h"

/* Ranks that made the same call as one of them, which, if made, asks for a
 * group. */
struct side {
	const struct check_board *board;
	const struct check_call *like;
	bool made;
};

static bool on_side(const void *arg, uint32_t rank)
{
	const struct side *side = arg;
	const struct check_slot *slot = &side->board->slots[rank];
	const struct check_call *call =
		side->made ? check_made_like(slot, side->like)
			   : check_counterpart(slot, side->like);

	return call && check_same_call(call, side->like);
}

static bool on_no_side(const void *arg, uint32_t rank)
{
	const struct side *sides = arg;

	return check_counterpart(&sides->board->slots[rank], sides->like) &&
	       !on_side(&sides[0], rank) && !on_side(&sides[1], rank);
}

/* Whether a is a message by which a members-only group is made, and b another
 * of the same: to the program they are one call. */
static bool is_same_new_group(const struct check_call *a,
			      const struct check_call *b)
{
	return b && a->tag == CHECK_TAG_GROUPS && b->tag == CHECK_TAG_GROUPS &&
	       check_same_place(a, b) &&
	       strcmp(a->terms_text, b->terms_text) == 0;
}

static void report_history(struct check_lines *lines,
			   const struct check_board *board, uint32_t rank,
			   uint32_t last)
{
	enum { BEFORE = 3 };
	uint32_t from = last > BEFORE ? last - BEFORE : 1;
	const struct check_call *before = NULL;
	FILE *out;

	if (last <= 1)
		return;
	out = check_line(lines, 1);
	fprintf(out, "before it, rank %u called", rank);
	for (uint32_t n = from; n < last; n++) {
		const struct check_call *call =
			check_call_find(&board->slots[rank], n);

		if (!call || is_same_new_group(call, before))
			continue;
		fputs(before ? ", then " : " ", out);
		check_print_call_in_place(out, call);
		before = call;
	}
}

/* "ranks 0-2 (3) called all_to_all(float32) at train.c:7" */
static void report_side(struct check_lines *lines, const struct side *side)
{
	FILE *out = check_line(lines, 1);

	check_print_ranks(out, side->board->world_size, on_side, side);
	fputs(" called ", out);
	check_print_call(out, side->like);
	check_print_label(out, side->like);
	fputs(" at ", out);
	check_print_place(out, side->like);
}

/* The ranks made the same call, and messages in it were of another length than
 * awaited. */
static void report_unequal_parts(struct check_lines *lines,
				 const struct check_finding *f)
{
	const struct check_call *call = f->unequal.call;
	const struct side side = {f->board, call, false};

	fputs("lockstep: mismatch: the ranks disagree about the lengths of the "
	      "parts in",
	      check_line(lines, 0));
	fprintf(check_line(lines, 1),
		"collective #%u of group %s; rank %u found it out", call->index,
		call->group, f->unequal.rank);
	report_side(lines, &side);
	check_add_group(lines, check_group_of(&f->picture.groups, call), call,
			f->board->world_size);
}

/* Begins "rank 1 called all_to_all(float32) #0 of ..." */
static FILE *report_rank(struct check_lines *lines, uint32_t rank,
			 const struct check_call *call)
{
	FILE *out = check_line(lines, 1);

	fprintf(out, "rank %u called ", rank);
	check_print_call_in_place(out, call);
	return out;
}

static void report_message(struct check_lines *lines,
			   const struct check_disagreement *found)
{
	fprintf(check_line(lines, 0),
		"lockstep: mismatch: ranks %u and %u disagree about a message",
		found->rank_a, found->rank_b);
	report_rank(lines, found->rank_a, found->a);
	report_rank(lines, found->rank_b, found->b);
}

/* ", and sends 2, 2, 3, 2" */
static void print_parts(FILE *out, const char *does, const uint32_t *numels,
			uint32_t n)
{
	enum { MOST = 16 };

	fprintf(out, ", and %s", does);
	for (uint32_t i = 0; i < n && i < MOST; i++)
		fprintf(out, "%s%u", i > 0 ? ", " : " ", numels[i]);
	fputs(n > MOST ? ",..." : "", out);
}

static void report_pair(struct check_lines *lines,
			const struct check_board *board,
			const struct check_disagreement *found)
{
	const struct check_parts *a = found->sends, *b = found->awaits;
	FILE *out;

	fprintf(check_line(lines, 0),
		"lockstep: mismatch: rank %u sends %u elements to rank %u, "
		"which awaits %u,",
		found->rank_a, found->sent, found->rank_b, found->wanted);
	fprintf(check_line(lines, 1), "in collective #%u of group %s",
		found->a->index, found->a->group);
	print_parts(report_rank(lines, found->rank_a, found->a), "sends", a->in,
		    a->count);
	print_parts(report_rank(lines, found->rank_b, found->b), "awaits",
		    b->out, b->count);
	if (found->other_pairs > 0) {
		out = check_line(lines, 1);
		fprintf(out, "so it is with %u other pair%s of ranks",
			found->other_pairs, found->other_pairs > 1 ? "s" : "");
		if (found->common >= 0)
			fprintf(out, "; rank %lld is in all of them",
				(long long)found->common);
	}
	check_add_group(lines, found->group, found->a, board->world_size);
}

/* Whether two calls differ only in what they are for. */
static bool differ_in_purpose(const struct check_call *a,
			      const struct check_call *b)
{
	struct check_call relabelled = *a;

	relabelled.terms = b->terms;
	return check_same_call(&relabelled, b) &&
	       strcmp(a->label, b->label) != 0;
}

static void report_collective(struct check_lines *lines,
			      const struct check_finding *f)
{
	const struct check_disagreement *found = &f->disagreement;
	const struct side sides[2] = {{f->board, found->a, false},
				      {f->board, found->b, false}};
	bool purpose = differ_in_purpose(found->a, found->b);
	uint32_t n = f->board->world_size;

	fprintf(check_line(lines, 0),
		"lockstep: mismatch: the ranks disagree about %scollective #%u "
		"of group %s%s",
		purpose ? "what " : "", found->a->index, found->a->group,
		purpose ? " is for" : "");
	report_side(lines, &sides[0]);
	report_side(lines, &sides[1]);
	if (check_any_below(n, on_no_side, sides)) {
		FILE *out = check_line(lines, 1);

		fputs("other calls were made by ", out);
		check_print_ranks(out, n, on_no_side, sides);
	}
	check_report_divergence(lines, &f->divergence);
	check_add_group(lines, found->group, found->a, n);
	report_history(lines, f->board, found->rank_a, found->a->number);
	report_history(lines, f->board, found->rank_b, found->b->number);
}

static void report_made(struct check_lines *lines,
			const struct check_board *board,
			const struct check_disagreement *found)
{
	fprintf(check_line(lines, 0),
		"lockstep: mismatch: the ranks disagree about number %u of the "
		"groups that they ask for",
		found->a->index);
	report_side(lines, &(struct side){board, found->a, true});
	report_side(lines, &(struct side){board, found->b, true});
	fputs("every rank has to ask for each group, in the same order; or its "
	      "members alone, with use_local_synchronization=True",
	      check_line(lines, 1));
}

void check_report_mismatch(struct check_lines *lines,
			   const struct check_finding *f)
{
	if (f->disagreement.pair)
		report_pair(lines, f->board, &f->disagreement);
	else if (f->disagreement.made)
		report_made(lines, f->board, &f->disagreement);
	else if (f->disagreement.group)
		report_collective(lines, f);
	else if (f->disagreement.a)
		report_message(lines, &f->disagreement);
	else if (f->unequal.call)
		report_unequal_parts(lines, f);
	else if (f->missing.accounts)
		check_report_missing(lines, f->board, &f->missing);
}
