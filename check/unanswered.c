#include "check/unanswered.h"

#include <string.h>

#include "check/message.h"

/* Lines that messages in flight take in a report. */
#define MOST_LINES 4

/* Whether rank's call, a message, has no other end. A send may be complete
 * without one, as long as it is buffered. Where nobody counted, one that may be
 * the other end counts as it. */
static bool is_unanswered(const struct check_board *board, uint32_t rank,
			  const struct check_call *call)
{
	bool done = call->state == CHECK_CALL_DONE;
	const struct check_slot *peer;
	uint32_t answers;

	if (call->state == CHECK_CALL_NONE ||
	    call->state == CHECK_CALL_QUEUED || !check_is_message(call) ||
	    (done && strcmp(call->op, "recv") == 0))
		return false;
	if (check_from_any(call))
		return !done && call->source < 0;
	if ((uint32_t)call->peer_rank >= board->world_size)
		return false;
	peer = &board->slots[call->peer_rank];
	answers = check_answers(peer, rank, call);
	if (call->index != CHECK_INDEX_UNKNOWN &&
	    answers != CHECK_INDEX_UNKNOWN)
		return answers <= call->index;
	for (uint32_t i = 0; i < check_ring(peer); i++)
		if (check_is_counterpart(call, rank, &peer->ring[i]))
			return false;
	return !done;
}

void check_find_unanswered(const struct check_board *board,
			   struct check_unanswered *all)
{
	const uint32_t most = sizeof all->ends / sizeof *all->ends;

	all->num = 0;
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];
		uint32_t n = check_dropped(slot);

		while (n++ < slot->calls) {
			const struct check_call *call =
				check_call_find(slot, n);

			if (all->num == most)
				return;
			if (call && is_unanswered(board, rank, call))
				all->ends[all->num++] =
					(struct check_end){call, rank};
		}
	}
}

static bool is_stuck_in(const struct check_picture *p,
			const struct check_end *end)
{
	return p->board->slots[end->rank].waiting == end->call->number &&
	       check_is_caught(check_cohort_of(p, end->rank));
}

/* Whether send and recv differ in nothing but the thing that is named. */
static bool almost_meet(const struct check_end *send,
			const struct check_end *recv, enum check_near differs)
{
	const struct check_call *a = send->call, *b = recv->call;
	bool to = a->peer_rank == (int32_t)recv->rank;
	bool from = check_from_any(b) || b->peer_rank == (int32_t)send->rank;
	bool tag = a->tag == b->tag, group = a->group_id == b->group_id;

	if (!check_is_send(a) || strcmp(b->op, "recv") != 0 ||
	    a->tag == CHECK_TAG_GROUPS || b->tag == CHECK_TAG_GROUPS ||
	    a->numel != b->numel || strcmp(a->dtype, b->dtype) != 0 ||
	    a->generation != b->generation)
		return false;
	switch (differs) {
	case CHECK_NEAR_TAG:
		return !tag && group && to && from;
	case CHECK_NEAR_GROUP:
		return !group && tag && to && from;
	case CHECK_NEAR_RANK:
		return tag && group && to != from;
	}
	return false;
}

/* Whether the rank at the other end of end will call nothing any more. */
static bool is_hopeless(const struct check_picture *p,
			const struct check_end *end)
{
	int32_t peer = check_other_end(end->call);

	return peer >= 0 && (uint32_t)peer < p->world_size &&
	       p->board->slots[peer].state == CHECK_RANK_FINISHED;
}

/* Whether the ends may differ in a rank by mistake: the one whose peer is
 * another is the first of its kind, and so is the other, or nothing can answer
 * the one any more. Else ranks that exchange many messages, as the stages of a
 * pipeline do, have two of them in flight. */
static bool may_be_astray(const struct check_picture *p,
			  const struct check_miss *miss)
{
	bool to = miss->send.call->peer_rank == (int32_t)miss->recv.rank;
	const struct check_end *astray = to ? &miss->recv : &miss->send;
	const struct check_end *other = to ? &miss->send : &miss->recv;

	return astray->call->index == 0 &&
	       (other->call->index == 0 || is_hopeless(p, astray));
}

/* How surely the two ends are one message gone wrong; 0: they are not. */
static int weigh(const struct check_picture *p, const struct check_miss *miss)
{
	if (!almost_meet(&miss->send, &miss->recv, miss->differs) ||
	    (!is_stuck_in(p, &miss->send) && !is_stuck_in(p, &miss->recv)))
		return 0;
	if (miss->differs == CHECK_NEAR_RANK && !may_be_astray(p, miss))
		return 0;
	return 1 + is_hopeless(p, &miss->send) + is_hopeless(p, &miss->recv);
}

void check_find_miss(const struct check_picture *p,
		     const struct check_unanswered *all,
		     struct check_miss *miss)
{
	uint32_t n = all->num;
	int best = 0;

	*miss = (struct check_miss){.send = {.call = NULL}};
	for (int differs = 0; differs <= CHECK_NEAR_RANK && !best; differs++)
		for (uint32_t i = 0; i < n * n; i++) {
			const struct check_miss next = {
				all->ends[i / n], all->ends[i % n],
				(enum check_near)differs};
			int weight = weigh(p, &next);

			if (weight <= best)
				continue;
			best = weight;
			*miss = next;
		}
}

/* The rank's last call of the kind of end from another line, before end. */
static const struct check_call *previous_of(const struct check_board *board,
					    const struct check_end *end)
{
	const struct check_call *call = end->call, *old;

	for (uint32_t n = call->number - 1; n > 0; n--) {
		old = check_call_find(&board->slots[end->rank], n);
		if (!old)
			break;
		if (old->tag == call->tag && old->group_id == call->group_id &&
		    old->generation == call->generation &&
		    old->peer == call->peer && strcmp(old->op, call->op) == 0 &&
		    !check_same_site(&old->site, &call->site))
			return old;
	}
	return NULL;
}

void check_find_previous_call(const struct check_picture *p,
			      const struct check_unanswered *all,
			      struct check_end *previous)
{
	*previous = (struct check_end){NULL, 0};
	for (uint32_t i = 0; i < all->num && !previous->call; i++)
		if (is_stuck_in(p, &all->ends[i]))
			*previous = (struct check_end){
				previous_of(p->board, &all->ends[i]),
				all->ends[i].rank};
}

/* ---- in sentences ------------------------------------------------------- */

static void print_end(FILE *out, const struct check_end *end)
{
	fprintf(out, "rank %u's ", end->rank);
	check_print_call_in_place(out, end->call);
}

/* Whether other sentences speak of end. */
static bool is_reported(const struct check_picture *p,
			const struct check_end *end,
			const struct check_miss *miss)
{
	return p->board->slots[end->rank].waiting == end->call->number ||
	       miss->send.call == end->call || miss->recv.call == end->call;
}

static void report_in_flight(struct check_lines *lines,
			     const struct check_picture *p,
			     const struct check_unanswered *all,
			     const struct check_miss *miss, int peer)
{
	uint32_t found = 0;
	FILE *out;

	for (uint32_t i = 0; i < all->num; i++) {
		const struct check_end *end = &all->ends[i];

		if (is_reported(p, end, miss) ||
		    (peer >= 0 && check_other_end(end->call) != peer) ||
		    found++ >= MOST_LINES)
			continue;
		out = check_line(lines, 1);
		fputs("nobody answers ", out);
		print_end(out, end);
	}
	if (found > MOST_LINES)
		fprintf(check_line(lines, 1), "nor %u other messages",
			found - MOST_LINES);
}

/* Of a rank that ceased to receive what another goes on to send, as where the
 * stages of a pipeline have other numbers of micro-batches. */
static void report_ceased(struct check_lines *lines,
			  const struct check_picture *p,
			  const struct check_unanswered *all)
{
	for (uint32_t i = all->num; i-- > 0;) {
		const struct check_call *call = all->ends[i].call;
		const struct check_slot *peer;
		uint32_t received;

		if (!check_is_send(call) || call->tag > DIST_TAG_MAX ||
		    call->index == CHECK_INDEX_UNKNOWN)
			continue;
		peer = &p->board->slots[call->peer_rank];
		received = check_answers(peer, all->ends[i].rank, call);
		if (received == 0 || received == CHECK_INDEX_UNKNOWN)
			continue;
		fprintf(check_line(lines, 1),
			"rank %d has called recv for %u of the %u messages "
			"that rank %u sends it with tag %d",
			(int)call->peer_rank, received, call->index + 1,
			all->ends[i].rank, (int)call->tag);
		return;
	}
}

void check_report_unanswered(struct check_lines *lines,
			     const struct check_picture *p,
			     const struct check_unanswered *all,
			     const struct check_miss *miss,
			     const struct check_end *previous, int peer)
{
	static const char *const differences[] = {"the tag", "the group",
						  "a rank"};
	FILE *out;

	if (miss->send.call) {
		out = check_line(lines, 1);
		print_end(out, &miss->send);
		fputs(" and ", out);
		print_end(out, &miss->recv);
		fprintf(out, " do not meet: they differ in %s",
			differences[miss->differs]);
	} else if (peer < 0) {
		report_ceased(lines, p, all);
	}
	if (previous->call) {
		out = check_line(lines, 1);
		fprintf(out,
			"rank %u called the same from another line before: ",
			previous->rank);
		check_print_call_in_place(out, previous->call);
	}
	report_in_flight(lines, p, all, miss, peer);
}
