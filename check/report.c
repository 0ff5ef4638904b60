/*
 * report.c - a verdict in sentences.
 *
 * Equal ranks share a line, so that a thousand ranks of which one is wrong
 * still make a page. Nothing here depends on the world that the ranks ran in.
 */
#include <string.h>

#include "check/picture.h"
#include "check/verdict.h"

/* Lines of a table before it is cut, with a count of the rest. */
#define MOST_LINES 24

struct membership {
	const struct check_picture *picture;
	uint32_t cohort_number;
};

static bool in_cohort(const void *arg, uint32_t rank)
{
	const struct membership *m = arg;

	return check_member(m->picture, m->cohort_number, rank);
}

static void print_cohort_ranks(FILE *out, const struct check_picture *p,
			       uint32_t cohort_number)
{
	struct membership m = {p, cohort_number};

	check_print_ranks(out, p->world_size, in_cohort, &m);
}

static void print_site(FILE *out, const struct check_site *site)
{
	if (site->file[0])
		fprintf(out, "%s:%d", site->file, (int)site->line);
	else
		fputs("an unknown line", out);
}

/* "all_reduce(sum, float32, 1024)", "recv(src 3, tag 0, float32, 1)" */
static void print_call(FILE *out, const struct check_call *call)
{
	const char *separator = "";

	fprintf(out, "%s(", call->op);
	if (call->reduce_op[0]) {
		fprintf(out, "%s", call->reduce_op);
		separator = ", ";
	}
	if (call->peer >= 0) {
		bool is_src = strcmp(call->op, "recv") == 0 ||
			      strcmp(call->op, "broadcast") == 0 ||
			      strcmp(call->op, "scatter") == 0;

		fprintf(out, "%s%s %d", separator, is_src ? "src" : "dst",
			(int)call->peer);
		separator = ", ";
	}
	if (call->tag >= 0)
		fprintf(out, "%stag %d", separator, (int)call->tag);
	if (call->tag >= 0)
		separator = ", ";
	if (call->dtype[0])
		fprintf(out, "%s%s", separator, call->dtype);
	if (call->dtype[0] && !check_may_differ(call))
		fprintf(out, ", %llu", (unsigned long long)call->numel);
	fputc(')', out);
}

/* "all_reduce(...) #17 of group default at train.c:88" */
static void print_call_in_place(FILE *out, const struct check_call *call)
{
	print_call(out, call);
	if (call->tag < 0)
		fprintf(out, " #%u", call->index);
	fprintf(out, " of group %s at ", call->group);
	print_site(out, &call->site);
}

static void print_state(FILE *out, const struct check_cohort *cohort)
{
	bool one = cohort->size == 1;

	switch (cohort->slot->state) {
	case CHECK_RANK_ABSENT:
		fputs(one ? "has not joined" : "have not joined", out);
		return;
	case CHECK_RANK_WAITING:
		fputs(one ? "waits in " : "wait in ", out);
		break;
	case CHECK_RANK_FINISHED:
		fputs(one ? "has finished" : "have finished", out);
		break;
	case CHECK_RANK_LOST:
		fputs(one ? "is lost" : "are lost", out);
		break;
	default:
		fputs(one ? "runs in its own code" : "run in their own code",
		      out);
	}
	if (!cohort->waiting)
		fputs(cohort->call ? "; last call: " : "; no call yet", out);
	if (cohort->call)
		print_call_in_place(out, cohort->call);
	if (cohort->waiting && cohort->slot->wait_site.file[0]) {
		fputs(", waited for at ", out);
		print_site(out, &cohort->slot->wait_site);
	}
}

static void print_table(FILE *out, const struct check_picture *p)
{
	uint32_t shown = p->num_cohorts;

	if (shown > MOST_LINES)
		shown = MOST_LINES;
	for (uint32_t i = 0; i < shown; i++) {
		fputs("  ", out);
		print_cohort_ranks(out, p, i);
		fputc(' ', out);
		print_state(out, &p->cohorts[i]);
		fputc('\n', out);
	}
	if (shown < p->num_cohorts)
		fprintf(out, "  and %u other states\n", p->num_cohorts - shown);
}

/* The first rank that cohort waits for and that cannot come, else the first
 * that it waits for at all; -1: none. */
static int64_t next_in_chain(const struct check_picture *p,
			     const struct check_cohort *cohort)
{
	int64_t any = -1;

	for (uint32_t rank = 0; rank < p->world_size; rank++) {
		if (!check_waits_for(p, cohort, rank))
			continue;
		if (!p->cohorts[p->cohort_of[rank]].may_move)
			return rank;
		if (any < 0)
			any = rank;
	}
	return any;
}

static void print_link(FILE *out, const struct check_cohort *cohort)
{
	const struct check_call *call = cohort->call;

	if (!cohort->waiting) {
		fputs(cohort->slot->state == CHECK_RANK_FINISHED
			      ? " has finished"
		      : cohort->slot->state == CHECK_RANK_LOST ? " is lost"
							       : " is late",
		      out);
		return;
	}
	fprintf(out, " waits in %s (", call->op);
	if (call->tag >= 0)
		fprintf(out, "%s %d, tag %d, ",
			strcmp(call->op, "recv") == 0 ? "src" : "dst",
			(int)call->peer, (int)call->tag);
	else
		fprintf(out, "group %s, #%u, ", call->group, call->index);
	print_site(out, &call->site);
	fputs(") for ", out);
}

/* "rank 0 waits in ... for rank 1, which waits in ... for rank 0: a cycle" */
static void print_chain(FILE *out, const struct check_picture *p,
			uint32_t start)
{
	uint32_t steps = 0;
	int64_t rank = start;

	fputs("  ", out);
	while (rank >= 0) {
		const struct check_cohort *cohort =
			&p->cohorts[p->cohort_of[rank]];

		fprintf(out, "rank %lld", (long long)rank);
		if (steps > 0 && rank == start) {
			fputs(": a cycle", out);
			break;
		}
		if (steps == p->num_cohorts + 1) {
			fputs(", and so on in a cycle", out);
			break;
		}
		if (steps > 0)
			fputs(", which", out);
		print_link(out, cohort);
		rank = next_in_chain(p, cohort);
		if (!cohort->waiting)
			break;
		steps++;
	}
	fputc('\n', out);
}

/* Where the chain of waits from rank leads in that many links, or to its end.
 */
static uint32_t follow(const struct check_picture *p, uint32_t rank,
		       uint32_t links)
{
	int64_t next;

	while (links-- > 0) {
		next = next_in_chain(p, &p->cohorts[p->cohort_of[rank]]);
		if (next < 0)
			break;
		rank = (uint32_t)next;
	}
	return rank;
}

/* Where to begin the sentence: at preferred, unless its chain runs into a
 * cycle that it is not part of; then in the cycle. */
static uint32_t chain_start(const struct check_picture *p, uint32_t preferred)
{
	uint32_t inside = follow(p, preferred, p->num_cohorts + 1);
	uint32_t rank = inside;

	if (next_in_chain(p, &p->cohorts[p->cohort_of[inside]]) < 0)
		return preferred;
	for (uint32_t i = 0; i <= p->num_cohorts; i++) {
		if (rank == preferred)
			return preferred;
		rank = follow(p, rank, 1);
	}
	return inside;
}

struct side {
	const struct check_board *board;
	const struct check_call *like;
	uint32_t index;
};

static bool on_side(const void *arg, uint32_t rank)
{
	const struct side *side = arg;
	const struct check_call *call =
		check_collective_at(&side->board->slots[rank], side->index);

	return call && check_same_call(call, side->like);
}

static bool on_no_side(const void *arg, uint32_t rank)
{
	const struct side *sides = arg;

	return check_collective_at(&sides->board->slots[rank], sides->index) &&
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
		print_call_in_place(out, call);
	}
	fputc('\n', out);
}

/* The ranks made the same call, and messages in it were of another length than
 * awaited. */
static void print_unequal_parts(FILE *out, const struct check_board *board)
{
	const struct check_call *call;
	struct side side;
	uint32_t rank;

	call = check_unequal_parts(board, &rank);
	if (!call)
		return;
	side = (struct side){board, call, call->index};
	fprintf(out,
		"lockstep: mismatch: the ranks disagree about the lengths of "
		"the parts in\n  collective #%u of group %s; rank %u found it "
		"out\n  ",
		call->index, call->group, rank);
	check_print_ranks(out, board->world_size, on_side, &side);
	fputs(" called ", out);
	print_call(out, call);
	fputs(" at ", out);
	print_site(out, &call->site);
	fputc('\n', out);
}

static void print_mismatch(FILE *out, const struct check_board *board)
{
	struct check_disagreement found;
	struct side sides[2];

	if (!check_disagree(board, &found)) {
		print_unequal_parts(out, board);
		return;
	}
	if (found.a->tag >= 0) {
		fprintf(out,
			"lockstep: mismatch: ranks %u and %u disagree about a "
			"message\n",
			found.rank_a, found.rank_b);
		fprintf(out, "  rank %u called ", found.rank_a);
		print_call_in_place(out, found.a);
		fprintf(out, "\n  rank %u called ", found.rank_b);
		print_call_in_place(out, found.b);
		fputc('\n', out);
		return;
	}
	fprintf(out,
		"lockstep: mismatch: the ranks disagree about collective #%u "
		"of group %s\n",
		found.index, found.a->group);
	sides[0] = (struct side){board, found.a, found.index};
	sides[1] = (struct side){board, found.b, found.index};
	for (int i = 0; i < 2; i++) {
		fputs("  ", out);
		check_print_ranks(out, board->world_size, on_side, &sides[i]);
		fputs(" called ", out);
		print_call(out, sides[i].like);
		fputs(" at ", out);
		print_site(out, &sides[i].like->site);
		fputc('\n', out);
	}
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (on_no_side(sides, rank)) {
			fputs("  other calls were made by ", out);
			check_print_ranks(out, board->world_size, on_no_side,
					  sides);
			fputc('\n', out);
			break;
		}
	print_history(out, board, found.rank_a, found.a->number);
	print_history(out, board, found.rank_b, found.b->number);
}

static void print_headline(FILE *out, const struct check_facts *facts,
			   const struct check_verdict *verdict)
{
	switch (verdict->kind) {
	case CHECK_DEADLOCK:
		fputs("lockstep: deadlock: no rank can ever move\n", out);
		break;
	case CHECK_TIMEOUT:
		fputs("lockstep: timeout: a call was not complete", out);
		if (facts->timeout_ns > 0)
			fprintf(out, " after %.3f s",
				(double)facts->timeout_ns / 1e9);
		fputc('\n', out);
		break;
	case CHECK_LOST:
		fprintf(out, "lockstep: rank lost: rank %d %s\n", verdict->rank,
			facts->lost_how[0] ? facts->lost_how : "is gone");
		break;
	default:
		break;
	}
}

void check_report(FILE *out, const struct check_board *board,
		  const struct check_facts *facts,
		  const struct check_verdict *verdict)
{
	struct check_picture picture;
	uint32_t odd = verdict->rank > 0 ? (uint32_t)verdict->rank : 0;

	if (verdict->kind == CHECK_FINE)
		return;
	if (verdict->kind == CHECK_MISMATCH) {
		print_mismatch(out, board);
		return;
	}
	print_headline(out, facts, verdict);
	if (!check_picture_init(&picture, board))
		return;
	print_table(out, &picture);
	if (verdict->kind == CHECK_DEADLOCK)
		print_chain(out, &picture, chain_start(&picture, odd));
	check_picture_release(&picture);
}
