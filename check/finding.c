#include "check/finding.h"

#include <stdlib.h>
#include <string.h>

#include "check/chain.h"
#include "check/forms.h"
#include "check/message.h"
#include "check/refusal.h"
#include "check/sides.h"

/* Lines that ranks may have besides the one that they are in. */
#define MOST_LINES 8

/* ---- parties ---------------------------------------------------------- */

static bool same_line(const struct check_call *a, const struct check_call *b)
{
	if (!a || !b)
		return a == b;
	return check_same_place(a, b) && check_same_call(a, b);
}

/* NULL for a line that is not known. */
static const struct check_site *known(const struct check_site *site)
{
	return site && site->file[0] ? site : NULL;
}

/* Takes rank into the finding; who is in it already stays what it is. */
static void add(struct check_finding *f, uint32_t rank,
		const struct check_call *call, bool culprit)
{
	enum check_role role = culprit ? CHECK_CULPRIT : CHECK_PARTNER;
	uint32_t i = 0;

	if (f->party_of[rank])
		return;
	while (i < f->num_parties &&
	       (f->parties[i].role != role || f->parties[i].alone ||
		!same_line(f->parties[i].call, call)))
		i++;
	if (i == f->num_parties)
		f->parties[f->num_parties++] = (struct check_party){
			.call = call,
			.site = known(call ? &call->site : NULL),
			.role = role,
			.first = rank};
	f->parties[i].size++;
	f->party_of[rank] = i + 1;
}

/* One more line of a rank, which has another part in the finding; none if call
 * is NULL. */
static void add_line(struct check_finding *f, uint32_t rank,
		     const struct check_call *call)
{
	if (!call)
		return;
	for (uint32_t i = 0; i < f->num_parties; i++)
		if (same_line(f->parties[i].call, call))
			return;
	f->parties[f->num_parties++] = (struct check_party){
		.call = call,
		.site = known(&call->site),
		.role = check_is_culprit(f, rank) ? CHECK_CULPRIT
						  : CHECK_PARTNER,
		.first = rank,
		.size = 1,
		.alone = true};
}

/* The lines of a receive from any source that took the wrong message, and those
 * at which ranks went different ways. */
static void add_taken(struct check_finding *f)
{
	add_line(f, f->taken.any.rank, f->taken.any.call);
	if (f->taken.any.call)
		add_line(f, f->taken.other.rank, f->taken.other.call);
}

static void add_divergence(struct check_finding *f)
{
	add_line(f, f->divergence.rank_few, f->divergence.few);
	add_line(f, f->divergence.rank_most, f->divergence.most);
}

static const struct check_cohort *cohort_of(const struct check_finding *f,
					    uint32_t rank)
{
	return check_cohort_of(&f->picture, rank);
}

/* The call that says where rank is, which need not be its cohort's first. */
static const struct check_call *place_of(const struct check_finding *f,
					 uint32_t rank)
{
	const struct check_slot *slot = &f->board->slots[rank];
	bool waiting = cohort_of(f, rank)->waiting;

	return check_call_find(slot, waiting ? slot->waiting : slot->calls);
}

/* One more line of the rank of a lane: where its function waits. The rank is a
 * culprit, at the line of the call that itself waits in, if it does. */
static void add_lane(struct check_finding *f, const struct check_cohort *lane)
{
	const struct check_site *site =
		lane->wait ? known(&lane->wait->site) : NULL;

	const struct check_rpc_wait *own = cohort_of(f, lane->first)->wait;

	if (!f->party_of[lane->first])
		add(f, lane->first,
		    own && own->worker >= 0 ? place_of(f, lane->first) : NULL,
		    true);
	for (uint32_t i = 0; site && i < f->num_parties; i++)
		if (f->parties[i].site == site)
			site = NULL;
	if (site && f->num_parties < f->most_parties)
		f->parties[f->num_parties++] = (struct check_party){
			.site = site,
			.function = lane->serving->function,
			.role = CHECK_CULPRIT,
			.first = lane->first,
			.size = 1,
			.alone = true};
}

/* ---- mismatch --------------------------------------------------------- */

static void find_sides(struct check_finding *f,
		       const struct check_disagreement *found)
{
	const struct check_board *board = f->board;
	const struct check_group *group = found->group;
	uint32_t most = check_count_like(board, group, found->b);
	bool tie = check_count_like(board, group, found->a) == most;

	for (int culprits = 1; culprits >= 0; culprits--)
		for (uint32_t i = 0; i < group->num_members; i++) {
			uint32_t rank = check_group_member(group, i);
			const struct check_call *call = check_counterpart(
				&board->slots[rank], found->a);

			if (call && (!check_same_call(call, found->b) || tie) ==
					    culprits)
				add(f, rank, call, culprits);
		}
}

/* The ranks that did not make the calls that most made, or all of them. */
static void find_missing(struct check_finding *f)
{
	struct check_missing *missing = &f->missing;

	if (!check_find_unmade(&f->picture, missing) &&
	    !check_find_missing(f->board, missing))
		return;
	for (int culprits = 1; culprits >= 0; culprits--)
		for (uint32_t i = 0; i < missing->num; i++) {
			const struct check_account *own = &missing->accounts[i];
			bool odd = missing->tie ||
				   !check_same_account(own, &missing->usual);

			if (odd == culprits)
				add(f, own->rank,
				    check_account_call(f->board, missing, own),
				    odd);
		}
	add_line(f, missing->caller, missing->call);
}

static void find_mismatch(struct check_finding *f)
{
	const struct check_board *board = f->board;
	struct check_disagreement *found = &f->disagreement;

	if (!check_disagree(board, &f->picture.groups, found)) {
		f->unequal.call = check_unequal_parts(board, &f->unequal.rank);
		if (f->unequal.call)
			add(f, f->unequal.rank, f->unequal.call, true);
		else
			find_missing(f);
		return;
	}
	if (found->made) {
		for (uint32_t rank = 0; rank < board->world_size; rank++) {
			const struct check_call *call =
				check_made_like(&board->slots[rank], found->a);

			if (call && (check_same_call(call, found->a) ||
				     check_same_call(call, found->b)))
				add(f, rank, call, true);
		}
	} else if (found->group && !found->pair) {
		find_sides(f, found);
		(void)check_find_divergence(board, found->group, found->a,
					    &f->divergence);
		add_divergence(f);
	} else {
		bool one = found->pair && found->common >= 0;

		/* Both ends of a message, or of a part; but where one rank is
		 * in all pairs that do not fit, that alone. */
		for (int culprits = 1; culprits >= 0; culprits--) {
			if ((!one || found->rank_a == found->common) ==
			    culprits)
				add(f, found->rank_a, found->a, culprits);
			if ((!one || found->rank_b == found->common) ==
			    culprits)
				add(f, found->rank_b, found->b, culprits);
		}
	}
	check_find_misled(board, found, &f->taken);
	add_taken(f);
}

/* ---- deadlock --------------------------------------------------------- */

/* The ranks of next that before waits for; of a lane, its rank, at the line
 * where the function waits. */
static void add_awaited(struct check_finding *f,
			const struct check_cohort *before,
			const struct check_link *next, bool culprit)
{
	if (next->cohort->serving) {
		add_lane(f, next->cohort);
		return;
	}
	for (uint32_t rank = next->cohort->first; rank < f->picture.world_size;
	     rank++)
		if (cohort_of(f, rank) == next->cohort &&
		    check_awaits(&f->picture, before, rank))
			add(f, rank, place_of(f, rank), culprit);
}

/* Where a cycle has a call of which one side alone may be wrong, the smaller
 * one is: those that have come to it, or those that have not. Adds that side;
 * false: there is no such call in the cycle behind cohort, or the sides are
 * equal. */
static bool add_aside(struct check_finding *f,
		      const struct check_cohort *cohort)
{
	const struct check_picture *p = &f->picture;
	uint32_t num[] = {0, 0, 0}, i = 0;
	enum check_side smaller;

	for (; !check_has_sides(p, cohort); i++) {
		if (i == check_chain_length(p))
			return false;
		cohort = check_chain_next(p, cohort).cohort;
	}
	for (uint32_t rank = 0; rank < p->world_size; rank++)
		num[check_side_of(p, cohort, rank)]++;
	if (num[CHECK_SIDE_CAME] == num[CHECK_SIDE_MISSING])
		return false;
	smaller = num[CHECK_SIDE_CAME] < num[CHECK_SIDE_MISSING]
			  ? CHECK_SIDE_CAME
			  : CHECK_SIDE_MISSING;
	for (uint32_t rank = 0; rank < p->world_size; rank++)
		if (check_side_of(p, cohort, rank) == smaller)
			add(f, rank, place_of(f, rank), true);
	return true;
}

/* Walks along the chain from start. Returns the last cohort that waits in it;
 * NULL: it is a cycle, of which all ranks are culprits now. */
static const struct check_cohort *walk(struct check_finding *f, uint32_t start)
{
	const struct check_cohort *cohort = cohort_of(f, start);
	struct check_link link = check_chain_next(&f->picture, cohort);

	for (uint32_t i = 0; link.cohort; i++) {
		if (!check_is_caught(link.cohort) ||
		    check_has_left(&f->picture, cohort, link.rank))
			return cohort;
		cohort = link.cohort;
		if (i > check_chain_length(&f->picture))
			break;
		link = check_chain_next(&f->picture, cohort);
	}
	if (!link.cohort)
		return cohort;
	if (add_aside(f, cohort))
		return NULL;
	for (uint32_t i = 0; i < check_chain_length(&f->picture); i++) {
		const struct check_call *call;

		link = check_chain_next(&f->picture, cohort);
		call = link.cohort->serving ? NULL : link.cohort->call;
		/* Where two ends of a message miss each other, who waits in a
		 * collective for these does right. */
		if (!f->miss.send.call || !call || call->tag >= 0)
			add_awaited(f, cohort, &link, true);
		cohort = link.cohort;
	}
	return NULL;
}

/* The ranks that stuck ones wait for, and that have gone: not those in their
 * own code, of which nobody knows yet whether they call. */
static bool has_gone(const struct check_finding *f, uint32_t rank)
{
	const struct check_picture *p = &f->picture;
	uint32_t state = p->board->slots[rank].state;
	bool ends = state != CHECK_RANK_WAITING && state != CHECK_RANK_RUNNING;

	for (uint32_t i = 0; i < p->num_cohorts; i++)
		if (check_is_caught(&p->cohorts[i]) &&
		    check_awaits(p, &p->cohorts[i], rank) &&
		    (ends || check_has_left(p, &p->cohorts[i], rank)))
			return true;
	return false;
}

/* Whether cohort is caught and waits for a rank that has gone. */
static bool misses_some(const struct check_finding *f,
			const struct check_cohort *cohort)
{
	const struct check_picture *p = &f->picture;
	uint32_t rank = check_next_awaited(p, cohort, 0);

	while (rank < p->world_size && !has_gone(f, rank))
		rank = check_next_awaited(p, cohort, rank + 1);
	return check_is_caught(cohort) && rank < p->world_size;
}

/* Whether rank made a call, and ended, that others are caught in because of one
 * that did not make it: it is on their side. */
static bool went_through(const struct check_finding *f, uint32_t rank)
{
	const struct check_picture *p = &f->picture;
	const struct check_slot *slot = &p->board->slots[rank];

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		const struct check_cohort *cohort = &p->cohorts[i];
		const struct check_call *call = cohort->call;
		uint32_t made;

		if (!misses_some(f, cohort) || !cohort->group || call->tag >= 0)
			continue;
		made = check_collectives(slot, call->group_id,
					 call->generation);
		if (made != UINT32_MAX && made > call->index)
			return true;
	}
	return false;
}

/* Whether rank waits for a message that a rank that has gone began to send. */
static bool is_cut_off(const struct check_finding *f, uint32_t rank)
{
	const struct check_cohort *cohort = cohort_of(f, rank);

	return cohort->answered && !check_from_any(cohort->call) &&
	       has_gone(f, (uint32_t)cohort->call->peer_rank);
}

/* Who left without a shutdown is at fault, however many wait in one. A rank
 * that last waits for and that has not gone would still come. */
static void find_smaller_side(struct check_finding *f,
			      const struct check_cohort *last)
{
	bool must_come = check_is_in_shutdown(last);
	uint32_t gone = 0, stuck = 0, n = f->picture.world_size;

	for (uint32_t rank = 0; rank < n; rank++) {
		bool went = has_gone(f, rank);

		gone += went;
		stuck += !went &&
			 (misses_some(f, cohort_of(f, rank)) ||
			  went_through(f, rank) || is_cut_off(f, rank) ||
			  check_awaits(&f->picture, last, rank));
	}
	for (int culprits = 1; culprits >= 0; culprits--)
		for (uint32_t rank = 0; rank < n; rank++) {
			bool went = has_gone(f, rank);
			bool odd = went ? must_come || gone <= stuck
					: !must_come && stuck <= gone;

			if ((went || misses_some(f, cohort_of(f, rank))) &&
			    odd == culprits)
				add(f, rank, place_of(f, rank), odd);
		}
}

/* An end, in which the rank need not wait. */
static void add_end(struct check_finding *f, const struct check_end *end)
{
	if (end->call)
		add(f, end->rank, place_of(f, end->rank), true);
	add_line(f, end->rank, end->call);
}

static void find_stuck(struct check_finding *f)
{
	const struct check_cohort *last;
	bool missed = f->miss.send.call, all;

	add_end(f, &f->miss.send);
	add_end(f, &f->miss.recv);
	last = walk(f, f->start);
	if (last &&
	    (last->wait ? !check_is_in_shutdown(last)
			: last->call && check_is_message(last->call)) &&
	    !missed) {
		/* Both ends of a message that last waits with and that will
		 * never come. */
		struct check_link gone = check_chain_next(&f->picture, last);

		if (last->serving)
			add_lane(f, last);
		else
			add(f, last->first, last->call, true);
		if (gone.cohort)
			add(f, gone.rank, place_of(f, gone.rank), true);
	} else if (last && !missed)
		find_smaller_side(f, last);
	/* Nobody is left but those who wait for a key. */
	all = last && last->call && last->call->tag == CHECK_TAG_STORE &&
	      check_next_awaited(&f->picture, last, 0) == f->picture.world_size;
	for (uint32_t rank = 0; rank < f->picture.world_size; rank++)
		if (check_is_caught(cohort_of(f, rank)))
			add(f, rank, place_of(f, rank), all);
	add_line(f, f->absent.caller, f->absent.call);
	add_line(f, f->previous.rank, f->previous.call);
	add_taken(f);
	add_divergence(f);
}

/* ---- late and lost ---------------------------------------------------- */

/* Who is at the end of the remote calls that cohort waits in. */
static void add_slow(struct check_finding *f, const struct check_cohort *cohort)
{
	struct check_link link = {cohort, cohort->first}, next;
	uint32_t i = 0;

	do {
		next = check_chain_next(&f->picture, link.cohort);
		if (next.cohort)
			link = next;
	} while (next.cohort && i++ < check_chain_length(&f->picture));
	if (link.cohort->serving)
		add_lane(f, link.cohort);
	else if (link.cohort->wait && link.cohort->wait->worker >= 0)
		link.rank = (uint32_t)link.cohort->wait->worker;
	add(f, link.rank, link.cohort->serving ? NULL : place_of(f, link.rank),
	    true);
}

/* Those that wait, and before them those that they wait for if these are not
 * waiting themselves. */
static void find_late(struct check_finding *f)
{
	const struct check_picture *p = &f->picture;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		uint32_t rank = check_next_awaited(p, &p->cohorts[i], 0);

		if (p->cohorts[i].wait) {
			add_slow(f, &p->cohorts[i]);
			continue;
		}
		while (rank < p->world_size) {
			if (!cohort_of(f, rank)->waiting)
				add(f, rank, place_of(f, rank), true);
			rank = check_next_awaited(p, &p->cohorts[i], rank + 1);
		}
	}
	for (uint32_t rank = 0; rank < p->world_size; rank++)
		if (cohort_of(f, rank)->waiting)
			add(f, rank, place_of(f, rank), false);
	add_line(f, f->absent.caller, f->absent.call);
	add_taken(f);
}

static void find_lost(struct check_finding *f, uint32_t lost)
{
	const struct check_picture *p = &f->picture;

	if ((int)lost == f->facts->lost_rank) {
		/* The line that lost was at, unless its last call is there. */
		const struct check_call *call = place_of(f, lost);

		if (known(&f->facts->lost_at.site) &&
		    !(call &&
		      check_same_site(&call->site, &f->facts->lost_at.site)))
			f->parties[f->num_parties++] = (struct check_party){
				.site = &f->facts->lost_at.site,
				.function = f->facts->lost_at.function,
				.role = CHECK_CULPRIT,
				.first = lost,
				.size = 1,
				.alone = true};
	}
	add(f, lost, place_of(f, lost), true);
	for (uint32_t rank = 0; rank < p->world_size; rank++)
		if (check_awaits(p, cohort_of(f, rank), lost))
			add(f, rank, place_of(f, rank), false);
	add_line(f, f->absent.caller, f->absent.call);
}

/* One more line of rank, which may have a part in the finding already. */
static void add_to(struct check_finding *f, uint32_t rank,
		   const struct check_call *call, bool culprit)
{
	if (f->party_of[rank] && call)
		add_line(f, rank, call);
	else
		add(f, rank, call, culprit);
}

/* The ranks of which calls were refused, and those that it led to wait or to
 * meet others. */
static void find_refused(struct check_finding *f)
{
	const struct check_board *board = f->board;
	const struct check_refusal *refusal;
	struct check_disagreement found;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		for (uint32_t i = 0;
		     (refusal = check_next_refusal(&board->slots[rank], &i));)
			add_to(f, rank, &refusal->call, true);
	if (check_disagree(board, &f->picture.groups, &found)) {
		add_to(f, found.rank_a, found.a, false);
		add_to(f, found.rank_b, found.b, false);
	}
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (cohort_of(f, rank)->waiting)
			add_to(f, rank, place_of(f, rank), false);
}

/* The same party, in another role at another line, if that is known. */
static void add_beside(struct check_finding *f, struct check_party party,
		       enum check_role role, const struct check_site *site)
{
	party.role = role;
	party.site = known(site);
	if (party.site)
		f->parties[f->num_parties++] = party;
}

/* Each culprit has more lines: the access to the memory, if it was seen, the
 * nearest calls, and the call that found the change or got the same memory. */
static void find_hazards(struct check_finding *f)
{
	const struct check_board *board = f->board;
	uint32_t num;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].hazard.kind)
			add(f, rank, &board->slots[rank].hazard.call, true);
	num = f->num_parties;
	for (uint32_t i = 0; i < num; i++) {
		struct check_party beside = f->parties[i];
		const struct check_hazard *hazard =
			&board->slots[beside.first].hazard;

		beside.beside = i + 1;
		beside.function = hazard->function;
		add_beside(f, beside, CHECK_ACCESS, &hazard->access);
		beside.function = NULL;
		add_beside(f, beside, CHECK_BETWEEN, &hazard->after);
		if (!check_same_site(&hazard->until, &hazard->other.site))
			add_beside(f, beside, CHECK_BETWEEN, &hazard->until);
		beside.role = CHECK_PARTNER;
		beside.call = &hazard->other;
		beside.site = known(&hazard->other.site);
		f->parties[f->num_parties++] = beside;
	}
}

static void find_left(struct check_finding *f)
{
	const struct check_board *board = f->board;
	const struct check_left *left = &f->left;

	if (!check_find_left(board, &f->left))
		return;
	if (left->reference) {
		add(f, left->rank, NULL, true);
		f->parties[0].site = known(&left->reference->site);
		f->parties[0].function = "";
		return;
	}
	add(f, left->rank, left->call, true);
	if (left->kind != CHECK_LEFT_HANDLE)
		return;
	for (uint32_t rank = left->rank; rank < board->world_size; rank++) {
		const struct check_call *call =
			check_next_held(&board->slots[rank], 0, CHECK_HELD);

		if (call)
			add(f, rank, call, true);
	}
}

/* ---- race ------------------------------------------------------------- */

static const struct check_call *if_recorded(const struct check_call *call)
{
	return call->op[0] ? call : NULL;
}

static void find_race(struct check_finding *f, const struct check_race *race)
{
	add(f, race->rank, if_recorded(&race->call), true);
	if (race->look)
		return;
	add(f, race->other.sender, if_recorded(&race->other.send), false);
	add(f, race->here.sender, if_recorded(&race->here.send), false);
}

/* ---- all -------------------------------------------------------------- */

/* Who waits for whom, and why in vain. */
static void find_waits(struct check_finding *f)
{
	const struct check_picture *p = &f->picture;
	const struct check_cohort *gathering = NULL;
	bool stuck = check_is_stuck(&f->verdict);
	int odd = f->verdict.rank;

	f->start = check_chain_start(p, odd > 0 ? (uint32_t)odd : 0);
	check_find_absent_call(p, &f->absent);
	check_find_unanswered(f->board, &f->unanswered);
	if (f->verdict.kind != CHECK_LOST) {
		check_find_miss(p, &f->unanswered, &f->miss);
		check_find_previous_call(p, &f->unanswered, &f->previous);
	}
	if (stuck || f->verdict.kind == CHECK_TIMEOUT) {
		check_find_other_group(p, &f->other_group);
		check_find_taken(p, &f->unanswered, &f->miss, &f->taken);
	}
	if (stuck)
		gathering = check_gathering(p, f->start);
	if (gathering)
		(void)check_find_divergence(f->board, gathering->group,
					    gathering->call, &f->divergence);
}

/* Finds what the verdict rests on, and the parties that show it. */
static void find_parties(struct check_finding *f)
{
	enum check_verdict_kind kind = f->verdict.kind;

	if (check_has_picture(f) || kind == CHECK_FAILED)
		find_waits(f);
	if (kind == CHECK_MISMATCH)
		find_mismatch(f);
	else if (check_is_stuck(&f->verdict))
		find_stuck(f);
	else if (kind == CHECK_TIMEOUT && !f->facts->endless_ns)
		find_late(f);
	else if (kind == CHECK_LEFT)
		find_left(f);
	else if (kind == CHECK_HAZARD)
		find_hazards(f);
	else if (kind == CHECK_INVALID)
		find_refused(f);
	else if (kind == CHECK_RACE)
		find_race(f, f->facts->race);
	else if (kind != CHECK_FINE && f->verdict.rank >= 0)
		find_lost(f, (uint32_t)f->verdict.rank);
}

static bool find(struct check_finding *f, const struct check_board *board,
		 const struct check_facts *facts,
		 const struct check_verdict *verdict)
{
	struct check_verdict hence = {CHECK_FINE, -1};

	*f = (struct check_finding){
		.board = board, .facts = facts, .verdict = *verdict};
	if (verdict->kind == CHECK_INVALID)
		hence = check_hence(board, facts);
	else if (verdict->kind == CHECK_RACE)
		hence = facts->race->outcome;
	if (hence.kind != CHECK_FINE) {
		f->hence = malloc(sizeof *f->hence);
		if (!f->hence || !find(f->hence, board, facts, &hence))
			return false;
	}
	if (!board)
		return true;
	if (!check_picture_init(&f->picture, board))
		return false;
	f->party_of = calloc(board->world_size, sizeof *f->party_of);
	f->most_parties = (3 + CHECK_REFUSALS) * (size_t)board->world_size +
			  f->picture.num_lanes + MOST_LINES;
	f->parties = calloc(f->most_parties, sizeof *f->parties);
	if (!f->party_of || !f->parties)
		return false;
	find_parties(f);
	return true;
}

/* The first line of the report; without one, the verdict's name. */
static void summarise(struct check_finding *f)
{
	const char *text = f->report.text, *prefix = "lockstep: ";
	size_t len = f->report.num ? f->report.all[0].end : 0;

	if (len == 0)
		snprintf(f->summary, sizeof f->summary, "%s",
			 check_verdict_name(f->verdict.kind));
	else if (strncmp(text, prefix, strlen(prefix)) == 0)
		snprintf(f->summary, sizeof f->summary, "%.*s",
			 (int)(len - strlen(prefix)), text + strlen(prefix));
	else
		snprintf(f->summary, sizeof f->summary, "%.*s", (int)len, text);
}

static bool report(struct check_finding *f)
{
	bool good;

	if (!check_lines_open(&f->report) || !check_lines_open(&f->warnings))
		return false;
	check_write_report(&f->report, f);
	if (f->facts->warning)
		fputs(f->facts->warning, check_line(&f->warnings, 0));
	if (f->board && f->verdict.kind == CHECK_FINE) {
		check_warn_of_refusals(&f->warnings, f->board);
		check_warn_of_unwaited(&f->warnings, f->board);
		check_warn_of_forms(&f->warnings, f->board);
		check_warn_of_shutdown(&f->warnings, f->board);
		if (f->facts->wants_calls)
			check_warn_of_silence(&f->warnings, f->board);
	}
	good = check_lines_close(&f->report);
	if (!check_lines_close(&f->warnings) || !good)
		return false;
	summarise(f);
	return true;
}

bool check_finding_init(struct check_finding *f,
			const struct check_board *board,
			const struct check_facts *facts,
			const struct check_verdict *verdict)
{
	if (find(f, board, facts, verdict) && report(f))
		return true;
	check_finding_release(f);
	return false;
}

void check_finding_release(struct check_finding *f)
{
	if (f->hence)
		check_finding_release(f->hence);
	free(f->hence);
	check_picture_release(&f->picture);
	check_missing_release(&f->missing);
	free(f->party_of);
	free(f->parties);
	check_lines_release(&f->report);
	check_lines_release(&f->warnings);
	*f = (struct check_finding){.board = NULL};
}

bool check_is_culprit(const struct check_finding *f, uint32_t rank)
{
	return f->party_of[rank] &&
	       f->parties[f->party_of[rank] - 1].role == CHECK_CULPRIT;
}

const char *check_role_name(enum check_role role)
{
	static const char *const names[] = {[CHECK_CULPRIT] = "culprit",
					    [CHECK_PARTNER] = "partner",
					    [CHECK_ACCESS] = "access",
					    [CHECK_BETWEEN] = "between"};

	return names[role];
}
