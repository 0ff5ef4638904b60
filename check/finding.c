#include "check/finding.h"

#include <stdlib.h>
#include <string.h>

#include "check/chain.h"
#include "check/left.h"
#include "check/parting.h"
#include "check/refusal.h"
#include "check/unanswered.h"

/* Lines that ranks may have besides the one that they are in. */
#define MOST_LINES 6

/* ---- parties ---------------------------------------------------------- */

static bool same_line(const struct check_call *a, const struct check_call *b)
{
	if (!a || !b)
		return a == b;
	return a->site.line == b->site.line &&
	       strcmp(a->site.file, b->site.file) == 0 && check_same_call(a, b);
}

/* NULL for a line that is not known. */
static const struct check_site *known(const struct check_site *site)
{
	return site && site->file[0] ? site : NULL;
}

/* Takes rank into the story; who is in it already stays what it is. */
static void add(struct check_finding *f, uint32_t rank,
		const struct check_call *call, bool culprit)
{
	enum check_role role = culprit ? CHECK_CULPRIT : CHECK_PARTNER;
	uint32_t i = 0;

	if (f->party_of[rank])
		return;
	while (i < f->num_parties && (f->parties[i].role != role ||
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

/* One more line of a rank, which has another part in the story. */
static void add_line(struct check_finding *f, uint32_t rank,
		     const struct check_call *call)
{
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

/* The lines at which ranks went different ways before a call of group. */
static void add_parting(struct check_finding *f,
			const struct check_group *group,
			const struct check_call *before)
{
	struct check_parting parting;

	if (!check_find_parting(f->picture.board, group, before, &parting))
		return;
	add_line(f, parting.rank_few, parting.few);
	add_line(f, parting.rank_most, parting.most);
}

static const struct check_cohort *cohort_of(const struct check_finding *f,
					    uint32_t rank)
{
	return &f->picture.cohorts[f->picture.cohort_of[rank]];
}

/* The call that says where rank is, which need not be its cohort's first. */
static const struct check_call *place_of(const struct check_finding *f,
					 uint32_t rank)
{
	const struct check_slot *slot = &f->picture.board->slots[rank];
	bool waiting = cohort_of(f, rank)->waiting;

	return check_call_find(slot, waiting ? slot->waiting : slot->calls);
}

/* ---- mismatch --------------------------------------------------------- */

static void find_sides(struct check_finding *f,
		       const struct check_disagreement *found)
{
	const struct check_board *board = f->picture.board;
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

static void find_mismatch(struct check_finding *f)
{
	const struct check_board *board = f->picture.board;
	struct check_disagreement found;
	uint32_t rank;
	const struct check_call *call;

	if (!check_disagree(board, &f->picture.groups, &found)) {
		call = check_unequal_parts(board, &rank);
		if (call)
			add(f, rank, call, true);
	} else if (found.group && !found.pair) {
		find_sides(f, &found);
		add_parting(f, found.group, found.a);
	} else {
		add(f, found.rank_a, found.a, true);
		add(f, found.rank_b, found.b, true);
	}
}

/* ---- deadlock --------------------------------------------------------- */

static bool is_awaited_by(const struct check_finding *f,
			  const struct check_cohort *cohort, uint32_t rank)
{
	return check_next_awaited(&f->picture, cohort, rank) == rank;
}

/* Whether cohort waits, and some of those that it waits for cannot come. */
static bool is_stuck(const struct check_cohort *cohort)
{
	return cohort->waiting && !cohort->may_move;
}

/* The ranks of next that before waits for. */
static void add_awaited(struct check_finding *f,
			const struct check_cohort *before,
			const struct check_cohort *next, bool culprit)
{
	for (uint32_t rank = next->first; rank < f->picture.world_size; rank++)
		if (cohort_of(f, rank) == next &&
		    is_awaited_by(f, before, rank))
			add(f, rank, place_of(f, rank), culprit);
}

/* Walks along the chain from start. Returns the last cohort that waits in it;
 * NULL: it is a cycle, of which all ranks are culprits now. */
static const struct check_cohort *walk(struct check_finding *f, uint32_t start)
{
	const struct check_cohort *cohort = cohort_of(f, start), *next;
	int64_t rank = check_chain_next(&f->picture, cohort);

	for (uint32_t i = 0; rank >= 0; i++) {
		next = cohort_of(f, (uint32_t)rank);
		if (!is_stuck(next) ||
		    check_has_left(&f->picture, cohort, (uint32_t)rank))
			return cohort;
		if (i > f->picture.num_cohorts)
			break;
		rank = check_chain_next(&f->picture, next);
		cohort = next;
	}
	if (rank < 0)
		return cohort;
	for (uint32_t i = 0; i <= f->picture.num_cohorts; i++) {
		next = cohort_of(f, (uint32_t)rank);
		add_awaited(f, cohort, next, true);
		cohort = next;
		rank = check_chain_next(&f->picture, next);
	}
	return NULL;
}

/* The ranks that stuck ones wait for, and that have gone. */
static bool has_gone(const struct check_finding *f, uint32_t rank)
{
	const struct check_picture *p = &f->picture;

	for (uint32_t i = 0; i < p->num_cohorts; i++)
		if (is_stuck(&p->cohorts[i]) &&
		    is_awaited_by(f, &p->cohorts[i], rank) &&
		    (!cohort_of(f, rank)->waiting ||
		     check_has_left(p, &p->cohorts[i], rank)))
			return true;
	return false;
}

/* Whether cohort is stuck for the sake of a rank that has gone, and not of one
 * that is stuck itself. */
static bool misses_some(const struct check_finding *f,
			const struct check_cohort *cohort)
{
	const struct check_picture *p = &f->picture;
	uint32_t rank = check_next_awaited(p, cohort, 0);

	while (rank < p->world_size && !has_gone(f, rank))
		rank = check_next_awaited(p, cohort, rank + 1);
	return is_stuck(cohort) && rank < p->world_size;
}

static void find_smaller_side(struct check_finding *f)
{
	uint32_t gone = 0, stuck = 0, n = f->picture.world_size;

	for (uint32_t rank = 0; rank < n; rank++) {
		bool went = has_gone(f, rank);

		gone += went;
		stuck += !went && misses_some(f, cohort_of(f, rank));
	}
	for (int culprits = 1; culprits >= 0; culprits--)
		for (uint32_t rank = 0; rank < n; rank++) {
			bool went = has_gone(f, rank);
			bool odd = went ? gone <= stuck : stuck <= gone;

			if ((went || misses_some(f, cohort_of(f, rank))) &&
			    odd == culprits)
				add(f, rank, place_of(f, rank), odd);
		}
}

/* Both ends of a message that last waits with and that will never come. */
static void find_ends(struct check_finding *f, const struct check_cohort *last)
{
	int64_t gone = check_chain_next(&f->picture, last);

	add(f, last->first, last->call, true);
	if (gone >= 0)
		add(f, (uint32_t)gone, place_of(f, (uint32_t)gone), true);
}

/* An end, in which the rank need not wait. */
static void add_end(struct check_finding *f, const struct check_end *end)
{
	add(f, end->rank, place_of(f, end->rank), true);
	add_line(f, end->rank, end->call);
}

/* Two ends that almost meet, if there are such. */
static bool find_miss(struct check_finding *f)
{
	struct check_miss miss;

	if (!check_find_miss(&f->picture, &miss))
		return false;
	add_end(f, &miss.send);
	add_end(f, &miss.recv);
	return true;
}

/* A message like the one that a rank is stuck in. */
static void find_twin(struct check_finding *f)
{
	struct check_end twin;

	if (check_find_twin(&f->picture, &twin))
		add_line(f, twin.rank, twin.call);
}

/* The collective that an awaited rank lacks, where others were. */
static void find_lack(struct check_finding *f)
{
	struct check_lack lack;

	if (check_find_lack(&f->picture, &lack))
		add_line(f, lack.caller, lack.call);
}

static void find_stuck(struct check_finding *f, int odd)
{
	uint32_t start =
		check_chain_start(&f->picture, odd > 0 ? (uint32_t)odd : 0);
	bool missed = find_miss(f);
	const struct check_cohort *last = walk(f, start), *cohort;

	if (last && last->call && last->call->tag >= 0 && !missed)
		find_ends(f, last);
	else if (last && !missed)
		find_smaller_side(f);
	for (uint32_t rank = 0; rank < f->picture.world_size; rank++)
		if (is_stuck(cohort_of(f, rank)))
			add(f, rank, place_of(f, rank), false);
	find_lack(f);
	find_twin(f);
	cohort = check_gathering(&f->picture, start);
	if (cohort)
		add_parting(f, cohort->group, cohort->call);
}

/* ---- late and lost ---------------------------------------------------- */

/* Those that wait, and before them those that they wait for if these are not
 * waiting themselves. */
static void find_late(struct check_finding *f)
{
	const struct check_picture *p = &f->picture;

	for (uint32_t i = 0; i < p->num_cohorts; i++) {
		uint32_t rank = check_next_awaited(p, &p->cohorts[i], 0);

		while (rank < p->world_size) {
			if (!cohort_of(f, rank)->waiting)
				add(f, rank, place_of(f, rank), true);
			rank = check_next_awaited(p, &p->cohorts[i], rank + 1);
		}
	}
	for (uint32_t rank = 0; rank < p->world_size; rank++)
		if (cohort_of(f, rank)->waiting)
			add(f, rank, place_of(f, rank), false);
	find_lack(f);
}

/* The ranks that gave up because a call was refused like one of lost's. */
static void add_refused(struct check_finding *f, uint32_t lost)
{
	const struct check_slot *slots = f->picture.board->slots;

	for (uint32_t rank = 0; rank < f->picture.world_size; rank++)
		if (check_refused_alike(&slots[rank], &slots[lost]))
			add(f, rank, &slots[rank].refusal.call, true);
}

static void find_lost(struct check_finding *f, uint32_t lost)
{
	const struct check_picture *p = &f->picture;

	add_refused(f, lost);
	add(f, lost, place_of(f, lost), true);
	for (uint32_t rank = 0; rank < p->world_size; rank++)
		if (is_awaited_by(f, cohort_of(f, rank), lost))
			add(f, rank, place_of(f, rank), false);
	find_lack(f);
}

/* Each culprit has two lines more: of what it did to the memory of its call,
 * if that was seen, and of where it came out, or was given to. */
static void find_hazards(struct check_finding *f)
{
	const struct check_board *board = f->picture.board;
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
		beside.role = CHECK_ACCESS;
		beside.site = known(&hazard->access);
		beside.function = hazard->function;
		if (beside.site)
			f->parties[f->num_parties++] = beside;
		beside.role = CHECK_PARTNER;
		beside.call = &hazard->other;
		beside.site = known(&hazard->other.site);
		beside.function = NULL;
		f->parties[f->num_parties++] = beside;
	}
}

static void find_left(struct check_finding *f)
{
	const struct check_board *board = f->picture.board;
	struct check_left left;

	if (!check_find_left(board, &left))
		return;
	add(f, left.rank, left.call, true);
	if (left.kind != CHECK_LEFT_HANDLE)
		return;
	for (uint32_t rank = left.rank; rank < board->world_size; rank++) {
		const struct check_call *call =
			check_next_held(&board->slots[rank], 0);

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

bool check_finding_init(struct check_finding *f,
			const struct check_board *board,
			const struct check_facts *facts,
			const struct check_verdict *verdict)
{
	uint32_t n = board->world_size;

	*f = (struct check_finding){.party_of = NULL};
	if (!check_picture_init(&f->picture, board))
		return false;
	f->party_of = calloc(n, sizeof *f->party_of);
	f->parties = calloc(3 * (size_t)n + MOST_LINES, sizeof *f->parties);
	if (!f->party_of || !f->parties) {
		check_finding_release(f);
		return false;
	}
	if (verdict->kind == CHECK_MISMATCH)
		find_mismatch(f);
	else if (check_is_stuck(verdict))
		find_stuck(f, verdict->rank);
	else if (verdict->kind == CHECK_TIMEOUT)
		find_late(f);
	else if (verdict->kind == CHECK_LEFT)
		find_left(f);
	else if (verdict->kind == CHECK_HAZARD)
		find_hazards(f);
	else if (verdict->kind == CHECK_RACE && facts->race)
		find_race(f, facts->race);
	else if (verdict->kind != CHECK_FINE && verdict->rank >= 0)
		find_lost(f, (uint32_t)verdict->rank);
	return true;
}

void check_finding_release(struct check_finding *f)
{
	check_picture_release(&f->picture);
	free(f->party_of);
	free(f->parties);
	f->party_of = NULL;
	f->parties = NULL;
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
					    [CHECK_ACCESS] = "access"};

	return names[role];
}
