#include "check/missing_call.h"

#include <stdlib.h>
#include <string.h>

#include "check/dependence.h"
#include "check/disagreement.h"

/* ---- accounts --------------------------------------------------------- */

static int by_group(const struct check_account *a,
		    const struct check_account *b)
{
	int order = check_by_value(a->generation, b->generation);

	if (order == 0)
		order = check_by_value(a->group_id, b->group_id);
	return order ? order : check_by_value(a->leader, b->leader);
}

static int by_group_and_rank(const void *a, const void *b)
{
	const struct check_account *x = a, *y = b;
	int order = by_group(x, y);

	return order ? order : check_by_value(x->rank, y->rank);
}

static uint32_t num_past(const struct check_slot *slot)
{
	return slot->pasts < CHECK_PAST ? slot->pasts : CHECK_PAST;
}

static struct check_account account_of(const struct check_slot *slot,
				       uint32_t rank,
				       const struct check_membership *own,
				       uint32_t generation, bool failed)
{
	return (struct check_account){
		.generation = generation,
		.group_id = own->group_id,
		.leader = own->leader,
		.rank = rank,
		.collectives = own->collectives,
		.trail = own->trail,
		.excused = failed || slot->state != CHECK_RANK_FINISHED};
}

/* Adds those of rank, and returns how many they are. */
static size_t add_accounts(const struct check_slot *slot, uint32_t rank,
			   struct check_account *accounts)
{
	size_t n = 0;

	for (uint32_t i = 0; i < check_num_memberships(slot); i++)
		accounts[n++] =
			account_of(slot, rank, check_membership_at(slot, i),
				   slot->generation, slot->failed > 0);
	for (uint32_t i = 0; i < num_past(slot); i++) {
		const struct check_past *past = &slot->past[i];
		bool now = past->generation == slot->generation;

		accounts[n++] = account_of(
			slot, rank, &past->was, past->generation,
			past->failed > 0 || (now && slot->failed > 0));
	}
	return n;
}

/* All accounts, group by group, and by rank; NULL: no memory. */
static struct check_account *collect(const struct check_board *board,
				     size_t *num)
{
	struct check_account *accounts;
	size_t most = 1, n = 0;

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		most += check_num_memberships(&board->slots[rank]) +
			num_past(&board->slots[rank]);
	accounts = calloc(most, sizeof *accounts);
	for (uint32_t rank = 0; accounts && rank < board->world_size; rank++)
		n += add_accounts(&board->slots[rank], rank, accounts + n);
	if (n > 0)
		qsort(accounts, n, sizeof *accounts, by_group_and_rank);
	*num = n;
	return accounts;
}

bool check_same_account(const struct check_account *a,
			const struct check_account *b)
{
	return a->collectives == b->collectives && a->trail == b->trail;
}

static const struct check_call *last_call(const struct check_board *board,
					  const struct check_account *account)
{
	const struct check_slot *slot = &board->slots[account->rank];
	const struct check_call *call = check_last_collective(
		slot, account->group_id, account->generation);

	return call ? call : check_call_find(slot, slot->calls);
}

const struct check_call *check_account_call(const struct check_board *board,
					    const struct check_missing *missing,
					    const struct check_account *account)
{
	const struct check_call *own = NULL;

	if (missing->call && account->collectives > missing->call->index)
		own = check_counterpart(&board->slots[account->rank],
					missing->call);
	return own ? own : last_call(board, account);
}

/* ---- comparing -------------------------------------------------------- */

/* How many of the members' accounts are like one. */
static uint32_t count_like(const struct check_account *accounts, uint32_t num,
			   const struct check_account *like)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < num; i++)
		n += check_same_account(&accounts[i], like);
	return n;
}

static bool differ(const struct check_account *accounts, uint32_t num)
{
	uint32_t like = 0;

	for (uint32_t i = 0; i < num; i++) {
		if (accounts[i].excused)
			return false;
		like += check_same_account(&accounts[i], accounts);
	}
	return like < num;
}

/* The account that most have; of several, the one of most calls. */
static struct check_account find_usual(const struct check_account *accounts,
				       uint32_t num)
{
	struct check_account usual = accounts[0];
	uint32_t best = 0;

	for (uint32_t i = 0; i < num; i++) {
		uint32_t n = count_like(accounts, num, &accounts[i]);

		if (n < best ||
		    (n == best && accounts[i].collectives <= usual.collectives))
			continue;
		best = n;
		usual = accounts[i];
	}
	return usual;
}

/* The first call that the side with less did not make, as recorded by a rank
 * that did. */
static void find_call(const struct check_board *board,
		      struct check_missing *missing)
{
	const struct check_account *odd = &missing->odd,
				   *usual = &missing->usual;
	const struct check_account *more =
		odd->collectives > usual->collectives ? odd : usual;
	const struct check_account *less = more == odd ? usual : odd;
	const struct check_call place = {.tag = -1,
					 .group_id = less->group_id,
					 .leader = less->leader,
					 .generation = less->generation,
					 .index = less->collectives};

	missing->caller = more->rank;
	if (more->collectives > less->collectives)
		missing->call =
			check_counterpart(&board->slots[more->rank], &place);
}

/* Puts a group's accounts, which differ, into *missing, which owns them now. */
static void settle(const struct check_board *board, struct check_account *own,
		   uint32_t num, struct check_missing *missing)
{
	uint32_t i = 0;

	missing->accounts = own;
	missing->num = num;
	missing->usual = find_usual(own, num);
	while (i + 1 < num && check_same_account(&own[i], &missing->usual))
		i++;
	missing->odd = own[i];
	missing->tie = count_like(own, num, &missing->odd) ==
		       count_like(own, num, &missing->usual);
	find_call(board, missing);
}

static bool take(const struct check_board *board,
		 const struct check_account *accounts, uint32_t num,
		 struct check_missing *missing)
{
	struct check_account *own = calloc(num, sizeof *own);

	if (!own)
		return false;
	memcpy(own, accounts, num * sizeof *own);
	settle(board, own, num, missing);
	return true;
}

bool check_find_missing(const struct check_board *board,
			struct check_missing *missing)
{
	size_t n, from = 0, to;
	struct check_account *accounts = collect(board, &n);

	*missing = (struct check_missing){.accounts = NULL};
	for (; accounts && from < n; from = to) {
		uint32_t num;

		for (to = from + 1; to < n; to++)
			if (by_group(&accounts[from], &accounts[to]) != 0)
				break;
		num = (uint32_t)(to - from);
		if (!differ(&accounts[from], num))
			continue;
		if (missing->accounts)
			missing->others++;
		else if (!take(board, &accounts[from], num, missing))
			break;
	}
	free(accounts);
	return missing->accounts != NULL;
}

/* ---- ranks that wait for who is gone ------------------------------------- */

/* Whether none of the members that have made the call at place needs one that
 * has not: it is over for them, or would be where nothing waits. */
static bool goes_on_without(const struct check_board *board,
			    const struct check_call *call)
{
	uint32_t root = (uint32_t)call->peer_rank;
	bool root_came = root < board->world_size &&
			 check_collectives(&board->slots[root], call->group_id,
					   call->generation) > call->index;

	switch (check_dependence(call)) {
	case CHECK_ROOT_NEEDS:
		return !root_came;
	case CHECK_OTHERS_NEED:
		return root_came;
	default:
		return false;
	}
}

/* Whether rank has ended well, or left the group that cohort waits in, and no
 * failure led it to. */
static bool is_gone(const struct check_picture *p,
		    const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];

	return !slot->failed && !slot->damaged &&
	       (slot->state == CHECK_RANK_FINISHED ||
		check_has_left(p, cohort, rank));
}

/* The accounts of the group that cohort waits in, as far as the call of that
 * index: who has made it, and who has not. False: one is not known, or may
 * still come to it, or no memory. */
static bool take_unmade(const struct check_picture *p,
			const struct check_cohort *cohort,
			const struct check_call *place,
			struct check_missing *missing)
{
	const struct check_group *group = cohort->group;
	struct check_account *own = calloc(group->num_members, sizeof *own);

	for (uint32_t i = 0; own && i < group->num_members; i++) {
		uint32_t rank = check_group_member(group, i);
		uint32_t made =
			check_collectives(&p->board->slots[rank],
					  place->group_id, place->generation);

		if (made == UINT32_MAX ||
		    (made <= place->index && !is_gone(p, cohort, rank))) {
			free(own);
			return false;
		}
		own[i] = (struct check_account){
			.generation = place->generation,
			.group_id = place->group_id,
			.leader = place->leader,
			.rank = rank,
			.collectives = made > place->index ? place->index + 1
							   : place->index};
	}
	if (!own)
		return false;
	missing->unmade = true;
	settle(p->board, own, group->num_members, missing);
	return missing->call && goes_on_without(p->board, missing->call);
}

/* Whether cohort waits in a collective for a rank that is gone, and what that
 * lacks first is a call that the others go on without. */
static bool waits_for_unmade(const struct check_picture *p,
			     const struct check_cohort *cohort,
			     struct check_missing *missing)
{
	struct check_call place;
	uint32_t rank;

	if (!check_is_caught(cohort) || cohort->wait || !cohort->group ||
	    cohort->call->tag >= 0)
		return false;
	place = *cohort->call;
	for (rank = check_next_awaited(p, cohort, 0); rank < p->world_size;
	     rank = check_next_awaited(p, cohort, rank + 1)) {
		*missing = (struct check_missing){.accounts = NULL};
		place.index =
			check_collectives(&p->board->slots[rank],
					  place.group_id, place.generation);
		if (is_gone(p, cohort, rank) &&
		    take_unmade(p, cohort, &place, missing))
			return true;
		check_missing_release(missing);
	}
	return false;
}

bool check_find_unmade(const struct check_picture *p,
		       struct check_missing *missing)
{
	*missing = (struct check_missing){.accounts = NULL};
	for (uint32_t i = 0; i < p->num_cohorts; i++)
		if (waits_for_unmade(p, &p->cohorts[i], missing))
			return true;
	return false;
}

void check_missing_release(struct check_missing *missing)
{
	free(missing->accounts);
	missing->accounts = NULL;
}

/* ---- in sentences ------------------------------------------------------- */

/* Ranks with one account. */
struct side {
	const struct check_missing *missing;
	const struct check_account *like;
};

static const struct check_account *find(const struct check_missing *missing,
					uint32_t rank)
{
	uint32_t low = 0, high = missing->num;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (missing->accounts[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < missing->num && missing->accounts[low].rank == rank
		       ? &missing->accounts[low]
		       : NULL;
}

static bool is_member(const void *arg, uint32_t rank)
{
	return find(arg, rank) != NULL;
}

static bool on_side(const void *arg, uint32_t rank)
{
	const struct side *side = arg;
	const struct check_account *account = find(side->missing, rank);

	return account && check_same_account(account, side->like);
}

static bool on_no_side(const void *arg, uint32_t rank)
{
	const struct side *sides = arg;

	return is_member(sides->missing, rank) && !on_side(&sides[0], rank) &&
	       !on_side(&sides[1], rank);
}

/* "ranks 1-3 (3) made 20 calls there, the last: reduce(...) #19 of ..." */
static void report_side(struct check_lines *lines,
			const struct check_board *board,
			const struct side *side)
{
	const struct check_account *like = side->like;
	const struct check_missing *missing = side->missing;
	const struct check_call *call = last_call(board, like);
	uint32_t n = like->collectives;
	FILE *out = check_line(lines, 1);

	check_print_ranks(out, board->world_size, on_side, side);
	if (missing->unmade && n > missing->call->index) {
		fputs(" called ", out);
		check_print_call_in_place(out, missing->call);
		return;
	}
	if (n > 0)
		fprintf(out, " made %u call%s there", n, n > 1 ? "s" : "");
	else
		fputs(" made no call there", out);
	if (!call)
		return;
	fputs(n > 0 && call->group_id == like->group_id &&
			      call->generation == like->generation
		      ? ", the last: "
		      : "; last call: ",
	      out);
	check_print_call_in_place(out, call);
}

static const char *name_of(const struct check_board *board,
			   const struct check_missing *missing)
{
	const struct check_call *call = check_last_collective(
		&board->slots[missing->caller], missing->usual.group_id,
		missing->usual.generation);

	if (call)
		return call->group;
	return missing->usual.group_id ? "" : "default";
}

void check_report_missing(struct check_lines *lines,
			  const struct check_board *board,
			  const struct check_missing *missing)
{
	const struct side sides[2] = {{missing, &missing->odd},
				      {missing, &missing->usual}};
	uint32_t odd = missing->odd.collectives, n = board->world_size;
	uint32_t usual = missing->usual.collectives;
	const char *name = name_of(board, missing);
	FILE *out = check_line(lines, 0);

	fprintf(out,
		odd == usual ? "lockstep: mismatch: the ranks made different "
			       "calls on group %s"
			     : "lockstep: mismatch: a call is missing on group "
			       "%s: its ranks made different numbers of them",
		*name ? name : "of another name");
	report_side(lines, board, &sides[0]);
	report_side(lines, board, &sides[1]);
	if (check_any_below(n, on_no_side, sides)) {
		out = check_line(lines, 1);
		fputs("other calls were made by ", out);
		check_print_ranks(out, n, on_no_side, sides);
	}
	if (missing->call) {
		out = check_line(lines, 1);
		check_print_ranks(out, n, on_side, &sides[odd < usual ? 0 : 1]);
		fputs(" did not come to ", out);
		check_print_call_in_place(out, missing->call);
		fprintf(out, ", where rank %u was", missing->caller);
	}
	if (missing->usual.group_id) {
		out = check_line(lines, 1);
		fprintf(out, "group %s is ", name);
		check_print_ranks(out, n, is_member, missing);
	}
	if (missing->others > 0)
		fprintf(check_line(lines, 1), "so it is on %u other group%s",
			missing->others, missing->others > 1 ? "s" : "");
}
