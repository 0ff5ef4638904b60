#include "realbackend/tcp/look.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "realbackend/tcp/leader.h"
#include "realbackend/tcp/store.h"

/* What the other agents may take to answer. */
#define ANSWER_NS ((int64_t)2 * 1000000000)

void dist__look_ask(struct dist__look *look, struct dist__agent *agent)
{
	if (!agent->store)
		look->asked++;
	else if (!dist__store_add(agent->store, "looks", 1, &look->asked) &&
		 !agent->leads)
		fputs("lockstep: status: node 0 tells where the ranks are\n",
		      stderr);
}

void dist__look_ask_quietly(struct dist__look *look, struct dist__agent *agent)
{
	if (agent->store &&
	    dist__store_add(agent->store, "looks", 1, &look->asked))
		return;
	look->asked += !agent->store;
	look->quiet++;
}

struct check_board *dist__look_found(struct dist__look *look)
{
	struct check_board *found = look->found;

	look->found = NULL;
	return found;
}

/* The records of this node's ranks as they are now; nothing is known of the
 * others. */
static void take(struct dist__outcome *now, const struct dist__workers *workers)
{
	const struct dist__seat *seat = &workers->plumbing.seat;
	int last = seat->first_rank + workers->started;

	dist__outcome_take(now, workers->children, workers->started,
			   workers->board);
	now->attempt = seat->round;
	for (int rank = 0; now->board && rank < seat->world_size; rank++)
		if (rank < seat->first_rank || rank >= last)
			now->board->slots[rank].state = CHECK_RANK_UNKNOWN;
}

static void name_shelf(const struct dist__look *look, char shelf[40])
{
	snprintf(shelf, 40, "look/%lld", (long long)look->answered);
}

static void answer(struct dist__look *look, struct dist__agent *agent,
		   const struct dist__workers *workers)
{
	const struct dist__seat *seat = &workers->plumbing.seat;
	struct dist__outcome now;
	char shelf[40];

	look->aloud |= look->asked - look->answered > look->quiet;
	look->answered = look->asked;
	if (agent->leads)
		look->due_ns = dist__clock_after(ANSWER_NS);
	if (agent->leads || !dist__workers_busy(workers))
		return;
	name_shelf(look, shelf);
	take(&now, workers);
	if (now.board)
		dist__agent_give_slots(agent, shelf, now.board,
				       seat->first_rank, workers->started);
	dist__outcome_release(&now);
}

static bool all_known(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].state == CHECK_RANK_UNKNOWN)
			return false;
	return true;
}

/* The look is over, and this is what it found. */
static void tell(struct dist__look *look, struct dist__outcome *now,
		 int64_t timeout_ns)
{
	if (look->aloud)
		dist__outcome_status(stderr, now, timeout_ns);
	if (look->quiet && now->board && all_known(now->board)) {
		free(look->found);
		look->found = now->board;
		now->board = NULL;
	}
	look->quiet = look->due_ns = 0;
	look->aloud = false;
}

/* Tells, if all have answered or time is up. */
static void conclude(struct dist__look *look, struct dist__agent *agent,
		     const struct dist__workers *workers)
{
	struct dist__outcome now;
	char shelf[40];

	if (!dist__workers_busy(workers)) {
		if (look->aloud)
			fputs("lockstep: status: no ranks run here now\n",
			      stderr);
		look->quiet = look->due_ns = 0;
		look->aloud = false;
		return;
	}
	name_shelf(look, shelf);
	take(&now, workers);
	if (now.board && agent->store)
		dist__leader_gather(agent, shelf, now.board);
	if (!now.board || all_known(now.board) ||
	    dist__clock_ns() >= look->due_ns)
		tell(look, &now, workers->plumbing.spec->timeout_ns);
	dist__outcome_release(&now);
}

void dist__look_turn(struct dist__look *look, struct dist__agent *agent,
		     const struct dist__workers *workers)
{
	if (agent->store)
		(void)dist__store_add(agent->store, "looks", 0, &look->asked);
	if (look->asked > look->answered)
		answer(look, agent, workers);
	if (look->due_ns)
		conclude(look, agent, workers);
}
