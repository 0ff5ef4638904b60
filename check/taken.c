#include "check/taken.h"

#include <string.h>

#include "check/message.h"

/* Whether call has received from any source, and whom it heard is known. */
static bool has_taken(const struct check_board *board,
		      const struct check_call *call)
{
	return call->state == CHECK_CALL_DONE && check_from_any(call) &&
	       call->source >= 0 &&
	       (uint32_t)call->source < board->world_size &&
	       strcmp(call->op, "recv") == 0;
}

/* Whether the rank of slot heard nothing of others, as far as the records go,
 * between from_ns and its call: so it would have made that call whatever others
 * did since. */
static bool made_alone(const struct check_slot *slot,
		       const struct check_call *call, int64_t from_ns)
{
	if (call->issued_ns <= from_ns)
		return true;
	for (uint32_t i = 0; i < check_ring(slot); i++) {
		const struct check_call *heard = &slot->ring[i];

		if (heard->state == CHECK_CALL_DONE && !check_is_send(heard) &&
		    heard->number < call->number && heard->ended_ns > from_ns)
			return false;
	}
	return !check_dropped(slot) ||
	       slot->ring[check_ring_place(slot, slot->calls + 1)].issued_ns <=
		       from_ns;
}

/* Whether sent, of sender, was the next of its kind when rank's receive `any`
 * took another. Where the ring has forgotten what came before, whether it was
 * under way then. */
static bool was_next(const struct check_slot *slot,
		     const struct check_call *any, uint32_t sender,
		     const struct check_call *sent)
{
	uint32_t before = 0;

	if (check_dropped(slot) > 0 || sent->index == CHECK_INDEX_UNKNOWN)
		return sent->issued_ns < any->ended_ns &&
		       (sent->state == CHECK_CALL_ISSUED ||
			sent->ended_ns > any->ended_ns);
	for (uint32_t n = 1; n < any->number; n++)
		before += check_is_counterpart(sent, sender,
					       check_call_find(slot, n));
	return before == sent->index;
}

/* Whether rank's receive `any` might have taken the message sent of sender.
 * alone: of those that do not follow from what it took. */
static bool might_take(const struct check_board *board, uint32_t rank,
		       const struct check_call *any, uint32_t sender,
		       const struct check_call *sent, bool alone)
{
	return check_is_send(sent) && sent->state != CHECK_CALL_NONE &&
	       sent->tag == any->tag && sent->peer_rank == (int32_t)rank &&
	       sent->group_id == any->group_id &&
	       sent->generation == any->generation &&
	       was_next(&board->slots[rank], any, sender, sent) &&
	       (!alone ||
		made_alone(&board->slots[sender], sent, any->ended_ns));
}

/* A message that any might have taken, of another rank than it did. */
static bool find_other(const struct check_board *board,
		       struct check_taken *taken, bool alone)
{
	const struct check_call *any = taken->any.call;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		if (rank == taken->sender || rank == taken->any.rank)
			continue;
		for (uint32_t i = 0; i < check_ring(slot); i++)
			if (might_take(board, taken->any.rank, any, rank,
				       &slot->ring[i], alone)) {
				taken->other = (struct check_end){
					&slot->ring[i], rank};
				return true;
			}
	}
	return false;
}

/* Puts call of rank into taken; false: it received nothing from any source, or
 * there is nothing else that it might have taken. alone: as of might_take(). */
static bool is_choice(const struct check_board *board, uint32_t rank,
		      const struct check_call *call, bool alone,
		      struct check_taken *taken)
{
	if (!call || !has_taken(board, call))
		return false;
	taken->any = (struct check_end){call, rank};
	taken->sender = (uint32_t)call->source;
	taken->other = (struct check_end){NULL, 0};
	return find_other(board, taken, alone);
}

/* The last such receive of rank, down to the last collective of all ranks that
 * is over: they agreed then. */
static bool find_choice(const struct check_board *board, uint32_t rank,
			uint32_t last, struct check_taken *taken)
{
	const struct check_slot *slot = &board->slots[rank];

	for (uint32_t n = last; n > check_dropped(slot); n--) {
		const struct check_call *call = check_call_find(slot, n);

		if (call && n < last && call->tag < 0 && call->group_id == 0 &&
		    call->state == CHECK_CALL_DONE)
			break;
		if (is_choice(board, rank, call, true, taken))
			return true;
	}
	return false;
}

/* Whether a rank beside those of taken is in its own code, and so may yet send
 * what the receive from any source might have taken. */
static bool may_come(const struct check_board *board,
		     const struct check_taken *taken)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (rank != taken->sender && rank != taken->any.rank &&
		    board->slots[rank].state == CHECK_RANK_RUNNING)
			return true;
	return false;
}

/* The last receive from any source before `awaits`, a receive of rank from a
 * certain one, that heard that one. */
static bool find_awaited(const struct check_board *board, uint32_t rank,
			 const struct check_call *awaits,
			 struct check_taken *taken)
{
	const struct check_slot *slot = &board->slots[rank];

	if (strcmp(awaits->op, "recv") != 0 || check_from_any(awaits))
		return false;
	for (uint32_t n = awaits->number; n > check_dropped(slot); n--) {
		const struct check_call *call = check_call_find(slot, n);

		if (call && call->tag == awaits->tag &&
		    call->group_id == awaits->group_id &&
		    call->generation == awaits->generation &&
		    call->source == awaits->peer_rank &&
		    (is_choice(board, rank, call, false, taken) ||
		     (taken->any.call == call && may_come(board, taken))))
			return true;
	}
	return false;
}

/* Whether rank is stuck, or one that is stuck waits for it, where what rank
 * heard may have led it there. Who waits for anybody got too few messages,
 * whoever sent them. */
static bool may_be_led(const struct check_picture *p, uint32_t rank)
{
	const struct check_cohort *own = check_cohort_of(p, rank);

	if (own->waiting && own->call && check_from_any(own->call))
		return false;
	return check_is_caught(own) || check_is_awaited(p, rank);
}

/* Finds a receive in progress that nobody answers, because an earlier receive
 * from any source took its message. */
static bool find_robbed(const struct check_picture *p,
			const struct check_unanswered *all,
			struct check_taken *taken)
{
	for (uint32_t rank = 0; rank < p->world_size; rank++) {
		const struct check_cohort *cohort = check_cohort_of(p, rank);

		if (cohort->waiting && !cohort->answered && cohort->call &&
		    find_awaited(p->board, rank, cohort->call, taken))
			return true;
	}
	for (uint32_t i = 0; i < all->num; i++)
		if (find_awaited(p->board, all->ends[i].rank, all->ends[i].call,
				 taken))
			return true;
	return false;
}

/* What a message that does not fit was taken for. */
static bool find_mistaken(const struct check_board *board,
			  const struct check_disagreement *found,
			  struct check_taken *taken)
{
	taken->any = (struct check_end){found->a, found->rank_a};
	taken->sender = found->rank_b;
	return check_from_any(found->a) &&
	       (find_other(board, taken, false) || may_come(board, taken));
}

void check_find_misled(const struct check_board *board,
		       const struct check_disagreement *found,
		       struct check_taken *taken)
{
	if (!find_mistaken(board, found, taken) &&
	    !find_choice(board, found->rank_a, found->a->number, taken) &&
	    !find_choice(board, found->rank_b, found->b->number, taken))
		taken->any.call = NULL;
}

void check_find_taken(const struct check_picture *p,
		      const struct check_unanswered *all,
		      const struct check_miss *miss, struct check_taken *taken)
{
	bool missed = miss->send.call && miss->differs != CHECK_NEAR_RANK;

	if (find_robbed(p, all, taken))
		return;
	for (uint32_t rank = 0; !missed && rank < p->world_size; rank++)
		if (may_be_led(p, rank) &&
		    find_choice(p->board, rank, p->board->slots[rank].calls,
				taken))
			return;
	taken->any.call = NULL;
}

void check_report_taken(struct check_lines *lines,
			const struct check_taken *taken, bool explored)
{
	FILE *out;

	if (!taken->any.call)
		return;
	out = check_line(lines, 1);
	fprintf(out,
		"rank %u's message was taken by the receive from any source "
		"at ",
		taken->sender);
	check_print_place(out, taken->any.call);
	fputs(explored ? "" : "; run lockstep explore", out);
	if (!taken->other.call)
		return;
	out = check_line(lines, 1);
	fprintf(out, "rank %u might have taken there what rank %u sent at ",
		taken->any.rank, taken->other.rank);
	check_print_place(out, taken->other.call);
	fputs(" as well", out);
}
