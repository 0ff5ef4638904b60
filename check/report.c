/*
 * report.c - writes a verdict as sentences.
 *
 * Ranks in equal states share a line, so that a thousand ranks, one of them
 * wrong, fit on a page. Nothing here depends on the world of the ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "check/chain.h"
#include "check/finding.h"
#include "check/message.h"
#include "check/report_waits.h"
#include "check/refusal.h"
#include "check/remote_wait.h"
#include "check/rendezvous_failure.h"

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

	return check_alike(line->like, check_cohort_of(p, rank));
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

/* What ranks of cohort do, as it is said of one and of several. */
static const char *state_text(const struct check_cohort *cohort, bool one)
{
	static const char *const texts[][2] = {
		[CHECK_RANK_ABSENT] = {"have not joined", "has not joined"},
		[CHECK_RANK_RUNNING] = {"run in their own code",
					"runs in its own code"},
		[CHECK_RANK_WAITING] = {"wait in ", "waits in "},
		[CHECK_RANK_FINISHED] = {"have finished", "has finished"},
		[CHECK_RANK_LOST] = {"are lost", "is lost"},
		[CHECK_RANK_UNKNOWN] = {"have no records here",
					"has no records here"}};

	if (cohort->slot->damaged && cohort->slot->state == CHECK_RANK_UNKNOWN)
		return one ? "has damaged records" : "have damaged records";
	return texts[cohort->slot->state][one];
}

static void print_state(FILE *out, const struct check_cohort *cohort, bool one,
			bool several)
{
	const struct check_slot *slot = cohort->slot;

	fputs(state_text(cohort, one), out);
	if (slot->state == CHECK_RANK_ABSENT ||
	    slot->state == CHECK_RANK_UNKNOWN)
		return;
	if (!cohort->waiting && !slot->damaged)
		fputs(cohort->call ? "; last call: " : "; no call yet", out);
	if (cohort->call && several)
		check_print_calls_in_place(out, cohort->call);
	else if (cohort->call)
		check_print_call_in_place(out, cohort->call);
	if (cohort->waiting && !cohort->wait && slot->wait_site.file[0]) {
		fputs(", waited for at ", out);
		check_print_site(out, &slot->wait_site);
	}
}

static void report_states(struct check_lines *lines,
			  const struct check_picture *p)
{
	uint32_t num = 0, left = p->world_size, n;
	bool several;

	for (uint32_t i = 0; left > 0 && num < MOST_LINES; i++) {
		const struct line line = {p, &p->cohorts[i]};
		FILE *out;

		if (check_any_below(line.like->first, in_line, &line))
			continue;
		n = num_in_line(&line, &several);
		out = check_line(lines, 1);
		check_print_ranks(out, p->world_size, in_line, &line);
		fputc(' ', out);
		print_state(out, line.like, n == 1, several);
		left -= n;
		num++;
	}
	if (left > 0)
		fprintf(check_line(lines, 1), "and %u ranks in other states",
			left);
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
static void report_groups(struct check_lines *lines,
			  const struct check_picture *p, uint32_t rank)
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
			check_add_group(lines, group, cohort->call,
					p->world_size);
		found++;
	}
	if (found > MOST_GROUPS)
		fprintf(check_line(lines, 1), "and %u other groups",
			found - MOST_GROUPS);
}

struct waiting {
	const struct check_picture *picture;
	const struct check_cohort *cohort;
};

static bool is_awaited(const void *arg, uint32_t rank)
{
	const struct waiting *waiting = arg;

	return check_awaits(waiting->picture, waiting->cohort, rank);
}

/* Whether cohort waits for one of several ranks. */
static bool has_choice(const struct check_picture *p,
		       const struct check_cohort *cohort)
{
	uint32_t first = check_next_awaited(p, cohort, 0);

	return cohort->call && check_is_from_one(cohort->call) &&
	       first < p->world_size &&
	       check_next_awaited(p, cohort, first + 1) < p->world_size;
}

/* " for ", or " for one of ranks 1-3 (3), of which " */
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

/* How many links of the chain from start come before link, at most `most`. */
static uint32_t find_link(const struct check_picture *p, uint32_t start,
			  const struct check_link *link, uint32_t most)
{
	struct check_link at = check_chain_link(p, start);
	uint32_t i = 0;

	while (i < most &&
	       (at.rank != link->rank || at.cohort != link->cohort)) {
		at = check_chain_next(p, at.cohort);
		i++;
	}
	return i;
}

/* ", of which the one worker thread is taken" */
static void print_taken(FILE *out, const struct check_cohort *lane)
{
	fprintf(out, ", of which %s taken",
		lane->slot->remote.limit == 1 ? "the one worker thread is"
					      : "all worker threads are");
}

/* ", which serves f for rank 0 and", of a lane; queued: it serves another call
 * than that waited for. */
static void print_lane(FILE *out, const struct check_cohort *lane, bool queued)
{
	const struct check_serving *serving = lane->serving;

	if (queued)
		print_taken(out, lane);
	fputs(queued ? ": it" : ", which", out);
	fprintf(out, " serves %s for rank %d", serving->function,
		(int)serving->caller);
	fputs(lane->wait ? " and" : ": that function runs", out);
}

/* Whether the call that before waits in is another than that lane serves. */
static bool is_queued(const struct check_picture *p,
		      const struct check_cohort *before,
		      const struct check_cohort *lane)
{
	return before->wait && before->wait->worker >= 0 && lane->serving &&
	       check_awaited_serving(p->board, before->wait) != lane->serving;
}

/* What becomes of the wait for a rank that does not wait itself. */
static void print_absence(FILE *out, const struct check_cohort *cohort)
{
	bool ends = cohort->slot->state != CHECK_RANK_RUNNING &&
		    cohort->slot->state != CHECK_RANK_ABSENT;

	fprintf(out, " %s", ends ? state_text(cohort, true) : "is late");
}

/* The part of a chain that one link is, behind before. False: it ends here. */
static bool print_link(FILE *out, const struct check_picture *p,
		       const struct check_cohort *before,
		       const struct check_link *link)
{
	const struct check_cohort *cohort = link->cohort;

	if (cohort->serving)
		print_lane(out, cohort, before && is_queued(p, before, cohort));
	else if (before && !has_choice(p, before))
		fputs(", which", out);
	if (!cohort->serving && before &&
	    cohort->slot->state != CHECK_RANK_FINISHED &&
	    check_has_left(p, before, link->rank)) {
		if (before->wait)
			fputs(" serves no remote calls any more", out);
		else
			fprintf(out, " has left group %s", before->call->group);
		return false;
	}
	if (!cohort->waiting) {
		if (!cohort->serving)
			print_absence(out, cohort);
		if (before && check_has_dropped(p, before, link->rank))
			fputs(" without waiting for it", out);
		return false;
	}
	fputs(" waits in ", out);
	if (cohort->wait)
		check_print_remote_link(out, cohort->wait);
	else
		check_print_link(out, cohort->call);
	return true;
}

/* "rank 0 waits in ... for rank 1, which waits in ... for rank 0: a cycle" */
static void print_chain(FILE *out, const struct check_picture *p,
			uint32_t start)
{
	struct check_link link = check_chain_link(p, start);
	const struct check_cohort *before = NULL;

	for (uint32_t steps = 0; link.cohort; steps++) {
		uint32_t seen = find_link(p, start, &link, steps);

		fprintf(out, "rank %u", link.rank);
		if (before && !link.cohort->serving && link.rank == start) {
			fputs(": a cycle", out);
			break;
		}
		if (seen < steps && (seen > 0 || link.cohort->serving)) {
			if (is_queued(p, before, link.cohort))
				print_taken(out, link.cohort);
			fputs(", and so on in a cycle", out);
			break;
		}
		if (!print_link(out, p, before, &link))
			break;
		before = link.cohort;
		link = check_chain_next(p, before);
		if (link.cohort)
			print_awaited(out, p, before);
		else if (before->wait && before->wait->worker >= 0)
			fprintf(out, " on rank %d, which has not answered",
				(int)before->wait->worker);
		else if (before->call && before->call->tag == CHECK_TAG_STORE)
			fputs(": a key that no rank is left to set", out);
	}
}

/* What the call that was given up could take; a call may have a deadline of
 * its own. 0: unknown. */
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
static void report_forecast(struct check_lines *lines,
			    const struct check_facts *facts)
{
	const struct check_forecast *f = &facts->forecast;
	FILE *out;

	if (f->stuck_ns) {
		fprintf(check_line(lines, 1),
			"a timeout at %.3f s was the first sign of it; no rank "
			"could have moved from %.3f s on",
			(double)facts->now_ns / 1e9, (double)f->stuck_ns / 1e9);
		return;
	}
	if (!f->came_ns && !f->ended_ns)
		return;
	out = check_line(lines, 1);
	fputs("late, not lost: ", out);
	if (f->came_ns)
		fprintf(out,
			"rank %d would have come %.3f s after the deadline",
			f->rank, (double)(f->came_ns - facts->now_ns) / 1e9);
	if (f->ended_ns)
		fprintf(out, "%sthe run would have finished at %.3f s",
			f->came_ns ? "; " : "", (double)f->ended_ns / 1e9);
}

/* Of a timeout of which no rank is the cause. */
static void report_slow(struct check_lines *lines,
			const struct check_picture *p)
{
	for (uint32_t i = 0; i < p->num_cohorts; i++)
		if (!p->cohorts[i].waiting ||
		    check_next_awaited(p, &p->cohorts[i], 0) < p->world_size)
			return;
	fputs("slow, not stuck: every call that these wait for was made",
	      check_line(lines, 1));
}

/* "left behind: a reference was never freed" */
static void report_reference(struct check_lines *lines,
			     const struct check_left *left)
{
	static const char *const what[] = {
		[CHECK_REFERENCE_HANDLE] = "a reference was never freed",
		[CHECK_REFERENCE_FORK] = "a fork was never taken",
		[CHECK_REFERENCE_VALUE] = "a value is still referred to"};
	const struct check_reference *ref = left->reference;
	FILE *out;

	fprintf(check_line(lines, 0), "lockstep: left behind: %s",
		what[ref->kind]);
	out = check_line(lines, 1);
	fprintf(out, "rank %u made it at ", left->rank);
	check_print_site(out, &ref->site);
	if (ref->function[0])
		fprintf(out, ": the value of %s", ref->function);
	if ((uint32_t)ref->owner != left->rank)
		fprintf(out, ", which lies on rank %d", (int)ref->owner);
	if (left->others > 0)
		fprintf(check_line(lines, 1), "so it is with %u other%s",
			left->others, left->others > 1 ? "s" : "");
}

static void report_left(struct check_lines *lines,
			const struct check_left *left)
{
	bool handle = left->kind == CHECK_LEFT_HANDLE;
	FILE *out;

	if (left->kind == CHECK_LEFT_REFERENCE) {
		report_reference(lines, left);
		return;
	}
	if (!left->call)
		return;
	fprintf(check_line(lines, 0), "lockstep: left behind: %s",
		handle ? "a handle was never waited for"
		       : "a message was never received");
	out = check_line(lines, 1);
	fprintf(out, "rank %u called ", left->rank);
	check_print_call_in_place(out, left->call);
	if (handle)
		fputs("; it never waited for its handle", out);
	else
		fprintf(out, "; rank %d never called its receive",
			(int)left->call->peer_rank);
	if (left->others > 0)
		fprintf(check_line(lines, 1), "so it is with %u other %s%s",
			left->others, handle ? "handle" : "message",
			left->others > 1 ? "s" : "");
}

static void print_timeout(FILE *out, const struct check_finding *f)
{
	int64_t timeout_ns = timeout_of(f->board, f->facts);

	if (f->facts->endless_ns)
		fprintf(out,
			"lockstep: timeout: rank %d has run for %.3g s without "
			"a call%s%s",
			f->verdict.rank, (double)f->facts->endless_ns / 1e9,
			f->facts->lost_how[0] ? ": " : "", f->facts->lost_how);
	else
		fputs("lockstep: timeout: a call was not complete", out);
	if (!f->facts->endless_ns && timeout_ns > 0)
		fprintf(out, " after %.3f s", (double)timeout_ns / 1e9);
}

struct aborted {
	const struct check_finding *f;
	const struct check_call *like; /* a call that failed for that */
};

/* Whether a call of rank, like one more, failed on a group that the verdict's
 * rank aborted. */
static bool suffers(const void *arg, uint32_t rank)
{
	const struct aborted *aborted = arg;
	const struct check_board *board = aborted->f->board;
	const struct check_call *call = check_failed_call(&board->slots[rank]);

	return call &&
	       check_has_aborted(board, (uint32_t)aborted->f->verdict.rank,
				 call) &&
	       (!aborted->like || (check_same_place(call, aborted->like) &&
				   call->index == aborted->like->index));
}

/* Says what the rank's dist_abort() led to; false: nothing. */
static bool report_aborted(struct check_lines *lines,
			   const struct check_finding *f)
{
	struct aborted aborted = {f, NULL};
	uint32_t rank = 0, n = f->board ? f->board->world_size : 0;

	while (rank < n && !suffers(&aborted, rank))
		rank++;
	if (rank == n)
		return false;
	aborted.like = check_failed_call(&f->board->slots[rank]);
	fprintf(check_line(lines, 0), "lockstep: rank %d aborted group %s",
		f->verdict.rank, aborted.like->group);
	for (; rank < n; rank++) {
		FILE *out;

		aborted.like = NULL;
		if (!suffers(&aborted, rank))
			continue;
		aborted.like = check_failed_call(&f->board->slots[rank]);
		if (check_any_below(rank, suffers, &aborted))
			continue;
		out = check_line(lines, 1);
		check_print_ranks(out, n, suffers, &aborted);
		fputs(" called ", out);
		check_print_call_in_place(out, aborted.like);
		fputs(", which failed", out);
	}
	return true;
}

static void report_failed(struct check_lines *lines,
			  const struct check_finding *f)
{
	const struct check_facts *facts = f->facts;

	if (facts->defect)
		fprintf(check_line(lines, 0),
			"lockstep: internal error: the simulation %s, outside "
			"the program of any rank",
			facts->lost_how);
	else if (report_aborted(lines, f) || !facts->lost_how[0])
		return;
	else if (f->verdict.rank >= 0)
		fprintf(check_line(lines, 0), "lockstep: rank %d %s",
			f->verdict.rank, facts->lost_how);
	else
		fprintf(check_line(lines, 0),
			"lockstep: the program %s, after its ranks had ended "
			"well",
			facts->lost_how);
}

static void report_headline(struct check_lines *lines,
			    const struct check_finding *f)
{
	const struct check_facts *facts = f->facts;
	int rank = f->verdict.rank;

	switch (f->verdict.kind) {
	case CHECK_DEADLOCK:
		fputs("lockstep: deadlock: no rank can ever move",
		      check_line(lines, 0));
		break;
	case CHECK_BUFFERING:
		fputs("lockstep: depends on buffering: no rank can ever move "
		      "unless sends are buffered",
		      check_line(lines, 0));
		break;
	case CHECK_TIMEOUT:
		print_timeout(check_line(lines, 0), f);
		break;
	case CHECK_LOST:
		fprintf(check_line(lines, 0), "lockstep: rank lost: rank %d %s",
			rank, facts->lost_how[0] ? facts->lost_how : "is gone");
		break;
	case CHECK_LEFT:
		report_left(lines, &f->left);
		break;
	case CHECK_RENDEZVOUS:
		fputs("lockstep: rendezvous failed: the ranks did not find "
		      "each other",
		      check_line(lines, 0));
		if (f->board)
			check_report_rendezvous_failure(lines, f->board);
		break;
	case CHECK_FAILED:
		report_failed(lines, f);
		break;
	case CHECK_INTERRUPTED:
		fprintf(check_line(lines, 0),
			"lockstep: interrupted by signal %d (%s)%s",
			facts->signal, strsignal(facts->signal),
			f->board ? ": where the ranks were"
				 : " before a rank had begun");
		break;
	case CHECK_STATUS:
		fputs("lockstep: status: where the ranks are",
		      check_line(lines, 0));
		break;
	default:
		break;
	}
}

/* What the system refused to the rank of the verdict. */
static void report_shortage(struct check_lines *lines,
			    const struct check_finding *f)
{
	bool by_itself = f->verdict.kind == CHECK_FAILED ||
			 f->verdict.kind == CHECK_LOST;
	const struct check_slot *slot =
		f->board && by_itself && f->verdict.rank >= 0
			? &f->board->slots[f->verdict.rank]
			: NULL;
	const struct check_call *call = slot ? check_failed_call(slot) : NULL;
	FILE *out;

	if (!call || !slot->failure[0] ||
	    (call->error != DIST_ERR_IO && call->error != DIST_ERR_NO_MEMORY))
		return;
	out = check_line(lines, 1);
	fprintf(out, "rank %d called ", f->verdict.rank);
	check_print_call_in_place(out, call);
	fprintf(out, ", which failed: %s", slot->failure);
}

/* Where the rank of the verdict was, and what to do about it. */
static void report_place(struct check_lines *lines,
			 const struct check_finding *f)
{
	const struct check_place *place = &f->facts->lost_at;
	bool known = place->site.file[0];

	if (f->facts->lost_rank < 0 || f->facts->lost_rank != f->verdict.rank)
		return;
	if (known || place->function[0]) {
		FILE *out = check_line(lines, 1);

		fprintf(out, "it was%s%s%s", place->function[0] ? " in " : "",
			place->function, known ? " at " : "");
		if (known)
			check_print_site(out, &place->site);
	}
	if (f->facts->advice)
		fputs(f->facts->advice, check_line(lines, 1));
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

static bool is_damaged(const void *arg, uint32_t rank)
{
	const struct check_board *board = arg;

	return board->slots[rank].damaged;
}

/* Of whom nothing more is known. */
static void report_damaged(struct check_lines *lines,
			   const struct check_board *board)
{
	FILE *out;

	if (!board || check_damaged(board, 0) == board->world_size)
		return;
	out = check_line(lines, 1);
	fputs("the records of ", out);
	check_print_ranks(out, board->world_size, is_damaged, board);
	fputs(" are damaged: something wrote over them, and what was called "
	      "there is not known",
	      out);
}

static void report_waits(struct check_lines *lines,
			 const struct check_finding *f)
{
	const struct check_picture *p = &f->picture;
	enum check_verdict_kind kind = f->verdict.kind;
	bool stuck = check_is_stuck(&f->verdict);

	report_states(lines, p);
	report_groups(lines, p, f->start);
	check_report_stored(lines, p);
	check_report_polls(lines, p, f->facts->now_ns);
	check_report_servings(lines, p, f->facts->now_ns);
	if (stuck)
		print_chain(check_line(lines, 1), p, f->start);
	check_report_divergence(lines, &f->divergence);
	check_report_queued(lines, p);
	check_report_other_group(lines, &f->other_group);
	check_report_absent_call(lines, &f->absent);
	check_report_unanswered(lines, p, &f->unanswered, &f->miss,
				&f->previous,
				kind == CHECK_LOST ? f->verdict.rank : -1);
	check_report_taken(lines, &f->taken, f->facts->race != NULL);
	report_forecast(lines, f->facts);
	if (kind == CHECK_TIMEOUT && !f->facts->forecast.ended_ns)
		report_slow(lines, p);
}

/* What a refused call led to; NULL: its rank ended. */
static const char *hence_text(const struct check_finding *hence)
{
	switch (hence ? hence->verdict.kind : CHECK_FINE) {
	case CHECK_MISMATCH:
		return "hence a mismatch";
	case CHECK_DEADLOCK:
		return "hence a deadlock";
	case CHECK_TIMEOUT:
		return "hence a timeout";
	case CHECK_LEFT:
		return "hence a message was left behind";
	default:
		return NULL;
	}
}

/* The first refused call that the verdict turns on, and what it led to. */
static void report_invalid(struct check_lines *lines,
			   const struct check_finding *f)
{
	const char *how = f->facts->lost_how, *hence = hence_text(f->hence);
	const struct check_refusal *refusal;
	FILE *out = check_line(lines, 0);
	bool copied = f->board->slots[f->verdict.rank].copied != 0;
	uint32_t i = 0, ranks = 0;

	refusal = check_next_refusal(&f->board->slots[f->verdict.rank], &i);
	if (refusal) {
		fprintf(out, "lockstep: invalid call: %s",
			copied ? "a copy of " : "");
		ranks = check_print_refusal(out, f->board, refusal);
	}
	if (hence)
		fprintf(out, "; %s", hence);
	else if (!copied && ranks > 1)
		fprintf(out, "; rank %d %s", f->verdict.rank,
			*how ? how : "gave up");
	else if (!copied)
		fprintf(out, "; it %s", *how ? how : "gave up");
	check_report_refusals(lines, f->board);
}

static void report_verdict(struct check_lines *lines,
			   const struct check_finding *f)
{
	switch (f->verdict.kind) {
	case CHECK_MISMATCH:
		check_report_mismatch(lines, f);
		check_report_taken(lines, &f->taken, f->facts->race != NULL);
		break;
	case CHECK_HAZARD:
		check_report_hazard(lines, f->board);
		break;
	case CHECK_RACE:
		check_report_race(lines, f->facts->race);
		break;
	case CHECK_INVALID:
		report_invalid(lines, f);
		break;
	default:
		report_headline(lines, f);
		report_shortage(lines, f);
		report_place(lines, f);
		if (f->board && check_has_picture(f))
			report_waits(lines, f);
	}
	if (f->hence)
		report_verdict(lines, f->hence);
}

bool check_has_picture(const struct check_finding *f)
{
	enum check_verdict_kind kind = f->verdict.kind;

	return check_is_stuck(&f->verdict) || kind == CHECK_TIMEOUT ||
	       kind == CHECK_LOST || kind == CHECK_STATUS ||
	       kind == CHECK_INTERRUPTED;
}

void check_write_report(struct check_lines *lines,
			const struct check_finding *f)
{
	report_verdict(lines, f);
	if (f->board &&
	    (f->verdict.kind == CHECK_LOST || f->verdict.kind == CHECK_FAILED))
		check_report_refusals(lines, f->board);
	report_damaged(lines, f->board);
}
