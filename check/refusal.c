/* refusal.c - refused calls, and what they led to. */
#include "check/refusal.h"

#include <string.h>

#include "check/disagreement.h"
#include "check/left.h"
#include "check/message.h"
#include "check/missing_call.h"
#include "lockstep/types.h"

/* Reasons at a line, before the rest is counted. */
#define MOST_LINES 8

static bool same_group(const struct check_call *a, const struct check_call *b)
{
	return a->group_id == b->group_id && a->leader == b->leader &&
	       a->generation == b->generation;
}

static bool same_line(const struct check_call *a, const struct check_call *b)
{
	return check_same_site(&a->site, &b->site);
}

static bool is_made_up_for(const struct check_slot *slot,
			   const struct check_refusal *refusal)
{
	const struct check_call *next =
		check_call_find(slot, refusal->after + 1);

	return next && strcmp(next->op, refusal->call.op) == 0 &&
	       same_group(next, &refusal->call) &&
	       !same_line(next, &refusal->call);
}

const struct check_refusal *check_next_refusal(const struct check_slot *slot,
					       uint32_t *i)
{
	while (*i < slot->refused && *i < CHECK_REFUSALS) {
		const struct check_refusal *refusal = &slot->refusals[(*i)++];

		if (!is_made_up_for(slot, refusal))
			return refusal;
	}
	return NULL;
}

/* ---- what came of it ---------------------------------------------------- */

/* What others would take part in: no message ("irecv", "batch_isend_irecv"),
 * and none of what a rank does alone. */
static bool is_collective(const struct check_refusal *refusal)
{
	static const char *const others[] = {"send", "recv", "set_timeout",
					     "compute", "destroy"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strstr(refusal->call.op, others[i]))
			return false;
	return true;
}

static bool has_same(const struct check_slot *slot,
		     const struct check_refusal *like)
{
	for (uint32_t i = 0; i < slot->refused && i < CHECK_REFUSALS; i++) {
		const struct check_refusal *own = &slot->refusals[i];

		if (own->count == like->count &&
		    strcmp(own->call.op, like->call.op) == 0 &&
		    same_group(&own->call, &like->call) &&
		    same_line(&own->call, &like->call))
			return true;
	}
	return false;
}

/* Whether all ranks of the group ignored the same, which leaves them even. */
static bool is_shared(const struct check_board *board,
		      const struct check_group *group,
		      const struct check_refusal *refusal)
{
	for (uint32_t i = 0; group && i < group->num_members; i++)
		if (!has_same(&board->slots[check_group_member(group, i)],
			      refusal))
			return false;
	return true;
}

/* How many collectives of the group of `place`, or of no known one if any
 * counts, were refused to the rank alone, before its call number `before`. */
static uint32_t count_refused(const struct check_board *board,
			      const struct check_groups *groups, uint32_t rank,
			      const struct check_call *place, uint32_t before,
			      bool any)
{
	const struct check_group *group = check_group_of(groups, place);
	const struct check_refusal *refusal;
	uint32_t i = 0, count = 0;

	while ((refusal = check_next_refusal(&board->slots[rank], &i)))
		if (refusal->after < before && is_collective(refusal) &&
		    (same_group(&refusal->call, place) ||
		     (any && refusal->call.group_id == CHECK_GROUP_UNKNOWN)) &&
		    !is_shared(board, group, refusal))
			count += refusal->count;
	return count;
}

/* Whether a message of the rank's, sent or received, in the group of `place`
 * was refused before its call number `before`. */
static bool is_message_refused(const struct check_slot *slot,
			       const struct check_call *place, bool sent,
			       uint32_t before)
{
	const struct check_refusal *refusal;
	uint32_t i = 0;

	while ((refusal = check_next_refusal(slot, &i)))
		if (refusal->after < before &&
		    same_group(&refusal->call, place) &&
		    strstr(refusal->call.op, sent ? "send" : "recv"))
			return true;
	return false;
}

/* Whether rank did not do what cohort waits for because that was refused, or
 * because it ended as soon as it was refused a call on another group. */
static bool was_to_come(const struct check_picture *p,
			const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];
	const struct check_call *call = cohort->call;
	const struct check_refusal *last;
	uint32_t came;

	if (!call) /* they wait in a remote call alone */
		return false;
	last = check_last_refusal(slot);
	if (slot->state == CHECK_RANK_FINISHED && last &&
	    !same_group(&last->call, call))
		return true;
	if (call->tag >= 0)
		return is_message_refused(slot, call, !check_is_send(call),
					  UINT32_MAX);
	came = check_collectives(slot, call->group_id, call->generation);
	return came <= call->index &&
	       call->index - came < count_refused(p->board, &p->groups, rank,
						  call, UINT32_MAX, false);
}

static int blame_for_waits(const struct check_picture *p)
{
	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = &p->cohorts[i];
		uint32_t rank = check_next_awaited(p, cohort, 0);

		for (; rank < p->world_size;
		     rank = check_next_awaited(p, cohort, rank + 1))
			if (was_to_come(p, cohort, rank))
				return (int)rank;
	}
	return -1;
}

/* A rank to which a call was refused, on a group on which one is missing at the
 * end. */
static int blame_for_missing(const struct check_picture *p)
{
	struct check_missing missing;
	int rank = -1;

	if (!check_find_missing(p->board, &missing))
		return -1;
	for (uint32_t i = 0; i < missing.num && rank < 0; i++) {
		const struct check_account *account = &missing.accounts[i];
		const struct check_call place = {.group_id = account->group_id,
						 .leader = account->leader,
						 .generation =
							 account->generation};

		if (count_refused(p->board, &p->groups, account->rank, &place,
				  UINT32_MAX, false) > 0)
			rank = (int)account->rank;
	}
	check_missing_release(&missing);
	return rank;
}

/* Of a collective. A call on a NULL group counts for a rank that differs from
 * most: it may be what puts that rank out of step. */
static int blame_in_group(const struct check_picture *p,
			  const struct check_disagreement *found)
{
	const struct check_board *board = p->board;
	bool even = check_count_like(board, found->group, found->a) ==
		    check_count_like(board, found->group, found->b);

	for (uint32_t i = 0; i < found->group->num_members; i++) {
		uint32_t rank = check_group_member(found->group, i);
		const struct check_call *call =
			check_counterpart(&board->slots[rank], found->a);

		if (call &&
		    count_refused(board, &p->groups, rank, call, call->number,
				  even || check_same_call(call, found->a)) > 0)
			return (int)rank;
	}
	return -1;
}

static int blame_for_disagreement(const struct check_picture *p)
{
	const struct check_board *board = p->board;
	struct check_disagreement found;

	if (!check_disagree(board, &p->groups, &found))
		return blame_for_missing(p);
	if (found.pair || found.made)
		return -1;
	if (found.a->tag >= 0) {
		const struct check_call *a = found.a, *b = found.b;

		if (is_message_refused(&board->slots[found.rank_a], a,
				       check_is_send(a), a->number))
			return (int)found.rank_a;
		if (is_message_refused(&board->slots[found.rank_b], b,
				       check_is_send(b), b->number))
			return (int)found.rank_b;
		return -1;
	}
	return blame_in_group(p, &found);
}

/* Returns a rank whose copy called in its place, which is wrong however the job
 * ends; -1: there is none, or the verdict holds without that. */
static int find_copied(const struct check_board *board,
		       const struct check_verdict *verdict)
{
	bool holds = check_is_certain(verdict) || verdict->kind == CHECK_LOST;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].copied &&
		    (!holds || verdict->rank == (int)rank))
			return (int)rank;
	return -1;
}

int check_blame(const struct check_board *board,
		const struct check_facts *facts,
		const struct check_verdict *verdict)
{
	bool by_itself = verdict->kind == CHECK_FINE ||
			 (verdict->kind == CHECK_LOST &&
			  verdict->rank == facts->lost_rank);
	struct check_picture picture;
	int rank = find_copied(board, verdict);

	if (rank >= 0)
		return rank;
	if (by_itself)
		return facts->lost_rank >= 0 &&
				       check_last_refusal(
					       &board->slots[facts->lost_rank])
			       ? facts->lost_rank
			       : -1;
	if (verdict->kind == CHECK_LEFT) {
		/* Of a message that was not received, the receive. */
		struct check_left left;

		if (!check_find_left(board, &left) ||
		    left.kind != CHECK_LEFT_MESSAGE)
			return -1;
		return is_message_refused(&board->slots[left.call->peer_rank],
					  left.call, false, UINT32_MAX)
			       ? left.call->peer_rank
			       : -1;
	}
	if (!check_picture_init(&picture, board))
		return -1;
	if (verdict->kind == CHECK_MISMATCH)
		rank = blame_for_disagreement(&picture);
	else if (check_is_stuck(verdict) || verdict->kind == CHECK_TIMEOUT)
		rank = blame_for_waits(&picture);
	check_picture_release(&picture);
	return rank;
}

/* ---- in sentences ------------------------------------------------------- */

/* Ranks that were refused a call at one line. */
struct refused {
	const struct check_board *board;
	const struct check_refusal *like;
	bool same_reason; /* and for that reason */
};

static const struct check_refusal *refusal_like(const struct refused *refused,
						uint32_t rank)
{
	const struct check_slot *slot = &refused->board->slots[rank];
	const struct check_refusal *refusal;
	uint32_t i = 0;

	while ((refusal = check_next_refusal(slot, &i)))
		if (strcmp(refusal->call.op, refused->like->call.op) == 0 &&
		    same_line(&refusal->call, &refused->like->call) &&
		    (!refused->same_reason ||
		     strcmp(refusal->reason, refused->like->reason) == 0))
			return refusal;
	return NULL;
}

static bool is_refused_so(const void *arg, uint32_t rank)
{
	return refusal_like(arg, rank) != NULL;
}

/* The reasons, with their ranks if there are several. */
static void report_reasons(struct check_lines *lines, const struct refused *all)
{
	uint32_t world_size = all->board->world_size, found = 0;
	struct refused these = {all->board, all->like, true};
	bool several = false;

	for (uint32_t rank = 0; rank < world_size; rank++)
		several |= is_refused_so(all, rank) &&
			   !is_refused_so(&these, rank);
	for (uint32_t rank = 0; rank < world_size; rank++) {
		FILE *out;

		these.like = refusal_like(all, rank);
		if (!these.like ||
		    check_any_below(rank, is_refused_so, &these) ||
		    found++ >= MOST_LINES)
			continue;
		out = check_line(lines, 2);
		if (several) {
			check_print_ranks(out, world_size, is_refused_so,
					  &these);
			fputs(": ", out);
		}
		fputs(these.like->reason, out);
	}
	if (found > MOST_LINES)
		fprintf(check_line(lines, 2), "and %u other reasons",
			found - MOST_LINES);
}

/* "ranks 1,3 (2) called send at train.c:20, which was refused" */
static void print_refused(FILE *out, const struct refused *refused)
{
	check_print_ranks(out, refused->board->world_size, is_refused_so,
			  refused);
	fprintf(out, " called %s at ", refused->like->call.op);
	check_print_place(out, &refused->like->call);
	fputs(", which was refused", out);
}

/* The next refusal, from number *i of *rank on, that is the first of its line
 * on the board; false: there is none. */
static bool next_line(struct refused *refused, uint32_t *rank, uint32_t *i)
{
	const struct check_board *board = refused->board;

	for (; *rank < board->world_size; ++*rank, *i = 0)
		while ((refused->like =
				check_next_refusal(&board->slots[*rank], i)))
			if (!check_any_below(*rank, is_refused_so, refused))
				return true;
	return false;
}

uint32_t check_print_refusal(FILE *out, const struct check_board *board,
			     const struct check_refusal *refusal)
{
	const struct refused refused = {board, refusal, false};
	uint32_t ranks = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		ranks += is_refused_so(&refused, rank);
	print_refused(out, &refused);
	return ranks;
}

void check_report_refusals(struct check_lines *lines,
			   const struct check_board *board)
{
	struct refused refused = {board, NULL, false};
	uint32_t rank = 0, i = 0;

	while (next_line(&refused, &rank, &i)) {
		FILE *out = check_line(lines, 1);

		print_refused(out, &refused);
		fputc(':', out);
		report_reasons(lines, &refused);
	}
}

void check_warn_of_refusals(struct check_lines *lines,
			    const struct check_board *board)
{
	struct refused refused = {board, NULL, false};
	uint32_t rank = 0, i = 0;

	while (next_line(&refused, &rank, &i))
		if (refused.like->call.error == DIST_ERR_INVALID_ARGUMENT) {
			FILE *out = check_line(lines, 0);

			print_refused(out, &refused);
			fprintf(out, ", and went on: %s", refused.like->reason);
		}
}
