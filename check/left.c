#include "check/left.h"

#include <string.h>

#include "check/message.h"

/* Whether rank's message `sent`, number sent->index of its kind, has had no
 * receive. */
static bool is_left(const struct check_board *board, uint32_t rank,
		    const struct check_call *sent)
{
	const struct check_slot *to;
	uint32_t received = 0, answers;

	if (!check_is_send(sent) || sent->tag < 0 ||
	    sent->state == CHECK_CALL_NONE ||
	    sent->state == CHECK_CALL_FAILED ||
	    sent->index == CHECK_INDEX_UNKNOWN ||
	    (uint32_t)sent->peer_rank >= board->world_size)
		return false;
	to = &board->slots[sent->peer_rank];
	/* Of who never joined and never called there are no records. */
	if (to->state != CHECK_RANK_FINISHED || to->groups + to->calls == 0)
		return false;
	answers = check_answers(to, rank, sent);
	/* Of kinds for which there was no room nobody knows. */
	if (answers != CHECK_INDEX_UNKNOWN && to->kinds < CHECK_KINDS)
		return answers <= sent->index;
	if (check_dropped(to) > 0)
		return false;
	for (uint32_t i = 0; i < check_ring(to); i++) {
		const struct check_call *call = &to->ring[i];

		if (!check_is_counterpart(sent, rank, call))
			continue;
		if (check_from_any(call) && call->source < 0)
			return false;
		received++;
	}
	return received <= sent->index;
}

/* Counts one more that is left behind; the first is remembered. */
static void count(struct check_left *left, enum check_left_kind kind,
		  const struct check_call *call, uint32_t rank)
{
	if (left->call)
		left->others++;
	else
		*left = (struct check_left){
			.kind = kind, .call = call, .rank = rank};
}

/* Whether what the rank did not wait for counts: it has ended well. */
static bool is_accountable(const struct check_slot *slot)
{
	if (slot->state != CHECK_RANK_FINISHED)
		return false;
	for (uint32_t i = 0; i < check_ring(slot); i++)
		if (slot->ring[i].state == CHECK_CALL_FAILED)
			return false;
	return true;
}

const struct check_call *check_next_held(const struct check_slot *slot,
					 uint32_t number, enum check_handle how)
{
	uint32_t forgotten = check_dropped(slot);

	if (slot->held == 0 || !is_accountable(slot))
		return NULL;
	if (slot->kept.number > number && slot->kept.held == how)
		return &slot->kept;
	if (number < forgotten)
		number = forgotten;
	while (number < slot->calls) {
		const struct check_call *call = check_call_find(slot, ++number);

		if (call && call->held == how)
			return call;
	}
	return NULL;
}

/* Whether the rank should have given up its references: it ended well, none of
 * its calls failed, and no reference can come any more. */
static bool is_done_with_calls(const struct check_slot *slot)
{
	return slot->remote.state == CHECK_RPC_ENDED &&
	       slot->remote.failed == 0 && is_accountable(slot);
}

/* Finds references of that kind, held or owned by a rank of which no call
 * failed, in a job in which none did. */
static bool find_kind(const struct check_board *board, uint32_t kind,
		      struct check_left *left)
{
	uint32_t found = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		for (uint32_t i = 0; slot->remote.state && i < CHECK_REFERENCES;
		     i++) {
			const struct check_reference *ref =
				&slot->remote.references[i];

			if (ref->kind != kind)
				continue;
			if (found++ == 0)
				*left = (struct check_left){
					.kind = CHECK_LEFT_REFERENCE,
					.reference = ref,
					.rank = rank};
		}
	}
	left->others = found > 0 ? found - 1 : 0;
	return found > 0;
}

static bool find_reference(const struct check_board *board,
			   struct check_left *left)
{
	bool found = false;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].remote.state &&
		    !is_done_with_calls(&board->slots[rank]))
			return false;
	for (uint32_t kind = CHECK_REFERENCE_HANDLE;
	     !found && kind <= CHECK_REFERENCE_VALUE; kind++)
		found = find_kind(board, kind, left);
	return found;
}

bool check_find_left(const struct check_board *board, struct check_left *left)
{
	*left = (struct check_left){.call = NULL};
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		for (uint32_t i = 0; i < check_ring(slot); i++)
			if (is_left(board, rank, &slot->ring[i]))
				count(left, CHECK_LEFT_MESSAGE, &slot->ring[i],
				      rank);
	}
	if (left->call)
		return true;
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];
		const struct check_call *call =
			check_next_held(slot, 0, CHECK_HELD);

		for (; call;
		     call = check_next_held(slot, call->number, CHECK_HELD))
			count(left, CHECK_LEFT_HANDLE, call, rank);
	}
	return left->call || find_reference(board, left);
}

/* ---- handles given away -------------------------------------------------- */

/* Lines that are written, at most. */
#define MOST_LINES 8

struct unwaited {
	const struct check_board *board;
	const struct check_call *like;
};

static bool is_like(const struct check_call *a, const struct check_call *b)
{
	return check_same_place(a, b) && strcmp(a->op, b->op) == 0 &&
	       a->group_id == b->group_id;
}

/* Whether rank gave away such a call, the one of number or one before it. */
static bool gave_away(const struct unwaited *unwaited, uint32_t rank,
		      uint32_t number)
{
	const struct check_slot *slot = &unwaited->board->slots[rank];
	const struct check_call *call =
		check_next_held(slot, 0, CHECK_GIVEN_AWAY);

	while (call && call->number < number && !is_like(call, unwaited->like))
		call = check_next_held(slot, call->number, CHECK_GIVEN_AWAY);
	return call && call->number < number && is_like(call, unwaited->like);
}

static bool is_one(const void *arg, uint32_t rank)
{
	return gave_away(arg, rank, UINT32_MAX);
}

void check_warn_of_unwaited(struct check_lines *lines,
			    const struct check_board *board)
{
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];
		struct unwaited u = {
			board, check_next_held(slot, 0, CHECK_GIVEN_AWAY)};

		for (; u.like; u.like = check_next_held(slot, u.like->number,
							CHECK_GIVEN_AWAY)) {
			FILE *out;

			if (check_any_below(rank, is_one, &u) ||
			    gave_away(&u, rank, u.like->number) ||
			    n++ >= MOST_LINES)
				continue;
			out = check_line(lines, 0);
			check_print_ranks(out, board->world_size, is_one, &u);
			fputs(" never waited for ", out);
			check_print_call_in_place(out, u.like);
		}
	}
	if (n > MOST_LINES)
		fprintf(check_line(lines, 0),
			"and %u other calls were never waited for",
			n - MOST_LINES);
}

/* ---- remote calls -------------------------------------------------------- */

static bool left_rpc(const void *arg, uint32_t rank)
{
	const struct check_board *board = arg;
	const struct check_slot *slot = &board->slots[rank];

	return slot->state == CHECK_RANK_FINISHED &&
	       (slot->remote.state == CHECK_RPC_JOINED ||
		slot->remote.state == CHECK_RPC_ENDING);
}

void check_warn_of_shutdown(struct check_lines *lines,
			    const struct check_board *board)
{
	FILE *out;

	if (!check_any_below(board->world_size, left_rpc, board))
		return;
	out = check_line(lines, 0);
	check_print_ranks(out, board->world_size, left_rpc, board);
	fputs(" left without rpc_shutdown: calls that were under way are lost",
	      out);
}

/* ---- no call at all ------------------------------------------------------ */

static bool has_called(const void *arg, uint32_t rank)
{
	const struct check_board *board = arg;
	const struct check_slot *slot = &board->slots[rank];

	return slot->calls > 0 || slot->groups > 0 ||
	       slot->state == CHECK_RANK_UNKNOWN || slot->damaged;
}

void check_warn_of_silence(struct check_lines *lines,
			   const struct check_board *board)
{
	if (!check_any_below(board->world_size, has_called, board))
		fputs("no rank called Lockstep: nothing was checked",
		      check_line(lines, 0));
}
