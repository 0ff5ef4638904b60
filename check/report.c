/*
 * report.c - a verdict in sentences.
 *
 * Equal ranks share a line, so that a thousand ranks of which one is wrong
 * still make a page. Nothing here depends on the world that the ranks ran in.
 */
#include <stdlib.h>
#include <string.h>

#include "check/chain.h"
#include "check/disagreement.h"
#include "check/message.h"
#include "check/left.h"
#include "check/meeting.h"
#include "check/parting.h"
#include "check/picture.h"
#include "check/race.h"
#include "check/refusal.h"
#include "check/unanswered.h"
#include "check/verdict.h"
#include "check/words.h"

/* Lines of a table before it is cut, with a count of the rest. */
#define MOST_LINES  24
#define MOST_GROUPS 8

/* Cohorts that share a line. */
struct line {
	const struct check_picture *picture;
	const struct check_cohort *like; /* the first of them */
};

static bool in_line(const void *arg, uint32_t rank)
{
	const struct line *line = arg;
	const struct check_picture *p = line->picture;

	return check_alike(line->like, &p->cohorts[p->cohort_of[rank]]);
}

/* Whether cohort has the line of one before it. */
static bool has_line(const struct check_picture *p,
		     const struct check_cohort *cohort)
{
	const struct check_cohort *before = p->cohorts;

	while (!check_alike(before, cohort))
		before++;
	return before != cohort;
}

/* Returns how many ranks are in a line, and whether their calls are on groups
 * of several names. */
static uint32_t num_in_line(const struct line *line, bool *several)
{
	const struct check_picture *p = line->picture;
	const struct check_call *call = line->like->call;
	uint32_t n = 0;

	*several = false;
	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		if (!check_alike(line->like, &p->cohorts[i]))
			continue;
		n += p->cohorts[i].size;
		*several |= call &&
			    strcmp(call->group, p->cohorts[i].call->group) != 0;
	}
	return n;
}

static void print_state(FILE *out, const struct check_cohort *cohort, bool one,
			bool several)
{
	switch (cohort->slot->state) {
	case CHECK_RANK_ABSENT:
		fputs(one ? "has not joined" : "have not joined", out);
		return;
	case CHECK_RANK_UNKNOWN:
		fputs(one ? "has no records here" : "have no records here",
		      out);
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
	if (cohort->call && several)
		check_print_calls_in_place(out, cohort->call);
	else if (cohort->call)
		check_print_call_in_place(out, cohort->call);
	if (cohort->waiting && cohort->slot->wait_site.file[0]) {
		fputs(", waited for at ", out);
		check_print_site(out, &cohort->slot->wait_site);
	}
}

static void print_table(FILE *out, const struct check_picture *p)
{
	uint32_t lines = 0, left = p->world_size, n;
	bool several;

	for (uint32_t i = 0; left > 0 && lines < MOST_LINES; i++) {
		const struct line line = {p, &p->cohorts[i]};

		if (has_line(p, line.like))
			continue;
		n = num_in_line(&line, &several);
		fputs("  ", out);
		check_print_ranks(out, p->world_size, in_line, &line);
		fputc(' ', out);
		print_state(out, line.like, n == 1, several);
		fputc('\n', out);
		left -= n;
		lines++;
	}
	if (left > 0)
		fprintf(out, "  and %u ranks in other states\n", left);
}

/* The cohort number i, counted from that of rank on and around. */
static const struct check_cohort *cohort_from(const struct check_picture *p,
					      uint32_t rank, uint32_t i)
{
	return &p->cohorts[(p->cohort_of[rank] + i) % p->num_cohorts];
}

/* The group that cohort waits in; NULL: none, or the default group. */
static const struct check_group *waits_in(const struct check_cohort *cohort)
{
	bool named = cohort->group && cohort->group->id != 0;

	return cohort->waiting && named ? cohort->group : NULL;
}

/* Who is in the groups that ranks wait in, that of rank first. */
static void print_groups(FILE *out, const struct check_picture *p,
			 uint32_t rank)
{
	uint32_t found = 0, before;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = cohort_from(p, rank, i);
		const struct check_group *group = waits_in(cohort);

		for (before = 0; group && before < i; before++)
			if (waits_in(cohort_from(p, rank, before)) == group)
				break;
		if (!group || before < i)
			continue;
		if (found < MOST_GROUPS)
			check_print_group(out, group, cohort->call,
					  p->world_size);
		found++;
	}
	if (found > MOST_GROUPS)
		fprintf(out, "  and %u other groups\n", found - MOST_GROUPS);
}

static const char *end_of_chain(const struct check_cohort *cohort)
{
	switch (cohort->slot->state) {
	case CHECK_RANK_FINISHED:
		return " has finished";
	case CHECK_RANK_LOST:
		return " is lost";
	case CHECK_RANK_UNKNOWN:
		return " has no records here";
	default:
		return " is late";
	}
}

struct waiting {
	const struct check_picture *picture;
	const struct check_cohort *cohort;
};

static bool is_awaited(const void *arg, uint32_t rank)
{
	const struct waiting *waiting = arg;

	return check_next_awaited(waiting->picture, waiting->cohort, rank) ==
	       rank;
}

/* Whether cohort waits for one of several ranks. */
static bool has_choice(const struct check_picture *p,
		       const struct check_cohort *cohort)
{
	uint32_t first = check_next_awaited(p, cohort, 0);

	return check_from_any(cohort->call) && first < p->world_size &&
	       check_next_awaited(p, cohort, first + 1) < p->world_size;
}

/* What leads from one rank of the chain to the next: " for ", and before the
 * one that the chain follows of several, all of them. */
static void print_awaited(FILE *out, const struct check_picture *p,
			  const struct check_cohort *cohort)
{
	struct waiting waiting = {p, cohort};

	fputs(" for ", out);
	if (!has_choice(p, cohort))
		return;
	fputs("one of ", out);
	check_print_ranks(out, p->world_size, is_awaited, &waiting);
	fputs(", of which ", out);
}

/* "rank 0 waits in ... for rank 1, which waits in ... for rank 0: a cycle" */
static void print_chain(FILE *out, const struct check_picture *p,
			uint32_t start)
{
	const struct check_cohort *cohort, *before = NULL;
	uint32_t steps = 0;
	int64_t rank = start;

	for (; rank >= 0; before = cohort, steps++) {
		cohort = &p->cohorts[p->cohort_of[rank]];
		fprintf(out, "rank %lld", (long long)rank);
		if (before && rank == start) {
			fputs(": a cycle", out);
			break;
		}
		if (steps == p->num_cohorts + 1) {
			fputs(", and so on in a cycle", out);
			break;
		}
		if (before && !has_choice(p, before))
			fputs(", which", out);
		if (before && cohort->slot->state != CHECK_RANK_FINISHED &&
		    check_has_left(p, before, (uint32_t)rank)) {
			fprintf(out, " has left group %s", before->call->group);
			break;
		}
		if (!cohort->waiting) {
			fputs(end_of_chain(cohort), out);
			break;
		}
		fputs(" waits in ", out);
		check_print_link(out, cohort->call);
		rank = check_chain_next(p, cohort);
		if (rank >= 0)
			print_awaited(out, p, cohort);
	}
}

/* What the call that was given up could take; a call may have a deadline of
 * its own. 0: not told. */
static int64_t timeout_of(const struct check_board *board,
			  const struct check_facts *facts)
{
	for (uint32_t rank = 0; board && rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];
		const struct check_call *call =
			check_call_find(slot, slot->waiting);

		if (call && call->state == CHECK_CALL_FAILED &&
		    call->timeout_ns > 0)
			return call->timeout_ns;
	}
	return facts->timeout_ns;
}

/* "late, not lost: rank 2 would have come 3.200 s after the deadline; the run
 * would have finished at 12.400 s" */
static void print_forecast(FILE *out, const struct check_facts *facts)
{
	const struct check_forecast *f = &facts->forecast;
	double late_s = (double)(f->came_ns - facts->now_ns) / 1e9;

	if (f->stuck_ns) {
		fprintf(out,
			"  a timeout at %.3f s was the first sign of it; no "
			"rank could have moved from %.3f s on\n",
			(double)facts->now_ns / 1e9, (double)f->stuck_ns / 1e9);
		return;
	}
	if (!f->came_ns && !f->ended_ns)
		return;
	fputs("  late, not lost: ", out);
	if (f->came_ns)
		fprintf(out,
			"rank %d would have come %.3f s after the deadline",
			f->rank, late_s);
	if (f->ended_ns)
		fprintf(out, "%sthe run would have finished at %.3f s",
			f->came_ns ? "; " : "", (double)f->ended_ns / 1e9);
	fputc('\n', out);
}

static void print_left(FILE *out, const struct check_board *board)
{
	struct check_left left;
	bool handle;

	if (!board || !check_find_left(board, &left))
		return;
	handle = left.kind == CHECK_LEFT_HANDLE;
	fprintf(out, "lockstep: left behind: %s\n",
		handle ? "a handle was never waited for"
		       : "a message was never received");
	fprintf(out, "  rank %u called ", left.rank);
	check_print_call_in_place(out, left.call);
	if (handle)
		fputs("; it never waited for its handle\n", out);
	else
		fprintf(out, "; rank %d never called its receive\n",
			(int)left.call->peer_rank);
	if (left.others > 0)
		fprintf(out, "  so it is with %u other %s%s\n", left.others,
			handle ? "handle" : "message",
			left.others > 1 ? "s" : "");
}

static void print_headline(FILE *out, const struct check_board *board,
			   const struct check_facts *facts,
			   const struct check_verdict *verdict)
{
	int64_t timeout_ns = timeout_of(board, facts);

	switch (verdict->kind) {
	case CHECK_DEADLOCK:
		fputs("lockstep: deadlock: no rank can ever move\n", out);
		break;
	case CHECK_BUFFERING:
		fputs("lockstep: depends on buffering: no rank can ever move "
		      "unless sends are buffered\n",
		      out);
		break;
	case CHECK_TIMEOUT:
		fputs("lockstep: timeout: a call was not complete", out);
		if (timeout_ns > 0)
			fprintf(out, " after %.3f s", (double)timeout_ns / 1e9);
		fputc('\n', out);
		break;
	case CHECK_LOST:
		fprintf(out, "lockstep: rank lost: rank %d %s\n", verdict->rank,
			facts->lost_how[0] ? facts->lost_how : "is gone");
		break;
	case CHECK_LEFT:
		print_left(out, board);
		break;
	case CHECK_RENDEZVOUS:
		fputs("lockstep: rendezvous failed: the ranks did not find "
		      "each other\n",
		      out);
		if (board)
			check_report_meeting(out, board);
		break;
	case CHECK_FAILED:
		if (facts->lost_how[0])
			fprintf(out, "lockstep: rank %d %s\n", verdict->rank,
				facts->lost_how);
		break;
	case CHECK_STATUS:
		fputs("lockstep: status: where the ranks are\n", out);
		break;
	case CHECK_FINE:
	case CHECK_MISMATCH:
	case CHECK_HAZARD:
	case CHECK_RACE:
		break;
	}
}

/* Whether the states of the ranks tell more about the verdict. */
static bool has_picture(const struct check_verdict *verdict)
{
	return check_is_stuck(verdict) || verdict->kind == CHECK_TIMEOUT ||
	       verdict->kind == CHECK_LOST || verdict->kind == CHECK_STATUS;
}

char *check_buffering_warning(const struct check_board *board)
{
	struct check_picture picture;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool good = out && check_picture_init(&picture, board);

	if (good) {
		fputs("it ended only because sends are buffered: ", out);
		print_chain(out, &picture, check_chain_start(&picture, 0));
		check_picture_release(&picture);
	}
	if (out && fclose(out) == 0 && good)
		return text;
	free(text);
	return NULL;
}

void check_report(FILE *out, const struct check_board *board,
		  const struct check_facts *facts,
		  const struct check_verdict *verdict)
{
	const struct check_cohort *gathering;
	struct check_picture picture;
	uint32_t odd = verdict->rank > 0 ? (uint32_t)verdict->rank : 0;

	if (verdict->kind == CHECK_MISMATCH) {
		check_report_mismatch(out, board);
		return;
	}
	if (verdict->kind == CHECK_HAZARD) {
		check_report_hazard(out, board);
		return;
	}
	if (verdict->kind == CHECK_RACE && facts->race) {
		check_report_race(out, facts->race);
		check_report(out, board, facts, &facts->race->outcome);
		return;
	}
	print_headline(out, board, facts, verdict);
	if (verdict->kind == CHECK_LOST || verdict->kind == CHECK_FAILED)
		check_report_refusal(out, board, verdict->rank);
	if (!board || !has_picture(verdict) ||
	    !check_picture_init(&picture, board))
		return;
	print_table(out, &picture);
	odd = check_chain_start(&picture, odd);
	print_groups(out, &picture, odd);
	if (check_is_stuck(verdict)) {
		fputs("  ", out);
		print_chain(out, &picture, odd);
		fputc('\n', out);
	}
	check_report_lack(out, &picture);
	check_report_unanswered(out, &picture,
				verdict->kind == CHECK_LOST ? verdict->rank
							    : -1);
	gathering = check_gathering(&picture, odd);
	if (check_is_stuck(verdict) && gathering)
		check_report_parting(out, board, gathering->group,
				     gathering->call);
	print_forecast(out, facts);
	check_picture_release(&picture);
}
