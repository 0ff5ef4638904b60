#include "check/unanswered.h"

#include <string.h>

#include "check/message.h"
#include "check/words.h"

/* Ends that are looked at, and lines that they take in a report. */
#define MOST_ENDS  128
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

	if (call->state == CHECK_CALL_NONE || call->tag < 0 ||
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

uint32_t check_unanswered(const struct check_board *board,
			  struct check_end *ends, uint32_t most)
{
	uint32_t found = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];
		uint32_t n = check_dropped(slot);

		while (n++ < slot->calls) {
			const struct check_call *call =
				check_call_find(slot, n);

			if (!call || !is_unanswered(board, rank, call))
				continue;
			if (found < most)
				ends[found] = (struct check_end){call, rank};
			found++;
		}
	}
	return found;
}

static bool is_stuck_in(const struct check_picture *p,
			const struct check_end *end)
{
	const struct check_slot *slot = &p->board->slots[end->rank];

	return slot->state == CHECK_RANK_WAITING &&
	       slot->waiting == end->call->number &&
	       !p->cohorts[p->cohort_of[end->rank]].may_move;
}

/* Whether send and recv differ in nothing but the thing that is named. */
static bool almost_meet(const struct check_end *send,
			const struct check_end *recv, enum check_near differs)
{
	const struct check_call *a = send->call, *b = recv->call;
	bool to = a->peer_rank == (int32_t)recv->rank;
	bool from = check_from_any(b) || b->peer_rank == (int32_t)send->rank;
	bool tag = a->tag == b->tag, group = a->group_id == b->group_id;

	if (strcmp(a->op, "send") != 0 || strcmp(b->op, "recv") != 0 ||
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

/* How surely the two ends are one message gone wrong; 0: they are not. */
static int weigh(const struct check_picture *p, const struct check_miss *miss)
{
	if (!almost_meet(&miss->send, &miss->recv, miss->differs) ||
	    (!is_stuck_in(p, &miss->send) && !is_stuck_in(p, &miss->recv)))
		return 0;
	return 1 + is_hopeless(p, &miss->send) + is_hopeless(p, &miss->recv);
}

bool check_find_miss(const struct check_picture *p, struct check_miss *miss)
{
	struct check_end ends[MOST_ENDS];
	uint32_t n = check_unanswered(p->board, ends, MOST_ENDS);
	int best = 0;

	n = n < MOST_ENDS ? n : MOST_ENDS;
	*miss = (struct check_miss){.send = {.call = NULL}};
	for (int differs = 0; differs <= CHECK_NEAR_RANK && !best; differs++)
		for (uint32_t i = 0; i < n * n; i++) {
			const struct check_miss next = {
				ends[i / n], ends[i % n],
				(enum check_near)differs};
			int weight = weigh(p, &next);

			if (weight <= best)
				continue;
			best = weight;
			*miss = next;
		}
	return best > 0;
}

/* The rank's last call of the kind of end from another line, before end. */
static const struct check_call *twin_of(const struct check_board *board,
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
		    (old->site.line != call->site.line ||
		     strcmp(old->site.file, call->site.file) != 0))
			return old;
	}
	return NULL;
}

bool check_find_twin(const struct check_picture *p, struct check_end *twin)
{
	struct check_end ends[MOST_ENDS];
	uint32_t n = check_unanswered(p->board, ends, MOST_ENDS);

	for (uint32_t i = 0; i < n && i < MOST_ENDS; i++) {
		if (!is_stuck_in(p, &ends[i]))
			continue;
		*twin = (struct check_end){twin_of(p->board, &ends[i]),
					   ends[i].rank};
		if (twin->call)
			return true;
	}
	return false;
}

/* ---- in words --------------------------------------------------------- */

static void print_end(FILE *out, const struct check_end *end)
{
	fprintf(out, "rank %u's ", end->rank);
	check_print_call_in_place(out, end->call);
}

static void print_miss(FILE *out, const struct check_miss *miss)
{
	static const char *const differences[] = {"the tag", "the group",
						  "a rank"};

	fputs("  ", out);
	print_end(out, &miss->send);
	fputs(" and ", out);
	print_end(out, &miss->recv);
	fprintf(out, " do not meet: they differ in %s\n",
		differences[miss->differs]);
}

static void print_twin(FILE *out, const struct check_end *twin)
{
	fprintf(out, "  rank %u called the same from another line before: ",
		twin->rank);
	check_print_call_in_place(out, twin->call);
	fputc('\n', out);
}

/* Whether other lines of the report tell of end. */
static bool is_told(const struct check_picture *p, const struct check_end *end,
		    const struct check_miss *miss)
{
	return p->board->slots[end->rank].waiting == end->call->number ||
	       miss->send.call == end->call || miss->recv.call == end->call;
}

/* Messages in flight of which nothing was told, with peer if that is a rank. */
static void print_in_flight(FILE *out, const struct check_picture *p,
			    const struct check_miss *miss, int peer)
{
	struct check_end ends[MOST_ENDS];
	uint32_t n = check_unanswered(p->board, ends, MOST_ENDS), told = 0;

	for (uint32_t i = 0; i < n && i < MOST_ENDS; i++) {
		if (is_told(p, &ends[i], miss) ||
		    (peer >= 0 && check_other_end(ends[i].call) != peer) ||
		    told++ >= MOST_LINES)
			continue;
		fputs("  nobody answers ", out);
		print_end(out, &ends[i]);
		fputc('\n', out);
	}
	if (told > MOST_LINES)
		fprintf(out, "  nor %u other messages\n", told - MOST_LINES);
}

void check_report_unanswered(FILE *out, const struct check_picture *p, int peer)
{
	struct check_miss miss = {.send = {.call = NULL}};
	struct check_end twin;

	if (peer < 0 && check_find_miss(p, &miss))
		print_miss(out, &miss);
	if (peer < 0 && check_find_twin(p, &twin))
		print_twin(out, &twin);
	print_in_flight(out, p, &miss, peer);
}
